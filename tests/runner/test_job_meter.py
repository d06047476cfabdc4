"""Jobs whose agents call a model: through the meter, under a budget, without ever seeing a key."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import pytest

from runner.contract import Outcome, UsdSource
from runner.meter import LEDGER_FILE, read_ledger
from runner.results import Unit
from runner.terms import AgentSpec, Api, Budget, Network, SandboxMode
from tests.runner.lab import Lab
from tests.runner.upstream_on_loopback import KEY, Answer, Asked, Upstream, upstream
from tests.runner.wires import DOLLARS, FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.contract import Report

ANTHROPIC = FORMATS[0]
PRICE = Decimal(DOLLARS[Api.ANTHROPIC])
AGENT = """
import json, os, pathlib, sys, time, urllib.error, urllib.request
base, key = os.environ["ANTHROPIC_BASE_URL"], os.environ["ANTHROPIC_API_KEY"]
def ask(text):
    body = {"model": "claude-sonnet-4-5", "max_tokens": 1000, "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(base + "/v1/messages", json.dumps(body).encode(), {"x-api-key": key})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        print(error.read().decode(), flush=True)
        time.sleep(30)
def done():
    pathlib.Path("calc.py").write_text("def add(a, b):\\n    return a + b\\n")
    pathlib.Path(sys.argv[1]).write_text(json.dumps({"status": "done", "summary": "Done."}))
"""


class Asking:
    """An agent that runs ``code``, in a job."""

    def __init__(self, lab: Lab, api: Upstream) -> None:
        self.lab, self.api = lab, api

    def run(self, code: str, *, output: Literal["text", "jsonl"] = "text", **changes: Any) -> Report:
        command = (sys.executable, "-c", AGENT + code, "{result_file}")
        spec = AgentSpec(name="asking", model="claude-sonnet-4-5", command=command, output=output, api=Api.ANTHROPIC)
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.api.url, "COPY_OF_IT": KEY}
        return self.lab.run("good", agents={Unit.EXECUTE_PLAN: spec}, env=environment, **changes)


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Asking]:
    lab = Lab(tmp_path)
    with upstream(lambda _asked: ANTHROPIC.plain(str(os.urandom(8)))) as api:
        yield Asking(lab, api)
    lab.close()


def test_an_agent_at_the_meter_is_counted_and_never_has_a_key(asking: Asking) -> None:
    code = "ask('a'); ask('b'); print(dict(os.environ)); done()\n"
    report = asking.run(code + f"assert {KEY[:9]!r} not in str(os.environ)\n")
    assert report.outcome is Outcome.VERIFIED, report
    (row, *_) = report.usage
    assert (row.agent, row.usd, row.usd_source, row.complete) == ("asking", 2 * PRICE, UsdSource.METERED, True)
    assert (row.input_tokens, row.output_tokens) == (2000, 120)
    assert row.seconds > 0
    assert {asked.headers["x-api-key"] for asked in asking.api.asked} == {KEY}
    assert report.reached == (asking.api.url,)
    told = [progress["usage"] for progress in asking.lab.bot.progress if progress["usage"]]
    assert told[0][0]["usd_source"] == "metered"
    kept = [path for path in asking.lab.home.rglob("*") if path.is_file()]
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]
    assert KEY not in report.model_dump_json() + "".join(asking.lab.said)


def test_a_spent_budget_ends_the_run_and_the_job(asking: Asking) -> None:
    report = asking.run("while True: ask('more')\n", budget=Budget(minutes=2, usd=3 * PRICE))
    assert report.outcome is Outcome.OVER_BUDGET, report
    assert report.sentence.startswith("The budget is spent: $0.0119 of $0.0119.")
    assert report.usage[0].usd == 3 * PRICE
    assert len(asking.api.asked) == 3
    assert any(note.startswith("80% is gone") for note in report.notes)
    assert "billing_error" in report.output_tail
    assert asking.lab.left() == []


def test_a_run_without_progress_ends_the_job(asking: Asking) -> None:
    asking.api.answer = lambda _asked: ANTHROPIC.plain("I will try again.")
    report = asking.run("while True: ask('more')\n", budget=Budget(minutes=2, idle_calls=4))
    assert report.outcome is Outcome.NO_PROGRESS, report
    assert "its last 4 calls" in report.sentence
    assert report.usage[0].input_tokens is not None


def test_what_was_spent_is_told_when_the_time_is_up(asking: Asking) -> None:
    gate = threading.Event()
    plain = ANTHROPIC.plain("a")

    def answer(_asked: Asked) -> Answer:
        return plain if len(asking.api.asked) == 1 else Answer(ANTHROPIC.stream().pieces[:-1], gate=gate)

    asking.api.answer = answer
    report = asking.run("ask('a'); ask('b')\n", budget=Budget(minutes=0.1), gates=())
    gate.set()
    assert report.outcome is Outcome.TIMED_OUT, report
    (row,) = report.usage
    assert (row.input_tokens, row.output_tokens, row.complete) == (2000, 61, False)
    (job,) = (asking.lab.home / "jobs").iterdir()
    assert read_ledger(job / LEDGER_FILE) == (row,)


def test_without_a_key_the_agent_tells_its_own_cost_and_the_report_says_so(asking: Asking) -> None:
    code = (
        "import json, pathlib, sys\n"
        "print(json.dumps({'type': 'usage', 'input_tokens': 5, 'output_tokens': 1, 'usd': 0.5}))\n"
        "pathlib.Path('calc.py').write_text('def add(a, b):\\n    return a + b\\n')\n"
        "pathlib.Path(sys.argv[1]).write_text(json.dumps({'status': 'done', 'summary': 'Done.'}))\n"
    )
    command = (sys.executable, "-c", code, "{result_file}")
    spec = AgentSpec(name="own", api=Api.GEMINI, output="jsonl", command=command)
    report = asking.lab.run("good", agents={Unit.EXECUTE_PLAN: spec}, budget=Budget(minutes=2, usd=Decimal("0.6")))
    assert report.outcome is Outcome.VERIFIED, report
    assert (report.usage[0].usd, report.usage[0].usd_source) == (Decimal("0.5"), UsdSource.REPORTED)
    assert any(n.startswith("Agent own was not metered, since the runner has no key for gemini:") for n in report.notes)
    assert any(note.startswith("80% is gone. The budget: $0.50 of $0.60.") for note in report.notes)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_sandbox_without_network_reaches_its_model_and_nothing_else(asking: Asking) -> None:
    code = (
        "import socket\n"
        f"peer = socket.socket(); refused = peer.connect_ex(('127.0.0.1', {asking.api.url.rsplit(':', 1)[1]}))\n"
        "assert refused, 'the model itself is out of reach'\n"
        "assert 'Hello' in ask('a'); done()\n"
    )
    asking.api.answer = lambda _asked: ANTHROPIC.plain("Hello")
    report = asking.run(code, sandbox=SandboxMode.REQUIRED, network=Network.MODEL, gates=())
    if report.outcome is Outcome.SANDBOX_UNAVAILABLE:
        pytest.skip(report.sentence)
    assert report.outcome is Outcome.VERIFIED, report
    assert report.usage[0].usd == PRICE


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_sandbox_without_network_needs_the_meter(asking: Asking) -> None:
    report = asking.lab.run("good", sandbox=SandboxMode.REQUIRED, network=Network.MODEL)
    if report.outcome is Outcome.SANDBOX_UNAVAILABLE:
        pytest.skip(report.sentence)
    assert report.outcome is Outcome.AGENT_FAILED, report
    assert "`network: model`" in report.sentence
    assert report.usage == ()


def test_an_agent_that_neither_prints_nor_calls_is_ended(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.steps.agent.SILENT_SECONDS", 1.0)
    report = asking.run("ask('a'); time.sleep(60)\n")
    assert report.outcome is Outcome.NO_PROGRESS, report
    assert "neither printed anything nor called its model" in report.sentence
    assert report.usage[0].usd == PRICE


def test_an_agent_that_goes_past_the_meter_tells_its_own_cost(asking: Asking) -> None:
    code = "print(json.dumps({'type': 'usage', 'input_tokens': 5, 'output_tokens': 1, 'usd': 0.5})); done()\n"
    report = asking.run(code, output="jsonl")
    assert report.outcome is Outcome.VERIFIED, report
    assert (report.usage[0].usd, report.usage[0].usd_source) == (Decimal("0.5"), UsdSource.REPORTED)
    assert any("went past the meter" in note for note in report.notes)
