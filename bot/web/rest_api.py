"""What the API answers, without HTTP: each method is an operation, and says so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from bot import wire
from bot.lifecycle import periods
from bot.lifecycle.exports import figures_csv
from bot.lifecycle.states import Via
from bot.store import browse, browse_jobs, browse_journal, days, plans
from bot.web import deeds, views
from bot.web.openapi import CSV, operation
from bot.web.people import NOT_VISIBLE, Entrance
from bot.web.refusal import Refused
from bot.wire.asking import JobsWanted, LinesWanted, PageWanted, PeriodWanted, PlansWanted, Where

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.lifecycle.accounts import Accounts
    from bot.lifecycle.permission import Permission
    from bot.lifecycle.plan import Repo
    from bot.store.engine import Store
    from bot.web.books import Books
    from bot.web.catalogue import Catalogue
    from bot.web.limits import Limiter
    from bot.web.people import Onlooker, People
    from bot.wire.base import Asked


@dataclass(frozen=True, slots=True)
class Ask:
    """What somebody asks: who they are, and what stands in the address, behind it, and in the body."""

    who: Onlooker
    names: dict[str, Any]
    query: Any
    body: Any = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class RestApi:
    """Every operation. Methods raise :class:`~bot.web.refusal.Refused`."""

    store: Store
    catalogue: Catalogue
    books: Books
    people: People
    doing: Limiter

    @operation("GET", "/me", "Say who asks, and which repositories they see", answer=wire.Me)
    def me(self, ask: Ask) -> wire.Me:
        """Return who asks."""
        seen, repos = self.people.sees(ask.who), self._repositories()
        return wire.Me(
            person=views.person(ask.who.person),
            by=ask.who.by.value,
            repositories=[
                wire.MyRepository(**views.repository(repos[number]).model_dump(), permission=found.name.lower())
                for number, found in sorted(seen.items())
            ],
        )

    @operation("GET", "/overview", "Count the plans by state", answer=wire.Overview, query=Where, refusals=(404,))
    def overview(self, ask: Ask) -> wire.Overview:
        """Return how many plans are where."""
        return self.catalogue.overview(self._seen(ask))

    @operation("GET", "/plans", "List plans", answer=wire.Page[wire.PlanSummary], query=PlansWanted, refusals=(404,))
    def plans(self, ask: Ask) -> wire.Page[wire.PlanSummary]:
        """Return a page of plans, those that were asked for last first."""
        query: PlansWanted = ask.query
        wanted = browse.PlanFilters(
            states=query.state,
            waiting_on=query.waiting_on,
            held=query.held,
            issue=query.issue,
            requester=ask.who.person.id if query.mine else None,
            ideas=query.ideas,
        )
        return self.catalogue.plans(self._seen(ask), wanted, query.cursor, query.limit)

    @operation(
        "POST",
        "/plans",
        "Ask for a plan: makes the issue with the person's own token and the repository's label",
        answer=wire.MadePlan,
        status=201,
        body=wire.NewPlan,
        refusals=(404, 409, 413, 415, 422, 502),
    )
    def create(self, ask: Ask) -> wire.MadePlan:
        """Make an issue that asks for a plan."""
        wanted: wire.NewPlan = ask.body
        seen = self._seen(ask, wanted.repository)
        self.doing.count(ask.who.person.id)
        repo = self._repositories()[max(seen)]
        return deeds.create(self.store, self.people, ask.who, repo, wanted, ask.key)

    @operation("GET", "/plans/{uid}", "Show a plan", answer=wire.PlanDetail)
    def plan(self, ask: Ask) -> wire.PlanDetail:
        """Return a plan whole."""
        return self.catalogue.plan(self._seen(ask), ask.names["uid"])

    @operation("GET", "/plans/{uid}/diff", "Show the patch under review", answer=wire.DiffView)
    def diff(self, ask: Ask) -> wire.DiffView:
        """Return the patch under review."""
        return self.catalogue.diff(self._seen(ask), ask.names["uid"])

    @operation("GET", "/plans/{uid}/gates", "List the checks of the work under review", answer=wire.GatesView)
    def gates(self, ask: Ask) -> wire.GatesView:
        """Return how each check ended on the work."""
        return self.catalogue.gates(self._seen(ask), ask.names["uid"])

    @operation("GET", "/plans/{uid}/costs", "Say what a plan has cost", answer=wire.CostsView)
    def plan_costs(self, ask: Ask) -> wire.CostsView:
        """Return what a plan has cost so far."""
        return self.catalogue.costs(self._seen(ask), ask.names["uid"])

    @operation(
        "GET",
        "/plans/{uid}/journal",
        "List what happened to a plan, the oldest line first",
        answer=wire.Page[wire.JournalLine],
        query=PageWanted,
    )
    def plan_journal(self, ask: Ask) -> wire.Page[wire.JournalLine]:
        """Return a page of a plan's journal, the oldest line first."""
        query: PageWanted = ask.query
        return self.catalogue.journal_of(self._seen(ask), ask.names["uid"], query.cursor, query.limit)

    @operation(
        "POST",
        "/plans/{uid}/decisions",
        "Decide on a plan, or steer it: judged as the command of a comment is",
        answer=wire.DeedView,
        status=202,
        body=wire.Decision,
        refusals=(413, 415, 422),
    )
    def decide(self, ask: Ask) -> wire.DeedView:
        """Take what somebody says to a plan."""
        said: wire.Decision = ask.body
        plan = self.catalogue.whole(self._seen(ask), ask.names["uid"])
        self.doing.count(ask.who.person.id)
        via = Via.DASHBOARD if ask.who.by is Entrance.DASHBOARD else Via(said.via)
        return deeds.decide(self.store, ask.who, plan, said, via, ask.key)

    @operation("GET", "/deeds/{deed}", "Say what came of a decision of one's own", answer=wire.DeedView)
    def deed(self, ask: Ask) -> wire.DeedView:
        """Return what came of it."""
        return deeds.outcome(self.store, ask.who, self._seen(ask), ask.names["deed"])

    @operation("GET", "/jobs", "List jobs", answer=wire.Page[wire.JobView], query=JobsWanted, refusals=(404,))
    def jobs(self, ask: Ask) -> wire.Page[wire.JobView]:
        """Return a page of jobs, those that were opened last first."""
        query: JobsWanted = ask.query
        wanted = browse_jobs.JobFilters(open=query.open, runner=query.runner, plan=query.plan)
        return self.catalogue.jobs(self._seen(ask), wanted, query.cursor, query.limit)

    @operation("GET", "/jobs/{job}", "Show a job", answer=wire.JobDetail)
    def job(self, ask: Ask) -> wire.JobDetail:
        """Return a job with what its report says."""
        return self.catalogue.job(self._seen(ask), ask.names["job"])

    @operation(
        "GET",
        "/runners",
        "List the hundred runners that reported last",
        answer=wire.Page[wire.RunnerView],
        query=Where,
        refusals=(404,),
    )
    def runners(self, ask: Ask) -> wire.Page[wire.RunnerView]:
        """Return the runners, the last one that reported first."""
        return wire.Page(items=self.catalogue.runners(self._seen(ask)), next=None)

    @operation(
        "GET",
        "/journal",
        "List the audit log",
        answer=wire.Page[wire.JournalLine],
        query=LinesWanted,
        refusals=(404,),
    )
    def journal(self, ask: Ask) -> wire.Page[wire.JournalLine]:
        """Return a page of the audit log, the newest line first."""
        query: LinesWanted = ask.query
        wanted = browse_journal.JournalFilters(
            plan=query.plan,
            event=query.event,
            actor=query.actor,
            since=query.since.timestamp() if query.since else None,
            until=query.until.timestamp() if query.until else None,
        )
        return self.catalogue.journal(self._seen(ask), wanted, query.cursor, query.limit)

    @operation(
        "GET",
        "/costs",
        "Say what a period cost and what came of it",
        answer=wire.CostsReport,
        query=PeriodWanted,
        refusals=(404,),
    )
    def costs(self, ask: Ask) -> wire.CostsReport:
        """Return the figures of a period."""
        seen = self._seen(ask)
        accounts = self._accounts(ask, seen)
        with self.store.read() as tx:
            return views.figures(accounts, days.limited(tx, seen))

    @operation(
        "GET",
        "/costs.csv",
        "The same as a table, a row a repository",
        answer=wire.CostsReport,
        query=PeriodWanted,
        refusals=(404,),
        media=CSV,
    )
    def costs_csv(self, ask: Ask) -> str:
        """Return the figures of a period as CSV."""
        return figures_csv(self._accounts(ask, self._seen(ask)).named)

    def _accounts(self, ask: Ask, seen: Collection[int]) -> Accounts:
        query: PeriodWanted = ask.query
        month = query.month
        period = partial(periods.last_days, query.days) if month is None else partial(periods.month, month)
        try:
            return self.books.book(seen, month or f"{query.days}d", period, ask.who.person.id).accounts
        except periods.PeriodError as fault:
            raise Refused(400, str(fault)) from fault

    def _seen(self, ask: Ask, repository: str | None = None) -> dict[int, Permission]:
        """Return the repositories that are asked about, of those that the person sees."""
        seen, wanted = self.people.sees(ask.who), repository or _named(ask.query)
        if wanted is None:
            return seen
        repos = self._repositories()
        found = {
            number: permission
            for number, permission in seen.items()
            if f"{repos[number].owner}/{repos[number].name}".casefold() == wanted.casefold()
        }
        if not found:
            raise Refused(404, NOT_VISIBLE)
        return found

    def _repositories(self) -> dict[int, Repo]:
        with self.store.read() as tx:
            return plans.repositories(tx)


def _named(query: Asked) -> str | None:
    return query.repository if isinstance(query, Where) else None
