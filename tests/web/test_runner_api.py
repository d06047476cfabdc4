"""What a runner gets and is refused, as it sees it: real requests, real identity tokens, a real database."""

from __future__ import annotations

import json
import sqlite3
import threading
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from bot.lifecycle.deadlines import JOB_OVERTIME, JOB_SILENCE
from bot.lifecycle.states import State, WaitingOn
from bot.store import jobs, plans, usage
from bot.store.events import EVENT
from bot.web.runner_pages import LARGEST_PROGRESS, LARGEST_REPORT
from runner.client import RefusedError
from runner.contract import Claim, GateStatus, JobKind, Outcome, Phase, Progress, PushTokenRequest, Report, Usage
from runner.results import Unit
from runner.terms import Budget, GateSpec
from tests.lifecycle.makers import document, work
from tests.web.lab import BASE, HEAD, RUN, Lab, gate, report

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

JOB_URL = "/runner/jobs/{}/{}"


def claim(lab: Lab, job: jobs.Job, **changes: Any) -> httpx.Response:
    return lab.post(JOB_URL.format(job.id, "claim"), lab.token(**changes))


def progress(lab: Lab, job: jobs.Job, key: str, phase: Phase, **fields: Any) -> httpx.Response:
    return lab.post(JOB_URL.format(job.id, "progress"), key, Progress(phase=phase, **fields).model_dump_json())


def push(lab: Lab, job: jobs.Job, *gates: Any, sha: str = HEAD, **changes: Any) -> httpx.Response:
    body = json.dumps({"sha": sha, "gates": [g.model_dump(mode="json") for g in gates or (gate(),)]})
    return lab.post(JOB_URL.format(job.id, "push-token"), lab.token(**changes), body)


def put(lab: Lab, job: jobs.Job, key: str | None, body: str | bytes) -> httpx.Response:
    return lab.ask("PUT", JOB_URL.format(job.id, "report"), key, body)


def refused(answer: httpx.Response, status: int, words: str) -> None:
    assert answer.status_code == status, answer.text
    assert words in answer.json()["error"]
    assert answer.headers["Cache-Control"] == "no-store"


def published(lab: Lab, job: jobs.Job, key: str) -> None:
    assert progress(lab, job, key, Phase.PUBLISH).status_code == 200


def events(lab: Lab, job: jobs.Job) -> list[Any]:
    found = lab.inbox(job)
    assert all((d.source, d.event, d.installation_id) == ("runner", "event", job.installation_id) for d in found)
    return [EVENT.validate_json(delivery.body) for delivery in found]


# the whole, with the runner's own client


def test_a_job_from_claim_to_report(lab: Lab, tmp_path: Path) -> None:
    job = lab.job(budget=Budget(minutes=10))
    ended = lab.plan(state=State.MERGED)
    with lab.runner(tmp_path) as runner:
        claimed = runner.claim(job.id)
        assert (claimed.spec.job, claimed.spec.base) == (job.id, BASE)
        assert lab.row(job.id).deadline_at == lab.clock() + JOB_SILENCE
        key = claimed.job_key
        for phase in (Phase.PREPARE, Phase.AGENT, Phase.GATES, Phase.GATES, Phase.PUBLISH):
            assert runner.progress(job.id, key, Progress(phase=phase, attempt=1)).stop is None
        push_token = runner.push_token(job.id, PushTokenRequest(sha=HEAD, gates=(gate(),)))
        assert push_token.expires_at > lab.clock()
        assert ended.uid in runner.ended_plans(key).plan_uids
        assert job.plan_uid not in runner.ended_plans(key).plan_uids
        done = report(job, Outcome.VERIFIED, work=work(), gates=(gate(),))
        runner.report(job.id, key, done.model_dump_json(indent=1).encode())
    told = events(lab, job)
    assert [e.type for e in told] == ["job_claimed", *["job_progressed"] * 4, "work_verified"]
    assert [e.phase for e in told[1:5]] == [Phase.PREPARE, Phase.AGENT, Phase.GATES, Phase.PUBLISH]
    assert told[-1].report == done


