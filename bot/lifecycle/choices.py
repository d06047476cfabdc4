"""What a person chooses for one plan, over the policy: the agent, the budget, the place in the queue.

The words behind ``/agent``, ``/budget`` and ``/priority`` are read here. Each can be taken back with ``default``.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

from bot.lifecycle import periods
from bot.lifecycle.policy_values import MOST_ATTEMPTS, MOST_MINUTES, MOST_TOKENS, MOST_USD
from bot.lifecycle.states import Frozen
from runner.terms import AgentSpec, Budget, Effort, Tier

if TYPE_CHECKING:
    from bot.lifecycle.policy import Policy
    from runner.results import Unit

BACK = "default"
"""The word that takes a choice back."""
LONGEST_MODEL = 200
"""Characters of a model's name."""
_MODEL = re.compile(r"[A-Za-z0-9][\w.:/@+\[\]-]*", re.ASCII)
"""A model's name: it stands in command lines, where a dash begins an option, and in a policy's own command."""


class PlanPriority(StrEnum):
    """Which of two approved plans starts first; among equals the one that was approved first."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class NotUnderstoodError(ValueError):
    """The words behind a command mean nothing; the message says what would."""


class AgentChoice(Frozen):
    """Who does the work of a plan, in place of the policy's agent of every unit."""

    name: str
    model: str | None = None
    tier: Tier | None = None
    effort: Effort | None = None


class BudgetChoice(Frozen):
    """Limits of a plan; what is None stays as the policy has it."""

    usd: Decimal | None = None
    tokens: int | None = None
    minutes: float | None = None
    attempts: int | None = None


class Choices(Frozen):
    """All that was chosen for one plan."""

    agent: AgentChoice | None = None
    budget: BudgetChoice | None = None
    priority: PlanPriority = PlanPriority.NORMAL
    depends_on: tuple[int, ...] = ()
    """Issues of this repository whose plans have to be merged before this one starts, in ascending order."""
    past_overlap: bool = False
    """The next start does not wait for plans that may touch the same files."""

    def agents(self, policy: Policy) -> dict[Unit, AgentSpec]:
        """Return who carries out each unit."""
        if self.agent is None:
            return policy.agents
        own = policy.own_agents.get(self.agent.name, AgentSpec(name=self.agent.name))
        chosen = own.model_copy(update=self.agent.model_dump())
        return dict.fromkeys(policy.agents, chosen)

    def limits(self, policy: Policy) -> Budget:
        """Return what the plan may spend."""
        chosen = self.budget.model_dump(exclude_none=True) if self.budget else {}
        return policy.budget.model_copy(update=chosen)


def read_agent(words: str, policy: Policy) -> AgentChoice | None:
    """Return the choice that ``NAME [MODEL | TIER] [EFFORT]`` is, None for the way back; raise NotUnderstoodError."""
    name, *rest = words.split() or [""]
    if name.casefold() == BACK and not rest:
        return None
    known = policy.known_agents
    if name.casefold() not in known:
        raise NotUnderstoodError(f"The agents here are {', '.join(known)}; write `/agent {known[0]}`.")
    effort = Effort(rest.pop().casefold()) if rest and rest[-1].casefold() in set(Effort) else None
    model = rest.pop() if rest else None
    if rest or (model is not None and (len(model) > LONGEST_MODEL or not _MODEL.fullmatch(model))):
        raise NotUnderstoodError("Write the agent, then a model or a tier, then an effort: `/agent codex deep high`.")
    if model is not None and model.casefold() in set(Tier):
        return AgentChoice(name=name.casefold(), tier=Tier(model.casefold()), effort=effort)
    return AgentChoice(name=name.casefold(), model=model, effort=effort)


def agent_command(choice: AgentChoice | None) -> str:
    """Return the command that chooses this agent, without its slash, in one of the ways to write it."""
    words = (choice.name, choice.tier or choice.model, choice.effort) if choice else (BACK,)
    return " ".join(("agent", *filter(None, words)))


def budget_command(choice: BudgetChoice | None) -> str:
    """Return the command that chooses these limits, without its slash, in one of the ways to write it."""
    if choice is None:
        return f"budget {BACK}"
    limits = {"usd": choice.usd, "m": choice.minutes, "tokens": choice.tokens, "attempts": choice.attempts}
    words = (f"{_plain(value)}{unit}" for unit, value in limits.items() if value is not None)
    return " ".join(("budget", *words))


