"""The figures of a period at every level: each repository, each organisation, all together."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from bot.lifecycle.figures import Figures, figures
from bot.lifecycle.states import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.lifecycle.histories import History


class Accounts(Frozen):
    """Figures by level; names as GitHub writes them, in their order."""

    total: Figures
    organisations: dict[str, Figures]
    """By the owner of the repositories."""
    repositories: dict[str, Figures]
    """By ``owner/name``."""


def accounts(histories: Mapping[str, Sequence[History]], since: float, until: float) -> Accounts:
    """Return the accounts of a period, of histories by their repository's ``owner/name``."""
    owners: dict[str, list[History]] = defaultdict(list)
    for name, found in histories.items():
        owners[name.partition("/")[0]] += found
    every = [history for found in histories.values() for history in found]
    total = figures(every, since, until)

    def each(named: Mapping[str, Sequence[History]]) -> dict[str, Figures]:
        alone = len(named) == 1  # what has all histories has the figures of all
        return {name: total if alone else figures(named[name], since, until) for name in sorted(named)}

    return Accounts(total=total, organisations=each(owners), repositories=each(histories))