def test_the_push_token_pushes_to_that_repository_and_nothing_else(lab: Lab) -> None:
    job, key = lab.claimed()
    published(lab, job, key)
    token = push(lab, job).json()["token"]
    made = lab.github.standin.hub.tokens[token]
    assert made.permissions == {"contents": "write", "metadata": "read"}
    assert list(made.repository_ids or ()) == [job.repository_id]
    assert lab.row(job.id).push_sha == HEAD
    kept = lab.row(job.id).push_token
    assert kept is not None
    assert lab.vault.decrypt(kept) == token


def test_no_secret_lies_in_the_database_in_clear(lab: Lab, sqlite_url: str) -> None:
    job, key = lab.claimed()
    published(lab, job, key)
    token = push(lab, job).json()["token"]
    lab.store.dispose()
    with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as database:
        dump = "\n".join(database.iterdump())
    assert job.id in dump
    for secret in (key, key.partition(".")[2], token, token.encode().hex()):
        assert secret not in dump
        assert secret.upper() not in dump


# claim


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"repository_id": "1"}, "belongs to another repository"),
        ({"run_id": str(RUN + 1)}, "Another run was dispatched"),
        ({"run_attempt": "2"}, "This is a re-run"),
        ({"event_name": "push"}, "was started by push and not by the bot"),
        ({"ref": "refs/heads/other"}, "is of refs/heads/other"),
        ({"ref": "refs/tags/trunk"}, "is of refs/tags/trunk"),
        ({"workflow_ref": "Acme/shop/.github/workflows/evil.yml@refs/heads/trunk"}, "is of Acme/shop/.github/workfl"),
        ({"workflow_ref": "Acme/shop/.github/workflows/twogate.yml@refs/heads/other"}, "twogate.yml on refs/heads/tr"),
        ({"workflow_ref": "Acme/shop/.github/workflows/TWOGATE.yml@refs/heads/trunk"}, "twogate.yml on refs/heads/tr"),
        ({"workflow_ref": "Acme/other/.github/workflows/twogate.yml@refs/heads/trunk"}, "is of Acme/other/"),
        ({"actor_id": "1"}, "started by somebody else"),
    ],
)
def test_a_run_that_is_not_the_jobs_own_gets_nothing(lab: Lab, changes: dict[str, str], words: str) -> None:
    job = lab.job()
    refused(claim(lab, job, **changes), 403, words)
    assert lab.row(job.id).claimed_at is None
    assert lab.inbox(job) == []
    assert claim(lab, job).status_code == 200


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"aud": "https://github.com/Acme"}, "TWOGATE_URL"), ({"iss": "https://evil.example"}, "this bot trusts")],
)
def test_a_token_that_is_not_for_this_bot_gets_nothing(lab: Lab, changes: dict[str, str], words: str) -> None:
    refused(claim(lab, lab.job(), **changes), 401, words)


def test_the_names_of_owner_and_repository_come_in_any_case(lab: Lab) -> None:
    path = "ACME/sHOP/.github/workflows/twogate.yml@refs/heads/trunk"
    assert claim(lab, lab.job(), workflow_ref=path).status_code == 200


def test_a_runner_waits_until_the_run_of_its_job_is_known(lab: Lab, tmp_path: Path) -> None:
    job = lab.job(run_id=None)
    answer = claim(lab, job)
    refused(answer, 409, "not known yet")
    assert float(answer.headers["Retry-After"]) > 0
    unspecified = lab.job(specified=False)
    assert "Retry-After" in claim(lab, unspecified).headers
    with lab.store.write() as tx:
        jobs.dispatched(tx, job.id, RUN)
    with lab.runner(tmp_path) as runner:
        assert runner.claim(job.id).spec.job == job.id


