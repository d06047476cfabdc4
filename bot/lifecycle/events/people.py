"""What people say to a plan, authorised: :mod:`bot.lifecycle.requests` makes these of what they said."""

from __future__ import annotations

from typing import Literal

from bot.lifecycle.approvers import Approvers
from bot.lifecycle.choices import AgentChoice, BudgetChoice, PlanPriority
from bot.lifecycle.codeowners import Owned
from bot.lifecycle.events.base import BaseEvent
from bot.lifecycle.plan import IssueSnapshot, Part, Person, Repo
from bot.lifecycle.policy import CiPolicy, Policy
from bot.lifecycle.states import Frozen, HoldCause, Via
from runner.contract import Feedback


class Human(BaseEvent):
    """Something that a person said; whether they may has been judged."""

    by: Person
    via: Via
    comment_id: int | None = None
    """The comment that said it, for an answer beside it."""
    thread: int | None = None
    """The number of the issue or pull request where it was said; None: not in words."""


class PlanRequested(Human):
    """The agent label was set, or ``/plan`` said, by a person with triage."""

    type: Literal["plan_requested"] = "plan_requested"
    repo: Repo
    issue_number: int
    issue: IssueSnapshot
    policy: Policy
    part: Part | None = None
    """Where a plan was split: the plan that is already written."""
    pauses: tuple[HoldCause, ...] = ()
    """What keeps new work from being begun here at this moment."""


class Counted(Human):
    """Something that more than one person may have to say before it counts."""

    approvers: Approvers = Approvers()
    """What the policy asks for now."""
    owns: tuple[str, ...] = ()
    """Names in CODEOWNERS that the person stands for, of those below."""
    owned: tuple[Owned, ...] = ()
    """Who owns the files, where the policy asks for their owners."""
    fallen: tuple[int, ...] = ()
    """Numbers of people who said so before and whose word no longer stands."""


class Approved(Counted):
    """A person who may said yes. What was read at that moment comes along; the gate it meets is the state's."""

    type: Literal["approved"] = "approved"
    on_comment: int | None = None
    """The comment that a reaction stands on; None for a command."""
    plan_sha256: str | None = None
    """Hash of the current plan comment as just read; None where it is gone."""
    branch_head: str | None = None
    """The plan branch's commit as just read; None where it is gone."""
    reaction_id: int | None = None


class Rejected(Human):
    """A person who may said no."""

    type: Literal["rejected"] = "rejected"
    reason: str = ""
    on_comment: int | None = None


class _Rewrite(Human):
    """A person has the plan written anew, with these words and with what people said beside it."""

    text: str = ""
    remarks: tuple[Feedback, ...] = ()
    """Remarks on the current revision's lines and answers to its questions, by people who may make them."""
    heard: tuple[str, ...] = ()
    """The comments that they come from, by kind and number."""
    speakers: tuple[Person, ...] = ()
    """Who wrote those."""


class UpdateRequested(_Rewrite):
    """``/update``: rewrite the plan with these words."""

    type: Literal["update_requested"] = "update_requested"
    issue: IssueSnapshot | None = None
    """The issue as it read when this was said, taken in with the update."""


class ExpandRequested(_Rewrite):
    """``/expand``: the same plan in more detail."""

    type: Literal["expand_requested"] = "expand_requested"


class SplitRequested(_Rewrite):
    """``/split``: cut the plan into several."""

    type: Literal["split_requested"] = "split_requested"


class Answer(Frozen):
    """What somebody says to one of the plan's questions."""

    number: int
    text: str


class Answered(Human):
    """``/answer``, or a comment that answers what the plan asks."""

    type: Literal["answered"] = "answered"
    answers: tuple[Answer, ...]


class RetryRequested(Human):
    """``/retry``: do what failed again."""

    type: Literal["retry_requested"] = "retry_requested"
    text: str = ""
    ci: CiPolicy | None = None
    """What the policy now asks of other Apps' checks: a mistake in it may be why they never came."""


class ReviseRequested(Human):
    """``/revise``: go on with the work under decision, by these words and by those beside its lines."""

    type: Literal["revise_requested"] = "revise_requested"
    text: str = ""
    remarks: tuple[Feedback, ...] = ()
    heard: tuple[str, ...] = ()
    """Which comments the remarks are made of."""
    branch_head: str | None = None
    """Where the pull request's branch is, as just read, where one is open."""


class FixRequested(Human):
    """``/fix``: mend the checks that fail on the pull request."""

    type: Literal["fix_requested"] = "fix_requested"
    text: str = ""
    remarks: tuple[Feedback, ...] = ()
    """The failing checks, each with its log."""
    heard: tuple[str, ...] = ()
    """Nothing: logs are fetched anew each time."""
    branch_head: str | None = None


class RecommendationsAccepted(Human):
    """``/accept``: make issues of what the agent recommended, by number."""

    type: Literal["recommendations_accepted"] = "recommendations_accepted"
    numbers: tuple[int, ...]


class LessonsAdopted(Human):
    """``/remember``: keep what a rejected plan learned, by number."""

    type: Literal["lessons_adopted"] = "lessons_adopted"
    numbers: tuple[int, ...]


class CancelRequested(Human):
    """``/cancel``: stop and end."""

    type: Literal["cancel_requested"] = "cancel_requested"


class ReopenRequested(Human):
    """``/reopen``: undo a rejection or a cancellation; approval is asked anew."""

    type: Literal["reopen_requested"] = "reopen_requested"
    pauses: tuple[HoldCause, ...] = ()
    """What keeps new work from being begun here at this moment."""


class CostsRequested(Human):
    """What the repository's plans cost in a month was asked for."""

    type: Literal["costs_requested"] = "costs_requested"
    repo: Repo
    month: float
    """When it began."""


class StatusRequested(Human):
    """``/status``: say where the plan is."""

    type: Literal["status_requested"] = "status_requested"


class Shelved(Human):
    """Put in the icebox."""

    type: Literal["shelved"] = "shelved"


class Thawed(Human):
    """Taken out of the icebox."""

    type: Literal["thawed"] = "thawed"


class AgentChosen(Counted):
    """``/agent``: who does the work of this plan; None: whom the policy says."""

    type: Literal["agent_chosen"] = "agent_chosen"
    agent: AgentChoice | None


class BudgetChosen(Counted):
    """``/budget``: what this plan may spend; None: what the policy says."""

    type: Literal["budget_chosen"] = "budget_chosen"
    budget: BudgetChoice | None


class PriorityChosen(Human):
    """``/priority``: which plans it starts before."""

    type: Literal["priority_chosen"] = "priority_chosen"
    priority: PlanPriority


class DependsChosen(Human):
    """``/depends``: the issues whose plans have to be merged before this one starts, all of them."""

    type: Literal["depends_chosen"] = "depends_chosen"
    depends_on: tuple[int, ...]


class StartRequested(Human):
    """``/start``: don't wait for plans that may touch the same files."""

    type: Literal["start_requested"] = "start_requested"
