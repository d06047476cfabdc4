"""People's log-in with an App: the page where they authorise it, codes with PKCE, tokens that end, and their renewal.

As GitHub documents it ("Generating a user access token for a GitHub App", "Refreshing user access tokens"): a code is
good for ten minutes and one exchange, a user's token for eight hours, its refresh token for six months and one use,
which ends the old pair. Faults come as 200 with ``error``, in JSON where that is accepted, else as a form.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import jinja2
from flask import Blueprint, Response, jsonify, redirect, request

from tests.standin.entities import Token
from tests.standin.pages import FOLDER

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict
    from werkzeug.wrappers import Response as Answer

    from tests.standin.entities import App, User
    from tests.standin.model import Hub

CODE_SECONDS = 600
TOKEN_SECONDS = 28_800
REFRESH_SECONDS = 15_897_600
ERRORS = {
    "bad_verification_code": "The code passed is incorrect or expired.",
    "incorrect_client_credentials": "The client_id and/or client_secret passed are incorrect.",
    "redirect_uri_mismatch": "The redirect_uri MUST match the registered callback URL for this application.",
    "bad_refresh_token": "The refresh token passed is incorrect or expired.",
}


@dataclass
class Code:
    """What somebody authorised, until it is exchanged."""

    app: App
    user: User
    redirect_uri: str
    challenge: str | None
    ends_at: float


@dataclass
class Pair:
    """A refresh token's: whose it is, and the token that goes with it."""

    app: App
    user: User
    token: str
    ends_at: float


class Authorisations:
    """What people allowed Apps; one a hub, by ``hub.service(Authorisations)``."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.codes: dict[str, Code] = {}
        self.pairs: dict[str, Pair] = {}
        self.token_seconds: int | None = TOKEN_SECONDS
        """None: the App's owner opted out of tokens that end."""

    def allow(self, app: App, user: User, redirect_uri: str, challenge: str | None) -> str:
        """Return a code for the App."""
        code = secrets.token_hex(10)
        self.codes[code] = Code(app, user, redirect_uri, challenge, self.hub.clock() + CODE_SECONDS)
        return code

    def exchange(self, app: App, asked: MultiDict[str, str]) -> dict[str, Any] | str:
        """Return a token for a code, or the name of what is wrong."""
        code = self.codes.pop(asked.get("code", ""), None)
        if code is None or code.app is not app or self.hub.clock() >= code.ends_at:
            return "bad_verification_code"
        if code.challenge is not None and challenge_of(asked.get("code_verifier", "")) != code.challenge:
            return "bad_verification_code"
        if asked.get("redirect_uri", code.redirect_uri) != code.redirect_uri:
            return "redirect_uri_mismatch"
        return self.grant(app, code.user)

    def renew(self, app: App, asked: MultiDict[str, str]) -> dict[str, Any] | str:
        """Return a new pair for a refresh token and end the old one, or the name of what is wrong."""
        pair = self.pairs.pop(asked.get("refresh_token", ""), None)
        if pair is None or pair.app is not app or self.hub.clock() >= pair.ends_at:
            return "bad_refresh_token"
        self.hub.tokens.pop(pair.token, None)
        return self.grant(app, pair.user)

    def grant(self, app: App, user: User) -> dict[str, Any]:
        """Return a new token of an App for somebody, as GitHub answers it."""
        token = Token(f"ghu_{secrets.token_hex(18)}", "user", user, app=app)
        answer = {"access_token": token.raw, "scope": "", "token_type": "bearer"}
        if self.token_seconds is not None:
            token.expires_at = self.hub.clock() + self.token_seconds
            refresh = f"ghr_{secrets.token_hex(38)}"
            self.pairs[refresh] = Pair(app, user, token.raw, self.hub.clock() + REFRESH_SECONDS)
            spans = {"expires_in": self.token_seconds, "refresh_token_expires_in": REFRESH_SECONDS}
            answer |= spans | {"refresh_token": refresh}
        self.hub.add_token(token)
        return answer

    def revoke(self, app: App, user: User) -> None:
        """Somebody takes back what they allowed an App, which is told."""
        for raw in [t.raw for t in self.hub.tokens.values() if t.kind == "user" and t.app is app and t.actor is user]:
            self.end(raw)
        body = {"action": "revoked", "sender": self.hub.render_user(user)}
        self.hub.tell(app, "github_app_authorization", body)

    def end(self, raw: str) -> None:
        """End a token and its refresh token."""
        self.hub.tokens.pop(raw, None)
        self.pairs = {refresh: pair for refresh, pair in self.pairs.items() if pair.token != raw}


def challenge_of(verifier: str) -> str:
    """PKCE's S256."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def blueprint(hub: Hub) -> Blueprint:
    """The page where people authorise an App, and the exchange."""
    pages = Blueprint("oauth", __name__)
    known = hub.service(Authorisations)

    @pages.get("/login/oauth/authorize")
    def page() -> Response:
        with hub.lock:
            return _asked(hub) or _page(hub)

    @pages.post("/login/oauth/authorize")
    def decided() -> Answer:
        with hub.lock:
            return _asked(hub) or _decided(hub, known)

    @pages.post("/login/oauth/access_token")
    def token() -> Response:
        with hub.lock:
            return _answer(_token(hub, known, request.values))

    return pages


def _app(hub: Hub, client_id: str) -> App | None:
    return next((app for app in hub.apps.values() if app.client_id == client_id), None)


def _asked(hub: Hub) -> Response | None:
    """Refuse what no App of ours asks."""
    app = _app(hub, request.values.get("client_id", ""))
    if app is None:
        return Response("There is no such App.\n", 404, mimetype="text/plain")
    if request.values.get("redirect_uri") not in app.callback_urls:
        return Response(ERRORS["redirect_uri_mismatch"], 400, mimetype="text/plain")
    if request.values.get("code_challenge_method", "S256") != "S256":
        return Response("The code challenge method must be S256.\n", 400, mimetype="text/plain")
    return None


def _page(hub: Hub) -> Response:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True)
    people = [user.login for user in hub.users.values() if user.type == "User"]
    app = _app(hub, request.args["client_id"])
    shown = environment.get_template("authorize.html").render(
        app=app, people=people, suggested=request.args.get("login"), asked=request.args
    )
    return Response(shown, mimetype="text/html")


def _decided(hub: Hub, known: Authorisations) -> Answer:
    app, back = _app(hub, request.values["client_id"]), request.values["redirect_uri"]
    told = {"state": request.values["state"]} if "state" in request.values else {}
    if request.form.get("decision") != "authorize" or app is None:
        told |= {"error": "access_denied", "error_description": "The user has denied your application access."}
    else:
        user = hub.user(request.form["login"])
        told |= {"code": known.allow(app, user, back, request.values.get("code_challenge"))}
    return redirect(f"{back}?{urlencode(told)}")


def _token(hub: Hub, known: Authorisations, asked: MultiDict[str, str]) -> dict[str, Any] | str:
    app = _app(hub, asked.get("client_id", ""))
    if app is None or not secrets.compare_digest(asked.get("client_secret", ""), app.client_secret):
        return "incorrect_client_credentials"
    return known.renew(app, asked) if asked.get("grant_type") == "refresh_token" else known.exchange(app, asked)


def _answer(found: dict[str, Any] | str) -> Response:
    told = {"error": found, "error_description": ERRORS[found]} if isinstance(found, str) else found
    if request.accept_mimetypes.best == "application/json":
        return jsonify(told)
    return Response(urlencode(told), mimetype="application/x-www-form-urlencoded")