def test_a_second_claim_is_refused_for_good(lab: Lab, tmp_path: Path) -> None:
    job, _key = lab.claimed()
    answer = claim(lab, job)
    refused(answer, 409, "claimed already")
    assert "Retry-After" not in answer.headers
    with lab.runner(tmp_path) as runner, pytest.raises(RefusedError, match="Say /retry on the issue"):
        runner.claim(job.id)


def test_of_two_claims_at_the_same_time_one_wins(lab_on: Lab) -> None:
    job = lab_on.job()
    tokens = [lab_on.token() for _ in range(6)]
    start, answers = threading.Barrier(len(tokens)), []

    def ask(token: str) -> None:
        start.wait(10)
        answers.append(lab_on.post(JOB_URL.format(job.id, "claim"), token))

    threads = [threading.Thread(target=ask, args=(token,)) for token in tokens]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 5]
    winner = next(answer for answer in answers if answer.status_code == 200).json()["job_key"]
    assert progress(lab_on, job, winner, Phase.PREPARE).status_code == 200
    assert [e.type for e in events(lab_on, job)] == ["job_claimed", "job_progressed"]


def test_a_job_that_was_stopped_or_closed_is_not_given_out(lab: Lab) -> None:
    stopped, closed, unknown = lab.job(), lab.job(), lab.job(run_id=None)
    with lab.store.write() as tx:
        jobs.stop(tx, stopped.id, "Ann cancelled the plan.")
        jobs.close(tx, closed.id)
        jobs.close(tx, unknown.id)
    refused(claim(lab, stopped), 409, "Ann cancelled the plan.")
    refused(claim(lab, closed), 409, "no longer waits for it")
    answer = claim(lab, unknown)
    refused(answer, 409, "no longer waits for it")
    assert "Retry-After" not in answer.headers


def test_a_job_with_a_zero_byte_in_its_name_is_not_looked_for(lab: Lab) -> None:
    assert lab.post(JOB_URL.format("cafe%00cafe-1", "claim"), lab.token()).status_code == 400


@pytest.mark.parametrize("job", ["cafecafe-99", "x", "%F0%9F%92%A9", "a" * 3_000])
def test_an_unknown_job_is_not_there(lab: Lab, job: str) -> None:
    answer = lab.post(JOB_URL.format(job, "claim"), lab.token())
    refused(answer, 404, "There is no job")


@pytest.mark.parametrize("bearer", [None, "hello", "Ä"])
def test_without_a_proof_nothing_is_answered(lab: Lab, bearer: str | None) -> None:
    job = lab.job()
    for verb in ("claim", "push-token", "progress"):
        answer = lab.post(JOB_URL.format(job.id, verb), bearer)
        assert answer.status_code == 401, (verb, answer.text)


# identity tokens are used once


def test_a_token_is_taken_once(lab: Lab) -> None:
    job = lab.job()
    token = lab.token()
    key = Claim.model_validate_json(lab.post(JOB_URL.format(job.id, "claim"), token).content).job_key
    published(lab, job, key)
    body = json.dumps({"sha": HEAD, "gates": [gate().model_dump(mode="json")]})
    refused(lab.post(JOB_URL.format(job.id, "push-token"), token, body), 401, "was used before")
    assert lab.row(job.id).push_sha is None
    assert push(lab, job).status_code == 200


def test_a_refusal_does_not_use_a_token_up(lab: Lab) -> None:
    job = lab.job(run_id=None)
    token = lab.token()
    assert lab.post(JOB_URL.format(job.id, "claim"), token).status_code == 409
    with lab.store.write() as tx:
        jobs.dispatched(tx, job.id, RUN)
    assert lab.post(JOB_URL.format(job.id, "claim"), token).status_code == 200


# the job key


