"""The journal as its auditor reads it: without the plan it must tell the plan's state, and who let it come so far."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, get_args

from bot.lifecycle.events import HumanEvent, PlanRequested
from bot.lifecycle.states import Gate, State
from bot.store import journal, plans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.lifecycle.plan import Approval, Plan
    from bot.store.engine import Tx
    from bot.store.journal import Entry

SAID = (PlanRequested, *get_args(HumanEvent))
DECISIONS = frozenset(str(kind.model_fields["type"].default) for kind in SAID) | {"refused"}
"""Lines that say what a person wanted: each names the person, and how they said it."""
COVERED = {Gate.PLAN: "plan_sha256", Gate.DIFF: "head"}
"""The detail of a line ``approved`` that names, whole, what was approved at a gate."""


def faults(tx: Tx) -> list[str]:
    """Return a sentence for everything that is not as it must be, in the journals of all plans."""
    return [fault for plan in plans.in_states(tx, State) for fault in of_plan(plan, journal.of_lane(tx, plan.lane))]


def of_plan(plan: Plan, lane: Sequence[Entry]) -> list[str]:
    """The same of one plan; ``lane`` is the journal of its issue."""
    lines = [entry for entry in lane if entry.plan_uid == plan.uid]
    checks = (_folded(plan, lines), _named(lane), _approvals(plan, lines), _gates(lines))
    return [f"#{plan.issue_number}: {fault}" for check in checks for fault in check]


def _folded(plan: Plan, lines: Sequence[Entry]) -> Iterator[str]:
    """One line a version, in their order, each going on from the state before, the last at the plan's own."""
    versions = [line.version for line in lines]
    if versions != list(range(1, plan.version + 1)):
        yield f"its lines are of the versions {versions}, the plan is at {plan.version}"
    if lines and lines[0].from_state is not None:
        yield f"it begins in {lines[0].from_state}"
    for before, after in pairwise(lines):
        if after.from_state != before.to_state:
            yield f"{after.event} goes on from {after.from_state}, but {before.event} led to {before.to_state}"
    if not lines or lines[-1].to_state != plan.state:
        yield f"it ends in {lines[-1].to_state if lines else None}, the plan is {plan.state}"


def _named(lines: Sequence[Entry]) -> Iterator[str]:
    for line in lines:
        if line.event in DECISIONS and None in {line.actor_id, line.actor_login, line.details.get("via")}:
            yield f"{line.ref} ({line.event}) does not say who, or how"
        if not line.source or not line.at:
            yield f"{line.ref} ({line.event}) does not say when, or from where that is known"


def _approvals(plan: Plan, lines: Sequence[Entry]) -> Iterator[str]:
    """Every approval that counts, or counted for what stands before the further work, has its line."""
    kept = [plan.plan_approval, plan.diff_approval, plan.rework.diff_approval if plan.rework else None]
    pending = plan.pending.approvals if plan.pending else ()
    for decision in (*kept, *pending):
        for approval in decision.all if decision else ():
            if not any(_says(line, approval) for line in lines):
                yield f"nothing says that {approval.by.login} approved {approval.binds_to} by {approval.via}"


def _says(line: Entry, approval: Approval) -> bool:
    said = (line.event, line.actor_id, line.at, line.details.get("via"), line.details.get(COVERED[approval.gate]))
    return said == ("approved", approval.by.id, approval.at, approval.via, approval.binds_to)


def _gates(lines: Sequence[Entry]) -> Iterator[str]:
    """Nothing is carried out and nothing becomes a pull request but what an earlier line says was approved."""
    approved: dict[Gate, set[object]] = {gate: set() for gate in Gate}
    for line in lines:
        if line.event == "approved":
            for gate in Gate:
                approved[gate].add(line.details.get(COVERED[gate]))
        into = None if line.to_state == line.from_state else line.to_state
        gate = {State.EXECUTING: Gate.PLAN, State.PR_OPEN: Gate.DIFF}.get(State(into)) if into else None
        if gate and line.details.get(COVERED[gate]) not in approved[gate] - {None}:
            yield f"{line.ref} ({line.event}) leads to {into} without an approval of its {gate}"
