"""What a period cost and what came of it, as people read it: for an issue, and for a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.reckoning import STAGES
from bot.lifecycle.states import Gate
from bot.lifecycle.wording import limits
from bot.lifecycle.wording.engine import fill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.lifecycle.allowance import Day
    from bot.lifecycle.amounts import Tally
    from bot.lifecycle.figures import Figures
    from bot.lifecycle.plan import Person
    from bot.lifecycle.policy import Policy


def costs_comment(found: Figures, policy: Policy, *, to: Person | None = None, day: Day | None = None) -> str:
    """Return the figures of a repository as a comment; ``day`` where its limit is to be told of.

    To the person who asked, or to nobody, as each week's summary.
    """
    parts = {"unit": found.by_unit, "agent": found.by_agent, "model": found.by_model}
    return fill(
        "costs",
        found=found,
        policy=policy,
        to=to,
        day=day,
        gates=[(Gate.PLAN, found.at_plan_gate), (Gate.DIFF, found.at_diff_gate)],
        stages=list(zip(STAGES, found.stages, (None, *found.pass_rates), strict=True)),
        parts=[(kind, _dearest(tallies), len(tallies)) for kind, tallies in parts.items() if tallies],
    )


def costs_message(found: Figures, repository: str) -> str:
    """Return the figures of a repository as a few lines of Slack's markup."""
    return fill("costs_message", found=found, repository=repository)


def _dearest(tallies: Mapping[str, Tally]) -> list[tuple[str, Tally]]:
    """Return those that cost most, as many as are told of."""
    return sorted(tallies.items(), key=lambda each: (-(each[1].usd.value or 0), each[0]))[: limits.KINDS]
