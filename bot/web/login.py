"""Signing in with GitHub: the App's OAuth web flow with PKCE, and the cookies of a session.

    /login ──▶ /login/start ──▶ GitHub's page ──▶ /login/callback ──▶ where they wanted to go
                  │ a cookie: state, verifier      ▲ the same browser, within ten minutes
                  └────────────────────────────────┘

The state is bound to the browser by an encrypted cookie, so that nobody can be signed in as somebody else by a link. A
session begins with a new secret always. Other parts of the web ask :class:`Login` who it is.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from flask import g, request

from bot.errors import Permanent
from bot.store.sessions import LONGEST_SECONDS
from bot.web.refusal import Refused
from bot.web.sessions import csrf_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Response

    from bot.crypto import Vault
    from bot.github.gateway import PeoplesGateway, SignIn
    from bot.web.people import Onlooker
    from bot.web.sessions import Sessions

SIGNING_IN_SECONDS = 600.0
"""From the start until the return from GitHub, whose code is good for as long."""
MOST_AT_ONCE = 4
"""People who come back from GitHub at the same time, in one process: half of its threads, as each waits for GitHub."""
AWAY_SECONDS = 5
"""When to come back after passing trouble with GitHub."""
LONGEST_NEXT = 1_000
"""Characters of the address that somebody wanted; of a longer one they are taken to the start."""
STATE_BYTES, VERIFIER_BYTES = 32, 48
"""Random bytes; a verifier has 43 to 128 characters (RFC 7636)."""
CALLBACK = "/login/callback"
CSRF_FIELD, CSRF_HEADER = "csrf", "X-CSRF-Token"
AGAIN = "This sign-in was begun in another browser or too long ago: begin again."
CROWDED = "Many people sign in just now: load this page again in a moment."
FORM = "This page was opened before you signed in or too long ago, so nothing was done: reload it and do it again."


@dataclass(frozen=True, slots=True)
class Cookies:
    """How cookies are called and set: bound to host, path and TLS, but for a bot on loopback without TLS."""

    secure: bool

    @property
    def session(self) -> str:
        """The session's cookie."""
        return "__Host-twogate" if self.secure else "twogate"

    @property
    def signing_in(self) -> str:
        """The cookie of a sign-in under way."""
        return f"{self.session}-login"

    def set(self, answer: Response, name: str, value: str, seconds: float) -> None:
        """Set a cookie that no script reads and no other site's request carries, but for a link that is followed."""
        answer.set_cookie(
            name, value, max_age=int(seconds), path="/", secure=self.secure, httponly=True, samesite="Lax"
        )

    def drop(self, answer: Response, name: str) -> None:
        """Make the browser forget a cookie."""
        answer.delete_cookie(name, path="/", secure=self.secure, httponly=True, samesite="Lax")