def _plain(value: Decimal | float) -> str:
    return f"{Decimal(str(value)).normalize():f}"


_LIMIT = re.compile(r"\$?(?P<number>[0-9]{1,11}(?:\.[0-9]{1,4})?)(?P<unit>usd|\$|m|min|h|tokens?|attempts?)?")


def read_budget(words: str) -> BudgetChoice | None:
    """Return the limits that ``8usd 90m`` and the like are, None for the way back; raise NotUnderstoodError."""
    text = words.strip().casefold()
    if text == BACK:
        return None
    found: dict[str, Decimal] = {}
    for part in re.sub(r"(?<=[0-9]) +(?=[a-z])", "", text).replace(",", " ").split():
        name, value = _limit(part)
        if name in found:
            raise NotUnderstoodError(f"The limit of {name} is there twice.")
        found[name] = value
    if not found:
        raise NotUnderstoodError("Write limits behind it, such as `/budget 8usd 90m`, or `/budget default`.")
    whole = {name: int(value) for name, value in found.items() if name in {"tokens", "attempts"}}
    return BudgetChoice.model_validate({**found, **whole})


def _limit(part: str) -> tuple[str, Decimal]:
    match = _LIMIT.fullmatch(part)
    unit = (match["unit"] or ("usd" if part.startswith("$") else "")) if match else ""
    if match is None or not unit or (part.startswith("$") and unit not in {"usd", "$"}):
        raise NotUnderstoodError(
            f"`{part[:40]}` is no limit. Limits are `8usd`, `90m`, `2h`, `500000tokens`, `4attempts`."
        )
    number = Decimal(match["number"])
    name, scale, most = _UNITS[unit.rstrip("s")]
    value = number * scale
    if not 0 < value <= most or (name in {"tokens", "attempts"} and value != int(value)):
        raise NotUnderstoodError(f"`{part[:40]}` is out of range: at most {most:,} {name}, and more than nothing.")
    return name, value


_UNITS: dict[str, tuple[str, int, int]] = {
    "usd": ("usd", 1, MOST_USD),
    "$": ("usd", 1, MOST_USD),
    "m": ("minutes", 1, MOST_MINUTES),
    "min": ("minutes", 1, MOST_MINUTES),
    "h": ("minutes", 60, MOST_MINUTES),
    "token": ("tokens", 1, MOST_TOKENS),
    "attempt": ("attempts", 1, MOST_ATTEMPTS),
}
"""Name of the limit, its scale and its greatest value, by the unit as people write it."""


MOST_NUMBERS = 20
"""Recommendations or lessons that one command names."""
_NUMBERS = re.compile(r"#?[0-9]{1,3}(?:(?: *,? *and +| *[,;&] *| +)#?[0-9]{1,3})*")


def read_numbers(words: str, things: str, verb: str) -> tuple[int, ...]:
    """Return the numbers of things that ``1, 3 and 4`` names, each once; raise NotUnderstoodError."""
    text = words.strip().casefold()
    found = tuple(dict.fromkeys(int(number) for number in re.findall("[0-9]+", text)))
    if not _NUMBERS.fullmatch(text) or len(found) > MOST_NUMBERS:
        raise NotUnderstoodError(f"Write the numbers of {things} behind it, such as `/{verb} 1 3`.")
    return found


def read_month(text: str, now: float) -> float:
    """Return the start of the month behind ``/costs``, of this one where none is named; raises NotUnderstoodError."""
    try:
        return periods.month(text.strip() or periods.month_name(now), now)[0]
    except periods.PeriodError as fault:
        raise NotUnderstoodError(f"{fault} `/costs` alone tells of this month.") from None


def read_priority(words: str) -> PlanPriority:
    """Return the priority named; raise NotUnderstoodError."""
    word = words.strip().casefold()
    if word == BACK:
        return PlanPriority.NORMAL
    if word not in set(PlanPriority):
        raise NotUnderstoodError("Write `/priority high`, `/priority normal` or `/priority low`.")
    return PlanPriority(word)