def test_a_key_opens_its_own_job_alone(lab: Lab) -> None:
    (one, key), (_, other_key) = lab.claimed(), lab.claimed()
    forged = f"{one.id}.{other_key.partition('.')[2]}"
    for wrong in (other_key, forged, key + "x", key[:-1], lab.row(one.id).key_hash, one.id + "."):
        refused(progress(lab, one, str(wrong), Phase.AGENT), 401, "not the job's key")
        refused(put(lab, one, wrong, report(one).model_dump_json()), 401, "not the job's key")
        if wrong != other_key:
            refused(lab.ask("GET", "/runner/plans/ended", wrong), 401, "not the job's key")
    assert lab.row(one.id).phase is None
    assert lab.row(one.id).reported_at is None


def test_an_unclaimed_job_has_no_key(lab: Lab) -> None:
    job = lab.job()
    refused(progress(lab, job, f"{job.id}.", Phase.AGENT), 401, "claim the job first")


# progress


def test_a_heartbeat_moves_the_deadline_but_not_beyond_the_budget(lab: Lab) -> None:
    job, key = lab.claimed(budget=Budget(minutes=1))
    end = lab.clock() + 60 + JOB_OVERTIME
    lab.clock.at += 100
    progress(lab, job, key, Phase.AGENT)
    assert lab.row(job.id).deadline_at == lab.clock() + JOB_SILENCE
    lab.clock.at = end - 1
    progress(lab, job, key, Phase.AGENT)
    assert lab.row(job.id).deadline_at == end


def test_a_heartbeat_hears_that_the_job_must_stop(lab: Lab) -> None:
    job, key = lab.claimed()
    with lab.store.write() as tx:
        jobs.stop(tx, job.id, "x" * 500)
    assert progress(lab, job, key, Phase.AGENT).json()["stop"] == "x" * 300
    with lab.store.write() as tx:
        jobs.close(tx, job.id)
    before = lab.row(job.id)
    assert progress(lab, job, key, Phase.GATES).json()["stop"] == "x" * 300
    assert lab.row(job.id) == before


def test_a_closed_job_must_stop(lab: Lab) -> None:
    job, key = lab.claimed()
    with lab.store.write() as tx:
        jobs.close(tx, job.id)
    assert "no longer waits" in progress(lab, job, key, Phase.AGENT).json()["stop"]


def run_of(usd: str) -> Usage:
    return Usage(
        unit=Unit.EXECUTE_PLAN,
        agent="claude",
        model="m",
        attempt=1,
        input_tokens=900,
        output_tokens=100,
        usd=Decimal(usd),
        seconds=1,
    )


def test_a_claim_tells_what_is_left_of_the_plan_and_of_the_day(lab: Lab) -> None:
    limits = Budget(usd=Decimal(5), tokens=10_000, usd_today=Decimal(10))
    before = lab.job(budget=limits)
    lab.clock.at -= 2 * 86_400
    earlier = lab.job(budget=limits)
    with lab.store.write() as tx:
        usage.add(tx, earlier, [run_of("7")], final=True)
    lab.clock.at += 2 * 86_400
    with lab.store.write() as tx:
        usage.add(tx, before, [run_of("2.25")], final=True)
    again = lab.post(f"/runner/jobs/{before.id}/claim", lab.token()).json()["spec"]["budget"]
    assert (again["usd"], again["tokens"]) == ("2.75", 9_000)
    assert again["usd_today"] == "10", "its own spending is the job's, not the others'"
    other, key = lab.claimed(budget=limits)
    progress(lab, other, key, Phase.AGENT, usage=(run_of("3"),))
    lab.clock.at += 1
    third = lab.job(budget=limits)
    told = lab.post(f"/runner/jobs/{third.id}/claim", lab.token()).json()
    spent = Decimal(10) - Decimal(told["spec"]["budget"]["usd_today"])
    assert spent == Decimal("5.25"), "today's other jobs of the repository, ended and under way"
    answer = progress(lab, third, told["job_key"], Phase.AGENT).json()
    assert Decimal(answer["usd_today"]) == Decimal(told["spec"]["budget"]["usd_today"])


