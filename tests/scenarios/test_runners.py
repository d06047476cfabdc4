"""Runs that may not be what they say, and runners that vanish: what they get, and what people see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric import rsa

from runner.contract import Outcome
from tests.scenarios.runner import FAILED, PASSED, Runner, plan_document

if TYPE_CHECKING:
    import httpx

    from tests.scenarios.village import Village


def refusal(answer: httpx.Response, status: int) -> str:
    """The sentence of a refusal."""
    assert answer.status_code == status, answer.text
    sentence: str = answer.json()["error"]
    return sentence


def test_a_rerun_of_the_workflow_gets_no_job(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    village.finish_run(runner.attempt, "failure")
    again = f"/actions/runs/{runner.attempt.run.id}/rerun"
    village.settle()
    village.alice.call("POST", again)
    rerun = village.runner(issue)
    assert (rerun.attempt.number, rerun.job) == (2, runner.job)
    assert "This is a re-run" in refusal(rerun.try_claim(), 403)
    village.settle()
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]
    village.later(61)
    assert village.stands(issue) == "executing, waits for runner"
    assert "trying once more" in village.notes(issue, "job_lost")[0]
    assert village.runner(issue).job != runner.job


def test_an_identity_token_counts_once(village: Village) -> None:
    first, second = village.labelled(), village.labelled()
    runner, other = village.runner(first), village.runner(second)
    token = runner.token()
    assert runner.try_claim(token).status_code == 200
    village.settle()
    assert "claimed already" in refusal(runner.try_claim(token), 409)
    assert "Another run was dispatched" in refusal(other.try_claim(token), 403)
    assert village.stands(second) == "draft, waits for runner"


def test_a_token_used_for_the_claim_gives_no_right_to_push(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    token = runner.token()
    claimed = runner.try_claim(token)
    runner.key = claimed.json()["job_key"]
    village.settle()
    runner.progress("publish")
    rows = f'{{"sha": "{"a" * 40}", "gates": [{PASSED.model_dump_json()}]}}'
    answer = runner.ask("POST", f"jobs/{runner.job}/push-token", token, rows)
    assert "used before" in refusal(answer, 401)


OTHERS: list[tuple[dict[str, Any], int, str]] = [
    ({"aud": "https://another-bot.example"}, 401, "meant for https://another-bot.example"),
    ({"iss": "https://token.actions.example"}, 401, "is of https://token.actions.example"),
    ({"exp": 1_000_000_000, "nbf": 999_999_000, "iat": 999_999_000}, 401, "expired"),
    ({"run_id": "12345"}, 403, "Another run was dispatched"),
    ({"repository_id": "12345"}, 403, "another repository"),
    ({"event_name": "push"}, 403, "started by push"),
    ({"ref": "refs/heads/plan/1"}, 403, "refs/heads/plan/1"),
    ({"actor_id": "1"}, 403, "somebody else than the bot"),
    ({"run_attempt": "2"}, 403, "re-run"),
    ({"jti": None}, 401, "lacks a proper jti"),
]
"""What an identity token of something else says differently, and how it is refused."""


def test_a_token_of_something_else_gets_nothing(village: Village) -> None:
    issue = village.labelled()
    runner = village.runner(issue)
    for changes, status, words in OTHERS:
        assert words in refusal(runner.try_claim(runner.token(changes)), status)
    village.settle()
    assert village.stands(issue) == "draft, waits for runner"
    assert village.thread(issue) == ["status"]
    assert "No runner has taken the job yet." in village.text(issue, "status")
    runner.write_plan()
    assert village.stands(issue) == "draft, waits for plan_decision"


def test_a_forged_token_gets_nothing(village: Village) -> None:
    issue = village.labelled()
    runner = village.runner(issue)
    forged = runner.token(key=rsa.generate_private_key(public_exponent=65537, key_size=2048))
    assert "not valid" in refusal(runner.try_claim(forged), 401)
    assert "not valid" in refusal(runner.try_claim("nonsense"), 401)
    assert village.stands(issue) == "draft, waits for runner"


def test_a_second_claim_is_refused(village: Village) -> None:
    issue = village.labelled()
    runner = village.runner(issue)
    runner.claim()
    assert "claimed already" in refusal(runner.try_claim(), 409)
    runner.end(Outcome.PLANNED, plan=plan_document())
    assert village.thread(issue) == ["status", "plan 1"]


def test_the_right_to_push_is_given_once_for_one_commit_and_taken_back(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    head = village.workshop.commit(runner.spec.base, {"shop/basket.py": "rounded"})
    assert "phase" in refusal(runner.try_push_token(head), 409)
    runner.progress("publish")
    assert "checks failed: tests" in refusal(runner.try_push_token(head, (FAILED,)), 403)
    assert "did not run: tests" in refusal(runner.try_push_token(head, ()), 403)
    assert village.branches() == []
    answer = runner.try_push_token(head)
    assert answer.status_code == 200
    other = village.workshop.commit(runner.spec.base, {"shop/basket.py": "something else"})
    assert "for another commit" in refusal(runner.try_push_token(other), 409)
    again = runner.try_push_token(head)
    assert not runner.push(head, answer.json()["token"]), "the first ended when it was asked for again"
    assert runner.push(head, again.json()["token"])
    runner.end(Outcome.VERIFIED, **runner.verified(head))
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert not runner.push(village.workshop.commit(head, {"shop/late.py": "x"}), again.json()["token"])


def test_another_commit_than_the_verified_one_is_not_shown(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    head = runner.publish({"shop/basket.py": "rounded"})
    other = village.push("bob", {"shop/basket.py": "mine"}, "plan/1")
    runner.end(Outcome.VERIFIED, **runner.verified(head))
    assert village.stands(issue) == "failed, waits for person"
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "branch_moved"]
    assert other[:12] in village.text(issue, "branch_moved")
    assert village.repo.checks == {}


def test_a_run_that_ends_without_a_report_is_tried_once_more_then_fails(village: Village) -> None:
    issue = village.executing()
    first = village.runner(issue)
    first.claim()
    village.finish_run(first.attempt, "failure")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"
    village.later(61)
    second = village.runner(issue)
    assert second.job != first.job
    second.claim()
    village.finish_run(second.attempt, "failure")
    village.settle()
    village.later(61)
    assert village.stands(issue) == "failed, waits for person"
    assert "fell silent, twice in a row" in village.text(issue, "status")
    assert "/retry" in village.text(issue, "status")
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]
    village.alice.comment(issue, "/retry")
    village.settle()
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    assert village.stands(issue) == "in_review, waits for diff_decision"


def test_a_report_just_after_the_end_of_the_run_still_counts(village: Village) -> None:
    issue = village.labelled()
    runner = village.runner(issue)
    runner.claim()
    village.finish_run(runner.attempt)
    village.settle()
    village.later(30)
    runner.report(Outcome.PLANNED, plan=plan_document())
    village.later(61)
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert len(village.runs()) == 1


def test_a_runner_that_falls_silent_is_replaced(village: Village) -> None:
    issue = village.labelled()
    runner = village.runner(issue)
    runner.claim()
    village.periodically("jobs", after=200)
    assert village.runner(issue).job == runner.job
    village.periodically("jobs", after=200)
    assert village.runner(issue).job != runner.job
    assert "fell silent" not in village.text(issue, "status")
    assert runner.progress("agent") is not None
    assert village.run_state(runner.job) == "completed cancelled"


def test_nobody_takes_the_job(village: Village) -> None:
    issue = village.labelled()
    village.periodically("jobs", after=1_900)
    village.periodically("jobs", after=1_900)
    assert village.stands(issue) == "failed, waits for person"
    assert "No runner took the job in time" in village.text(issue, "status")


def test_a_late_report_changes_nothing_but_its_cost_counts(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    head = runner.publish({"shop/basket.py": "rounded"})
    village.alice.comment(issue, "/update Use Decimal.")
    village.settle()
    assert village.stands(issue) == "draft, waits for runner"
    before = village.text(issue, "status")
    assert "$0.0125" in before
    assert runner.progress("report") == "The plan no longer waits for this job."
    runner.report(Outcome.VERIFIED, **runner.verified(head))
    village.settle()
    assert village.stands(issue) == "draft, waits for runner"
    assert village.notes(issue, "work_verified") == [f"late: job {runner.job} is not open"]
    village.runner(issue).write_plan(title="Use Decimal")
    assert "$0.0375" in village.text(issue, "status")
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "alice: /update Use Decimal.", "plan 2"]


def test_a_second_report_changes_nothing(village: Village) -> None:
    issue = village.labelled()
    runner = village.runner(issue)
    runner.claim()
    runner.report(Outcome.PLANNED, plan=plan_document(), usage=runner.usage())
    runner.report(Outcome.AGENT_FAILED, usage=runner.usage())
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert "$0.0125" in village.text(issue, "status")


def test_a_claim_before_the_run_is_known_is_asked_to_come_back(village: Village) -> None:
    village.github.faults.add("error_after", method="POST", path="/dispatches$")
    issue = village.opened()
    village.tom.label(issue, "agent")
    village.settle()
    runner = village.runner(issue)
    answer = runner.try_claim()
    assert "not known yet" in refusal(answer, 409)
    assert answer.headers["Retry-After"] == "2"
    village.later(10)
    assert village.runs() == [f"twogate {runner.job}"]
    runner.write_plan()
    assert village.stands(issue) == "draft, waits for plan_decision"


def test_a_key_opens_its_own_job_alone(village: Village) -> None:
    first, second = village.runner(village.labelled()), village.runner(village.labelled())
    first.claim()
    second.claim()
    stranger = Runner(village, second.job, second.attempt)
    stranger.key = first.key
    assert "not the job's key" in refusal(stranger.try_report(Outcome.PLANNED, plan=plan_document()), 401)
    assert village.thread(1) == ["status"]
