"""What may be looked at, by page or by name: the same for the dashboard and for the API.

Every answer is of the repositories whose numbers are given, those that GitHub shows to who asks. What is elsewhere, or
nowhere, is refused alike: 404.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from bot import wire
from bot.lifecycle.states import State
from bot.store import browse, browse_jobs, browse_journal, plan_costs, plans
from bot.store.browse import PlanMark
from bot.store.browse_jobs import JobMark
from bot.web import cursor as marks
from bot.web import views
from bot.web.people import NOT_VISIBLE
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from bot.lifecycle.plan import Plan
    from bot.store.browse import PlanFilters
    from bot.store.browse_jobs import JobFilters
    from bot.store.browse_journal import JournalFilters
    from bot.store.engine import Store

NO_WORK = "This plan has no work to show yet."


class Marked(Protocol):
    """A row behind which a page can begin."""

    @property
    def mark(self) -> Sequence[float | str]:
        """Where a page that ends with it ends."""


T = TypeVar("T", bound=Marked)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything that people look at. Methods raise :class:`~bot.web.refusal.Refused`."""

    store: Store
    views: views.Views

    def plans(
        self, seen: Collection[int], wanted: PlanFilters, cursor: str | None = None, limit: int = wire.USUAL_ROWS
    ) -> wire.Page[wire.PlanSummary]:
        """Return plans, those that were asked for last first."""
        mark = marks.pair(cursor)
        with self.store.read() as tx:
            found = browse.plans_page(tx, seen, wanted, PlanMark(*mark) if mark else None, limit + 1)
            page, further = _cut(found, limit)
            spent = plan_costs.totals(tx, [each.brief.uid for each in page])
        items = [self.views.summary(each, spent[each.brief.uid]) for each in page]
        return wire.Page(items=items, next=further)

    def by_state(
        self, seen: Collection[int], states: Iterable[State], limit: int
    ) -> dict[State, list[wire.PlanSummary]]:
        """Return the first plans of each of these states: of approved ones those that start first, else the newest."""
        with self.store.read() as tx:
            found = {state: browse.first_of(tx, seen, state, limit) for state in states}
            spent = plan_costs.totals(tx, [each.brief.uid for listed in found.values() for each in listed])
        return {
            state: [self.views.summary(each, spent[each.brief.uid]) for each in listed]
            for state, listed in found.items()
        }

    def overview(self, seen: Collection[int]) -> wire.Overview:
        """Return how many plans are in each state."""
        with self.store.read() as tx:
            counts = browse.counts_by_state(tx, seen)
        return wire.Overview(states=[wire.StateCount(state=state, plans=counts.get(state, 0)) for state in State])

    def plan(self, seen: Collection[int], uid: str) -> wire.PlanDetail:
        """Return a plan whole."""
        with self.store.read() as tx:
            found = browse.plan_of(tx, seen, uid)
            if found is None:
                raise Refused(404, NOT_VISIBLE)
            plan, listed = found
            jobs = browse_jobs.jobs_of(tx, plan.uid)
            cost = plan_costs.of_plan(tx, plan)
            tries = browse.tries_of(tx, plan.repo.id, plan.issue_number)
        return self.views.detail(plan, listed, jobs, cost, tries)

    def diff(self, seen: Collection[int], uid: str) -> wire.DiffView:
        """Return the patch under review."""
        review = self.whole(seen, uid).review
        if review is None:
            raise Refused(404, NO_WORK)
        return views.diff(review)

    def gates(self, seen: Collection[int], uid: str) -> wire.GatesView:
        """Return how each check ended on the work under review."""
        review = self.whole(seen, uid).review
        if review is None:
            raise Refused(404, NO_WORK)
        return wire.GatesView(head=review.work.head, items=[views.gate(each) for each in review.gates])

    def costs(self, seen: Collection[int], uid: str) -> wire.CostsView:
        """Return what a plan has cost so far."""
        plan = self.whole(seen, uid)
        with self.store.read() as tx:
            return views.costs(plan_costs.of_plan(tx, plan))

    def whole(self, seen: Collection[int], uid: str) -> Plan:
        """Return a plan as the store has it."""
        with self.store.read() as tx:
            found = browse.plan_of(tx, seen, uid)
        if found is None:
            raise Refused(404, NOT_VISIBLE)
        return found[0]

    def newest_of(self, plan: Plan) -> str:
        """Return the name of the newest try of a plan's issue."""
        with self.store.read() as tx:
            return browse.tries_of(tx, plan.repo.id, plan.issue_number)[0].brief.uid

    def jobs(
        self, seen: Collection[int], wanted: JobFilters, cursor: str | None = None, limit: int = wire.USUAL_ROWS
    ) -> wire.Page[wire.JobView]:
        """Return jobs, those that were opened last first."""
        mark = marks.pair(cursor)
        with self.store.read() as tx:
            found = browse_jobs.jobs_page(tx, seen, wanted, JobMark(*mark) if mark else None, limit + 1)
            repos = plans.repositories(tx)
        page, further = _cut(found, limit)
        items = [self.views.job(each, repos[each.repository_id]) for each in page]
        return wire.Page(items=items, next=further)

    def job(self, seen: Collection[int], name: str) -> wire.JobDetail:
        """Return a job with what its report says."""
        with self.store.read() as tx:
            found = browse_jobs.job_of(tx, seen, name)
            if found is None:
                raise Refused(404, NOT_VISIBLE)
            row, report = found
            repo = plans.repositories(tx)[row.repository_id]
        return self.views.job_detail(row, report, repo)

    def runners(self, seen: Collection[int]) -> list[wire.RunnerView]:
        """Return the runners that reported lately, the last one first."""
        with self.store.read() as tx:
            found = browse_jobs.runners(tx, seen)
            repos = plans.repositories(tx)
        return [self.views.runner(each, repos[each.repository_id]) for each in found]

    def journal(
        self, seen: Collection[int], wanted: JournalFilters, cursor: str | None = None, limit: int = wire.USUAL_ROWS
    ) -> wire.Page[wire.JournalLine]:
        """Return lines of the audit log, the newest first."""
        with self.store.read() as tx:
            found = browse_journal.journal_page(tx, seen, wanted, marks.number(cursor), limit + 1)
            repos = plans.repositories(tx)
        page, further = _cut(found, limit)
        items = [views.line(each, repos[each.repository_id]) for each in page]
        return wire.Page(items=items, next=further)

    def journal_of(
        self, seen: Collection[int], uid: str, cursor: str | None = None, limit: int = wire.USUAL_ROWS
    ) -> wire.Page[wire.JournalLine]:
        """Return lines of a plan's journal, the oldest first."""
        plan = self.whole(seen, uid)
        with self.store.read() as tx:
            found = browse_journal.journal_of(tx, uid, marks.number(cursor), limit + 1)
        page, further = _cut(found, limit)
        return wire.Page(items=[views.line(each, plan.repo) for each in page], next=further)


def _cut(found: Sequence[T], limit: int) -> tuple[Sequence[T], str | None]:
    """Return the rows of a page, and the cursor of the next one where there are more."""
    page = found[:limit]
    return page, marks.written(page[-1].mark) if len(found) > limit else None
