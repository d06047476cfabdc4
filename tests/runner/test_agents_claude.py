"""Claude Code: the command, the environment, the traps of its stream. The real program is driven in tests/agents."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from runner.agents import agent_for
from runner.agents.base import MAX_ARGUMENT, AgentError, AgentResult, AgentRun, Call, Endpoint
from runner.agents.claude import Claude
from runner.contract import UsdSource
from runner.prices import usage_of
from runner.terms import AgentSpec, Budget, Effort
from tests.runner.runs import run_in


def _usage(read: int, output: int, **more: Any) -> dict[str, Any]:
    return {"input_tokens": read, "output_tokens": output, **more}


def _assistant(name: str, usage: dict[str, Any], model: str = "claude-sonnet-4-5", **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "session_id": "s1", "message": {"id": name, "model": model, "usage": usage}, **more}


def _delta(name: str, usage: dict[str, Any]) -> dict[str, Any]:
    return {"type": "stream_event", "api_message_id": name, "event": {"type": "message_delta", "usage": usage}}


def _result(**changes: Any) -> dict[str, Any]:
    good = {"subtype": "success", "is_error": False, "result": "done", "session_id": "s1", "total_cost_usd": 0.5}
    return {"type": "result", "permission_denials": [], "terminal_reason": "completed", **good, **changes}


def _since(read: int, output: int, usd: float, **more: Any) -> dict[str, Any]:
    used = {"inputTokens": read, "outputTokens": output, "costUSD": usd, "costBasis": "list", **more}
    return {"model_usage_since_last_result": {"claude-sonnet-4-5": used}}


def _parse(run: AgentRun, *events: dict[str, Any] | bytes, exit_code: int | None = 0) -> AgentResult:
    lines = [event if isinstance(event, bytes) else json.dumps(event).encode() + b"\n" for event in events]
    return Claude().parse(run, lines, exit_code)


def test_the_command_of_a_fresh_run(tmp_path: Path) -> None:
    run = run_in(tmp_path, budget=Budget(usd=Decimal("2.50")))
    command = Claude().command(run)
    assert command[:3] == ["claude", "-p", "Do it.\n"]
    pairs = dict(pairwise(command))
    assert pairs["--output-format"] == "stream-json"
    assert {"--verbose", "--include-partial-messages", "--strict-mcp-config"} <= set(command)
    assert pairs["--session-id"] == run.session
    assert pairs["--max-budget-usd"] == "2.50"
    assert pairs["--model"] == "claude-sonnet-4-5"
    assert "Edit" in pairs["--tools"].split(",")
    assert "--resume" not in command


def test_the_command_of_a_resumed_read_only_run(tmp_path: Path) -> None:
    run = run_in(tmp_path, resume=True, read_only=True, spec=AgentSpec(name="claude"))
    command = Claude().command(run)
    pairs = dict(pairwise(command))
    assert pairs["--resume"] == run.session
    assert "Edit" not in pairs["--tools"].split(",")
    assert not {"--session-id", "--max-budget-usd", "--model"} & set(command)


def test_a_prompt_that_fits_no_argument_is_refused(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    run.prompt_file.write_text("ü" * (MAX_ARGUMENT // 2 + 1), encoding="utf-8")
    with pytest.raises(AgentError, match="longer than 131071 bytes"):
        Claude().command(run)


def test_the_environment_is_an_allow_list(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    offered = {
        "PATH": "/usr/bin",
        "HOME": "/home/runner",
        "ANTHROPIC_API_KEY": "k",
        "CLAUDE_CODE_OAUTH_TOKEN": "t",
        "GITHUB_TOKEN": "ghs_x",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x",
        "OPENAI_API_KEY": "other",
        "LD_PRELOAD": "/evil.so",
    }
    env = Claude().environment(run, offered)
    assert {name: env[name] for name in ("PATH", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN")} == {
        "PATH": "/usr/bin",
        "ANTHROPIC_API_KEY": "k",
        "CLAUDE_CODE_OAUTH_TOKEN": "t",
    }
    assert env["HOME"] == str(run.home)
    assert Path(env["CLAUDE_CONFIG_DIR"]).is_relative_to(run.home)
    assert not {"GITHUB_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "OPENAI_API_KEY", "LD_PRELOAD"} & set(env)


def test_a_message_counts_once_with_the_output_of_its_end(tmp_path: Path) -> None:
    start = _usage(1000, 1, cache_read_input_tokens=200, cache_creation_input_tokens=300)
    result = _parse(
        run_in(tmp_path),
        _assistant("m1", start),
        _assistant("m1", start),
        _delta("m1", _usage(1000, 60, cache_read_input_tokens=200, cache_creation_input_tokens=300)),
        _assistant("m1", start),
        _assistant("x", _usage(9, 9), model="<synthetic>"),
        _result(),
    )
    assert result.ok
    assert result.error is None
    assert result.calls == (Call("claude-sonnet-4-5", 1000, 60, 200, 300),)
    assert result.usd == Decimal("0.5")
    assert result.session == "s1"
    assert result.final_text == "done"


def test_what_the_stream_hides_is_counted_as_one_more_call(tmp_path: Path) -> None:
    result = _parse(run_in(tmp_path), _assistant("m1", _usage(100, 10)), _result(**_since(150, 30, 0.1)))
    assert result.calls == (Call("claude-sonnet-4-5", 100, 10), Call("claude-sonnet-4-5", 50, 20))


def test_a_resumed_run_reports_its_own_dollars(tmp_path: Path) -> None:
    run = run_in(tmp_path, resume=True)
    own = _parse(run, _assistant("m", _usage(5, 5)), _result(total_cost_usd=9.0, **_since(5, 5, 0.25)))
    assert own.usd == Decimal("0.25")
    older = _parse(run, _assistant("m", _usage(5, 5)), _result(total_cost_usd=9.0))
    assert older.usd is None, "a sum that may be the whole session's is not this run's"
    assert usage_of(run, older, 1).usd_source is UsdSource.PRICES


def test_two_results_add_up_and_the_last_one_judges(tmp_path: Path) -> None:
    first, last = _result(**_since(5, 5, 0.25)), _result(is_error=True, result="late", **_since(1, 1, 0.5))
    result = _parse(run_in(tmp_path), first, last)
    assert result.usd == Decimal("0.75")
    assert not result.ok


def test_a_price_that_is_a_guess_is_not_reported(tmp_path: Path) -> None:
    result = _parse(run_in(tmp_path), _assistant("m", _usage(5, 5)), _result(**_since(5, 5, 0.25, costBasis="unknown")))
    assert result.usd is None


@pytest.mark.parametrize(
    ("event", "exit_code", "said"),
    [
        (_result(is_error=True, terminal_reason="api_error", result="API Error: 402 spent"), 1, "402 spent"),
        (_result(is_error=True), 0, "exit code 0"),
        (_result(), 1, "exit code 1"),
        (_result(subtype="error_max_turns", terminal_reason=None), 0, "error_max_turns"),
        (_result(is_error="no"), 0, "Claude Code ended"),
        (b"", 0, "no result event"),
        (b"not json\n", 3, "exit code 3"),
        (_result(), None, "ended by the runner"),
    ],
)
def test_what_is_no_success(tmp_path: Path, event: dict[str, Any] | bytes, exit_code: int | None, said: str) -> None:
    result = _parse(run_in(tmp_path), event, exit_code=exit_code)
    assert not result.ok
    assert result.error is not None
    assert said in result.error
    assert result.final_text is None


def test_an_error_word_in_the_text_is_no_error(tmp_path: Path) -> None:
    assert _parse(run_in(tmp_path), _result(result="error: FAILED, I give up")).ok


def test_a_broken_off_stream_keeps_what_was_spent(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    result = _parse(
        run, _assistant("m1", _usage(1000, 1)), _delta("m1", _usage(1000, 60)), b'{"type":"ass', exit_code=None
    )
    assert result.calls == (Call("claude-sonnet-4-5", 1000, 60),)
    row = usage_of(run, result, 3)
    assert not row.complete
    assert row.usd == Decimal("0.0039")


def test_nothing_said_is_unknown(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    result = _parse(run, exit_code=None)
    assert result.calls is None
    assert usage_of(run, result, 1).input_tokens is None


def test_hostile_lines_are_passed_over(tmp_path: Path) -> None:
    deep = b"[" * 100_000 + b"\n"
    nan = b'{"type":"result","is_error":false,"subtype":"success","total_cost_usd":NaN}\n'
    odd: list[dict[str, Any]] = [
        {"type": "assistant", "message": []},
        {"type": "stream_event", "event": 3},
        {"type": "assistant"},
    ]
    wrong = _assistant("m1", {"input_tokens": -5, "output_tokens": True, "cache_read_input_tokens": "7"})
    result = _parse(run_in(tmp_path), deep, nan, b"[1,2]\n", b"\xff\xfe\n", *odd, wrong, _result(total_cost_usd=-1))
    assert result.ok
    assert result.calls == (Call("claude-sonnet-4-5", 0, 0),)
    assert result.usd is None


def test_refused_tool_calls_are_counted(tmp_path: Path) -> None:
    assert _parse(run_in(tmp_path), _result(permission_denials=[{}, {}])).denied == 2
    assert _parse(run_in(tmp_path), _result(permission_denials="many")).denied == 0


def test_an_unknown_agent_is_refused() -> None:
    with pytest.raises(AgentError, match="Built in are claude, codex"):
        agent_for(AgentSpec(name="hal"))


def test_a_metered_run_gets_the_placeholder_and_no_credential(tmp_path: Path) -> None:
    run = run_in(tmp_path, endpoint=Endpoint("http://127.0.0.1:9", "placeholder"), budget=Budget(usd=Decimal(1)))
    env = Claude().environment(run, {"ANTHROPIC_API_KEY": "real", "CLAUDE_CODE_OAUTH_TOKEN": "real"})
    assert env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9/anthropic"
    assert env["ANTHROPIC_API_KEY"] == "placeholder"
    assert "real" not in env.values()
    assert "--max-budget-usd" not in Claude().command(run), "the meter stops it"


def test_of_the_work_tree_it_reads_the_instructions_and_no_settings(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    assert dict(pairwise(Claude().command(run)))["--setting-sources"] == "user"
    assert Claude().files(run) == {".claude/CLAUDE.md": ""}, "what an agent left there is gone"
    for name in ("AGENTS.md", "CLAUDE.md"):
        (run.worktree / name).write_text("Be kind.\n")
        assert Claude().files(run) == {".claude/CLAUDE.md": f"@{run.worktree}/{name}\n"}


def test_effort_is_a_flag(tmp_path: Path) -> None:
    run = run_in(tmp_path, spec=AgentSpec(name="claude", effort=Effort.HIGH))
    assert dict(pairwise(Claude().command(run)))["--effort"] == "high"
