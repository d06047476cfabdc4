"""What a terminal shows of plans: what has to be read before a decision, and why there is none to take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.lifecycle.states import State
from bot.remote import shown
from bot.store.engine import open_store
from bot.web.catalogue import Catalogue
from bot.web.views import Views
from tests.web import company

if TYPE_CHECKING:
    from bot import wire

NOW = 1_795_000_000.0
PLANS = 104
"""So many that each end is among them."""


@pytest.fixture
def plans(sqlite_url: str) -> dict[State, wire.PlanDetail]:
    """A plan of each state in which a company has one."""
    store = open_store(sqlite_url, now=lambda: NOW)
    made = company.found(store, PLANS, NOW)
    catalogue = Catalogue(store, Views("https://github.example"))
    found = {plan.state: catalogue.plan({repo.id for repo in company.REPOS}, plan.uid) for plan in made}
    store.dispose()
    return found


def test_the_work_under_review_is_shown_whether_somebody_decides_or_only_looks(
    plans: dict[State, wire.PlanDetail],
) -> None:
    plan = plans[State.IN_REVIEW]
    assert plan.review is not None
    assert plan.up is not None
    work = list(shown.work(plan.review))
    assert [line for line in work if line.startswith(f"Work, review 1: {plan.review.head[:12]}")]
    assert plan.review.compare_url in work[-1]
    looked, decided = "\n".join(shown.plan(plan, NOW)), "\n".join(shown.covered(plan, plan.up))
    assert "\n".join(work) in looked
    assert "\n".join(work) in decided
    assert decided.endswith(f"An approval covers exactly the commit {plan.up.saw[:12]}.")


def test_a_plan_without_work_shows_none(plans: dict[State, wire.PlanDetail]) -> None:
    assert not [line for line in shown.plan(plans[State.APPROVED], NOW) if line.startswith("Work")]
