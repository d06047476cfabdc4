"""What people do from a page: a form for what a comment could say, and a page that tells what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import redirect, request, url_for
from pydantic import ValidationError

from bot.lifecycle.commands import Verb
from bot.lifecycle.offers import offers
from bot.lifecycle.states import Gate, Via
from bot.web import deeds, views
from bot.web.dashboard.frame import visit
from bot.web.refusal import Refused
from bot.wire import LONGEST_TEXT, Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Blueprint, Response
    from werkzeug.wrappers import Response as Answer

    from bot.lifecycle.brief import Brief
    from bot.lifecycle.plan import Plan
    from bot.web.dashboard.frame import House, Visit

LARGEST_FORM = 4 * LONGEST_TEXT
"""Bytes of a form: the longest words that a comment can have, in letters that take four each."""
NOT_UNDERSTOOD = "The form can't be read. Go back, reload the page, and do it again."
ASKS = {
    Verb.UPDATE: "rewrite the plan",
    Verb.EXPAND: "more detail",
    Verb.SPLIT: "split it into smaller plans",
    Verb.ANSWER: "answer its questions (by number, such as “1: yes”)",
    Verb.REVISE: "change the work",
    Verb.FIX: "mend the failing checks",
    Verb.RETRY: "do it again",
}
"""Commands with words behind them, as one chooses among them."""
PICKS = {
    Verb.ACCEPT: ("Make issues of what the agent recommends", "Make issues of those"),
    Verb.REMEMBER: ("Keep what was learned, for the next plan on the same files", "Keep those"),
}
"""Commands that name some of a list, as the list and the button are called."""
DOES = {
    Verb.START: "Start without waiting",
    Verb.THAW: "Take it up again",
    Verb.REOPEN: "Reopen",
    Verb.PLAN: "Plan it anew",
    Verb.ICEBOX: "Put aside",
    Verb.CANCEL: "Cancel the plan",
}
"""Commands without words, as their buttons are called."""
SETS = {
    Verb.PRIORITY: ("Priority", ""),
    Verb.BUDGET: ("Budget", "8usd 60min, or default"),
    Verb.AGENT: ("Agent and model", "codex, or default"),
    Verb.DEPENDS: ("Builds on issues", "#12 #13, drop #12"),
}
"""Commands that choose something for the plan: what, and how it is written."""


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
        if deed.verb is Verb.PLAN and deed.counted:
            uid = house.catalogue.newest_of(plan)
        title = plan.revision.document.title if plan.revision else plan.issue.title
        issue = f"{house.github}/{plan.repo.owner}/{plan.repo.name}/issues/{plan.issue_number}"
        return house.render("said.html", deed=deed, uid=uid, title=title, issue=issue)


def panel(plan: Plan, tries: Sequence[Brief], who: Visit) -> dict[str, Any]:
    """Return what the forms of a plan's pages are made of: what somebody could do, of all there is to do.

    They are on the page that shows what is up for decision.
    """
    later = [each.state for each in tries if each.try_number > plan.try_number]
    up = views.up(plan)
    return {
        "decided_on": "dashboard.diff" if up is not None and up.gate is Gate.DIFF else "dashboard.plan",
        "offered": offers(plan, who.onlooker.person, who.permissions[plan.repo.id], later),
        "up": up,
        "asks": ASKS,
        "picks": PICKS,
        "things": _things(plan),
        "does": DOES,
        "sets": SETS,
    }


def _things(plan: Plan) -> dict[Verb, list[tuple[int, str, str]]]:
    """Return what the lists hold: by its number each thing, and what stands beside it."""
    learned = [(number, each.what) for number, each in plan.keepable]
    return {
        Verb.ACCEPT: [(number, each.what.title, each.what.reason) for number, each in plan.acceptable],
        Verb.REMEMBER: [(number, what.text, f"{what.kind} for {what.unit}") for number, what in learned],
    }


def _decision() -> Decision:
    """Return what the form says; of a list, all that is ticked. Raises ``Refused`` 400 for what none of ours says."""
    form = request.form
    text = " ".join(form.getlist("text"))
    try:
        return Decision(verb=Verb(form.get("verb", "")), text=text, saw=form.get("saw") or None)
    except (ValidationError, ValueError) as error:
        raise Refused(400, NOT_UNDERSTOOD) from error
