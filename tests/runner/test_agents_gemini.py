"""Gemini CLI: the command, the environment, its stream and its session log. The real program: tests/agents."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from runner.agents.base import AgentResult, AgentRun, Call, Endpoint
from runner.agents.gemini import Gemini
from runner.terms import AgentSpec
from tests.runner.runs import run_in

if TYPE_CHECKING:
    from pathlib import Path

METER = Endpoint("http://127.0.0.1:9", "placeholder")
BEGIN = {"type": "init", "session_id": "s1", "model": "gemini-2.5-pro"}
END = {"type": "result", "status": "success", "stats": {}}


def _run(folder: Path, **changes: Any) -> AgentRun:
    return run_in(folder, **{"spec": AgentSpec(name="gemini", model="gemini-2.5-pro"), **changes})


def _parse(run: AgentRun, *events: dict[str, Any], exit_code: int | None = 0) -> AgentResult:
    return Gemini().parse(run, [json.dumps(event).encode() + b"\n" for event in events], exit_code)


def _says(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


def test_the_command(tmp_path: Path) -> None:
    run = _run(tmp_path)
    pairs = dict(pairwise(Gemini().command(run)))
    assert pairs["-p"] == "Do it.\n"
    assert pairs["--session-id"] == run.session
    assert pairs["--include-directories"] == str(run.result_file.parent), "its write tool knows no other folder"
    again = dict(pairwise(Gemini().command(_run(tmp_path, resume=True, session="s1"))))
    assert again["--resume"] == "s1"


def test_a_metered_run_gets_the_placeholder_and_no_credential(tmp_path: Path) -> None:
    run = _run(tmp_path, endpoint=METER)
    env = Gemini().environment(run, {"GEMINI_API_KEY": "real", "GOOGLE_API_KEY": "real"})
    assert env["GOOGLE_GEMINI_BASE_URL"] == "http://127.0.0.1:9/gemini"
    assert env["GEMINI_API_KEY"] == "placeholder"
    assert "real" not in env.values()
    settings = json.loads(Gemini().files(run)[".gemini/settings.json"])
    assert settings["security"]["auth"]["selectedType"] == "gemini-api-key"


def test_without_meter_and_key_it_looks_for_a_log_in(tmp_path: Path) -> None:
    run = _run(tmp_path)
    assert Gemini().environment(run, {})["GOOGLE_GENAI_USE_GCA"] == "true"
    assert "GOOGLE_GENAI_USE_GCA" not in Gemini().environment(run, {"GEMINI_API_KEY": "k"})
    assert "security" not in json.loads(Gemini().files(run)[".gemini/settings.json"])


def test_the_last_message_is_put_together(tmp_path: Path) -> None:
    tool = {"type": "tool_use", "tool_name": "read_file"}
    result = _parse(_run(tmp_path), BEGIN, _says("I read."), tool, _says("All "), _says("done."), END)
    assert result == AgentResult(ok=True, error=None, session="s1", final_text="All done.")


@pytest.mark.parametrize(
    ("events", "exit_code", "said"),
    [
        ((BEGIN, {"type": "result", "status": "error", "error": {"message": "status 401"}}), 145, "401"),
        ((BEGIN, {"type": "error", "message": "Loop detected"}, {"type": "result", "status": "error"}), 0, "Loop"),
        ((BEGIN, _says("x")), 0, "no result event"),
        ((BEGIN, END), 1, "exit code 1"),
        ((BEGIN, END), None, "ended by the runner"),
    ],
)
def test_what_is_no_success(tmp_path: Path, events: tuple[dict[str, Any], ...], exit_code: int, said: str) -> None:
    result = _parse(_run(tmp_path), *events, exit_code=exit_code)
    assert not result.ok
    assert result.final_text is None
    assert said in (result.error or "")


def test_the_calls_of_this_run_alone_are_read_from_the_session_log(tmp_path: Path) -> None:
    run = _run(tmp_path, started_at=1_795_968_000.0)  # 2026-11-29T16:00:00Z
    tokens = {"input": 1500, "output": 50, "cached": 200, "thoughts": 10, "tool": 0, "total": 1560}
    late = {"id": "a", "timestamp": "2026-11-29T16:00:01.000Z", "type": "gemini", "model": "gemini-2.5-pro"}
    chats = run.home / ".gemini/tmp/tree/chats"
    chats.mkdir(parents=True)
    records = [{**late, "id": "b", "timestamp": "2026-11-29T15:00:00Z", "tokens": tokens}]
    records += [{**late, "tokens": tokens}, {**late, "tokens": tokens}, {**late, "id": 3}]
    (chats / "session-1.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    killed = _parse(run, BEGIN, exit_code=None)
    assert killed.calls == (Call("gemini-2.5-pro", 1300, 60, 200, reasoning_tokens=10),)
    assert not killed.complete


def test_refusals_of_its_policy_are_counted(tmp_path: Path) -> None:
    refused = {"type": "tool_result", "status": "error", "error": {"type": "policy_violation"}}
    assert _parse(_run(tmp_path), BEGIN, refused, {"type": "tool_result", "error": "x"}, END).denied == 1
