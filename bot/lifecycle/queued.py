"""What the queue told a plan last, and a person through it."""

from __future__ import annotations

from bot.lifecycle.states import Frozen, Limit


class Queued(Frozen):
    """The part of a plan that says why it does not start yet."""

    waits_for: tuple[str, ...] = ()
    """What the queue names: issue numbers or paths, for the status line."""
    in_vain: tuple[str, ...] = ()
    """Those of ``waits_for`` that have ended unmerged: the wait goes on until a person says otherwise."""
    place: int | None = None
    """Its place in the queue, counted from 1, where it is one of the first."""
    limit: Limit | None = None
    """Whose slots are taken, where it waits for one."""