def test_a_claim_names_the_branches_of_other_plans_under_way(lab: Lab) -> None:
    other = lab.plan(state=State.IN_REVIEW, waiting_on=WaitingOn.DIFF_DECISION, branch_head=HEAD)
    lab.plan(state=State.MERGED, branch_head=HEAD)
    job = lab.job()
    told = lab.post(f"/runner/jobs/{job.id}/claim", lab.token()).json()["spec"]["in_flight"]
    assert {"issue": other.issue_number, "name": other.branch, "head": HEAD} in told
    assert len({row["issue"] for row in told}) == len(told)
    assert job.plan_uid not in str(told)


# push


@pytest.mark.parametrize(
    ("gates", "words"),
    [
        ((gate(GateStatus.FAILED),), "blocking checks failed: tests"),
        ((gate(GateStatus.TIMED_OUT),), "blocking checks failed: tests"),
        ((gate(name="lint"),), "blocking checks did not run: tests"),
    ],
)
def test_unverified_work_is_not_pushed(lab: Lab, gates: tuple[Any, ...], words: str) -> None:
    job, key = lab.claimed()
    published(lab, job, key)
    refused(push(lab, job, *gates), 403, words)
    assert lab.row(job.id).push_sha is None


def test_a_check_that_failed_before_or_does_not_block_holds_nothing_back(lab: Lab) -> None:
    gates = (GateSpec(name="tests", run="x"), GateSpec(name="types", run="x", blocking=False))
    job, key = lab.claimed(gates=gates)
    published(lab, job, key)
    assert push(lab, job, gate(GateStatus.FAILED_BEFORE)).status_code == 200


def test_a_push_belongs_to_the_end_of_the_job(lab: Lab) -> None:
    job, key = lab.claimed()
    progress(lab, job, key, Phase.GATES)
    answer = push(lab, job)
    refused(answer, 409, "not in phase publish")
    assert "Retry-After" in answer.headers


def test_one_push_a_job(lab: Lab) -> None:
    job, key = lab.claimed()
    published(lab, job, key)
    assert push(lab, job).status_code == 200
    refused(push(lab, job, sha=BASE), 409, "already")


def test_a_token_whose_answer_was_lost_is_replaced(lab: Lab) -> None:
    job, key = lab.claimed()
    published(lab, job, key)
    first = push(lab, job).json()["token"]
    second = push(lab, job).json()["token"]
    alive = lab.github.standin.hub.tokens
    assert (first in alive, second in alive) == (False, True)
    kept = lab.row(job.id).push_token
    assert kept is not None
    assert lab.vault.decrypt(kept) == second


def test_a_grant_whose_token_was_never_kept_is_no_dead_end(lab: Lab) -> None:
    job, key = lab.claimed()
    published(lab, job, key)
    with lab.store.write() as tx:
        assert jobs.grant_push(tx, job.id, HEAD)
    assert push(lab, job).status_code == 200


@pytest.mark.parametrize("kind", [JobKind.PLAN, JobKind.CHECK_BASE])
def test_only_execution_pushes(lab: Lab, kind: JobKind) -> None:
    job, key = lab.claimed(kind)
    published(lab, job, key)
    refused(push(lab, job), 403, "pushes nothing")


def test_a_push_is_asked_by_the_jobs_own_run_after_its_claim(lab: Lab) -> None:
    refused(push(lab, lab.job()), 409, "has not been claimed")
    job, key = lab.claimed()
    published(lab, job, key)
    refused(push(lab, job, run_attempt="2"), 403, "re-run")
    refused(push(lab, job, run_id="1"), 403, "Another run")
    refused(push(lab, job, sha="HEAD"), 422, "sha")
    refused(lab.post(JOB_URL.format(job.id, "push-token"), key, "{}"), 401, "not valid")
    with lab.store.write() as tx:
        jobs.stop(tx, job.id, "The plan was rejected.")
    refused(push(lab, job), 409, "The plan was rejected.")


