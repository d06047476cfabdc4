"""Every effect dies once between what it did and the record of it, as by ``kill -9``: nothing is done twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bot import serving
from bot.worker.schedule import LEASE
from tests.scenarios.test_after_pr import ISSUE
from tests.scenarios.test_recommendations import recommended, writer
from tests.scenarios.test_rework import SAID as ASKED
from tests.scenarios.test_rework import shown
from tests.scenarios.test_split import FIRST, SAID, SECOND, asked, issues_of_bot, parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.store.deliveries import NewDelivery
    from bot.store.outbox import Claimed
    from tests.scenarios.village import Village


class Killed(BaseException):
    """No handler of the bot's catches it: what was claimed stays claimed until its lease has run out."""


class Mortal:
    """A worker that dies in the middle of each effect, and the next process after it."""

    def __init__(self, village: Village) -> None:
        self._village, self.deaths = village, 0
        self._worker: Any = None
        self._start()

    def _start(self) -> None:
        self._worker = serving.worker(self._village.parts)
        claims = self._worker._claims
        deliver = claims._deliver

        def dying(claimed: Claimed) -> Iterable[NewDelivery]:
            follow_ups: Iterable[NewDelivery] = deliver(claimed)
            if claimed.first:
                raise Killed
            return follow_ups

        claims._deliver = dying

    def run_until_idle(self) -> int:
        """Work, and where that kills the process, start another one that finds the lease run out."""
        try:
            return int(self._worker.run_until_idle())
        except Killed:
            self.deaths += 1
            self._village.clock.ahead += LEASE + 1
            self._start()
            return 1

    def run_periodic(self, name: str) -> bool:
        """Run one of the periodic tasks."""
        return bool(self._worker.run_periodic(name))


@pytest.fixture
def mortal(village: Village) -> Mortal:
    """The village with such a worker."""
    village.worker = mortal = Mortal(village)
    return mortal


def test_a_split(village: Village, mortal: Mortal) -> None:
    issue = asked(village)
    village.runner(issue).split_plan(FIRST, SECOND)
    assert village.stands(issue) == "split"
    assert [i["number"] for i in issues_of_bot(village)] == parts(village, issue)
    assert [village.thread(number) for number in parts(village, issue)] == [["status", "plan 1"]] * 2
    assert village.thread(issue) == [*SAID, "split_done"]
    assert mortal.deaths > 10


def test_further_work_that_is_approved_and_merged(village: Village, mortal: Mortal) -> None:
    issue, pull, _ = shown(village)
    village.alice.comment(pull, "/approve")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.branches() == ["plan/1"]
    village.alice.merge(pull)
    village.settle()
    assert village.stands(issue) == "merged"
    assert (village.thread(issue), village.thread(pull)) == (ISSUE, [*ASKED, "review 3", "alice: /approve"])
    assert (village.branches(), len(village.pulls())) == ([], 1)
    assert mortal.deaths > 20


def test_a_recommendation_that_is_accepted(village: Village, mortal: Mortal) -> None:
    issue, pull = recommended(village)
    village.alice.comment(pull, "/accept 1")
    village.settle()
    writer(village, issue).write_issue()
    assert village.thread(pull) == ["alice: /accept 1", "accepted_made"]
    assert len(issues_of_bot(village)) == 2, "the pull request and one issue"
    assert mortal.deaths > 15