@dataclass(frozen=True, slots=True)
class Login:
    """Who is signed in, and how they come to be. Its questions are about the request under way."""

    sessions: Sessions
    sign_in: SignIn
    gateway: PeoplesGateway
    vault: Vault
    now: Callable[[], float]
    client_id: str
    url: str
    github_url: str
    places: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(MOST_AT_ONCE))

    @property
    def cookies(self) -> Cookies:
        """The names of the cookies of this bot."""
        return Cookies(secure=urlsplit(self.url).scheme == "https")

    # For the other parts of the web

    def onlooker(self) -> Onlooker:
        """Return who is signed in. Raises ``Refused``: 401 where nobody is, 503 where GitHub can't say."""
        if "onlooker" not in g:
            g.onlooker = self.sessions.onlooker(self.secret)
        found: Onlooker = g.onlooker
        return found

    def csrf(self) -> str:
        """Return what each form of this session carries in its field ``csrf``, and a script's request in a header."""
        return csrf_of(self.secret)

    def check_csrf(self) -> None:
        """Raise ``Refused`` (403) unless the request was sent by a page of this session."""
        given = request.headers.get(CSRF_HEADER) or request.form.get(CSRF_FIELD, "")
        origin = request.headers.get("Origin")
        if not self.secret or (origin is not None and origin != self.origin):
            raise Refused(403, FORM)
        if not hmac.compare_digest(given.encode(errors="replace"), self.csrf().encode()):
            raise Refused(403, FORM)

    @property
    def secret(self) -> str:
        """The session's secret as the browser gave it; empty without one."""
        return request.cookies.get(self.cookies.session, "")

    @property
    def origin(self) -> str:
        """How browsers name this site."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def link(self) -> str:
        """Return the address at which to sign in and come back to the page that was asked for."""
        wanted = request.full_path.rstrip("?") if request.method == "GET" else "/"
        return f"/login?{urlencode({'next': local(wanted)})}"

    # The flow

    def start(self, answer: Callable[[str], Response]) -> Response:
        """Send the browser to GitHub; ``answer`` makes the redirect."""
        state, verifier = secrets.token_urlsafe(STATE_BYTES), secrets.token_urlsafe(VERIFIER_BYTES)
        asked = {
            "client_id": self.client_id,
            "redirect_uri": self.url + CALLBACK,
            "state": state,
            "code_challenge": challenge(verifier),
            "code_challenge_method": "S256",
        }
        kept = {"state": state, "verifier": verifier, "next": local(request.args.get("next", "")), "at": self.now()}
        away = answer(f"{self.github_url}/login/oauth/authorize?{urlencode(asked)}")
        sealed = self.vault.encrypt(json.dumps(kept)).decode()
        self.cookies.set(away, self.cookies.signing_in, sealed, SIGNING_IN_SECONDS)
        return away

    def finish(self, answer: Callable[[str], Response]) -> Response:
        """Begin a session for who comes back from GitHub.

        Raises ``Refused`` where it is another browser, too late, or refused, and the errors of
        :class:`~bot.github.gateway.SignIn`.
        """
        kept = self._begun()
        if "error" in request.args:
            raise Refused(403, "You did not let Twogate know who you are, so you are not signed in.")
        if not self.places.acquire(blocking=False):
            raise Refused(503, CROWDED, retry_after=AWAY_SECONDS)
        try:
            tokens = self.sign_in.exchange(request.args.get("code", ""), kept["verifier"], self.url + CALLBACK)
            person = self.gateway.holder(tokens.token).person
        finally:
            self.places.release()
        self.sessions.end(self.secret)
        back = answer(local(kept["next"]))
        self.cookies.set(back, self.cookies.session, self.sessions.begin(person, tokens), LONGEST_SECONDS)
        self.cookies.drop(back, self.cookies.signing_in)
        return back

    def leave(self, answer: Response) -> Response:
        """End the session of this browser; ``answer`` takes its cookie away."""
        self.sessions.end(self.secret)
        self.cookies.drop(answer, self.cookies.session)
        return answer

    def _begun(self) -> dict[str, Any]:
        """Return what this browser began with. Raises ``Refused`` where it did not begin this, or too long ago."""
        try:
            sealed = request.cookies.get(self.cookies.signing_in, "")
            kept: dict[str, Any] = json.loads(self.vault.decrypt(sealed.encode()))
        except Permanent as error:
            raise Refused(400, AGAIN) from error
        state = request.args.get("state", "").encode(errors="replace")
        fresh = 0 <= self.now() - kept["at"] < SIGNING_IN_SECONDS
        if not fresh or not hmac.compare_digest(state, kept["state"].encode()):
            raise Refused(400, AGAIN)
        return kept


def challenge(verifier: str) -> str:
    """Return PKCE's S256 challenge of a verifier (RFC 7636)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def local(address: str) -> str:
    """Return an address of this site as it is, and the start for any other: nobody is sent elsewhere from here."""
    plain = address.isascii() and address.isprintable() and "\\" not in address and len(address) <= LONGEST_NEXT
    inside = address.startswith("/") and not address.startswith(("//", "/login", "/logout"))
    return address if plain and inside else "/"