def test_a_token_that_github_did_not_make_can_be_asked_for_again(lab: Lab) -> None:
    job, key = lab.claimed()
    published(lab, job, key)
    lab.github.standin.control.add_fault("error", status=502, path="/access_tokens$")
    answer = push(lab, job)
    refused(answer, 503, "ask again")
    assert "Retry-After" in answer.headers
    assert lab.row(job.id).push_sha is None
    assert push(lab, job).status_code == 200


# report


ENDS = [
    (JobKind.PLAN, Outcome.PLANNED, {"plan": document()}, "plan_written"),
    (JobKind.EXECUTE, Outcome.VERIFIED, {"work": work()}, "work_verified"),
    (JobKind.CHECK_BASE, Outcome.BASE_CLEAN, {}, "base_reported"),
    (JobKind.CHECK_BASE, Outcome.BASE_CONFLICT, {"conflicts": ("a.py",)}, "base_reported"),
    (JobKind.EXECUTE, Outcome.GATES_FAILED, {}, "job_failed"),
    (JobKind.PLAN, Outcome.STOPPED, {}, "job_failed"),
]


@pytest.mark.parametrize(("kind", "outcome", "fields", "event"), ENDS)
def test_every_end_is_an_event(lab: Lab, kind: JobKind, outcome: Outcome, fields: dict[str, Any], event: str) -> None:
    job, key = lab.claimed(kind)
    assert put(lab, job, key, report(job, outcome, **fields).model_dump_json()).status_code == 200
    last = events(lab, job)[-1]
    assert (last.type, last.job, last.source) == (event, job.id, f"report:{job.id}")


def test_a_conflict_without_paths_is_still_a_conflict(lab: Lab) -> None:
    job, key = lab.claimed(JobKind.CHECK_BASE)
    put(lab, job, key, report(job, Outcome.BASE_CONFLICT).model_dump_json())
    assert events(lab, job)[-1].conflicts


def test_the_first_report_counts(lab: Lab) -> None:
    job, key = lab.claimed()
    first = report(job, Outcome.GATES_FAILED)
    assert put(lab, job, key, first.model_dump_json()).status_code == 200
    assert put(lab, job, key, first.model_dump_json()).status_code == 200
    assert put(lab, job, key, report(job, Outcome.VERIFIED, work=work()).model_dump_json()).status_code == 200
    assert [e.type for e in events(lab, job)] == ["job_claimed", "job_failed"]
    with lab.store.read() as tx:
        assert jobs.report_of(tx, job.id) == first
        assert len(usage.of_plan(tx, job.plan_uid)) == 1


def test_a_late_report_still_tells_what_it_cost(lab: Lab) -> None:
    job, key = lab.claimed()
    with lab.store.write() as tx:
        jobs.close(tx, job.id)
    lab.clock.at += 86_400
    assert put(lab, job, key, report(job).model_dump_json()).status_code == 200
    with lab.store.read() as tx:
        spent = usage.of_plan(tx, job.plan_uid)
        assert plans.get(tx, job.plan_uid) is not None
    assert [s.job for s in spent] == [job.id]
    assert [e.type for e in events(lab, job)] == ["job_claimed", "job_failed"]


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        (JobKind.PLAN, Outcome.VERIFIED),
        (JobKind.EXECUTE, Outcome.PLANNED),
        (JobKind.EXECUTE, Outcome.BASE_CLEAN),
        (JobKind.CHECK_BASE, Outcome.VERIFIED),
    ],
)
def test_an_end_that_the_job_can_not_have_is_refused(lab: Lab, kind: JobKind, outcome: Outcome) -> None:
    job, key = lab.claimed(kind)
    refused(put(lab, job, key, report(job, outcome).model_dump_json()), 422, "can't end as")
    assert lab.row(job.id).reported_at is None


def test_a_killed_runner_says_so_at_its_next_start_and_its_cost_counts(lab: Lab) -> None:
    job, key = lab.claimed()
    assert put(lab, job, key, report(job, Outcome.LOST).model_dump_json()).status_code == 200
    assert [e.type for e in events(lab, job)] == ["job_claimed", "job_lost"]
    with lab.store.read() as tx:
        assert [s.usage for s in usage.of_plan(tx, job.plan_uid)] == list(report(job).usage)


