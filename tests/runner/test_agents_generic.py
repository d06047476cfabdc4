"""Any command as an agent: placeholders, environment, usage records."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from runner.agents import agent_for
from runner.agents.base import AgentError, AgentResult, Call, Endpoint, past_proxies
from runner.agents.generic import Generic
from runner.contract import UsdSource
from runner.prices import usage_of
from runner.terms import AgentSpec, Api
from tests.runner.runs import run_in

if TYPE_CHECKING:
    from pathlib import Path


def _spec(*command: str, **more: Any) -> AgentSpec:
    return AgentSpec(name="mytool", command=command, **more)


def _parse(tmp_path: Path, *records: dict[str, Any], output: str = "jsonl", exit_code: int | None = 0) -> AgentResult:
    run = run_in(tmp_path, spec=_spec("x", output=output))
    return Generic().parse(run, [json.dumps(record).encode() for record in records], exit_code)


def test_placeholders_are_replaced_once(tmp_path: Path) -> None:
    command = ("tool", "--in={prompt_file}", "{result_file}", "{unit}", "{attempt}", "{worktree}", "{model}", "{x} {}")
    run = run_in(tmp_path, spec=_spec(*command, model="{attempt}"), attempt=2)
    assert Generic().command(run) == [
        "tool",
        f"--in={run.prompt_file}",
        str(run.result_file),
        "ExecutePlan",
        "2",
        str(run.worktree),
        "{attempt}",
        "{x} {}",
    ]


def test_a_command_that_asks_for_a_model_needs_one(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="no model is set"):
        Generic().command(run_in(tmp_path, spec=_spec("tool", "{model}")))
    with pytest.raises(AgentError, match="no command"):
        Generic().command(run_in(tmp_path))


def test_it_gets_no_credentials(tmp_path: Path) -> None:
    run = run_in(tmp_path, spec=_spec("x"))
    env = Generic().environment(run, {"PATH": "/bin", "ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "HOME": "/root"})
    assert env["PATH"] == "/bin"
    assert env["HOME"] == str(run.home)
    assert not {"ANTHROPIC_API_KEY", "GITHUB_TOKEN"} & set(env)


@pytest.mark.parametrize(
    ("api", "expected"),
    [
        (Api.ANTHROPIC, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:7/anthropic", "ANTHROPIC_API_KEY": "placeholder"}),
        (
            Api.RESPONSES,
            {"OPENAI_BASE_URL": "http://127.0.0.1:7/openai-responses/v1", "OPENAI_API_KEY": "placeholder"},
        ),
        (Api.CHAT, {"OPENAI_API_BASE": "http://127.0.0.1:7/openai-chat/v1", "OPENAI_API_KEY": "placeholder"}),
        (Api.GEMINI, {"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:7/gemini", "GEMINI_API_KEY": "placeholder"}),
    ],
)
def test_a_metered_command_finds_the_meter_as_its_sdk_looks_for_it(
    tmp_path: Path, api: Api, expected: dict[str, str]
) -> None:
    run = run_in(tmp_path, spec=_spec("x", api=api), endpoint=Endpoint("http://127.0.0.1:7", "placeholder"))
    env = agent_for(run.spec).environment(run, {"PATH": "/bin", **dict.fromkeys(expected, "real")})
    assert expected.items() <= env.items()
    assert "real" not in env.values()


def test_no_proxy_stands_before_the_meter(tmp_path: Path) -> None:
    run = run_in(tmp_path, spec=_spec("x", api=Api.CHAT), endpoint=Endpoint("http://127.0.0.1:7", "placeholder"))
    proxied = {"HTTPS_PROXY": "http://proxy:8080", "NO_PROXY": "git.example.com"}
    straight = Generic().environment(run, proxied)
    assert straight["NO_PROXY"] == straight["no_proxy"] == "git.example.com,127.0.0.1,::1,localhost"
    assert past_proxies(straight) == straight
    assert past_proxies({"no_proxy": "a"})["NO_PROXY"] == "a,127.0.0.1,::1,localhost"
    assert "NO_PROXY" not in Generic().environment(run_in(tmp_path, spec=_spec("x")), {})


def test_a_real_command_runs_and_tells_its_usage(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(
        "import json, sys\n"
        "open(sys.argv[2], 'w').write(json.dumps({'status': 'done', 'summary': open(sys.argv[1]).read()}))\n"
        "print('hello')\n"
        "print(json.dumps({'type': 'usage', 'model': 'm', 'input_tokens': 9, 'output_tokens': 3, 'usd': 0.25}))\n",
        encoding="utf-8",
    )
    spec = _spec(sys.executable, str(script), "{prompt_file}", "{result_file}", output="jsonl")
    run, agent = run_in(tmp_path, spec=spec), agent_for(spec)
    ended = subprocess.run(agent.command(run), capture_output=True, check=False, timeout=60)
    result = agent.parse(run, ended.stdout.splitlines(keepends=True), ended.returncode)
    assert result.ok
    assert result.calls == (Call("m", 9, 3),)
    assert result.usd == Decimal("0.25")
    assert json.loads(run.result_file.read_text(encoding="utf-8"))["summary"] == "Do it.\n"


def test_a_record_seen_twice_counts_once(tmp_path: Path) -> None:
    record = {"type": "usage", "id": "c1", "model": "m", "input_tokens": 9, "output_tokens": 3}
    unnamed = {"type": "usage", "input_tokens": 1, "output_tokens": 1}
    result = _parse(tmp_path, record, {**record, "output_tokens": 5}, unnamed, unnamed, {"type": "text"})
    assert result.calls == (Call("m", 9, 5), Call(None, 1, 1), Call(None, 1, 1))


@pytest.mark.parametrize(
    "wrong", [{}, {"input_tokens": -1, "output_tokens": 1}, {"input_tokens": 1.5, "output_tokens": 1}]
)
def test_a_record_without_sensible_counts_is_none(tmp_path: Path, wrong: dict[str, Any]) -> None:
    assert _parse(tmp_path, {"type": "usage", **wrong}).calls is None


def test_dollars_are_reported_only_when_every_call_tells_them(tmp_path: Path) -> None:
    call = {"type": "usage", "model": "nobody-knows-it", "input_tokens": 1, "output_tokens": 1}
    assert _parse(tmp_path, {**call, "usd": 1}, {**call, "usd": 2}).usd == Decimal(3)
    partly = _parse(tmp_path, {**call, "usd": 1}, call)
    assert partly.usd is None
    assert usage_of(run_in(tmp_path), partly, 1).usd_source is UsdSource.UNKNOWN


def test_text_has_no_usage_and_no_last_message(tmp_path: Path) -> None:
    result = _parse(tmp_path, {"type": "usage", "input_tokens": 1, "output_tokens": 1}, output="text")
    assert (result.calls, result.final_text, result.ok) == (None, None, True)


def test_the_exit_code_judges(tmp_path: Path) -> None:
    failed, ended = _parse(tmp_path, exit_code=2), _parse(tmp_path, exit_code=None)
    assert (failed.ok, failed.error) == (False, "Agent mytool ended with exit code 2.")
    assert (ended.ok, ended.complete) == (False, False)
