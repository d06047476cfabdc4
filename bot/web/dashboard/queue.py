"""``/``: the queue, a section for each state in which something is still to come; or one state, page by page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import redirect, request, url_for

from bot.lifecycle.states import ENDED, State
from bot.store.browse import PlanFilters
from bot.web.dashboard.frame import visit
from bot.web.dashboard.shown import STATES
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Blueprint, Response
    from werkzeug.wrappers import Response as Answer

    from bot.web.dashboard.frame import House
    from bot.wire import PlanSummary

UNDER_WAY = tuple(state for state in STATES if state not in ENDED | {State.ICEBOX})
"""States whose plans stand in the queue, in the order of their sections."""
SHOWN = 8
"""Plans of each state on the queue's page; a link leads to all."""
ROWS = 30
"""Plans on a page of one state."""
SAYS = {
    State.DRAFT: "The plan is being written, or waits for its decision",
    State.APPROVED: "In the order in which they start",
    State.EXECUTING: "An agent is at work",
    State.VERIFYING: "The checks are running",
    State.IN_REVIEW: "Every blocking check has passed; people decide on the diff",
    State.PR_OPEN: "The diff is approved",
    State.FAILED: "A person says how it goes on",
}
"""What a section is about."""


@dataclass(frozen=True, slots=True)
class Section:
    """Plans of one state, and where there are more of them."""

    state: State
    says: str
    plans: Sequence[PlanSummary]
    placed: bool = False
    on: str = ""
    more: str = ""


def add_to(pages: Blueprint, house: House) -> None:
    """Add the page."""

    @pages.get("/")
    def queue() -> Response:
        state, seen = _state(), visit().chosen()
        counts = house.catalogue.overview(seen).states
        known = {each.state: each.plans for each in counts}
        sections = _one(house, seen, state) if state else _all(house, seen, known)
        return house.render(
            "queue.html",
            state=state,
            counts=counts,
            under_way=f"{sum(known[each] for each in UNDER_WAY):,}",
            sections=sections,
            nothing_yet=not any(known.values()),
            repository=request.args.get("repository", ""),
            here=_here,
        )

    @pages.get("/repositories/<owner>/<name>")
    def repository(owner: str, name: str) -> Answer:
        return redirect(url_for("dashboard.queue", repository=f"{owner}/{name}"))


def _state() -> State | None:
    wanted = request.args.get("state", "")
    try:
        return State(wanted) if wanted else None
    except ValueError as error:
        raise Refused(404, "Plans know no such state. The queue names those that there are.") from error


def _here(**changes: Any) -> str:
    """Return the address of the queue in the repository that is looked at."""
    kept: dict[str, Any] = {"repository": request.args["repository"]} if request.args.get("repository") else {}
    return url_for("dashboard.queue", **kept, **changes)


def _all(house: House, seen: set[int], known: dict[State, int]) -> list[Section]:
    """Return the sections that have plans."""
    wanted = [state for state in UNDER_WAY if known[state]]
    found = house.catalogue.by_state(seen, wanted, SHOWN)
    return [
        Section(
            state,
            SAYS[state],
            found[state],
            placed=state is State.APPROVED,
            on=_here(state=state) if known[state] > SHOWN else "",
            more=f"All {known[state]:,}",
        )
        for state in wanted
        if found[state]
    ]


def _one(house: House, seen: set[int], state: State) -> list[Section]:
    page = house.catalogue.plans(seen, PlanFilters(states=(state,)), request.args.get("cursor"), ROWS)
    on = _here(state=state, cursor=page.next) if page.next else ""
    return [Section(state, SAYS.get(state, ""), page.items, on=on, more="Older")] if page.items else []
