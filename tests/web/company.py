"""A company that has used Twogate for a while: plans in every state, with their journals, jobs and costs.

The same for the same seed. Rows are written as the product writes them, many at a time, so that ten thousand plans take
seconds; how they came about is told by few steps, as far as pages and figures show them.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from bot.lifecycle.choices import Choices, PlanPriority
from bot.lifecycle.plan import (
    Approval,
    Failure,
    IssueSnapshot,
    Job,
    Person,
    Plan,
    Recommended,
    Repo,
    Review,
    Revision,
)
from bot.lifecycle.states import Gate, State, Via, WaitingOn
from bot.store import plans, policies
from bot.store.documents import dump
from bot.store.endings import short
from bot.store.schema import jobs as jobs_table
from bot.store.schema import journal as journal_table
from bot.store.schema import plans as plans_table
from bot.store.schema import repositories as repositories_table
from bot.store.schema import usage as usage_table
from runner.contract import JobKind, Outcome, Report, Usage, UsdSource, Work
from runner.results import ExecutionSummary, Recommendation, Unit
from tests.web import works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Insert

    from bot.store.engine import Store, Tx

DAY, HOUR, MINUTE = 86_400.0, 3_600.0, 60.0
MIA, TOM, ALICE, BOB = (Person(id=n, login=name) for n, name in enumerate(("mia", "tom", "alice", "bob"), 11))
REPOS = tuple(
    Repo(id=500 + n, owner="acme", name=name, installation_id=7)
    for n, name in enumerate(("shop", "billing", "mobile-app"))
)
WORKS = {repo.name: works.of_repository(repo.name) for repo in REPOS}
POLICIES = {repo.name: works.policy(repo.name) for repo in REPOS}
LIMITS = {REPOS[0]: Decimal(50), REPOS[1]: Decimal(20)}
"""Dollars of a day, where a policy limits them."""
ENDS = {
    "merged": 52, "denied": 6, "refused": 7, "returned": 4, "cancelled": 4, "failed": 4, "icebox": 3,
    "writing": 3, "plan": 5, "queued": 4, "executing": 3, "diff": 5, "pull": 4,
}  # fmt: skip
"""How far plans have come -> how many of about a hundred."""
NEW = {"writing", "plan", "queued", "executing", "diff", "pull", "failed"}
"""Those that are still under way began lately."""
BACK = {"writing": (0.0006, 0.002), "executing": (0.03, 0.1)}
"""Days since when agents at work may have been asked."""
IDEAS = {
    "shop": (
        ("Test the mail that confirms an order", "It has no test."),
        ("Name the time zone of delivery days", "They are shown in the server's."),
        ("Index orders by their customer", "The list of orders reads the whole table."),
    ),
    "billing": (
        ("Drop the unused table of coupons", "Nothing reads it since the checkout was replaced."),
        ("Log which bank a timeout was of", "The log says only that there was one."),
        ("Test the first of January", "The days of a year are counted in two ways."),
    ),
    "mobile-app": (
        ("Keep the pictures of the last orders", "They are loaded anew each time."),
        ("Share the formats of dates", "Three screens have their own."),
        ("Remove the second copy of the icons", "Each picture is in the app twice."),
    ),
}


@dataclass
class Rows:
    """What is to be stored of one or many plans."""

    plans: list[dict[str, Any]] = field(default_factory=list)
    journal: list[dict[str, Any]] = field(default_factory=list)
    jobs: list[dict[str, Any]] = field(default_factory=list)
    usage: list[dict[str, Any]] = field(default_factory=list)


def found(store: Store, count: int, now: float, *, first: int = 1, days: int = 90) -> list[Plan]:
    """Store so many plans of the last ``days``; return them, the oldest first."""
    chance = random.Random(first)
    ends = [end for end, weight in ENDS.items() for _ in range(weight)]
    kept, made = Rows(), []
    with store.write() as tx:
        for number in range(first, first + count):
            end = ends[number % len(ends)] if number <= len(ends) else chance.choice(ends)
            story = Story(chance, number, end, now - _days_ago(chance, end, days) * DAY, now)
            made.append(story.tell(tx, kept))
        _write(tx, kept)
        for repo, usd in LIMITS.items():
            policy = POLICIES[repo.name]
            budget = policy.budget.model_copy(update={"usd_today": usd})
            policies.keep(tx, repo.id, policy.model_copy(update={"budget": budget}))
    return sorted(made, key=lambda plan: plan.requested_at)


def _days_ago(chance: random.Random, end: str, days: int) -> float:
    """Return when a plan began: those under way lately, the others ever more often, as people take to it."""
    if end in NEW:
        return chance.uniform(*BACK.get(end, (0.1, 3)))
    return 3 + (days - 3) * chance.random() ** 1.7


def _write(tx: Tx, rows: Rows) -> None:
    tx.connection.execute(tx.insert(repositories_table).on_conflict_do_nothing(), [repo.model_dump() for repo in REPOS])
    for table, values in (
        (plans_table, rows.plans), (jobs_table, rows.jobs), (usage_table, rows.usage), (journal_table, sorted(rows.journal, key=lambda row: row["at"])),
    ):  # fmt: skip
        if values:
            insert: Insert = table.insert()
            tx.connection.execute(insert, values)


class Story:
    """How one plan came about, told step by step."""

    def __init__(self, chance: random.Random, number: int, end: str, at: float, now: float) -> None:
        self.chance, self.number, self.end, self.at, self.now = chance, number, end, at, now
        self.uid = hashlib.sha256(f"plan {number}".encode()).hexdigest()[:12]
        self.repo = REPOS[number % len(REPOS)]
        about = WORKS[self.repo.name]
        self.work = about[number // len(REPOS) % len(about)]
        self.head = hashlib.sha256(f"head {number}".encode()).hexdigest()[:40]
        self.sha = hashlib.sha256(f"text {number}".encode()).hexdigest()
        self.state, self.waiting = State.DRAFT, WaitingOn.RUNNER
        self.asked_at, self.since = at, at
        self.values: dict[str, Any] = {}
        self.rows = Rows()
        self.jobs = self.lines = 0

    def tell(self, tx: Tx, kept: Rows) -> Plan:
        """Put the plan's rows to those that are kept."""
        self.line("plan_requested", State.DRAFT, WaitingOn.RUNNER, "a plan was asked for", by=TOM, first=True)
        for step in self.steps():
            step()
        plan = self.plan()
        columns = plans._columns(tx, plan)
        kept.plans.append(
            columns | {"uid": self.uid, "created_at": self.asked_at, "updated_at": self.at, "poll_at": None}
        )
        for name in ("journal", "jobs", "usage"):
            getattr(kept, name).extend(getattr(self.rows, name))
        return plan

    def steps(self) -> Iterator[Any]:  # noqa: PLR0911 - where plans end
        """Yield what happened, up to where the plan stands now."""
        yield from (self.dispatched, self.written) if self.end != "writing" else (self.planning,)
        if self.end in {"writing", "plan"}:
            return
        if self.end in {"refused", "cancelled", "icebox"}:
            yield self.refused if self.end == "refused" else self.cancelled if self.end == "cancelled" else self.shelved
            return
        yield self.approved
        if self.end == "queued":
            return
        yield self.started
        if self.end == "executing":
            yield self.executing
            return
        if self.end == "failed":
            yield self.failed
            return
        yield from (self.verified, self.reviewed)
        if self.end == "diff":
            return
        if self.end == "returned":
            yield self.refused
            return
        yield from (self.let_through, self.opened)
        if self.end in {"merged", "denied"}:
            yield self.merged if self.end == "merged" else self.denied

    # steps

    def dispatched(self) -> None:
        self.after(5)
        self.line("job_dispatched", self.state, self.waiting, f"run {self.run}")
        self.line("status_posted", self.state, self.waiting, "status comment noted")

    def planning(self) -> None:
        self.dispatched()
        self.job(JobKind.PLAN, Unit.CREATE_PLAN, None, 0)

    def written(self) -> None:
        seconds = self.chance.uniform(50, 200)
        self.after(seconds)
        self.job(JobKind.PLAN, Unit.CREATE_PLAN, Outcome.PLANNED, seconds)
        self.line("plan_written", State.DRAFT, WaitingOn.BOT, "revision 1 written: plan")
        self.line("plan_posted", State.DRAFT, WaitingOn.PLAN_DECISION, "revision 1 posted")
        self.values["revisions"] = (
            Revision(
                number=1,
                document=self.work.document,
                gates=works.gates(self.repo.name),
                sha256=self.sha,
                comment_id=self.number * 10,
                posted_at=self.at,
            ),
        )

    def approved(self) -> None:
        self.people()
        self.values["plan_approval"] = Approval(
            gate=Gate.PLAN, by=ALICE, via=Via.REACTION, at=self.at, binds_to=self.sha
        )
        on = WaitingOn.OVERLAP if self.number % 3 == 0 else WaitingOn.SLOT
        self.line("approved", State.APPROVED, on, f"plan {self.sha[:12]} approved", by=ALICE)
        self.values["waits_for"] = (f"#{(93, 94, 92)[self.number % 3]}",)
        self.values["most"], self.values["place"] = 1, self.number % 4 + 1
        if self.number % 5 == 0:
            self.values["choices"] = Choices(priority=PlanPriority.HIGH)

    def started(self) -> None:
        self.values |= {"waits_for": (), "most": None, "place": None}
        self.after(min(self.chance.uniform(10, 2_000), (self.now - self.at) * 0.5))
        self.line("slot_granted", State.EXECUTING, WaitingOn.RUNNER, "a slot is free: executing")

    def executing(self) -> None:
        self.job(JobKind.EXECUTE, Unit.EXECUTE_PLAN, None, 0)

    def failed(self) -> None:
        seconds = self.chance.uniform(200, 900)
        self.after(seconds)
        self.job(JobKind.EXECUTE, Unit.EXECUTE_PLAN, Outcome.GATES_FAILED, seconds, attempts=3)
        sentence = "`tests` still failed after 3 attempts."
        self.line("job_failed", State.FAILED, WaitingOn.PERSON, "job ended: gates_failed")
        self.values["failure"] = Failure(
            outcome=Outcome.GATES_FAILED,
            sentence=sentence,
            during=JobKind.EXECUTE,
            gates=self.work.results(passed=False),
        )

    def verified(self) -> None:
        seconds = self.chance.uniform(120, 1_200)
        self.after(seconds)
        self.job(JobKind.EXECUTE, Unit.EXECUTE_PLAN, Outcome.VERIFIED, seconds, attempts=self.chance.choice((1, 1, 2)))
        self.line("work_verified", State.VERIFYING, WaitingOn.BOT, f"{self.head[:12]} verified and pushed")
        self.line("branch_confirmed", State.IN_REVIEW, WaitingOn.BOT, f"branch read back at {self.head[:12]}")

    def reviewed(self) -> None:
        self.line("review_posted", State.IN_REVIEW, WaitingOn.DIFF_DECISION, "diff review posted")
        work = Work(
            base="b" * 40,
            head=self.head,
            tree="c" * 40,
            commits=2,
            files=self.work.changes,
            files_total=len(self.work.changes),
            patch=self.work.patch,
            patch_cut=False,
            summary=ExecutionSummary(status="done", summary=self.work.said),
            pull_request=None,
        )
        self.values["review"] = Review(
            number=1, work=work, gates=self.work.results(), comment_id=self.number * 10 + 1, posted_at=self.at
        )
        if self.number % 13 == 0:
            ideas = IDEAS[self.repo.name]
            title, reason = ideas[self.number // 39 % len(ideas)]
            self.values["recommended"] = (Recommended(what=Recommendation(title=title, reason=reason)),)

    def let_through(self) -> None:
        self.people()
        self.values["diff_approval"] = Approval(gate=Gate.DIFF, by=BOB, via=Via.BUTTON, at=self.at, binds_to=self.head)
        self.line("approved", State.IN_REVIEW, WaitingOn.BOT, f"diff {self.head[:12]} approved", by=BOB)

    def opened(self) -> None:
        self.after(4)
        self.values |= {"pull_request": self.number + 20_000, "branch_head": self.head}
        self.line("pull_request_opened", State.PR_OPEN, WaitingOn.MERGE, f"pull request #{self.number + 20_000}")

    def merged(self) -> None:
        self.people()
        self.line("pull_request_merged", State.MERGED, None, "merged", by=ALICE)

    def denied(self) -> None:
        self.people()
        self.line("pull_request_closed", State.REJECTED, None, "closed without being merged", by=BOB)

    def refused(self) -> None:
        self.people()
        self.line("rejected", State.REJECTED, None, "rejected: not worth it now", by=BOB)

    def cancelled(self) -> None:
        self.people()
        self.line("cancel_requested", State.CANCELLED, None, "cancelled", by=TOM)

    def shelved(self) -> None:
        self.people()
        self.line("shelved", State.ICEBOX, None, "put aside", by=ALICE)

    # what steps are made of

    @property
    def run(self) -> int:
        return 9_000_000_000 + self.number * 10 + self.jobs

    def after(self, seconds: float) -> None:
        self.at += seconds

    def people(self) -> None:
        """Let people think for a while; of what is still under way, not beyond now."""
        self.after(min(self.chance.lognormvariate(8.6, 1.1), 2.5 * DAY, (self.now - self.at) * 0.8))

    def line(
        self, event: str, to: State, on: WaitingOn | None, note: str, *, by: Person | None = None, first: bool = False
    ) -> None:
        before = None if first else self.state
        if (self.state, self.waiting) != (to, on):
            self.since = self.at
        self.state, self.waiting = to, on
        self.lines += 1
        self.rows.journal.append(
            {
                "ref": f"{self.uid}:{self.lines}", "plan_uid": self.uid, "lane": f"{self.repo.id}:{self.number}", "version": self.lines,
                "at": self.at, "event": event, "actor_id": by and by.id, "actor_login": by and by.login,
                "source": f"{'comment' if by else 'report'}:{self.number * 100 + self.lines}", "from_state": before, "to_state": to, "note": note,
                "details": dump({"waiting_on": on}), "repository_id": self.repo.id, "waiting_on": on,
            }
        )  # fmt: skip

    def job(self, kind: JobKind, unit: Unit, outcome: Outcome | None, seconds: float, attempts: int = 1) -> None:
        """A job that ended now after so many seconds, or that still runs."""
        self.jobs += 1
        name = f"{self.uid}-{self.jobs}"
        start, host = self.at - seconds, f"runner-{self.number % 3 + 1}"
        known = {
            "id": name, "plan_uid": self.uid, "repository_id": self.repo.id, "lane": f"{self.repo.id}:{self.number}", "installation_id": 7,
            "kind": kind, "unit": unit, "opened_at": start, "dispatched_at": start, "run_id": self.run, "run_attempt": 1, "claimed_at": start + 4,
            "heartbeat_at": self.at if outcome else self.now - self.number % 30, "phase": "agent" if outcome is None else "report", "deadline_at": self.at + 600,
            "report": None, "reported_at": None, "closed_at": None, "runner": None, "outcome": None, "ran_seconds": None, "check_seconds": None, "used_jtis": "[]", "ending": None,
        }  # fmt: skip
        if outcome is not None:
            report = Report(
                job=name,
                outcome=outcome,
                sentence="It ended as it should.",
                attempts=attempts,
                runner=host,
                started_at=start,
                ended_at=self.at,
            )
            known |= {
                "report": dump(report.model_dump(mode="json")),
                "ending": dump(short(report.model_dump(mode="json"))),
                "reported_at": self.at,
                "closed_at": self.at,
                "runner": host,
                "outcome": outcome,
                "ran_seconds": seconds - 4,
                "check_seconds": attempts * 4.4 if kind is JobKind.EXECUTE else 0.0,
            }
            for attempt in range(1, attempts + 1):
                self.used(name, unit, attempt, seconds / attempts)
        self.rows.jobs.append(known)

    def used(self, job: str, unit: Unit, attempt: int, seconds: float) -> None:
        agent, model = ("codex", "gpt-5.2-codex") if self.number % 4 == 0 else ("claude", "sonnet")
        run = Usage(
            unit=unit, agent=agent, model=model, attempt=attempt, input_tokens=int(seconds * 20), output_tokens=int(seconds * 30),
            cache_read_tokens=int(seconds * 900), cache_write_tokens=int(seconds * 120), usd=Decimal(str(round(seconds * 0.0017, 4))),
            usd_source=UsdSource.METERED, price_date="2026-11-01", seconds=round(seconds, 1),
        )  # fmt: skip
        row = run.model_dump() | {
            "usd": str(run.usd),
            "job": job,
            "final": True,
            "number": attempt,
            "plan_uid": self.uid,
            "repository_id": self.repo.id,
            "at": self.at,
        }
        self.rows.usage.append(row)

    def plan(self) -> Plan:
        """The plan as it stands."""
        opened = self.rows.jobs[-1] if self.rows.jobs and self.rows.jobs[-1]["closed_at"] is None else None
        job = (
            Job(
                id=opened["id"],
                kind=opened["kind"],
                unit=opened["unit"],
                number=self.jobs,
                run_id=self.run,
                claimed=True,
            )
            if opened
            else None
        )
        return Plan(
            uid=self.uid, repo=self.repo, issue_number=self.number, version=self.lines, state=self.state, waiting_on=self.waiting, since=self.since,
            policy=POLICIES[self.repo.name], issue=IssueSnapshot(title=self.work.title, body=self.work.summary, author=MIA), requester=TOM,
            requested_at=self.asked_at, jobs_opened=self.jobs, job=job, **self.values,
        )  # fmt: skip
