"""Plans, in lists and whole."""

from __future__ import annotations

from pydantic import AwareDatetime

from bot.lifecycle.choices import PlanPriority
from bot.lifecycle.states import Gate, HoldCause, State, Via, WaitingOn
from bot.wire.base import Money, PersonView, RepositoryView, Wire
from bot.wire.work import CheckView, CostsView, FailureView, JobView, ReviewView


class IdeaView(Wire):
    """Something worth doing that an agent recommended, by its number for ``/accept``."""

    number: int
    title: str


class RecommendationView(IdeaView):
    """A recommendation whole, and what became of it."""

    reason: str
    paths: list[str]
    issue: int | None
    """The issue that it became."""
    being_written: bool


class LessonView(Wire):
    """What was learned on the way, by its number for ``/remember``."""

    number: int
    unit: str
    kind: str
    text: str
    paths: list[str]
    file: str
    """Where it lies in the plan's branch; empty while it waits."""


class PlanSummary(Wire):
    """A plan in a list."""

    uid: str
    repository: RepositoryView
    issue: int
    try_number: int
    title: str
    state: State
    waiting_on: WaitingOn | None
    reason: str
    """What it waits for, in words; empty where nothing is to be said."""
    since: AwareDatetime | None
    """When it came to this state, or began to wait for this."""
    held: list[HoldCause]
    """Every cause that makes it stand still."""
    requester: PersonView
    requested_at: AwareDatetime
    changed_at: AwareDatetime
    revision: int | None
    """The number of the plan's current text."""
    asked: Gate | None
    """The gate at which it waits for a decision."""
    asked_since: AwareDatetime | None
    questions: int
    """Questions to people that nobody has answered."""
    priority: PlanPriority
    place: int | None
    """Its place in the queue, counted from 1, where it is one of the first."""
    agent: str | None
    pull_request: int | None
    pull_request_url: str | None
    issue_url: str
    ideas: list[IdeaView]
    """What its agents recommended and nobody has accepted yet."""
    cost: Money


class ApprovalView(Wire):
    """An approval at a gate: by whom, how, and exactly what it covers."""

    gate: Gate
    by: PersonView
    via: Via
    at: AwareDatetime
    covers: str
    """Plan gate: the SHA-256 of the plan's text. Diff gate: the head commit."""
    content_sha256: str | None
    """Plan gate: what the text says, as it was stored then."""
    stands: bool
    """False while more approvals are needed than were given."""


class Up(Wire):
    """What is up for decision now."""

    gate: Gate
    saw: str
    """What an approval has to name, so that it covers what the person was shown."""
    since: AwareDatetime


class RevisionView(Wire):
    """One version of the written plan. Untrusted text."""

    number: int
    verdict: str
    title: str
    summary: str
    steps: list[str]
    files: list[str]
    weakens: list[str]
    tests: list[str]
    risks: list[str]
    questions: list[str]
    reason: str
    duplicate_of: int | None
    changes: list[str]
    gates: list[CheckView]
    """The checks that will hold the work back."""
    sha256: str | None
    posted_at: AwareDatetime | None
    url: str


class TryView(Wire):
    """One of an issue's plans."""

    uid: str
    try_number: int
    state: State


class PlanDetail(PlanSummary):
    """A plan whole."""

    body: str
    """The issue as the plan was asked for with. Untrusted text."""
    issue_stale: bool
    """The issue was edited since."""
    label: str | None
    branch: str
    branch_head: str | None
    depends_on: list[int]
    overlaps: list[str]
    up: Up | None
    approvals: list[ApprovalView]
    revisions: list[RevisionView]
    review: ReviewView | None
    failure: FailureView | None
    recommendations: list[RecommendationView]
    lessons: list[LessonView]
    rejections: list[str]
    """Why people said no. Untrusted text."""
    jobs: list[JobView]
    """The oldest first; of more than a hundred the last."""
    costs: CostsView
    tries: list[TryView]
    """Every plan of the issue, the newest try first."""


class StateCount(Wire):
    """How many plans are in a state."""

    state: State
    plans: int


class Overview(Wire):
    """How many plans are where."""

    states: list[StateCount]
