"""Codex: the command, the environment, its stream and its session log. The real program is driven in tests/agents."""

from __future__ import annotations

import json
import tomllib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from runner.agents.base import AgentResult, AgentRun, Call, Endpoint
from runner.agents.codex import Codex
from runner.terms import AgentSpec, Effort
from tests.runner.runs import run_in

if TYPE_CHECKING:
    from pathlib import Path

METER = Endpoint("http://127.0.0.1:9", "placeholder")
BEGIN = {"type": "thread.started", "thread_id": "t1"}
SAID = {"type": "item.completed", "item": {"type": "agent_message", "text": "All done."}}
USAGE = {"input_tokens": 4670, "cached_input_tokens": 3100, "cache_write_input_tokens": 350, "output_tokens": 130}
END = {"type": "turn.completed", "usage": USAGE}


def _run(folder: Path, **changes: Any) -> AgentRun:
    return run_in(folder, **{"spec": AgentSpec(name="codex", model="gpt-5.5"), **changes})


def _parse(run: AgentRun, *events: dict[str, Any], exit_code: int | None = 0) -> AgentResult:
    return Codex().parse(run, [json.dumps(event).encode() + b"\n" for event in events], exit_code)


def _log(run: AgentRun, *records: dict[str, Any]) -> None:
    folder = run.home / ".codex/sessions/2026/11/29"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rollout-1-t1.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def _used(at: str, **usage: int) -> dict[str, Any]:
    return {"timestamp": at, "type": "token_usage_record", "payload": {"usage": usage}}


def test_the_command_of_a_metered_run(tmp_path: Path) -> None:
    run = _run(tmp_path, endpoint=METER, spec=AgentSpec(name="codex", model="gpt-5.5", effort=Effort.HIGH))
    command = Codex().command(run)
    assert command[:3] == ["codex", "exec", "--json"]
    assert command[-1] == "Do it.\n"
    settings = [value for name, value in pairwise(command) if name == "-c"]
    assert 'model_reasoning_effort="high"' in settings
    assert 'model_provider="meter"' in settings
    provider = tomllib.loads(next(value for value in settings if value.startswith("model_providers")))
    meter = provider["model_providers"]["meter"]
    assert meter["base_url"] == "http://127.0.0.1:9/openai-responses/v1"
    env = Codex().environment(run, {"CODEX_API_KEY": "real", "OPENAI_API_KEY": "real"})
    assert env[meter["env_key"]] == "placeholder"
    assert "real" not in env.values()
    assert not any("placeholder" in word for word in command), "no secret on a command line"


def test_a_resumed_run_names_its_thread_before_the_prompt(tmp_path: Path) -> None:
    command = Codex().command(_run(tmp_path, resume=True, session="t1"))
    assert command[1:3] == ["exec", "resume"]
    assert command[-2:] == ["t1", "Do it.\n"]
    assert not any("model_provider" in word for word in command), "without a meter its own provider is used"


def test_a_good_run(tmp_path: Path) -> None:
    result = _parse(_run(tmp_path), BEGIN, SAID, END)
    assert result == AgentResult(ok=True, error=None, session="t1", final_text="All done.")


@pytest.mark.parametrize(
    ("events", "exit_code", "said"),
    [
        ((BEGIN, {"type": "turn.failed", "error": {"message": "unexpected status 401"}}), 1, "401"),
        ((BEGIN, SAID), 0, "without completing"),
        ((BEGIN, SAID, END), 1, "exit code 1"),
        ((BEGIN, SAID, END), None, "ended by the runner"),
        ((), 0, "without completing"),
    ],
)
def test_what_is_no_success(tmp_path: Path, events: tuple[dict[str, Any], ...], exit_code: int, said: str) -> None:
    result = _parse(_run(tmp_path), *events, exit_code=exit_code)
    assert not result.ok
    assert result.final_text is None
    assert said in (result.error or "")


def test_the_calls_of_this_run_alone_are_read_from_the_session_log(tmp_path: Path) -> None:
    run = _run(tmp_path, started_at=1_795_968_000.0)  # 2026-11-29T16:00:00Z
    _log(
        run,
        {"type": "turn_context", "payload": {"model": "gpt-5.5"}},
        _used("2026-11-29T15:59:59.000Z", input_tokens=9, output_tokens=9),
        _used("2026-11-29T16:00:01.000Z", reasoning_output_tokens=15, **USAGE),
    )
    killed = _parse(run, BEGIN, exit_code=None)
    assert killed.calls == (Call("gpt-5.5", 1220, 130, 3100, 350, reasoning_tokens=15),)
    assert not killed.complete
    metered = _parse(_run(tmp_path, endpoint=METER), BEGIN, SAID, END)
    assert metered.calls is None, "the meter knows better"


def test_a_hostile_session_log_is_passed_over(tmp_path: Path) -> None:
    run = _run(tmp_path)
    _log(
        run, {"type": "token_usage_record", "timestamp": 7, "payload": {"usage": {"input_tokens": -1}}}, [], _used("x")
    )  # type: ignore[arg-type]
    result = _parse(run, BEGIN, {"type": "item.completed", "item": "no"}, SAID, END)
    assert result.ok
    assert result.calls == (Call(None, 0, 0), Call(None, 0, 0))


def test_declined_items_are_counted(tmp_path: Path) -> None:
    declined = {"type": "item.completed", "item": {"type": "command_execution", "status": "declined"}}
    assert _parse(_run(tmp_path), BEGIN, declined, declined, END).denied == 2
