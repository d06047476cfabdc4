"""Rows and plans -> what is shown of them, the same on every page, in every answer and in every program."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bot import wire
from bot.lifecycle.exports import plain_accounts
from bot.lifecycle.states import State
from bot.lifecycle.wording.links import Links
from bot.web.reasons import reason
from runner.contract import GateResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.lifecycle.accounts import Accounts
    from bot.lifecycle.allowance import Day
    from bot.lifecycle.amounts import Amount
    from bot.lifecycle.costs import JobCost, PlanCost
    from bot.lifecycle.plan import Approval, Failure, Plan, Repo, Review, Revision
    from bot.lifecycle.records import Learned, Person, Recommended
    from bot.store.browse import Listed
    from bot.store.browse_jobs import JobRow, RunnerRow
    from bot.store.browse_journal import Logged
    from runner.contract import FileChange


class Views:
    """What is shown, with addresses on the GitHub whose web pages are at ``web``."""

    def __init__(self, web: str) -> None:
        self._web = web.rstrip("/")

    def summary(self, listed: Listed, spent: Amount) -> wire.PlanSummary:
        """Return a plan as a list shows it."""
        return wire.PlanSummary(**self._summary(listed, spent))

    def detail(
        self, plan: Plan, listed: Listed, jobs: Iterable[JobRow], cost: PlanCost, tries: Iterable[Listed]
    ) -> wire.PlanDetail:
        """Return a plan whole."""
        link = Links(self._web, plan)
        return wire.PlanDetail(
            **self._summary(listed, cost.usd),
            body=plan.issue.body,
            issue_stale=plan.issue_stale,
            label=plan.label,
            branch=plan.branch,
            branch_head=plan.branch_head,
            depends_on=list(plan.choices.depends_on),
            overlaps=list(plan.overlaps),
            up=up(plan),
            approvals=approvals(plan),
            revisions=[revision(each, link) for each in plan.revisions],
            review=self.review(plan, link),
            failure=failure(plan.failure),
            recommendations=[recommendation(n, each) for n, each in enumerate(plan.recommended, 1)],
            lessons=[lesson(n, each) for n, each in enumerate(plan.lessons, 1)],
            rejections=[each.text for each in plan.rejections],
            jobs=[self.job(each, plan.repo) for each in jobs],
            costs=costs(cost),
            tries=[
                wire.TryView(uid=each.brief.uid, try_number=each.brief.try_number, state=each.brief.state)
                for each in tries
            ],
        )

    def review(self, plan: Plan, link: Links) -> wire.ReviewView | None:
        """Return the work under review; None where there is none."""
        shown = plan.review
        if shown is None:
            return None
        work, said, found = shown.work, shown.work.summary, shown.inspection
        return wire.ReviewView(
            number=shown.number,
            head=work.head,
            base=work.base,
            since=work.since,
            files=[changed(file) for file in work.files],
            files_total=work.files_total,
            gates=[gate(each) for each in shown.gates],
            ci=[wire.CiView(name=c.name, state=c.state, url=c.url, app=c.app) for c in shown.ci],
            notes=list(shown.notes),
            attempts=shown.attempts,
            summary=said.summary if said else "",
            deviations=list(said.deviations) if said else [],
            inspection=found.summary if found else "",
            findings=[wire.FindingView(**each.model_dump()) for each in found.findings] if found else [],
            posted_at=moment(shown.posted_at),
            url=link.comment(shown),
            compare_url=f"{self._repository(plan.repo)}/compare/{work.since or work.base}...{work.head}",
        )

    def job(self, row: JobRow, repo: Repo) -> wire.JobView:
        """Return a job as a list shows it."""
        return wire.JobView(**self._job(row, repo))

    def job_detail(self, row: JobRow, report: Mapping[str, Any], repo: Repo) -> wire.JobDetail:
        """Return a job with what its report says."""
        return wire.JobDetail(**self._job(row, repo), notes=list(report.get("notes", ())))

    def runner(self, row: RunnerRow, repo: Repo) -> wire.RunnerView:
        """Return a runner."""
        return wire.RunnerView(repository=repository(repo), name=row.name, jobs=row.jobs, last_at=surely(row.last_at))

    def _repository(self, repo: Repo) -> str:
        return f"{self._web}/{repo.owner}/{repo.name}"

    def _summary(self, listed: Listed, spent: Amount) -> dict[str, Any]:
        brief = listed.brief
        return {
            "uid": brief.uid,
            "repository": repository(brief.repo),
            "issue": brief.issue_number,
            "try_number": brief.try_number,
            "title": brief.title,
            "state": brief.state,
            "waiting_on": brief.waiting_on,
            "reason": reason(brief),
            "since": moment(brief.since),
            "held": list(brief.held),
            "requester": person(brief.requester),
            "requested_at": moment(brief.requested_at),
            "changed_at": moment(listed.updated_at),
            "revision": brief.revision,
            "asked": brief.asked,
            "asked_since": moment(brief.asked_since),
            "questions": brief.questions,
            "priority": brief.priority,
            "place": brief.place,
            "agent": brief.agent,
            "pull_request": brief.pull_request,
            "pull_request_url": brief.pull_request_url,
            "issue_url": f"{self._repository(brief.repo)}/issues/{brief.issue_number}",
            "ideas": [wire.IdeaView(number=idea.number, title=idea.title) for idea in brief.ideas],
            "cost": money(spent),
        }

    def _job(self, row: JobRow, repo: Repo) -> dict[str, Any]:
        end = row.end
        return {
            "id": row.id,
            "plan": row.plan_uid,
            "repository": repository(repo),
            "kind": row.kind,
            "unit": row.unit,
            "phase": row.phase,
            "open": row.closed_at is None,
            "outcome": end.get("outcome"),
            "sentence": end.get("sentence", ""),
            "attempts": end.get("attempts"),
            "runner": row.runner,
            "run_id": row.run_id,
            "run_url": None if row.run_id is None else f"{self._repository(repo)}/actions/runs/{row.run_id}",
            "opened_at": moment(row.opened_at),
            "dispatched_at": moment(row.dispatched_at),
            "claimed_at": moment(row.claimed_at),
            "heartbeat_at": moment(row.heartbeat_at),
            "deadline_at": moment(row.deadline_at) if row.closed_at is None else None,
            "reported_at": moment(row.reported_at),
            "closed_at": moment(row.closed_at),
            "stop_reason": row.stop_reason,
            "gates": [gate(each) for each in end.get("gates", ())],
            "output_tail": end.get("output_tail", ""),
            "salvaged": end.get("salvaged"),
        }


def moment(at: float | None) -> datetime | None:
    """Return a time of the store (epoch seconds) as people's programs read it."""
    return None if at is None else surely(at)


