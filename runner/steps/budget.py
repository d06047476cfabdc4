"""What a job may spend: dollars and tokens, looked at before each run of an agent.

A run that goes over its budget is noticed when it has ended, except where the agent is told its limit and keeps it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.contract import Usage
    from runner.terms import Budget


def rest(budget: Budget, usage: Sequence[Usage]) -> Budget:
    """Return ``budget`` less the dollars spent; raises :class:`~runner.watch.Ending` where nothing is left."""
    usd, tokens = spent(usage)
    cure = "Raise it in the policy file and say /retry."
    if budget.tokens is not None and tokens >= budget.tokens:
        raise Ending(Outcome.OVER_BUDGET, f"The budget is spent: {tokens:,} of {budget.tokens:,} tokens. {cure}")
    if budget.usd is None:
        return budget
    if usd >= budget.usd:
        raise Ending(Outcome.OVER_BUDGET, f"The budget is spent: ${usd:.2f} of ${budget.usd:.2f}. {cure}")
    return budget.model_copy(update={"usd": budget.usd - usd})


def spent(usage: Sequence[Usage]) -> tuple[Decimal, int]:
    """Return what is known of the dollars and tokens spent: at least so much."""
    tokens = ((row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens) for row in usage)
    usd = sum((row.usd for row in usage if row.usd is not None), Decimal(0))
    return usd, sum(count for row in tokens for count in row if count)
