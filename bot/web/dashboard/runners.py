"""``/runners``: what runs now and where, which runners have reported lately, and the jobs that are over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import request, url_for

from bot.store import browse
from bot.store.browse_jobs import JobFilters
from bot.web.dashboard.frame import visit
from runner.contract import Outcome

if TYPE_CHECKING:
    from flask import Blueprint, Response

    from bot.web.dashboard.frame import House

OPEN_SHOWN = 25
"""Jobs under way that the page shows, the latest; where there are more, it says so."""
ROWS = 25
"""Jobs that are over on a page."""


def add_to(pages: Blueprint, house: House) -> None:
    """Add the page."""

    @pages.get("/runners")
    def runners() -> Response:
        seen = visit().chosen()
        now = house.catalogue.jobs(seen, JobFilters(open=True), limit=OPEN_SHOWN)
        chosen = request.args.get("runner") or None
        over = house.catalogue.jobs(seen, JobFilters(open=False, runner=chosen), request.args.get("cursor"), ROWS)
        with house.store.read() as tx:
            titles = browse.briefs(tx, seen, {each.plan for each in (*now.items, *over.items)})
        repository = request.args.get("repository") or None
        further: dict[str, Any] = {"repository": repository, "runner": chosen, "cursor": over.next}
        return house.render(
            "runners.html",
            now_running=now.items,
            more_running=now.next is not None,
            over=over.items,
            on=url_for("dashboard.runners", **further) if over.next else "",
            runners=house.catalogue.runners(seen),
            titles=titles,
            chosen=chosen,
            repository=repository,
            fine={outcome for outcome in Outcome if outcome.is_success},
        )
