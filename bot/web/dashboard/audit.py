"""``/audit``: the journal of every plan, the newest line first, by filters that stand in the address."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from flask import request, url_for

from bot.lifecycle.transitions import EVENTS
from bot.store.browse_journal import JournalFilters
from bot.web.dashboard.frame import visit
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from flask import Blueprint, Response

    from bot.web.dashboard.frame import House

ROWS = 50
"""Lines on a page."""
KINDS = sorted(str(event.model_fields["type"].default) for event in EVENTS)  # type: ignore[attr-defined]
"""What a line can tell of, to choose from."""
FIELDS = ("repository", "plan", "person", "event", "since", "until")


def add_to(pages: Blueprint, house: House) -> None:
    """Add the page."""

    @pages.get("/audit")
    def audit() -> Response:
        asked = {name: request.args.get(name, "").strip() for name in FIELDS}
        wanted = JournalFilters(
            plan=asked["plan"] or None,
            event=asked["event"] or None,
            actor=asked["person"].removeprefix("@") or None,
            since=_day(asked["since"]),
            until=_day(asked["until"], after=1),
        )
        page = house.catalogue.journal(visit().chosen(), wanted, request.args.get("cursor"), ROWS)
        kept: dict[str, Any] = {name: value for name, value in asked.items() if value}
        return house.render(
            "audit.html",
            lines=page.items,
            asked=asked,
            filtered=bool(kept),
            kinds=KINDS,
            on=url_for("dashboard.audit", **kept, cursor=page.next) if page.next else "",
        )


def _day(text: str, after: int = 0) -> float | None:
    """Return when a day begins in UTC, or one some days after it. Raises ``Refused`` 400 for what is no day."""
    if not text:
        return None
    try:
        start = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        return (start + timedelta(days=after)).timestamp()
    except (ValueError, OverflowError) as error:
        raise Refused(400, "Write a day as 2026-11-30: year, month, day.") from error
