"""What the meter stops, and what it keeps of calls that went wrong: budgets, loops, cuts, kills."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from runner.contract import Outcome, UsdSource
from runner.meter import LEDGER_FILE, read_ledger
from runner.meter.bounds import broken
from runner.meter.wire.base import Ask
from runner.results import Unit
from runner.terms import Budget, Price
from tests.runner.lab import wait_until
from tests.runner.meter_lab import ANTHROPIC, CHAT, FORMATS, GEMINI, RESPONSES, Lab, ask, endpoint, meter_lab, open_at
from tests.runner.upstream_on_loopback import KEY, Answer, Asked, plain, sse
from tests.runner.wires import DOLLARS, SONNET, Format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.contract import Usage

PRICE = Decimal(DOLLARS[ANTHROPIC.api])
each_format = pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.api.value)
MESSAGES = {
    "anthropic": lambda body: body["error"]["type"] == "billing_error" and body["error"]["message"],
    "openai-responses": lambda body: body["error"]["code"] == "insufficient_quota" and body["error"]["message"],
    "openai-chat": lambda body: body["error"]["code"] == "insufficient_quota" and body["error"]["message"],
    "gemini": lambda body: body["error"]["code"] == 402 and body["error"]["message"],
}
"""How each provider words that there is no more money."""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with meter_lab(tmp_path) as lab:
        yield lab


def once(lab: Lab, answer: Answer, wire: Format = ANTHROPIC, **options: Any) -> Usage:
    """Ask once, whatever comes of it; return the row."""
    lab.api.answer = lambda _asked: answer
    with lab.meter(**options) as meter, open_at(meter, wire) as tap:
        with suppress(httpx.HTTPError):
            ask(tap, wire)
        tap.end(1)
        (row,) = meter.rows()
    return row


@each_format
def test_a_spent_budget_is_answered_with_402_in_the_providers_own_shape(lab: Lab, wire: Format) -> None:
    lab.api.answer = lambda _asked: wire.stream()
    price = Decimal(DOLLARS[wire.api])
    with lab.meter(Budget(usd=price)) as meter, open_at(meter, wire) as tap:
        assert ask(tap, wire).status_code == 200
        assert tap.stopped is None
        refused = ask(tap, wire)
    assert refused.status_code == 402
    sentence = MESSAGES[wire.api.value](refused.json())
    assert sentence.startswith(f"The budget is spent: ${price:.4f} of ${price:.4f}.")
    assert tap.stopped is not None
    assert (tap.stopped.outcome, tap.stopped.sentence) == (Outcome.OVER_BUDGET, sentence)
    assert len(lab.api.asked) == 1


def test_a_budget_of_tokens_counts_every_kind(lab: Lab) -> None:
    with lab.meter(Budget(tokens=1_260)) as meter, open_at(meter, ANTHROPIC) as tap:
        assert [ask(tap, ANTHROPIC).status_code for _ in range(2)] == [200, 402]
        assert tap.stopped is not None
        assert "1,260 of 1,260 tokens" in tap.stopped.sentence


def test_the_repositorys_day_is_a_limit_of_its_own_that_moves(lab: Lab) -> None:
    today = [Decimal(1)]
    budget = Budget(usd=Decimal(5), usd_today=Decimal(3))
    with lab.meter(budget, today=lambda: today[0]) as meter, open_at(meter, ANTHROPIC) as tap:
        assert ask(tap, ANTHROPIC).status_code == 200
        assert meter.limits.rest().usd == 1 - PRICE
        today[0] = PRICE
        assert ask(tap, ANTHROPIC).status_code == 402
        assert tap.stopped is not None
        assert tap.stopped.sentence.startswith("What the repository may spend today is spent")


def test_parallel_agents_overshoot_by_one_call_at_most(lab: Lab) -> None:
    budget = 10 * PRICE + Decimal("0.0001")
    with lab.meter(Budget(usd=budget)) as meter, open_at(meter, ANTHROPIC) as tap, ThreadPoolExecutor(24) as pool:
        statuses = list(pool.map(lambda _: ask(tap, ANTHROPIC).status_code, range(24)))
        tap.end(1)
        (row,) = meter.rows()
    assert sorted(statuses) == [200] * 11 + [402] * 13
    assert row.usd == 11 * PRICE
    assert row.usd - budget <= PRICE
    assert row.complete


def test_parallel_calls_run_side_by_side_while_the_budget_allows_the_worst_of_all(lab: Lab) -> None:
    gate = threading.Event()
    lab.api.answer = lambda _asked: Answer(ANTHROPIC.stream().pieces, gate=gate)
    with lab.meter(Budget(usd=Decimal(1))) as meter, open_at(meter, ANTHROPIC) as tap, ThreadPoolExecutor(5) as pool:
        asked = [pool.submit(ask, tap, ANTHROPIC) for _ in range(5)]
        lab.api.wait_for(5)
        gate.set()
        assert {each.result().status_code for each in asked} == {200}


def test_a_model_without_a_price_needs_a_token_cap_under_a_dollar_budget(lab: Lab) -> None:
    unknown = {"model": "nobody-knows-it"}
    lab.api.answer = lambda _asked: Answer(sse(*stream_of("nobody-knows-it")))
    with lab.meter(Budget(usd=Decimal(5))) as meter, open_at(meter, ANTHROPIC) as tap:
        assert ask(tap, ANTHROPIC, body=unknown).status_code == 402
        assert tap.stopped is not None
        assert "Set budget.tokens, or name its price under prices:" in tap.stopped.sentence
    assert lab.api.asked == []
    with lab.meter(Budget(usd=Decimal(5), tokens=100_000)) as meter, open_at(meter, ANTHROPIC) as tap:
        assert ask(tap, ANTHROPIC, body=unknown).status_code == 200
        tap.end(1)
        (row,) = meter.rows()
    assert (row.usd, row.usd_source, row.input_tokens) == (None, UsdSource.UNKNOWN, 1000)
    own = {"nobody-knows-it": Price(input=Decimal(1), output=Decimal(1))}
    with lab.meter(Budget(usd=Decimal(5)), prices=own) as meter, open_at(meter, ANTHROPIC) as tap:
        assert ask(tap, ANTHROPIC, body=unknown).status_code == 200
        tap.end(1)
        (row,) = meter.rows()
    assert (row.usd, row.price_date) == (Decimal("0.00126"), "policy file")


def stream_of(model: str) -> list[dict[str, Any]]:
    usage = {"input_tokens": 1000, "cache_read_input_tokens": 200, "output_tokens": 60}
    return [
        {"type": "message_start", "message": {"model": model, "usage": usage}},
        {"type": "message_delta", "usage": usage},
    ]


def test_most_of_a_budget_is_warned_of_once(lab: Lab) -> None:
    with lab.meter(Budget(usd=5 * PRICE)) as meter, open_at(meter, ANTHROPIC) as tap:
        for expected in (0, 0, 0, 1, 1):
            ask(tap, ANTHROPIC)
            assert len(lab.warnings) == expected
    assert lab.warnings == ["80% is gone. The budget: $0.0158 of $0.0198."]


def test_a_cut_stream_counts_at_least(lab: Lab) -> None:
    row = once(lab, Answer(ANTHROPIC.stream().pieces[:3], cut=True), budget=Budget(usd=Decimal(1)))
    assert (row.input_tokens, row.cache_read_tokens, row.output_tokens, row.complete) == (1000, 200, 1, False)
    assert row.usd == Decimal("0.003075")
    assert row.usd_source is UsdSource.METERED


def test_a_budget_is_no_sieve_for_answers_that_break_off(lab: Lab) -> None:
    lab.api.answer = lambda _asked: Answer(RESPONSES.stream().pieces[:3], cut=True)
    with lab.meter(Budget(usd=Decimal("0.01"))) as meter, open_at(meter, RESPONSES) as tap:
        long = {"input": "x" * 4_000}
        with pytest.raises(httpx.HTTPError):
            ask(tap, RESPONSES, body=long)
        assert meter.limits.rest().usd is not None
        statuses = {402} if meter.limits.spent() else set()
        while not statuses:
            with suppress(httpx.HTTPError):
                statuses.add(ask(tap, RESPONSES, body=long).status_code)
        (row,) = meter.rows()
    assert statuses == {402}
    assert len(lab.api.asked) <= 2
    assert (row.usd, row.complete) == (None, False)
    assert tap.stopped is not None
    assert "$0.00 of $0.0100, and up to $0.0" in tap.stopped.sentence


def test_many_answers_at_once_are_brought_side_by_side() -> None:
    one, many = (broken(Ask("gpt-5.5", 10**6, answers), 0, None, 2.0, {}) for answers in (1, 128))
    assert (one.tokens, many.tokens) == (600, 128 * 600)


def test_input_that_lies_elsewhere_counts_as_much_as_it_can_be(lab: Lab) -> None:
    lab.api.answer = lambda _asked: Answer(RESPONSES.stream().pieces[:3], cut=True)
    with lab.meter(Budget(usd=Decimal(1))) as meter, open_at(meter, RESPONSES) as tap:
        with suppress(httpx.HTTPError):
            ask(tap, RESPONSES, body={"previous_response_id": "resp_1"})
        wait_until(lambda: tap.calls)
        assert meter.limits.spent(), "a million tokens of it are five dollars"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(RESPONSES.stream().pieces[:3], cut=True),
        Answer(RESPONSES.stream().pieces[:3]),
        Answer((b"<html>502</html>",), content_type="text/html"),
        Answer((b"data: {broken\n\n",)),
        Answer((b"[[1, 2], 3]",), content_type="application/json"),
        Answer(
            (b'{"usage": {"input_tokens": -4, "output_tokens": "x"}, "object": "response"}',), 200, "application/json"
        ),
    ],
    ids=["cut", "ended early", "html", "broken", "list", "nonsense"],
)
def test_an_answer_without_usage_is_unknown_and_never_zero(lab: Lab, answer: Answer) -> None:
    row = once(lab, answer, RESPONSES)
    assert (row.input_tokens, row.output_tokens, row.usd, row.complete) == (None, None, None, False)
    assert row.usd_source is UsdSource.UNKNOWN
    assert lab.rows() == (row,)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
def test_a_refusal_of_the_api_passes_and_costs_nothing(lab: Lab, status: int) -> None:
    answer = plain({"error": {"message": "No."}}, status)
    answer.headers["retry-after"] = "7"
    lab.api.answer = lambda _asked: answer
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        got = ask(tap, ANTHROPIC)
        tap.end(1)
        (row,) = meter.rows()
    assert got.status_code == status
    assert got.content == answer.whole or status == 401
    assert got.headers.get("retry-after") == "7" or status == 401
    assert (row.input_tokens, row.usd, row.complete) == (0, 0, True)


def test_an_api_that_is_not_there_is_said_and_costs_nothing(lab: Lab) -> None:
    lab.api.url = "http://127.0.0.1:9"
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        got = ask(tap, ANTHROPIC)
        tap.end(1)
        (row,) = meter.rows()
    assert (got.status_code, got.json()["error"]["type"]) == (502, "api_error")
    assert "can't be reached" in got.text
    assert (row.usd, row.complete) == (0, True)


def test_a_stalled_stream_ends_at_its_deadline(lab: Lab) -> None:
    gate = threading.Event()
    row = once(lab, Answer(ANTHROPIC.stream().pieces[:-1], gate=gate), idle_seconds=0.3)
    gate.set()
    assert (row.input_tokens, row.output_tokens, row.complete) == (1000, 1, False)


def test_a_call_whose_agent_has_hung_up_is_cut_off(lab: Lab) -> None:
    gate = threading.Event()
    lab.api.answer = lambda _asked: Answer(ANTHROPIC.stream().pieces[:-1], gate=gate)
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        url = f"{endpoint(tap).base(ANTHROPIC.api)}/v1/messages"
        with httpx.stream("POST", url, json=ANTHROPIC.request, headers={"x-api-key": endpoint(tap).key}) as got:
            next(got.iter_raw())
        wait_until(lambda: tap.calls)
        (row,) = meter.rows()
    gate.set()
    assert (row.input_tokens, row.output_tokens, row.complete) == (1000, 1, False)


def test_the_end_of_a_run_cuts_its_calls_off_and_keeps_what_was_seen(lab: Lab) -> None:
    gate = threading.Event()
    lab.api.answer = lambda _asked: Answer(ANTHROPIC.stream().pieces[:-1], gate=gate)
    with lab.meter() as meter, ThreadPoolExecutor(1) as pool:
        with open_at(meter, ANTHROPIC) as tap:
            asked = pool.submit(ask, tap, ANTHROPIC)
            lab.api.wait_for(1)
            wait_until(lambda: b"sent" in (lab.folder / LEDGER_FILE).read_bytes())
            tap.end(3)
            (row,) = meter.rows()
        with pytest.raises(httpx.HTTPError):
            asked.result()
        gate.set()
    assert (row.input_tokens, row.output_tokens, row.seconds, row.complete) == (1000, 1, 3, False)


def repeat(said: list[str]) -> Any:
    """Return what answers with these texts in turn, the last one for ever."""
    lines = iter(said)
    last = [said[-1]]

    def answer(_asked: Asked) -> Answer:
        last[0] = next(lines, last[0])
        return ANTHROPIC.stream(last[0])

    return answer


def test_a_run_that_repeats_itself_is_ended(lab: Lab) -> None:
    lab.api.answer = repeat(["a", "b", "a", "b", "c", "a", "b", "c", "a"])
    with lab.meter(Budget(idle_calls=4)) as meter, open_at(meter, ANTHROPIC) as tap:
        for _ in range(8):
            ask(tap, ANTHROPIC)
            assert tap.stopped is None
        ask(tap, ANTHROPIC)
        assert tap.stopped is not None
        assert tap.stopped.outcome is Outcome.NO_PROGRESS
        assert "its last 4 calls" in tap.stopped.sentence


def test_calls_that_fail_or_bring_nothing_are_no_progress(lab: Lab) -> None:
    answers = iter([plain({}, 500), Answer((b"<html>",), content_type="text/html"), ANTHROPIC.stream("")])
    lab.api.answer = lambda _asked: next(answers)
    with lab.meter(Budget(idle_calls=3)) as meter, open_at(meter, ANTHROPIC) as tap:
        for _ in range(2):
            ask(tap, ANTHROPIC)
        assert tap.stopped is None
        ask(tap, ANTHROPIC)
        assert tap.stopped is not None


def test_new_words_are_progress(lab: Lab) -> None:
    lab.api.answer = repeat(["a", "a", "b", "b", "c", "c", "d", "d"])
    with lab.meter(Budget(idle_calls=2)) as meter, open_at(meter, ANTHROPIC) as tap:
        for _ in range(8):
            ask(tap, ANTHROPIC)
        assert tap.stopped is None


@pytest.mark.parametrize("wire", [RESPONSES, CHAT, GEMINI, ANTHROPIC], ids=lambda wire: wire.api.value)
def test_other_words_are_told_apart_in_each_format(lab: Lab, wire: Format) -> None:
    lab.api.answer = lambda asked: (
        wire.stream("same") if b"same" in asked.body else wire.stream(str(len(lab.api.asked)))
    )
    with lab.meter(Budget(idle_calls=2)) as meter, open_at(meter, wire) as tap:
        for _ in range(4):
            ask(tap, wire)
        assert tap.stopped is None
        for _ in range(3):
            ask(tap, wire, body={"metadata": {"note": "same"}})
        assert tap.stopped is not None


def test_what_goes_on_behind_the_back_is_refused(lab: Lab) -> None:
    with lab.meter() as meter, open_at(meter, RESPONSES) as tap:
        refused = ask(tap, RESPONSES, body={"background": True})
        assert (refused.status_code, "background" in refused.text) == (400, True)
        url, key = endpoint(tap).base(RESPONSES.api) + "/v1/responses", endpoint(tap).key
        twice = httpx.post(url, content=b'{"background": true, "background": false}', headers={"x-api-key": key})
        assert (twice.status_code, "twice" in twice.text) == (400, True)
    assert lab.api.asked == []


HOLDER = """
import sys, time
from decimal import Decimal
from pathlib import Path
from runner.meter import Meter
from runner.results import Unit
from runner.terms import AgentSpec, Api, Budget
environment = {"ANTHROPIC_API_KEY": sys.argv[3], "ANTHROPIC_BASE_URL": sys.argv[2]}
with Meter(Path(sys.argv[1]), environment, Budget(usd=Decimal(5))) as meter:
    with meter.open(Unit.EXECUTE_PLAN, AgentSpec(name="a", model="m"), 3, Api.ANTHROPIC) as tap:
        print(tap.endpoint.base(Api.ANTHROPIC), tap.endpoint.key, flush=True)
        time.sleep(60)
