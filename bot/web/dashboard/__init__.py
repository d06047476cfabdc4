"""The dashboard: pages made on the server, which work without a script. One module a page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from flask import Blueprint, Response, g, redirect, request
from werkzeug.exceptions import HTTPException

from bot.errors import Permanent, RetryAt, Transient
from bot.store import plans
from bot.web.dashboard import audit, costs, decisions, ideas, plan, queue, runners
from bot.web.dashboard.frame import Visit
from bot.web.headers import private
from bot.web.problems import to_program
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

    from bot.web.dashboard.frame import House

log = logging.getLogger(__name__)

PAGES = (queue, plan, decisions, ideas, costs, runners, audit)
TROUBLE_SECONDS = 10
"""When to come back after passing trouble with GitHub or the database."""
NOWHERE = "There is no such page. The queue leads to every plan, and the line above to the other pages."
TITLES = {
    400: "That can't be read",
    403: "Not done",
    404: "Nothing here",
    405: "Not like that",
    413: "Too long",
    429: "Too much at once",
    503: "Just a moment",
}
"""What a page that says no is called, by its status."""


def blueprint(house: House) -> Blueprint:
    """Return every page; the files that they load are :mod:`bot.web.files`."""
    pages = Blueprint("dashboard", __name__)
    pages.after_request(private)

    @pages.before_request
    def who_looks() -> None:
        onlooker = house.login.onlooker()
        house.looking.count(onlooker.person.id)
        with house.store.read() as tx:
            known = plans.repositories(tx)
        g.visit = Visit(onlooker, house.people.sees(onlooker), known)

    for page in PAGES:
        page.add_to(pages, house)
    _refuse(pages, house)
    return pages


def _refuse(pages: Blueprint, house: House) -> None:
    """Say what each failure is to a person, on a page."""

    @pages.errorhandler(Refused)
    def refused(refusal: Refused) -> Answer:
        if refusal.status == 401:  # noqa: PLR2004 - nobody is signed in
            return redirect(house.login.link(), 303)
        return _page(house, refusal.status, refusal.sentence, refusal.retry_after)

    @pages.errorhandler(Transient)
    @pages.errorhandler(RetryAt)
    def later(error: Exception) -> Response:
        log.warning("%s: %s", request.path, error)
        sentence = "GitHub or the database can't be asked just now. Nothing is lost: load this page again in a moment."
        return _page(house, 503, sentence, TROUBLE_SECONDS)

    @pages.app_errorhandler(404)
    def nowhere(error: HTTPException) -> Response:
        if "text/html" not in request.accept_mimetypes.values():
            return to_program(error)
        return private(_page(house, 404, NOWHERE))

    @pages.errorhandler(HTTPException)
    def strange(error: HTTPException) -> Response:
        return _page(house, error.code or 500, error.description or error.name)

    @pages.errorhandler(Permanent)
    @pages.errorhandler(Exception)
    def broken(error: Exception) -> Response:
        log.error("%s: %s", request.path, error, exc_info=error)
        sentence = "This page could not be made, which is a fault of Twogate's own. Its log says more; plans go on."
        return _page(house, 500, sentence)


def _page(house: House, status: int, sentence: str, retry_after: int | None = None) -> Response:
    title = TITLES.get(status, "Something went wrong")
    answer = house.render("refusal.html", status, title=title, sentence=sentence)
    if retry_after is not None:
        answer.headers["Retry-After"] = str(retry_after)
    return answer
