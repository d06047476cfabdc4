"""What a period cost and what came of it. ``docs/reference/costs.md`` has what each figure means."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from bot.wire.base import Money, Total, Wire


class ShareView(Wire):
    """A part of a whole, both counted."""

    part: int
    of: int
    share: str | None
    """0 to 1; null where there is no whole."""


class TallyView(Money):
    """What runs of agents came to together."""

    runs: int
    seconds: Total
    tokens: dict[str, Total]
    """By kind: ``input``, ``output``, ``cache_read``, ``cache_write``, ``reasoning``."""


class FiguresView(Wire):
    """A period in figures."""

    since: AwareDatetime
    until: AwareDatetime
    spent_usd: Money
    cost_per_merged_usd: Money | None
    """All that was spent, divided by the pull requests that were merged; null where none was."""
    denial_rate: ShareView
    """Pull requests closed unmerged, of those that were decided."""
    asked: int
    merged: int
    denied: int
    agents: TallyView
    check_seconds: Total
    people_seconds: float | None
    actions_minutes: Total
    actions_usd: Money
    rejected_at_plan_gate: ShareView
    rejected_at_diff_gate: ShareView
    failing_diffs_shown: ShareView
    """Diffs that reached a person with a blocking check that failed; the product promises none."""
    median_wait_seconds: dict[str, float | None]
    """By gate: until a person decided."""
    rejected_usd: Money
    abandoned_usd: Money
    came_to_nothing_usd: Money
    stages: dict[str, int]
    """Of the plans asked for in the period, how many have come so far."""
    pass_rates: dict[str, ShareView]
    attempts_a_plan: str | None
    oldest_wait_seconds: dict[str, float | None]
    agent_seconds_a_plan: float | None
    bottleneck: str
    """In a sentence: whether plans wait longer for people or for agents."""
    forecast_of_the_month_usd: Money | None
    by: dict[str, dict[str, TallyView]]
    """Runs of agents by ``unit``, ``agent``, ``model`` and ``source`` of their dollars."""


class DayView(Wire):
    """A repository's day, whose spending on agents its policy limits; jobs under way count by their last heartbeats."""

    since: AwareDatetime
    """When the day began: midnight UTC."""
    limit_usd: str
    spent_usd: Money
    left_usd: str
    at_most: bool
    """Something was spent of which nobody knows how much, so that less may be left."""


class CostsReport(Wire):
    """The figures of a period: of all repositories that the person sees, and at each level below."""

    total: FiguresView
    organisations: dict[str, FiguresView]
    repositories: dict[str, FiguresView]
    today: dict[str, DayView] = Field(default_factory=dict)
    """By repository, of those with a limit: what is left of today, whatever the period is."""