def changed(done: Report, **fields: Any) -> str:
    return json.dumps({**done.model_dump(mode="json"), **fields})


def test_what_is_no_report_is_refused_with_what_to_do(lab: Lab) -> None:
    job, key = lab.claimed()
    done = report(job)
    run = done.usage[0].model_dump(mode="json")
    for body, words in (
        (changed(done, version=2), "update the bot"),
        (changed(done, version=0), "update the runner"),
        (changed(done, version="x"), "update the runner"),
        (changed(done, news=1), "news: Extra inputs are not permitted): update the runner"),
        (changed(done, job="cafecafe-9"), "report of job cafecafe-9"),
        (changed(done, outcome="great"), "outcome"),
        (changed(done, ended_at=float("inf")), "ended_at: Input should be a finite number"),
        (changed(done, usage=[{**run, "seconds": float("nan")}]), "usage.0.seconds"),
        (changed(done, usage=[{**run, "usd": "1E+999999999"}]), "usage.0.usd"),
        (changed(done, usage=[{**run, "input_tokens": 2**63}]), "usage.0.input_tokens"),
        (changed(done, usage=[{**run, "seconds": 1e300}]), "usage.0.seconds"),
        (changed(done, usage=[run] * 1_001), "usage: Tuple should have at most"),
        (changed(done, gates=[gate().model_dump(mode="json")] * 101), "gates: Tuple should have at most"),
        (changed(done, ended_at=1e300), "ended_at"),
        (changed(done, attempts=2**70), "attempts"),
        ("[]", "update the runner"),
        ("", "update the runner"),
        ('{"version":', "update the runner"),
        ("[" * 100_000, "update the runner"),
        (b"\xff\xfe", "update the runner"),
    ):
        refused(put(lab, job, key, body), 422, words)
    assert lab.row(job.id).reported_at is None


def test_bodies_have_a_limit(lab: Lab) -> None:
    job, key = lab.claimed()
    refused(put(lab, job, key, b" " * (LARGEST_REPORT + 1)), 413, str(LARGEST_REPORT))
    answer = lab.post(JOB_URL.format(job.id, "progress"), key, b" " * (LARGEST_PROGRESS + 1))
    refused(answer, 413, str(LARGEST_PROGRESS))


def test_the_largest_report_of_the_contract_fits(lab: Lab) -> None:
    job, key = lab.claimed()
    patch = "\N{PILE OF POO}" * 200_000
    done = report(job, Outcome.VERIFIED, work=work(patch=patch, patch_cut=True))
    assert put(lab, job, key, done.model_dump_json(indent=1)).status_code == 200


# what is no runner's business


def test_other_addresses_answer_in_json(lab: Lab) -> None:
    answer = lab.ask("GET", "/runner/nothing", None)
    assert (answer.status_code, "error" in answer.json()) == (404, True)
    assert lab.ask("GET", "/runner/jobs/cafecafe-1/claim", None).status_code == 405


def test_a_fault_of_ours_is_logged_and_tells_nothing(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    job, key = lab.claimed()
    with lab.store.write() as tx:
        tx.connection.exec_driver_sql(f"UPDATE jobs SET spec = '{{\"secret-words\": 1}}' WHERE id = '{job.id}'")
    answer = progress(lab, job, key, Phase.AGENT)
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "KeyError" in caplog.text


def test_nothing_secret_is_logged(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    job = lab.job()
    token = lab.token()
    key = lab.post(JOB_URL.format(job.id, "claim"), token).json()["job_key"]
    published(lab, job, key)
    pushed = push(lab, job).json()["token"]
    push(lab, job, sha=BASE)
    progress(lab, job, key + "x", Phase.AGENT)
    ours = "\n".join(r.getMessage() for r in caplog.records if r.name.startswith(("bot", "twogate")))
    assert "already" in ours
    for secret in (token, key, pushed):
        assert secret not in caplog.text
