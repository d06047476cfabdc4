"""``/plans/<uid>`` and its tabs: the plan, its revisions, checks, diff, logs, costs, decisions, and what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flask import request, url_for

from bot.lifecycle.wording.links import Links
from bot.store import browse, browse_jobs, plan_costs
from bot.store.browse_journal import JournalFilters
from bot.web import views
from bot.web.dashboard import changes, decisions, diff
from bot.web.dashboard.frame import visit
from bot.web.dashboard.shown import MARKS
from bot.web.people import NOT_VISIBLE
from bot.web.refusal import Refused
from runner.contract import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Blueprint, Response

    from bot.lifecycle.costs import PlanCost
    from bot.lifecycle.plan import Plan, Revision
    from bot.store.browse import Listed
    from bot.store.engine import Tx
    from bot.web.dashboard.frame import House
    from runner.contract import GateResult
    from runner.terms import Budget

ROWS = 100
"""Lines of the journal on a page of a plan's timeline."""
VERDICTS = {
    "already_done": "Already done",
    "needs_information": "The agent asks before it plans",
    "duplicate": "A duplicate",
    "refuse": "The agent refuses",
}
"""What a text is that is no plan."""


class Found(NamedTuple):
    """What every tab of a plan shows."""

    plan: Plan
    listed: Listed
    cost: PlanCost
    tries: Sequence[Listed]


def add_to(pages: Blueprint, house: House) -> None:
    """Add the tabs."""

    @pages.get("/plans/<uid>")
    def plan(uid: str) -> Response:
        found = _find(house, uid)
        whole = found.plan
        link = Links(house.github, whole)
        text = views.revision(whole.revision, link) if whole.revision else None
        return _tab(house, found, "plan.html", text=text, failure=whole.failure, budget=_budget(whole.budget))

    @pages.get("/plans/<uid>/revisions")
    def revisions(uid: str) -> Response:
        found = _find(house, uid)
        every = found.plan.revisions
        old, new = _compared(every)
        parts = changes.between(old, new) if old and new else ()
        return _tab(house, found, "revisions.html", revisions=every, old=old, new=new, parts=parts)

    @pages.get("/plans/<uid>/checks")
    def checks(uid: str) -> Response:
        found = _find(house, uid)
        results, of, says = _checks(found.plan)
        one = next((each for each in results if each.name == request.args.get("check")), None)
        ci = found.plan.review.ci if found.plan.review else ()
        heads = {"of": of, "of_says": says, "ci": ci, "review": found.plan.review}
        return _tab(house, found, "checks.html", checked=results, one=one, marks=MARKS, **heads)

    @pages.get("/plans/<uid>/diff", endpoint="diff")
    def shown_diff(uid: str) -> Response:
        found = _find(house, uid)
        return _tab(house, found, "diff.html", **_diff(house, found.plan))

    @pages.get("/plans/<uid>/logs")
    def logs(uid: str) -> Response:
        found = _find(house, uid)
        with house.store.read() as tx:
            jobs = browse_jobs.jobs_of(tx, uid)
        rows = [house.catalogue.views.job(each, found.plan.repo) for each in reversed(jobs)]
        fine = {outcome for outcome in Outcome if outcome.is_success}
        return _tab(house, found, "logs.html", jobs=rows, fine=fine, most=browse_jobs.MOST_JOBS)

    @pages.get("/plans/<uid>/costs")
    def spent(uid: str) -> Response:
        found = _find(house, uid)
        return _tab(house, found, "spent.html", **_spent(found))

    @pages.get("/plans/<uid>/decisions")
    def approvals(uid: str) -> Response:
        found = _find(house, uid)
        return _tab(house, found, "approvals.html", approvals=views.approvals(found.plan))

    @pages.get("/plans/<uid>/timeline")
    def timeline(uid: str) -> Response:
        found = _find(house, uid)
        page = house.catalogue.journal(visit().seen, JournalFilters(plan=uid), request.args.get("cursor"), ROWS)
        on = url_for("dashboard.timeline", uid=uid, cursor=page.next) if page.next else ""
        return _tab(house, found, "timeline.html", lines=page.items, on=on)


