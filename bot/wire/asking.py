"""What can be asked in an address: filters, where a page begins, which period."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, Field, StringConstraints, WithJsonSchema

from bot.lifecycle.periods import DAYS, MOST_DAYS
from bot.lifecycle.states import State, WaitingOn
from bot.wire.base import MOST_ROWS, USUAL_ROWS, Asked, Uid

LONGEST_WORD = 100
"""Characters of a name that is looked for."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._-]{1,100}$")]
"""``owner/name`` of a repository."""
Month = Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$"})]
"""A month; :func:`bot.lifecycle.periods.month` says what is none."""
Word = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_WORD, pattern=r"^[^\x00-\x1f]*$")]


class Nothing(Asked):
    """Nothing can be asked for."""


class Where(Asked):
    """Which repository."""

    repository: Name | None = None
    """``owner/name``; without it all that the person sees."""


class PageWanted(Asked):
    """Which page."""

    cursor: Annotated[str, StringConstraints(max_length=200)] | None = None
    """``next`` of the page before."""
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = USUAL_ROWS
    """Rows of the page."""


class Paged(PageWanted, Where):
    """Which page, and of which repository."""


class PlansWanted(Paged):
    """Which plans."""

    state: tuple[State, ...] = ()
    """In any of these states."""
    waiting_on: WaitingOn | None = None
    held: bool | None = None
    issue: Annotated[int, Field(ge=1, le=2**53)] | None = None
    mine: bool = False
    """Only those that the person asked for."""
    ideas: bool = False
    """Only those with recommendations that nobody has accepted."""


class JobsWanted(Paged):
    """Which jobs."""

    open: bool | None = None
    runner: Word | None = None
    plan: Uid | None = None


class LinesWanted(Paged):
    """Which lines of the audit log."""

    plan: Uid | None = None
    event: Word | None = None
    actor: Word | None = None
    """A login, in any case."""
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None


class PeriodWanted(Where):
    """Which period: a month, else the last days."""

    month: Month | None = None
    """A calendar month in UTC, ``2026-11``."""
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = DAYS
