"""Copilot CLI: command and environment, and streams recorded from version 1.0.102 against a scripted model API."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.agents import agent_for
from runner.agents.base import AgentResult, Call, Endpoint
from runner.agents.copilot import Copilot
from runner.terms import AgentSpec, Api, Effort
from tests.runner.runs import run_in

if TYPE_CHECKING:
    from runner.agents.base import AgentRun

STREAMS = Path(__file__).parent / "streams" / "copilot"
SESSION = "f26f8ac5-ae1c-4650-9e6f-2387802556d1"
STARTED, RESUMED = 1795987720.0, 1795987721.6
"""When the recorded runs began: 2026-11-29 21:28:40 and the resumed one 1.6 s later."""
ENDPOINT = Endpoint("http://127.0.0.1:7", "placeholder")
OFFERED = {"PATH": "/bin", "HOME": "/root", "GITHUB_TOKEN": "t", "COPILOT_GITHUB_TOKEN": "c", "OPENAI_API_KEY": "o"}


def _spec(model: str | None = "gpt-5.4", effort: Effort | None = None) -> AgentSpec:
    return AgentSpec(name="copilot", model=model, effort=effort)


def _run(folder: Path, **changes: Any) -> AgentRun:
    return run_in(folder, **{"spec": _spec(), "session": SESSION, **changes})


def _recorded(run: AgentRun, name: str, exit_code: int | None = 0) -> AgentResult:
    with (STREAMS / f"{name}.jsonl").open("rb") as stream:
        return Copilot().parse(run, stream, exit_code)


def _parse(run: AgentRun, *events: dict[str, Any] | bytes, exit_code: int | None = 0) -> AgentResult:
    lines = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    return Copilot().parse(run, lines, exit_code)


def _log(run: AgentRun) -> Path:
    folder = run.home / ".copilot" / "session-state" / run.session
    folder.mkdir(parents=True)
    return folder / "events.jsonl"


def _result(exit_code: Any = 0, **more: Any) -> dict[str, Any]:
    return {"type": "result", "sessionId": SESSION, "exitCode": exit_code, **more}


def test_the_command_of_a_fresh_run(tmp_path: Path) -> None:
    run = _run(tmp_path, spec=_spec(effort=Effort.LOW))
    command = Copilot().command(run)
    assert command[3:5] == [str(run.prompt_file), "copilot"]
    expected = {"--output-format=json", "--allow-all", "--model=gpt-5.4", "--reasoning-effort=low"}
    assert expected <= set(command)
    assert f"--session-id={SESSION}" in command
    assert not any(part.startswith(("-p", "--prompt", "--resume")) for part in command)


def test_the_command_of_a_resumed_run(tmp_path: Path) -> None:
    command = Copilot().command(_run(tmp_path, spec=_spec(None), resume=True))
    assert f"--resume={SESSION}" in command
    assert not any(part.startswith(("--session-id", "--model", "--reasoning-effort")) for part in command)


@pytest.mark.parametrize(
    ("model", "api", "base", "kind", "wire"),
    [
        ("claude-sonnet-4-5", Api.ANTHROPIC, "http://127.0.0.1:7/anthropic", "anthropic", "completions"),
        ("gpt-5.4", Api.RESPONSES, "http://127.0.0.1:7/openai-responses/v1", "openai", "responses"),
        ("qwen3-coder", Api.CHAT, "http://127.0.0.1:7/openai-chat/v1", "openai", "completions"),
        ("gemini-2.5-pro", Api.CHAT, "http://127.0.0.1:7/openai-chat/v1", "openai", "completions"),
    ],
)
def test_a_metered_run_knows_the_meter_and_no_key(
    tmp_path: Path, model: str, api: Api, base: str, kind: str, wire: str
) -> None:
    run = _run(tmp_path, spec=_spec(model), endpoint=ENDPOINT)
    assert agent_for(run.spec).api(run.spec) is api
    env = Copilot().environment(run, {**OFFERED, "COPILOT_PROVIDER_API_KEY": "real"})
    told = [env[f"COPILOT_PROVIDER_{name}"] for name in ("BASE_URL", "TYPE", "WIRE_API", "API_KEY")]
    assert told == [base, kind, wire, "placeholder"]
    assert env["COPILOT_OFFLINE"] == "true"
    assert not {"COPILOT_GITHUB_TOKEN", "OPENAI_API_KEY", "GITHUB_TOKEN"} & set(env)


def test_an_unmetered_run_gets_its_own_credentials_alone(tmp_path: Path) -> None:
    run = _run(tmp_path, spec=_spec(None))
    assert Copilot().api(run.spec) is None
    env = Copilot().environment(run, {**OFFERED, "COPILOT_PKG_CACHE_HOME": "/opt/copilot"})
    assert env["COPILOT_GITHUB_TOKEN"] == "c"
    assert env["COPILOT_PKG_CACHE_HOME"] == "/opt/copilot"
    assert Path(env["COPILOT_HOME"]).is_relative_to(run.home)
    assert not {"OPENAI_API_KEY", "GITHUB_TOKEN", "COPILOT_OFFLINE"} & set(env)


def test_what_it_unpacks_lies_in_the_plan_s_home_unless_its_own_variable_says_else(tmp_path: Path) -> None:
    shared = dict.fromkeys(("XDG_CACHE_HOME", "COPILOT_CACHE_HOME", "COPILOT_HOME"), "/shared")
    for endpoint in (None, ENDPOINT):
        assert "/shared" not in Copilot().environment(_run(tmp_path, endpoint=endpoint), shared).values()


def test_a_whole_run_as_recorded(tmp_path: Path) -> None:
    run = _run(tmp_path, started_at=STARTED)
    _log(run).write_bytes((STREAMS / "log.jsonl").read_bytes().split(b'{"type":"session.resume"')[0])
    result = _recorded(run, "whole")
    assert (result.ok, result.error, result.complete) == (True, None, True)
    assert result.session == SESSION
    assert result.final_text == "All done: created hello.txt."
    assert (result.denied, result.usd) == (0, None)
    assert result.calls == (
        Call("gpt-5.4", 1000, 60, 200, 300, reasoning_tokens=10),
        Call("gpt-5.4", 100, 40, 1400, 50, reasoning_tokens=5),
        Call("gpt-5.4", 1000, 50, reasoning_tokens=0),
        Call("gpt-5.4", 120, 30, 1500, reasoning_tokens=0),
    )


def test_a_resumed_run_counts_its_own_as_recorded(tmp_path: Path) -> None:
    run = _run(tmp_path, resume=True, started_at=RESUMED)
    _log(run).write_bytes((STREAMS / "log.jsonl").read_bytes())
    result = _recorded(run, "resumed")
    assert result.final_text == "Mended."
    assert result.calls == (Call("gpt-5.4", 500, 20, 2000, reasoning_tokens=0),)


def test_a_metered_run_leaves_the_counting_to_the_meter(tmp_path: Path) -> None:
    run = _run(tmp_path, endpoint=ENDPOINT)
    _log(run).write_bytes((STREAMS / "log.jsonl").read_bytes())
    assert _recorded(run, "whole").calls is None


@pytest.mark.parametrize(
    ("name", "exit_code", "said"),
    [
        ("spent", 1, "Copilot ended with exit code 1: query: 402 the budget is spent."),
        ("overflow", 1, "too long"),
        ("ended", 0, "Copilot ended with exit code 0: it was told to stop."),
        ("ended", None, "ended by the runner"),
        ("whole", 1, "exit code 1: it gave no reason."),
    ],
)
def test_what_is_no_success_as_recorded(tmp_path: Path, name: str, exit_code: int | None, said: str) -> None:
    result = _recorded(_run(tmp_path), name, exit_code)
    assert not result.ok
    assert said in (result.error or "")
    assert result.final_text is None


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (b"", "no result event"),
        (b"not json", "no result event"),
        (_result(1), "it gave no reason"),
        (_result("0"), "it gave no reason"),
    ],
)
def test_what_is_no_result(tmp_path: Path, event: dict[str, Any] | bytes, said: str) -> None:
    assert said in (_parse(_run(tmp_path), event).error or "")


def test_refused_tool_calls_are_counted(tmp_path: Path) -> None:
    refused = {"type": "tool.execution_complete", "data": {"success": False, "error": {"code": "denied"}}}
    failed = {"type": "tool.execution_complete", "data": {"success": False, "error": {"code": "failure"}}}
    result = _parse(_run(tmp_path), refused, failed, refused, _result())
    assert (result.ok, result.denied) == (True, 2)


def test_a_session_of_another_name_is_not_gone_on_with(tmp_path: Path) -> None:
    assert _parse(_run(tmp_path), _result(sessionId="--allow-all")).session is None


def test_hostile_lines_are_passed_over(tmp_path: Path) -> None:
    run = _run(tmp_path)
    usage = {"inputTokens": -5, "outputTokens": True, "cacheReadTokens": 10**30, "cacheWriteTokens": 7, "model": []}
    _log(run).write_text(
        "\n".join(
            json.dumps({"type": "session.usage_record", "timestamp": at, "data": {"usage": usage}})
            for at in ("2026-11-29T21:28:40Z", "never", None, "9999-12-31T23:59:59-23:00")
        )
    )
    odd: list[dict[str, Any]] = [
        {"type": "assistant.message", "data": []},
        {"type": ["result"]},
        {"type": "assistant.message", "data": {"content": {}, "toolRequests": 0}},
    ]
    result = _parse(run, b"[" * 100_000, b"\xff\xfe", *odd, _result())
    assert (result.ok, result.final_text) == (True, None)
    assert result.calls is not None
    assert {(call.model, call.input_tokens, call.output_tokens) for call in result.calls} == {(None, 0, 0)}


def test_a_log_that_is_no_file_is_not_read(tmp_path: Path) -> None:
    run = _run(tmp_path)
    os.mkfifo(_log(run))
    assert _parse(run, _result()).calls is None
