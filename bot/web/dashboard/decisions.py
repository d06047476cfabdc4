"""What people do from a page: a form for what a comment could say, and a page that tells what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import redirect, request, url_for
from pydantic import ValidationError

from bot.lifecycle.commands import Verb
from bot.lifecycle.states import Via
from bot.web import deeds
from bot.web.dashboard.frame import visit
from bot.web.refusal import Refused
from bot.wire import LONGEST_TEXT, Decision

if TYPE_CHECKING:
    from flask import Blueprint, Response
    from werkzeug.wrappers import Response as Answer

    from bot.web.dashboard.frame import House

LARGEST_FORM = 4 * LONGEST_TEXT
"""Bytes of a form: the longest words that a comment can have, in letters that take four each."""
NOT_UNDERSTOOD = "The form can't be read. Go back, reload the page, and do it again."


def add_to(pages: Blueprint, house: House) -> None:
    """Add the form's address, and the page that it leads to."""

    @pages.post("/plans/<uid>/say")
    def say(uid: str) -> Answer:
        request.max_content_length = request.max_form_memory_size = LARGEST_FORM
        house.login.check_csrf()
        who = visit()
        house.doing.count(who.onlooker.person.id)
        plan = house.catalogue.whole(who.seen, uid)
        done = deeds.decide(house.store, who.onlooker, plan, _decision(), Via.DASHBOARD, request.form.get("key"))
        return redirect(url_for("dashboard.said", uid=uid, number=done.id), 303)

    @pages.get("/plans/<uid>/said/<int(max=9007199254740991):number>")
    def said(uid: str, number: int) -> Response:
        seen = visit().seen
        deed = deeds.outcome(house.store, visit().onlooker, seen, number)
        plan = house.catalogue.whole(seen, uid)
        title = plan.revision.document.title if plan.revision else plan.issue.title
        issue = f"{house.github}/{plan.repo.owner}/{plan.repo.name}/issues/{plan.issue_number}"
        return house.render("said.html", deed=deed, uid=uid, title=title, issue=issue)


def _decision() -> Decision:
    """Return what the form says. Raises ``Refused`` 400 for what none of ours says."""
    form = request.form
    try:
        return Decision(verb=Verb(form.get("verb", "")), text=form.get("text", ""), saw=form.get("saw") or None)
    except (ValidationError, ValueError) as error:
        raise Refused(400, NOT_UNDERSTOOD) from error
