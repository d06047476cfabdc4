"""Jobs whose runner is gone, at moments at which the bot knows little of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.worker.schedule import JOB_LOOK, RUN_GRACE
from tests.faults.patience import BOT, STEP, until
from tests.scenarios.conftest import country, source, sqlite_template, sqlite_url, village

if TYPE_CHECKING:
    from tests.scenarios.village import Village

__all__ = ["country", "source", "sqlite_template", "sqlite_url", "village"]


def test_a_run_that_ends_before_its_number_is_known_is_missed(village: Village) -> None:
    """The dispatch's answer is lost, nothing can be looked up, and meanwhile the runner gives up."""
    faults = village.github.faults
    faults.add("error_after", actor=BOT, method="POST", path=r"/dispatches$")
    blind = faults.add("error", actor=BOT, method="GET", path=r"/runs$", count=None)
    issue = village.labelled()
    job = village.plan(issue).job
    assert job is not None
    village.finish_run(village.attempt(job.id), "failure")
    village.settle()
    blind.count = 0
    village.later(STEP)
    village.later(RUN_GRACE)
    until(village, issue, "draft, waits for runner")
    assert village.runs() == [f"twogate {village.plan(issue).uid}-{number}" for number in (1, 2)]
    village.runner(issue).write_plan()
    assert village.stands(issue) == "draft, waits for plan_decision"


def test_the_token_of_a_lost_job_ends_with_it(village: Village) -> None:
    """The runner is killed with the right to push in its hands."""
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    runner.progress("publish")
    token = runner.try_push_token("a" * 40).json()["token"]
    alive = village.github.hub.tokens
    village.finish_run(runner.attempt, "failure")
    village.settle()
    village.periodically("tokens")
    assert token in alive
    village.later(RUN_GRACE)
    village.github.faults.add("error", method="DELETE", path="/installation/token$")
    village.periodically("tokens")
    assert token in alive
    village.periodically("tokens", JOB_LOOK)
    assert token not in alive
    assert village.notes(issue, "job_lost") != []
