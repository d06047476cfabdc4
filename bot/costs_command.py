"""``twogate admin costs``: what a period cost and what came of it, a table a repository and the figures of all."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from bot.errors import UserError
from bot.lifecycle import periods
from bot.lifecycle.accounts import accounts
from bot.lifecycle.costs import dollars, minutes, percent
from bot.lifecycle.exports import plain_accounts
from bot.lifecycle.reckoning import STAGES
from bot.lifecycle.states import Gate
from bot.store import histories
from bot.tables import age, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.lifecycle.figures import Figures
    from bot.store.engine import Store

HEAD = ("REPOSITORY", "SPENT", "MERGED", "COST PER MERGED PR", "DENIED", "CAME TO NOTHING")


def period(month: str | None, days: int, now: float) -> tuple[float, float]:
    """Return the start and the end of a month (``2026-11``, UTC), or of the last ``days`` days.

    Raises :class:`UserError` for what is neither.
    """
    try:
        return periods.last_days(days, now) if month is None else periods.month(month, now)
    except periods.PeriodError as fault:
        raise UserError(str(fault)) from None


def told(store: Store, since: float, until: float, *, as_json: bool) -> Iterator[str]:
    """Yield the lines to print."""
    with store.read() as tx:
        found = accounts(histories.by_name(tx, since, until), since, until)
    if as_json:
        yield json.dumps(plain_accounts(found), indent=1)
        return
    yield f"From {_date(since)} to {_date(until)} (UTC)"
    yield ""
    total = [("all", found.total)] if len(found.repositories) != 1 else []
    yield from table(HEAD, *(_row(name, each) for name, each in [*found.repositories.items(), *total]))
    yield ""
    yield from _details(found.total)


def _row(name: str, found: Figures) -> tuple[str, ...]:
    each = found.cost_per_merged
    denied = found.denial_rate
    return (
        name,
        dollars(found.spend),
        str(found.merged),
        "-" if each is None else dollars(each),
        f"{denied.part} of {denied.whole}, {percent(denied.value)}" if denied.whole else "-",
        dollars(found.came_to_nothing),
    )


def _details(found: Figures) -> Iterator[str]:
    yield f"Plans: {', '.join(f'{n} {stage}' for stage, n in zip(STAGES, found.stages, strict=True))}"
    for gate, share in ((Gate.PLAN, found.at_plan_gate), (Gate.DIFF, found.at_diff_gate)):
        waited, oldest = found.waits[gate], found.oldest[gate]
        said = f"{share.part} of {share.whole} rejected" if share.whole else "nothing decided"
        median = f", decided after {age(waited)} (median)" if waited is not None else ""
        stands = f", the oldest waits for {age(oldest)}" if oldest is not None else ""
        yield f"At the {gate} gate: {said}{median}{stands}"
    shown = found.failing_shown
    yield f"Diffs shown with a failing blocking check: {shown.part} of {shown.whole}"
    if found.attempts is not None:
        yield f"Attempts a plan: {found.attempts:.1f}; agents worked for {minutes(found.agents.seconds)} minutes"
    yield found.bottleneck
    for title, parts in (("unit", found.by_unit), ("agent", found.by_agent), ("model", found.by_model)):
        if parts:
            yield f"By {title}: {', '.join(f'{name} {dollars(tally.usd)}' for name, tally in parts.items())}"


def _date(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))
