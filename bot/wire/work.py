"""What was done: jobs, gates, the work under review, runners, costs, the journal."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime

from bot.lifecycle.states import State
from bot.wire.base import Money, PersonView, RepositoryView, Total, Wire


class CheckView(Wire):
    """A check of the repository, as the plan names it."""

    name: str
    run: str
    blocking: bool


class GateView(Wire):
    """How one check ended on the work."""

    name: str
    status: str
    blocking: bool
    holds_back: bool
    """It keeps the work from a reviewer."""
    seconds: float
    summary: str
    first_error: str
    tail: str
    """The end of its output. Untrusted text."""


class GatesView(Wire):
    """How all checks ended on a commit."""

    head: str
    items: list[GateView]


class FileView(Wire):
    """One changed path."""

    path: str
    status: str
    added: int | None
    """Lines; null for a binary file."""
    removed: int | None


class FindingView(Wire):
    """Something that an inspecting agent noticed."""

    severity: str
    path: str
    line: int | None
    text: str


class CiView(Wire):
    """A check of another App on the commit."""

    name: str
    state: str
    url: str
    app: str


class ReviewView(Wire):
    """Verified work, as it is shown for decision. Its patch is asked for apart."""

    number: int
    head: str
    base: str
    since: str | None
    """The commit from which the change is shown, where an open pull request had something before."""
    files: list[FileView]
    files_total: int
    gates: list[GateView]
    ci: list[CiView]
    notes: list[str]
    attempts: int
    summary: str
    """What the agent says it did. Untrusted text."""
    deviations: list[str]
    inspection: str
    findings: list[FindingView]
    posted_at: AwareDatetime | None
    url: str
    compare_url: str


class DiffView(Wire):
    """The patch under review. Untrusted text."""

    head: str
    base: str
    patch: str
    cut: bool
    """The patch is longer than what is kept of it; the commit is what counts."""
    files: list[FileView]


class FailureView(Wire):
    """Why a plan stands in ``failed``."""

    outcome: str
    sentence: str
    gates: list[GateView]
    output_tail: str
    """The end of what the agent printed. Untrusted text."""
    notes: list[str]


class JobView(Wire):
    """One run of the runner."""

    id: str
    plan: str
    repository: RepositoryView
    kind: str
    unit: str | None
    phase: str | None
    """Where it is, or was last."""
    open: bool
    outcome: str | None
    """How it ended; null while nothing was reported."""
    sentence: str
    attempts: int | None
    runner: str | None
    run_id: int | None
    run_url: str | None
    opened_at: AwareDatetime
    dispatched_at: AwareDatetime | None
    claimed_at: AwareDatetime | None
    heartbeat_at: AwareDatetime | None
    deadline_at: AwareDatetime | None
    """When the bot looks after it next, while it is open."""
    reported_at: AwareDatetime | None
    closed_at: AwareDatetime | None
    stop_reason: str | None
    gates: list[GateView]
    """How its checks ended. Of many, what they printed is told with the job by itself alone."""
    output_tail: str
    """The end of what its agent printed. Untrusted text."""
    salvaged: str | None
    """The commit under which the runner keeps work that was not pushed."""


class JobDetail(JobView):
    """A job with what it left behind."""

    notes: list[str]
    """What a reviewer should know of it. Untrusted text."""


class RunnerView(Wire):
    """A runner of a repository, as its reports of the last thirty days show it."""

    repository: RepositoryView
    name: str
    jobs: int
    last_at: AwareDatetime


class CostRowView(Wire):
    """What a unit's runs in one job used."""

    job: str
    kind: str
    outcome: str
    unit: str
    agent: str
    model: str | None
    attempts: int
    input_tokens: Total
    output_tokens: Total
    cache_read_tokens: Total
    cache_write_tokens: Total
    cost: Money
    sources: list[str]
    """Where the dollars come from: ``metered``, ``reported``, ``prices``, ``unknown``."""
    price_dates: list[str]
    seconds: Total


class CostsView(Wire):
    """What a plan has cost so far, every revision and retry included."""

    total: Money
    """Of agents and of GitHub Actions."""
    seconds: Total
    actions_minutes: Total | None = None
    actions_usd: Money | None = None
    """Of the total, that of the minutes of GitHub Actions, which are in no row."""
    rejected_share: str | None
    """The part of the dollars, 0 to 1, that went into attempts which came to nothing."""
    rows: list[CostRowView]


class JournalLine(Wire):
    """One line of the audit log."""

    id: int
    at: AwareDatetime
    repository: RepositoryView
    issue: int | None
    plan: str | None
    version: int | None
    event: str
    actor: PersonView | None
    source: str
    """The delivery, reaction or effect that told it."""
    from_state: State | None
    to_state: State | None
    note: str
    details: dict[str, Any]
    """Whole hashes and numbers."""
