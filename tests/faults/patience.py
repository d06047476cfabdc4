"""Time that goes by in a village until trouble is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.scenarios.village import Village

BOT = r"twogate-demo\[bot\]"
STEP = 30.0
"""Seconds of the bot's clock between two looks at what became of the trouble."""
STEPS = 40
"""So much trouble has no end."""


def time_goes_by(village: Village) -> None:
    """Let retries fall due, lost deliveries be asked for again, and open plans be compared with GitHub."""
    village.later(STEP)
    for task in ("redeliver", "reconcile"):
        village.worker.run_periodic(task)
        village.settle()


def until(village: Village, issue: int, wanted: str) -> None:
    """Let time go by until the plan stands so; where it waits for a runner, until there is one."""
    village.settle()
    for _ in range(STEPS):
        plan = village.plan_or_none(issue)
        ready = plan is not None and (plan.job is None or plan.job.run_id is not None)
        if ready and village.stands(issue) == wanted:
            return
        time_goes_by(village)
    raise AssertionError(f"not {wanted}\n{village.known()}")