def surely(at: float) -> datetime:
    """Return the same of a time that there is."""
    return datetime.fromtimestamp(round(at, 3), UTC)


def person(shown: Person) -> wire.PersonView:
    """Return who somebody is."""
    return wire.PersonView(id=shown.id, login=shown.login)


def repository(repo: Repo) -> wire.RepositoryView:
    """Return which repository it is."""
    return wire.RepositoryView(id=repo.id, owner=repo.owner, name=repo.name)


def money(amount: Amount) -> wire.Money:
    """Return dollars, every digit of them."""
    usd = None if amount.value is None else f"{amount.value:f}"
    return wire.Money(usd=usd, at_least=amount.at_least, covered=amount.covered)


def figures(found: Accounts, today: Mapping[str, Day]) -> wire.CostsReport:
    """Return the figures of a period at every level, and what is left of the day."""
    report = wire.CostsReport.model_validate(plain_accounts(found))
    return report.model_copy(update={"today": {name: day(each) for name, each in today.items()}})


def day(shown: Day) -> wire.DayView:
    """Return what is left of a repository's day."""
    return wire.DayView(
        since=surely(shown.since),
        limit_usd=f"{shown.limit:f}",
        spent_usd=money(shown.spent),
        left_usd=f"{shown.left.value:f}",
        at_most=shown.at_most,
    )


def total(amount: Amount) -> wire.Total:
    """Return a sum that is no money."""
    return wire.Total(value=None if amount.value is None else float(amount.value), at_least=amount.at_least)


def up(plan: Plan) -> wire.Up | None:
    """Return what waits for a decision."""
    if plan.asked is None or (plan.hold is not None and plan.frozen):
        return None
    gate_, saw, since = plan.asked
    return wire.Up(gate=gate_, saw=saw, since=surely(since))


def approvals(plan: Plan) -> list[wire.ApprovalView]:
    """Return every approval that stands, and those that wait for others."""
    made = [each for each in (plan.plan_approval, plan.diff_approval) if each is not None]
    whole = [approval(each, stands=True) for decision in made for each in decision.all]
    halfway = plan.halfway.approvals if plan.halfway else ()
    return [*whole, *(approval(each, stands=False) for each in halfway)]


