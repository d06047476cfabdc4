"""What a job may spend, while it spends it: who may call, who waits, who is refused.

A call is let through only while what is spent, together with what the calls under way can cost at most, is below each
limit. The last call that was let through can go over by itself, and no other: parallel agents overshoot by one call at
most. A call whose usage stayed unknown counts with what it can have cost: a budget is no sieve for answers that are
broken off.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.meter.bounds import Bound
from runner.meter.refusal import Refusal, Stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.contract import Usage
    from runner.terms import Budget

WARN_AT = Decimal("0.8")
"""Share of a budget from which on the job warns, once."""
ADMISSION_SECONDS = 240.0
"""Seconds that a call waits for those under way where only what they could cost stands in its way; agents give a call
up after five minutes."""
WAIT_SECONDS = 0.5
"""Seconds after which a waiting call looks again, at the latest, whether its run still lasts."""
PAYMENT_REQUIRED, TOO_MANY = 402, 429
CURE = "Raise it in the policy file and say /retry."
ENDED = "The run has ended."
DAY = "What the repository may spend today"
TOMORROW = "Say /retry tomorrow (UTC), or raise budget.usd_per_day in the policy file."


@dataclass
class _Cap:
    """One limit: how much, how much of it is gone, and how both are worded."""

    name: str
    limit: Decimal
    cure: str
    dollars: bool
    spent: Decimal = Decimal(0)
    uncertain: Decimal = Decimal(0)
    """What calls of unknown usage can have cost beyond what was seen of it."""
    reserved: Decimal = Decimal(0)
    warned: bool = False

    @property
    def gone(self) -> Decimal:
        return self.spent + self.uncertain

    def figures(self) -> str:
        unsure = f", and up to {self._shown(self.uncertain)} by calls of unknown usage" if self.uncertain else ""
        unit = "" if self.dollars else " tokens"
        return f"{self._shown(self.spent)} of {self._shown(self.limit)}{unit}{unsure}"

    def sentence(self) -> str:
        return f"{self.name} is spent: {self.figures()}. {self.cure}"

    def _shown(self, amount: Decimal) -> str:
        return money(amount) if self.dollars else f"{int(amount):,}"


class Limits:
    """The limits of one job; usable from several threads."""

    def __init__(
        self, budget: Budget, warn: Callable[[str], None], today: Callable[[], Decimal | None] = lambda: None
    ) -> None:
        """``today`` tells what the job may spend in all as the repository's day stands now, None where nobody knows."""
        self._budget, self._warn, self._today = budget, warn, today
        self._changed = threading.Condition()
        self._plan = [] if budget.usd is None else [_Cap("The budget", budget.usd, CURE, dollars=True)]
        self._day = [] if budget.usd_today is None else [_Cap(DAY, budget.usd_today, TOMORROW, dollars=True)]
        tokens = budget.tokens
        self._tokens = [] if tokens is None else [_Cap("The budget", Decimal(tokens), CURE, dollars=False)]

    def spent(self) -> str | None:
        """Return the sentence that says which limit is reached, None where none is."""
        with self._changed:
            return next((cap.sentence() for cap in self._all if cap.gone >= cap.limit), None)

    def rest(self) -> Budget:
        """Return the budget less what is gone."""
        with self._changed:
            usd = [max(Decimal(0), cap.limit - cap.gone) for cap in self._usd]
            tokens = [max(0, int(cap.limit - cap.gone)) for cap in self._tokens]
        return self._budget.model_copy(
            update={"usd": min(usd, default=None), "tokens": min(tokens, default=None)},
        )

    def admit(self, worst: Bound, model: str | None, lasts: Callable[[], bool]) -> None:
        """Reserve what a call can cost; waits for calls under way, and raises :class:`Refusal` where it may not go."""
        if worst.usd is None and self._usd and not self._tokens:
            raise _unpriced(model)
        end = time.monotonic() + ADMISSION_SECONDS
        with self._changed:
            while not self._fits():
                if not lasts():
                    raise Refusal(TOO_MANY, ENDED)
                if time.monotonic() > end:
                    raise Refusal(TOO_MANY, "Calls under way may use up the budget. Try again.", retry_after=5)
                self._changed.wait(WAIT_SECONDS)
            self._move(worst, 1)

    def settle(self, worst: Bound, known: Bound, most: Bound | None = None) -> None:
        """Put what a call cost in the place of its reservation; ``most`` is what it can have cost, if unsure."""
        with self._changed:
            self._move(worst, -1)
            for cap, spent in self._with(known):
                cap.spent += spent
            for (cap, unsure), (_, spent) in zip(self._with(most or known), self._with(known), strict=True):
                cap.uncertain += max(Decimal(0), unsure - spent)
            self._changed.notify_all()
        self._warn_once()

    def charge(self, row: Usage) -> None:
        """Count a run that went past the meter."""
        self.settle(Bound(None, 0), Bound(row.usd, row.tokens))

    @property
    def _usd(self) -> list[_Cap]:
        """The limits in dollars, that of the day as the bot told it last."""
        today = self._today()
        for cap in self._day:
            cap.limit = cap.limit if today is None else today
        return [*self._plan, *self._day]

    @property
    def _all(self) -> list[_Cap]:
        return [*self._usd, *self._tokens]

    def _fits(self) -> bool:
        for cap in self._all:
            if cap.gone >= cap.limit:
                raise Refusal(PAYMENT_REQUIRED, cap.sentence(), stop=Stop(Outcome.OVER_BUDGET, cap.sentence()))
        return all(cap.gone + cap.reserved < cap.limit for cap in self._all)

    def _move(self, worst: Bound, sign: int) -> None:
        for cap, most in self._with(worst):
            cap.reserved += sign * most

    def _with(self, bound: Bound) -> list[tuple[_Cap, Decimal]]:
        """Return each cap with a sum in its own unit."""
        dollars = [(cap, bound.usd or Decimal(0)) for cap in self._usd]
        return [*dollars, *((cap, Decimal(bound.tokens)) for cap in self._tokens)]

    def _warn_once(self) -> None:
        for cap in self._all:
            with self._changed:
                due = not cap.warned and cap.limit > 0 and cap.gone >= WARN_AT * cap.limit
                cap.warned |= due
            if due:
                self._warn(f"{WARN_AT:.0%} is gone. {cap.name}: {cap.figures()}.")


def _unpriced(model: str | None) -> Refusal:
    sentence = (
        f"Model {model or 'without a name'} has no price, so the budget in dollars can't be kept. Set budget.tokens, "
        "or name its price under prices: in the policy file."
    )
    return Refusal(PAYMENT_REQUIRED, sentence, stop=Stop(Outcome.OVER_BUDGET, sentence))


def money(amount: Decimal) -> str:
    """Return an amount of dollars as a sentence shows it; small ones with more places."""
    return f"${amount:.2f}" if not amount or amount >= Decimal("0.1") else f"${amount:.4f}"
