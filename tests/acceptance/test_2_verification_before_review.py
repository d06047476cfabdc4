"""What share of agent changes reaches a reviewer with failing blocking checks? (it is 0, and it is counted)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.store import plans
from runner.contract import GateStatus, Outcome
from runner.terms import GateSpec
from tests.runner.lab import Lab
from tests.scenarios.runner import FAILED, PASSED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.village import Village

TIMED_OUT = PASSED.model_copy(update={"status": GateStatus.TIMED_OUT})


def share(village: Village) -> tuple[int, int]:
    """How many of the changes that were shown to reviewers had a failing blocking check, as the bot stores them."""
    with village.parts.store.read() as tx:
        reviews = [plan.review for plan in plans.recent(tx) if plan.review is not None and plan.review.comment_id]
    return sum(any(gate.holds_back for gate in review.gates) for review in reviews), len(reviews)


def test_no_change_with_a_failing_blocking_check_reaches_a_reviewer(village: Village) -> None:
    """Three changes: one is good, one honestly failed, one whose runner claims it verified though it is not."""
    good = village.reviewed()
    honest, lying = village.executing(), village.executing()
    runner = village.runner(honest)
    runner.claim()
    runner.end(Outcome.GATES_FAILED, gates=(FAILED,), sentence="tests failed")
    for gates in ((FAILED,), (TIMED_OUT,)):
        liar = village.runner(lying)
        liar.claim()
        head = village.workshop.commit(liar.spec.base, {"shop/basket.py": "broken"})
        liar.progress("publish")
        assert liar.try_push_token(head, gates).status_code == 403
        liar.end(Outcome.VERIFIED, **liar.verified(head, gates=gates))
        assert village.stands(lying) == "failed, waits for person"
        village.alice.comment(lying, "/retry")
        village.settle()
    assert share(village) == (0, 1)
    assert village.branches() == [village.plan(good).branch]
    for issue in (honest, lying):
        assert not any(name.startswith("review") for name in village.thread(issue))


def test_a_plan_that_could_not_be_verified_can_not_be_approved(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    runner.end(Outcome.GATES_FAILED, gates=(FAILED,), sentence="tests failed")
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.pulls() == []
    assert village.thread(issue)[-1] == "not_now"


def test_a_real_runner_reports_no_change_that_fails_its_checks(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    try:
        failing = (GateSpec(name="as before", run="grep -q 'a - b' calc.py"),)
        report = lab.run("good", gates=failing)
        assert report.outcome is Outcome.GATES_FAILED, report
        assert lab.bot.pushes == []
        assert lab.tip("plan/7") is None
    finally:
        lab.close()
