"""Events and plans for the lifecycle's tests: plausible by default, any field can be given."""

from __future__ import annotations

from bot.lifecycle import events as ev
from bot.lifecycle.plan import IssueSnapshot, Person, Plan, Repo
from bot.lifecycle.policy import Policy
from bot.lifecycle.states import Via
from bot.lifecycle.transitions import open_plan
from runner.contract import FileChange, GateResult, GateStatus, JobKind, Outcome, Report, Work
from runner.results import PlanDocument, SplitChild, SplitDocument, Verdict

ALICE = Person(id=11, login="alice")
REPO = Repo(id=500, owner="acme", name="shop", installation_id=7)
ISSUE = IssueSnapshot(title="Greet in French", body="Please add `bonjour`.", author=ALICE)
UID = "0123456789ab"
HEAD = "a" * 40
BASE = "b" * 40


def said(kind: type, at: float = 100.0, source: str = "d-1", **fields):
    """A human event."""
    return kind(**{"at": at, "source": source, "by": ALICE, "via": Via.COMMAND, **fields})


def requested(**fields) -> ev.PlanRequested:
    """The request that opens a plan."""
    return said(
        ev.PlanRequested,
        **{"repo": REPO, "issue_number": 12, "issue": ISSUE, "policy": Policy(), "at": 1.0, **fields},
    )


def new_plan(**fields) -> Plan:
    """A plan just asked for."""
    return open_plan(requested(**fields), UID).plan


def document(verdict: Verdict = Verdict.PLAN, **fields) -> PlanDocument:
    """A written plan."""
    base = {"title": "Greet in French", "summary": "Adds a greeting.", "steps": ("Add it.",), "files": ("src/**",)}
    return PlanDocument(**{"verdict": verdict, **base, **fields})


def cut(*parts: PlanDocument, depends_on: tuple[int, ...] = (1,)) -> SplitDocument:
    """A plan in parts, the last of which builds on others."""
    *first, last = parts or (document(title="Choose the language"), document(title="Greet in French"))
    children = (*(SplitChild(plan=part) for part in first), SplitChild(plan=last, depends_on=depends_on))
    return SplitDocument(summary="The choice first, then the words.", children=children)


def work(head: str = HEAD, **fields) -> Work:
    """Work as a runner reports it."""
    change = FileChange(path="src/greet.py", status="modified", added=3, removed=1)
    base = {"base": BASE, "head": head, "tree": "c" * 40, "commits": 1, "files": (change,), "files_total": 1}
    return Work(**{**base, "patch": "+x\n", "patch_cut": False, "summary": None, "pull_request": None, **fields})


def gate(status: GateStatus = GateStatus.PASSED, blocking: bool = True) -> GateResult:
    """One row of the gates table."""
    return GateResult(name="tests", blocking=blocking, status=status, seconds=1.0, summary="12 passed")


def report(job: str, outcome: Outcome, **fields) -> Report:
    """A runner's report."""
    base = {"sentence": f"It ended: {outcome}.", "runner": "host-1", "started_at": 1.0, "ended_at": 2.0}
    return Report(**{"job": job, "outcome": outcome, **base, **fields})


KINDS = {JobKind.PLAN: Outcome.PLANNED, JobKind.EXECUTE: Outcome.VERIFIED, JobKind.CHECK_BASE: Outcome.BASE_CLEAN}
