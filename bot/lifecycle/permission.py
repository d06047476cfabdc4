"""GitHub's roles, and the kinds of things that people do to a plan."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Permission(IntEnum):
    """GitHub's built-in roles in order; a custom role counts as the built-in one below it."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5


class Action(StrEnum):
    """Kinds of things people do; the policy says what each needs."""

    ASK = "ask"
    REQUEST_PLAN = "request_plan"
    STEER = "steer"
    ANSWER = "answer"
    """Answer the plan's questions; the author of the issue may, whatever their permission."""
    DECIDE = "decide"
    SEE_COSTS = "see_costs"
    """See what the whole repository spends."""
