"""``twogate admin costs``: what a period cost and what came of it, a table a repository and the figures of all."""

from __future__ import annotations

import json
import time
from calendar import monthrange
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bot.errors import UserError
from bot.lifecycle.costs import dollars, minutes, percent
from bot.lifecycle.figures import STAGES, Figures, figures
from bot.lifecycle.states import Gate
from bot.store import histories, plans
from bot.tables import age, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.store.engine import Store

DAY = 86_400.0
DAYS = 30
"""Days that the figures are over where nobody says otherwise."""
HEAD = ("REPOSITORY", "SPENT", "MERGED", "COST PER MERGED PR", "DENIED", "CAME TO NOTHING")


def period(month: str | None, days: int, now: float) -> tuple[float, float]:
    """Return the start and the end of a month (``2026-11``, UTC), or of the last ``days`` days.

    Raises :class:`UserError` for what is no month.
    """
    if month is None:
        return now - days * DAY, now
    try:
        start = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    except ValueError:
        raise UserError(f"{month!r} is no month: write it as 2026-11.") from None
    return start.timestamp(), start.timestamp() + monthrange(start.year, start.month)[1] * DAY


def told(store: Store, since: float, until: float, *, as_json: bool) -> Iterator[str]:
    """Yield the lines to print."""
    with store.read() as tx:
        known = histories.in_period(tx, since)
        names = {number: f"{repo.owner}/{repo.name}" for number, repo in plans.repositories(tx).items()}
    rows = {names[number]: figures(found, since, until) for number, found in known.items()}
    whole = figures([history for found in known.values() for history in found], since, until)
    if as_json:
        yield json.dumps(
            {"total": _json(whole), "repositories": {name: _json(f) for name, f in rows.items()}}, indent=1
        )
        return
    yield f"From {_date(since)} to {_date(until)} (UTC)"
    yield ""
    total = [("all", whole)] if len(rows) != 1 else []
    yield from table(HEAD, *(_row(name, found) for name, found in [*sorted(rows.items()), *total]))
    yield ""
    yield from _details(whole)


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
        yield f"Attempts a plan: {found.attempts:.1f}; agents worked for {minutes(found.agent_seconds)} minutes"
    yield found.bottleneck
    for title, parts in (("unit", found.by_unit), ("agent", found.by_agent), ("model", found.by_model)):
        if parts:
            yield f"By {title}: {', '.join(f'{name} {dollars(amount)}' for name, amount in parts.items())}"


def _date(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))


def _json(found: Figures) -> dict[str, Any]:
    """Return the figures with what is computed from them; dollars as text, so that no cent is lost."""
    each = found.cost_per_merged
    return {
        **found.model_dump(mode="json"),
        "cost_per_merged": each.model_dump(mode="json") if each else None,
        "denial_rate": found.denial_rate.model_dump(mode="json"),
    }