"""


def test_what_was_spent_is_known_after_the_runner_was_killed(lab: Lab) -> None:
    gate = threading.Event()
    answers = iter([ANTHROPIC.stream(), Answer(ANTHROPIC.stream().pieces, gate=gate)])
    lab.api.answer = lambda _asked: next(answers)
    command = [sys.executable, "-c", HOLDER, str(lab.folder), lab.api.url, KEY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as holder:
        assert holder.stdout is not None
        base, key = holder.stdout.readline().split()
        head = {"x-api-key": key}
        assert httpx.post(f"{base}/v1/messages", json=ANTHROPIC.request, headers=head, timeout=20).status_code == 200
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: httpx.post(f"{base}/v1/messages", json=ANTHROPIC.request, headers=head, timeout=20))
            lab.api.wait_for(1)
            os.kill(holder.pid, signal.SIGKILL)
            gate.set()
    (row,) = lab.rows()
    assert (row.unit, row.agent, row.attempt, row.model) == (Unit.EXECUTE_PLAN, "a", 3, SONNET)
    assert (row.input_tokens, row.output_tokens, row.usd) == (1000, 60, PRICE)
    assert (row.usd_source, row.complete) == (UsdSource.METERED, False)


def test_a_ledger_that_a_kill_cut_off_is_read_as_far_as_it_goes(lab: Lab) -> None:
    once(lab, ANTHROPIC.stream())
    path = lab.folder / LEDGER_FILE
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    (row,) = lab.rows()
    assert (row.usd, row.complete) == (PRICE, False)
    path.write_bytes(b"\xff\n[]\n{}\n" + whole)
    assert lab.rows()[0].complete
    assert read_ledger(lab.folder / "none") == ()
    path.unlink()
    os.mkfifo(path)
    assert read_ledger(path) == ()


def test_a_disk_that_was_full_for_a_while_costs_no_other_record(lab: Lab) -> None:
    path, (soft, hard) = lab.folder / LEDGER_FILE, resource.getrlimit(resource.RLIMIT_FSIZE)
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        ask(tap, ANTHROPIC)
        wait_until(lambda: tap.calls)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40, hard))
        try:
            refused = ask(tap, ANTHROPIC)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (refused.status_code, "ledger" in refused.text) == (500, True)
        ask(tap, ANTHROPIC)
        wait_until(lambda: len(tap.calls) == 3)
    assert len(lab.api.asked) == 2, "what can't be put on record first is not sent"
    assert lab.rows()[0].usd == 2 * PRICE


def test_a_name_that_can_not_be_written_down_harms_nothing(lab: Lab) -> None:
    odd = Answer(sse({"type": "message_start", "message": {"model": "\ud800", "usage": {"input_tokens": 5}}}))
    lab.api.answer = lambda _asked: odd
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        url = f"{endpoint(tap).base(ANTHROPIC.api)}/v1/messages"
        strange = json.dumps({**ANTHROPIC.request, "model": "\udfff\n## x\u202e\0"}).encode()
        assert httpx.post(url, content=strange, headers={"x-api-key": endpoint(tap).key}).status_code == 200
        head = {"x-api-key": endpoint(tap).key, "anthropic-beta": "caf\xe9".encode("latin-1")}
        assert httpx.post(url, json=ANTHROPIC.request, headers=head).status_code == 400
        tap.end(1)
        (row,) = meter.rows()
    assert row.model_dump_json()
    assert row.model is not None
    assert row.model.isprintable()
    assert lab.rows() == (row,)
