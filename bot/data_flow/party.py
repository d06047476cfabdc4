"""A party: somebody, or some machine, that sees something of a run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Seen(StrEnum):
    """What can be seen of a run."""

    CODE = "code"
    """Files of the repository."""
    PROMPTS = "prompts"
    """What agents are told, whole."""
    ISSUES = "issues"
    """Titles, texts and comments of issues."""
    PLANS = "plans"
    DIFFS = "diffs"
    """What a plan changes; beside it the ends of what checks printed."""
    FIGURES = "figures"
    """Names, numbers, times, dollars: no text and no code."""


@dataclass(frozen=True, slots=True)
class Party:
    """One row of the list."""

    who: str
    sees: tuple[Seen, ...]
    credentials: str
    """By whose right it gets there."""
    source: str
    """Where the fact comes from: a setting, a key of a policy, a file, a report."""
    addresses: tuple[str, ...] = ()
    """Hosts, with a port where one is named; none where no configuration names any."""


def shown(party: Party) -> str:
    """Return who it is, with the addresses."""
    return f"{party.who} ({', '.join(party.addresses)})" if party.addresses else party.who


ALL = tuple(Seen)
WORK = (Seen.ISSUES, Seen.PLANS, Seen.DIFFS, Seen.FIGURES)
"""What the bot knows of a run: everything but the code as a whole, and the prompts."""
