"""Where a plan can be, what it can wait for, and what can hold it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of the lifecycle's data: immutable, complete, and readable from a stored row of an older release."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class State(StrEnum):
    """Where a plan is. Shown as the label ``plan: <state>`` on the issue."""

    DRAFT = "draft"
    APPROVED = "approved"
    EXECUTING = "executing"
    VERIFYING = "verifying"
    IN_REVIEW = "in_review"
    PR_OPEN = "pr_open"
    MERGED = "merged"
    FAILED = "failed"
    ICEBOX = "icebox"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    SPLIT = "split"


ENDED = frozenset({State.MERGED, State.REJECTED, State.CANCELLED, State.SPLIT})
"""A plan here occupies no slot and is asked nothing; rejected and cancelled ones can be reopened."""

UNDER_WAY = frozenset({State.EXECUTING, State.VERIFYING})
"""A plan here occupies a slot of its repository."""


class WaitingOn(StrEnum):
    """What has to happen next. Shown beside the state, since a state alone does not say whose turn it is."""

    RUNNER = "runner"
    PLAN_DECISION = "plan_decision"
    ANSWERS = "answers"
    SLOT = "slot"
    DEPENDENCY = "dependency"
    OVERLAP = "overlap"
    REVIEWERS = "reviewers"
    """Room in review: as many diffs wait for a decision as the policy allows."""
    CI = "ci"
    DIFF_DECISION = "diff_decision"
    MERGE = "merge"
    PERSON = "person"
    BOT = "bot"
    """A step of the bot's own, seconds long: posting, reading back, opening the pull request."""


class HoldCause(StrEnum):
    """Why a plan stands still in its state. What lifts each is said by the wording."""

    LABEL_REMOVED = "label_removed"
    ISSUE_CLOSED = "issue_closed"
    ISSUE_TRANSFERRED = "issue_transferred"
    ISSUE_LOCKED = "issue_locked"
    REPOSITORY_ARCHIVED = "repository_archived"
    APP_SUSPENDED = "app_suspended"
    PAUSED = "paused"
    POLICY_PAUSED = "policy_paused"
    LABEL_PAUSED = "label_paused"


PAUSES = frozenset({HoldCause.POLICY_PAUSED, HoldCause.LABEL_PAUSED})
"""Causes that keep new work from being begun and nothing else: what runs ends, and people still decide."""


PAUSE_LABEL = "twogate: paused"
"""The label on an issue that pauses its plan."""


def is_pause_label(name: str) -> bool:
    """Whether a label of this name pauses a plan. GitHub's labels know no case, nor does this."""
    return name.strip().casefold() == PAUSE_LABEL


class Limit(StrEnum):
    """Whose slots are taken where a plan waits for one."""

    REPOSITORY = "repository"
    HOST = "host"
    """Of all repositories that this bot serves."""


class Gate(StrEnum):
    """The two human decisions."""

    PLAN = "plan"
    DIFF = "diff"


class Via(StrEnum):
    """How a person said it."""

    LABEL = "label"
    COMMAND = "command"
    REACTION = "reaction"
    BUTTON = "button"
    REPLY = "reply"
    """A comment without a command that answers what was asked; nobody waits for an answer to it."""
    DASHBOARD = "dashboard"
    API = "api"
    MCP = "mcp"
    """By the API as well, as an agent's tool."""
    HOOK = "hook"
    """No person: a report came from outside, and the policy asks for plans of such."""


DIRECT = frozenset({Via.DASHBOARD, Via.API, Via.MCP})
"""Ways of saying something to the bot itself: what is answered is told there, and not on the issue."""
SILENT = frozenset({Via.REACTION, Via.REPLY})
"""Ways of saying something that are no words to the bot: what comes to nothing is not answered."""