def approval(given: Approval, *, stands: bool) -> wire.ApprovalView:
    """Return an approval."""
    return wire.ApprovalView(
        gate=given.gate,
        by=person(given.by),
        via=given.via,
        at=surely(given.at),
        covers=given.binds_to,
        content_sha256=given.content_sha256,
        stands=stands,
    )


def revision(shown: Revision, link: Links) -> wire.RevisionView:
    """Return a version of the plan's text."""
    document = shown.document
    return wire.RevisionView(
        **document.model_dump(),
        number=shown.number,
        gates=[wire.CheckView(name=each.name, run=each.run, blocking=each.blocking) for each in shown.gates],
        sha256=shown.sha256,
        posted_at=moment(shown.posted_at),
        url=link.comment(shown),
    )


def gate(result: GateResult | Mapping[str, Any]) -> wire.GateView:
    """Return how a check ended; from a report it may come as data."""
    known = result if isinstance(result, GateResult) else GateResult.model_validate(result)
    return wire.GateView(**known.model_dump(exclude={"detected"}), holds_back=known.holds_back)


def changed(file: FileChange) -> wire.FileView:
    """Return a changed path."""
    return wire.FileView(path=file.path, status=file.status, added=file.added, removed=file.removed)


def diff(review: Review) -> wire.DiffView:
    """Return the patch under review."""
    work = review.work
    files = [changed(file) for file in work.files]
    return wire.DiffView(
        head=work.head, base=work.since or work.base, patch=work.patch, cut=work.patch_cut, files=files
    )


def failure(shown: Failure | None) -> wire.FailureView | None:
    """Return why a plan failed."""
    if shown is None:
        return None
    return wire.FailureView(
        outcome=shown.outcome,
        sentence=shown.sentence,
        gates=[gate(each) for each in shown.gates],
        output_tail=shown.output_tail,
        notes=list(shown.notes),
    )


def recommendation(number: int, shown: Recommended) -> wire.RecommendationView:
    """Return a recommendation and what became of it."""
    return wire.RecommendationView(
        number=number,
        title=shown.what.title,
        reason=shown.what.reason,
        paths=list(shown.what.paths),
        issue=shown.issue,
        being_written=bool(shown.job or shown.making) and shown.issue is None,
    )


def lesson(number: int, shown: Learned) -> wire.LessonView:
    """Return a lesson."""
    what = shown.what
    return wire.LessonView(
        number=number, unit=what.unit, kind=what.kind, text=what.text, paths=list(what.paths), file=shown.path
    )


def costs(cost: PlanCost) -> wire.CostsView:
    """Return what a plan has cost."""
    share = cost.rejected_share
    return wire.CostsView(
        total=money(cost.usd),
        seconds=total(cost.seconds),
        actions_minutes=total(cost.actions_minutes),
        actions_usd=money(cost.actions_usd),
        rejected_share=None if share is None else f"{share:.4f}",
        rows=[cost_row(row) for row in cost.jobs],
    )


def cost_row(row: JobCost) -> wire.CostRowView:
    """Return a line of the cost table."""
    return wire.CostRowView(
        job=row.job,
        kind=row.kind,
        outcome=row.outcome,
        unit=row.unit,
        agent=row.agent,
        model=row.model,
        attempts=row.attempts,
        input_tokens=total(row.input_tokens),
        output_tokens=total(row.output_tokens),
        cache_read_tokens=total(row.cache_read_tokens),
        cache_write_tokens=total(row.cache_write_tokens),
        cost=money(row.usd),
        sources=list(row.usd_sources),
        price_dates=list(row.price_dates),
        seconds=total(row.seconds),
    )


def line(logged: Logged, repo: Repo) -> wire.JournalLine:
    """Return a line of the audit log."""
    entry = logged.entry
    number = entry.lane.rpartition(":")[2]
    actor = entry.actor_id
    return wire.JournalLine(
        id=logged.id,
        at=surely(entry.at),
        repository=repository(repo),
        issue=int(number) if number.isdecimal() and number != "0" else None,
        plan=entry.plan_uid,
        version=entry.version,
        event=entry.event,
        actor=None if actor is None else wire.PersonView(id=actor, login=entry.actor_login or ""),
        source=entry.source,
        from_state=State(entry.from_state) if entry.from_state else None,
        to_state=State(entry.to_state) if entry.to_state else None,
        note=entry.note,
        details=dict(entry.details),
    )