def _spent(found: Found) -> dict[str, Any]:
    """Return what the page of a plan's costs shows."""
    cost, limit = found.cost, found.plan.budget.usd
    return {
        "costs": views.costs(cost),
        "paid_minutes": cost.actions_usd.value != 0,
        "share": cost.rejected_share,
        "limit": "none" if limit is None else f"${limit:,.2f}",
    }


def _find(house: House, uid: str) -> Found:
    """Return a plan that the person who looks may see. Raises ``Refused`` 404."""
    with house.store.read() as tx:
        found = browse.plan_of(tx, visit().seen, uid)
        if found is None:
            raise Refused(404, NOT_VISIBLE)
        return _beside(tx, *found)


def _beside(tx: Tx, plan: Plan, listed: Listed) -> Found:
    return Found(plan, listed, plan_costs.of_plan(tx, plan), browse.tries_of(tx, plan.repo.id, plan.issue_number))


def _tab(house: House, found: Found, template: str, **values: Any) -> Response:
    """Return a tab: what all of them show, and ``values``."""
    plan = found.plan
    return house.render(
        template,
        plan=house.catalogue.views.summary(found.listed, found.cost.usd),
        whole=plan,
        tries=[each.brief for each in found.tries],
        tabs=_tabs(found),
        **decisions.panel(plan, [each.brief for each in found.tries], visit()),
        verdicts=VERDICTS,
        **values,
    )


def _tabs(found: Found) -> list[tuple[str, str, str]]:
    """Return the tabs: endpoint, name, and what stands beside the name."""
    plan = found.plan
    results, _, _ = _checks(plan)
    failed = sum(each.holds_back for each in results)
    work = plan.review.work if plan.review else None
    return [
        ("dashboard.plan", "Plan", ""),
        ("dashboard.revisions", "Revisions", str(len(plan.revisions) or "")),
        ("dashboard.checks", "Checks", f"{failed} failed" if failed else str(len(results) or "")),
        ("dashboard.diff", "Diff", str(work.files_total) if work else ""),
        ("dashboard.logs", "Logs", ""),
        ("dashboard.spent", "Costs", ""),
        ("dashboard.approvals", "Decisions", ""),
        ("dashboard.timeline", "Timeline", ""),
    ]


def _checks(plan: Plan) -> tuple[Sequence[GateResult], str, str]:
    """Return the results that are shown, and what they are of."""
    if plan.failure is not None and plan.failure.gates:
        return plan.failure.gates, "What failed", "The work that did not pass its checks; nobody was asked to review it"
    if plan.review is not None:
        head = plan.review.work.head[:12]
        return plan.review.gates, "All checks", f"On a fresh copy of commit {head}"
    return (), "", ""


def _compared(revisions: Sequence[Revision]) -> tuple[Revision | None, Revision | None]:
    """Return the two revisions that the address names; without names the last two."""
    by_number = {str(each.number): each for each in revisions}
    *_, before, last = (None, None, *revisions)
    return by_number.get(request.args.get("from", ""), before), by_number.get(request.args.get("to", ""), last)


def _diff(house: House, plan: Plan) -> dict[str, Any]:
    work = plan.review.work if plan.review else None
    if work is None:
        return {"work": None}
    repository = f"{house.github}/{plan.repo.owner}/{plan.repo.name}"
    return {
        "work": work,
        "diff": diff.read(work.patch),
        "added": sum(file.added or 0 for file in work.files),
        "removed": sum(file.removed or 0 for file in work.files),
        "compare": f"{repository}/compare/{work.since or work.base}...{work.head}",
    }


def _budget(budget: Budget) -> str:
    """Return what a plan may spend, in words."""
    usd = "" if budget.usd is None else f"${budget.usd:,.2f}, "
    return f"{usd}{budget.minutes:g} min, {budget.attempts} attempts"
