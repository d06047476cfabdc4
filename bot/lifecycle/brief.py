"""A plan in brief: what a list shows of it, kept beside the plan so that no list reads plans whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.choices import PlanPriority
from bot.lifecycle.records import Person, Repo
from bot.lifecycle.states import Frozen, Gate, HoldCause, Limit, State, WaitingOn
from runner.results import Unit

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan

LONGEST_SENTENCE = 300
"""Characters of the sentence of a failure that a list shows."""


class Idea(Frozen):
    """Something that an agent recommended and nobody has accepted yet."""

    number: int
    title: str


class Brief(Frozen):
    """What is shown of a plan in a list."""

    uid: str
    repo: Repo
    issue_number: int
    try_number: int
    title: str
    """Of the plan as written, else of the issue."""
    state: State
    waiting_on: WaitingOn | None
    since: float | None = None
    """When it came to this state, or began to wait for this."""
    held: tuple[HoldCause, ...] = ()
    requester: Person
    requested_at: float
    revision: int | None = None
    asked: Gate | None = None
    """The gate at which it waits for people."""
    asked_since: float | None = None
    questions: int = 0
    """Those that nobody has answered yet."""
    priority: PlanPriority = PlanPriority.NORMAL
    place: int | None = None
    limit: Limit | None = None
    most: int | None = None
    waits_for: tuple[str, ...] = ()
    in_vain: tuple[str, ...] = ()
    agent: str | None = None
    """Who carries it out."""
    failure: str = ""
    pull_request: int | None = None
    pull_request_url: str | None = None
    ideas: tuple[Idea, ...] = ()

    @classmethod
    def of(cls, plan: Plan) -> Brief:
        """Return a plan in brief."""
        revision, asked = plan.revision, plan.asked
        carries_out = plan.agents.get(Unit.EXECUTE_PLAN)
        return cls(
            uid=plan.uid,
            repo=plan.repo,
            issue_number=plan.issue_number,
            try_number=plan.try_number,
            title=revision.document.title if revision else plan.issue.title,
            state=plan.state,
            waiting_on=plan.waiting_on,
            since=plan.since,
            held=plan.hold.causes if plan.hold else (),
            requester=plan.requester,
            requested_at=plan.requested_at,
            revision=revision.number if revision else None,
            asked=asked[0] if asked else None,
            asked_since=asked[2] if asked else None,
            questions=len(plan.open_questions),
            priority=plan.choices.priority,
            place=plan.place,
            limit=plan.limit,
            most=plan.most,
            waits_for=plan.waits_for,
            in_vain=plan.in_vain,
            agent=carries_out.name if carries_out else None,
            failure=plan.failure.sentence[:LONGEST_SENTENCE] if plan.failure else "",
            pull_request=plan.pull_request,
            pull_request_url=plan.pull_request_url,
            ideas=tuple(Idea(number=number, title=each.what.title) for number, each in plan.acceptable),
        )
