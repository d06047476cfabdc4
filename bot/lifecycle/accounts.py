"""The figures of a period at every level, each repository, each organisation, all together, and as they went."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from bot.lifecycle.figures import Figures, figures_of
from bot.lifecycle.happened import Happened
from bot.lifecycle.periods import WEEK
from bot.lifecycle.reckoning import Reckoning
from bot.lifecycle.states import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.lifecycle.histories import History


ALL = "all repositories"
"""What all together are called in a table of names; nobody's name on GitHub has a blank."""


class Accounts(Frozen):
    """Figures by level; names as GitHub writes them, in their order."""

    total: Figures
    organisations: dict[str, Figures]
    """By the owner of the repositories."""
    repositories: dict[str, Figures]
    """By ``owner/name``."""
    step: float
    """:data:`~.periods.DAY` or :data:`~.periods.WEEK`."""
    steps: tuple[Happened, ...]
    """What happened in each day of the period, or in each week."""
    weeks: tuple[Happened, ...]

    @property
    def named(self) -> dict[str, Figures]:
        """Every level in one table, all together first."""
        return {ALL: self.total, **self.organisations, **self.repositories}


def accounts(histories: Iterable[tuple[str, History]], since: float, until: float, step: float = WEEK) -> Accounts:
    """Return the accounts of a period, of histories with their repository's ``owner/name``."""

    def none() -> Reckoning:
        return Reckoning(since, until, step)

    repositories: dict[str, Reckoning] = defaultdict(none)
    for name, history in histories:
        repositories[name].take(history)
    owners: dict[str, Reckoning] = defaultdict(none)
    total = none()
    for name, found in repositories.items():
        owners[name.partition("/")[0]].include(found)
        total.include(found)
    return Accounts(
        total=figures_of(total),
        organisations={name: figures_of(owners[name]) for name in sorted(owners)},
        repositories={name: figures_of(repositories[name]) for name in sorted(repositories)},
        step=step,
        steps=total.trend(step),
        weeks=total.trend(WEEK),
    )
