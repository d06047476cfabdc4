"""The addresses of signing in and out: HTTP around :class:`bot.web.login.Login`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from flask import Blueprint, Response, request
from jinja2 import Environment, PackageLoader, StrictUndefined

from bot.errors import Permanent, RetryAt, Transient
from bot.github.gateway import Unproved
from bot.web import files
from bot.web.headers import private
from bot.web.login import AWAY_SECONDS, local
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from bot.web.login import Login

log = logging.getLogger(__name__)

TEMPLATES = Environment(loader=PackageLoader("bot.web"), autoescape=True, undefined=StrictUndefined)
TEMPLATES.globals["file"] = files.address

WELCOME = (
    "GitHub tells Twogate who you are. You then see the plans of exactly those repositories that GitHub shows to you, "
    "and can do here what you could do by a comment there."
)
CLOSED = (
    "The dashboard of this Twogate is closed, since nobody can sign in to it: whoever runs it has to set "
    "TWOGATE_CLIENT_ID and TWOGATE_CLIENT_SECRET to the App's OAuth client. Issues, comments and the REST API work "
    "without."
)
OUT = "You are signed out."
TROUBLE = "GitHub can't be asked who you are just now. Nothing is lost: sign in again in a moment."


def blueprint(login: Login | None) -> Blueprint:
    """Return ``/login``, ``/login/start``, ``/login/callback`` and ``/logout``; without ``login`` they are closed."""
    pages = Blueprint("login", __name__)
    pages.after_request(private)
    if login is None:
        for address in ("/", "/login", "/login/<path:_rest>", "/logout"):
            pages.add_url_rule(address, "closed", _closed, methods=["GET", "POST"])
        return pages

    @pages.get("/login")
    def welcome() -> Response:
        return _page("Sign in", OUT if "out" in request.args else WELCOME)

    @pages.get("/login/start")
    def start() -> Response:
        return login.start(_to)

    @pages.get("/login/callback")
    def callback() -> Response:
        return login.finish(_to)

    @pages.post("/logout")
    def logout() -> Response:
        if login.secret:
            login.check_csrf()
        return login.leave(_to("/login?out"))

    _refuse(pages)
    return pages


def _closed(_rest: str = "") -> Response:
    return _page("Closed", CLOSED, 503, open_=False)


def _refuse(pages: Blueprint) -> None:
    @pages.errorhandler(Refused)
    def refused(refusal: Refused) -> Response:
        return _page("Not signed in", refusal.sentence, refusal.status, refusal.retry_after)

    @pages.errorhandler(Unproved)
    def unproved(error: Unproved) -> Response:
        return _page("Not signed in", f"{error} Begin again.", 400)

    @pages.errorhandler(Transient)
    @pages.errorhandler(RetryAt)
    def later(error: Exception) -> Response:
        log.warning("%s: %s", request.path, error)
        return _page("Not signed in", TROUBLE, 503, AWAY_SECONDS)

    @pages.errorhandler(Permanent)
    def never(error: Permanent) -> Response:
        log.error("%s: %s", request.path, error)
        return _page("Not signed in", str(error), 502)


def _page(
    title: str, sentence: str, status: int = 200, retry_after: int | None = None, *, open_: bool = True
) -> Response:
    wanted = local(request.args.get("next", ""))
    start = f"/login/start?{urlencode({'next': wanted})}" if open_ else None
    html = TEMPLATES.get_template("login.html.j2").render(title=title, sentence=sentence, start=start)
    answer = Response(html, status, mimetype="text/html")
    if retry_after is not None:
        answer.headers["Retry-After"] = str(retry_after)
    return answer


def _to(address: str) -> Response:
    return Response(status=303, headers={"Location": address})
