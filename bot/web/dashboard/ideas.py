"""``/ideas``: what may become work: drafts that wait for people, plans in the icebox, what agents recommend."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flask import request, url_for

from bot.lifecycle.offers import takes_ideas
from bot.lifecycle.states import State
from bot.store.browse import PlanFilters
from bot.web.dashboard.frame import visit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Blueprint, Response

    from bot.web.dashboard.frame import House
    from bot.wire import PlanSummary

SHOWN = 10
"""Drafts, and plans in the icebox, that the page shows; a link leads to all."""
ROWS = 20
"""Plans with recommendations on a page."""


class Shelf(NamedTuple):
    """Plans of one state, and where all of them are."""

    plans: Sequence[PlanSummary]
    on: str


def add_to(pages: Blueprint, house: House) -> None:
    """Add the page."""

    @pages.get("/ideas")
    def ideas() -> Response:
        who, seen = visit(), visit().chosen()
        found = house.catalogue.by_state(seen, (State.DRAFT, State.ICEBOX), SHOWN + 1)
        page = house.catalogue.plans(seen, PlanFilters(ideas=True), request.args.get("cursor"), ROWS)
        repository = request.args.get("repository", "")
        mine = who.permissions
        takes = {each.uid for each in page.items if takes_ideas(each.state, each.held, mine[each.repository.id])}
        return house.render(
            "ideas.html",
            drafts=_shelf(found[State.DRAFT], State.DRAFT, repository),
            icebox=_shelf(found[State.ICEBOX], State.ICEBOX, repository),
            recommended=page.items,
            on=url_for("dashboard.ideas", repository=repository or None, cursor=page.next) if page.next else "",
            takes=takes,
            repository=repository,
        )


def _shelf(plans: Sequence[PlanSummary], state: State, repository: str) -> Shelf:
    more = len(plans) > SHOWN
    return Shelf(plans[:SHOWN], url_for("dashboard.queue", state=state, repository=repository or None) if more else "")
