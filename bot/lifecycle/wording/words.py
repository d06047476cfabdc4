"""Short words for states, causes and outcomes, where a template needs them by name."""

from __future__ import annotations

from bot.lifecycle.ci import CiState
from bot.lifecycle.hooks import Tracker
from bot.lifecycle.states import HoldCause, State, Via, WaitingOn
from runner.contract import GateStatus, Outcome, UsdSource
from runner.terms import Network

STATES = {
    State.DRAFT: "draft",
    State.APPROVED: "approved",
    State.EXECUTING: "executing",
    State.VERIFYING: "verifying",
    State.IN_REVIEW: "in review",
    State.PR_OPEN: "pull request open",
    State.MERGED: "merged",
    State.FAILED: "failed",
    State.ICEBOX: "in the icebox",
    State.REJECTED: "rejected",
    State.CANCELLED: "cancelled",
    State.SPLIT: "split",
}

WAITS = {
    WaitingOn.RUNNER: "the runner",
    WaitingOn.PLAN_DECISION: "a decision on the plan",
    WaitingOn.ANSWERS: "answers",
    WaitingOn.SLOT: "a free slot",
    WaitingOn.DEPENDENCY: "what it builds on",
    WaitingOn.OVERLAP: "a plan that touches the same files",
    WaitingOn.REVIEWERS: "room in review",
    WaitingOn.CI: "checks on GitHub",
    WaitingOn.DIFF_DECISION: "a decision on the diff",
    WaitingOn.MERGE: "the merge",
    WaitingOn.PERSON: "a person",
    WaitingOn.BOT: "a step of the bot",
}

WAYS = {**dict.fromkeys(Via, ""), Via.DASHBOARD: " on the dashboard", Via.API: " by the API", Via.MCP: " over MCP"}
"""How somebody decided who did not do so here, behind their name."""

HOLDS = {
    HoldCause.LABEL_REMOVED: "The label that asked for the plan was removed. Setting it again lifts this.",
    HoldCause.ISSUE_CLOSED: "The issue is closed. Reopening it lifts this.",
    HoldCause.ISSUE_TRANSFERRED: (
        "The issue was moved to another repository, where a plan can be asked for. This one ends soon."
    ),
    HoldCause.ISSUE_LOCKED: "The issue is locked. Unlocking it lifts this.",
    HoldCause.REPOSITORY_ARCHIVED: "The repository is archived. Unarchiving it lifts this.",
    HoldCause.APP_SUSPENDED: "The App is suspended here. Unsuspending its installation lifts this.",
    HoldCause.PAUSED: "Twogate is paused here by its operator, who can resume it.",
    HoldCause.POLICY_PAUSED: (
        "The repository's policy pauses Twogate. Taking `pause: true` out of `.github/twogate.yml` on the default "
        "branch lifts this."
    ),
    HoldCause.LABEL_PAUSED: "The issue carries the label `twogate: paused`. Removing it lifts this.",
}
"""What happened, and what lifts it."""

OUTCOMES = {
    Outcome.PLANNED: "The plan could not be taken on.",
    Outcome.VERIFIED: "The verified work could not be taken on.",
    Outcome.ISSUE_WRITTEN: "The issue could not be opened.",
    Outcome.BASE_CLEAN: "The pull request could not be opened.",
    Outcome.BASE_CONFLICT: "The diff conflicts with the default branch.",
    Outcome.BLOCKED: "The agent could not go on.",
    Outcome.NOTHING_CHANGED: "The agent finished without changing anything.",
    Outcome.GATES_FAILED: "The work did not pass its checks.",
    Outcome.AGENT_FAILED: "The agent's program failed.",
    Outcome.INVALID_RESULT: "The agent's answer could not be read.",
    Outcome.TIMED_OUT: "The time was up.",
    Outcome.OVER_BUDGET: "The budget is spent.",
    Outcome.NO_PROGRESS: "The agent went on without getting anywhere and was stopped.",
    Outcome.OUTPUT_FLOOD: "The agent printed without end and was stopped.",
    Outcome.TREE_CHANGED: "The agent changed files where it was only to read.",
    Outcome.WRONG_BRANCH: "The agent's work is not on the plan's branch.",
    Outcome.WORKSPACE_DAMAGED: "The agent damaged its working copy.",
    Outcome.BRANCH_MOVED: "The plan's branch is not where it was left.",
    Outcome.SANDBOX_UNAVAILABLE: "The agent could not be confined, so it was not started.",
    Outcome.STOPPED: "The work was stopped.",
    Outcome.RUNNER_FAILED: "A step failed that is not the agent's.",
    Outcome.LOST: "The runner fell silent, twice in a row.",
}
"""What a failure was, in one sentence; the runner's own sentence follows it."""

RESULTS = {
    GateStatus.PASSED: "passed",
    GateStatus.FAILED: "failed",
    GateStatus.TIMED_OUT: "timed out",
    GateStatus.FAILED_BEFORE: "failed before the change too",
    GateStatus.FLAKY: "flaky: failed, then passed",
    GateStatus.SKIPPED: "skipped",
}

CI_STATES = {
    CiState.PENDING: "not ended yet",
    CiState.PASSED: "passed",
    CiState.FAILED: "failed",
    CiState.NEUTRAL: "ended without a judgement",
}
"""How a check of another App stands; GitHub's own word follows it where that says more."""

SEVERITIES = {"high": "serious", "medium": "worth a look", "low": "minor"}
"""How an inspector judges what it found."""

NETWORKS = {
    Network.ON: "open to the agent",
    Network.MODEL: "the agent reached its model alone",
    Network.OFF: "closed to the agent",
}
"""What the agent could reach."""

TRACKERS = {Tracker.JAM: "jam.dev", Tracker.ISSUE: "another tracker"}
"""Where reports from outside come from."""

SOURCES = {
    UsdSource.METERED: "metered, {prices}",
    UsdSource.REPORTED: "reported by the agent",
    UsdSource.PRICES: "tokens told by the agent, {prices}",
    UsdSource.SUBSCRIPTION: "covered by subscription",
    UsdSource.UNKNOWN: "unknown",
}
"""Where dollars come from; ``{prices}`` is the price table with its date."""
