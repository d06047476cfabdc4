"""OpenCode: the command, the configuration, and streams recorded from version 1.18.33 against a scripted model API."""

from __future__ import annotations

import json
import subprocess
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.agents import agent_for
from runner.agents.base import AgentError, AgentResult, Call, Endpoint
from runner.agents.opencode import OpenCode
from runner.terms import AgentSpec, Api, Effort
from tests.runner.runs import run_in

if TYPE_CHECKING:
    from runner.agents.base import AgentRun

STREAMS = Path(__file__).parent / "streams" / "opencode"
SESSION = "ses_dd6c9e60dffeTzvUF5r5ZNjb65"
ENDPOINT = Endpoint("http://127.0.0.1:7", "placeholder")


def _spec(model: str | None = "anthropic/claude-sonnet-4-5", effort: Effort | None = None) -> AgentSpec:
    return AgentSpec(name="opencode", model=model, effort=effort)


def _run(folder: Path, **changes: Any) -> AgentRun:
    return run_in(folder, **{"spec": _spec(), **changes})


def _configuration(run: AgentRun) -> dict[str, Any]:
    configuration: dict[str, Any] = json.loads(OpenCode().environment(run, {})["OPENCODE_CONFIG_CONTENT"])
    return configuration


def _recorded(run: AgentRun, name: str, exit_code: int | None = 0) -> AgentResult:
    with (STREAMS / f"{name}.jsonl").open("rb") as stream:
        return OpenCode().parse(run, stream, exit_code)


def _parse(run: AgentRun, *events: dict[str, Any] | bytes, exit_code: int | None = 0) -> AgentResult:
    lines = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    return OpenCode().parse(run, lines, exit_code)


def _finish(reason: str = "stop", cost: float = 0.5, **tokens: Any) -> dict[str, Any]:
    return {"type": "step_finish", "part": {"reason": reason, "cost": cost, "tokens": {"input": 5, **tokens}}}


def test_the_command_of_a_fresh_run(tmp_path: Path) -> None:
    run = _run(tmp_path, spec=_spec(effort=Effort.HIGH))
    command = OpenCode().command(run)
    assert command[3:6] == [str(run.prompt_file), "opencode", "run"]
    pairs = dict(pairwise(command))
    assert (pairs["--format"], pairs["--model"], pairs["--variant"]) == ("json", "anthropic/claude-sonnet-4-5", "high")
    assert pairs["--dir"] == str(run.worktree)
    assert "--session" not in command
    assert "Do it.\n" not in command


def test_the_command_of_a_resumed_run(tmp_path: Path) -> None:
    command = OpenCode().command(_run(tmp_path, resume=True, session=SESSION))
    assert dict(pairwise(command))["--session"] == SESSION
    assert "--variant" not in command


def test_the_prompt_comes_from_its_file_as_it_is(tmp_path: Path) -> None:
    run = _run(tmp_path)
    prompt = '--dir "7"  007 $HOME `id`\n\n -x ' + "ü" * 200_000
    run.prompt_file.write_text(prompt, encoding="utf-8")
    command = OpenCode().command(run)
    printed = subprocess.run([*command[:4], "cat"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert printed.stdout.decode() == prompt


@pytest.mark.parametrize(
    ("model", "api", "named"),
    [
        ("anthropic/claude-sonnet-4-5", Api.ANTHROPIC, "anthropic/claude-sonnet-4-5"),
        ("openai/gpt-5.5", Api.RESPONSES, "openai/gpt-5.5"),
        ("google/gemini-2.5-pro", Api.GEMINI, "google/gemini-2.5-pro"),
        ("house/org/model", Api.CHAT, "house/org/model"),
        ("claude-opus-5-5", Api.ANTHROPIC, "anthropic/claude-opus-5-5"),
        ("gpt-5.5", Api.RESPONSES, "openai/gpt-5.5"),
        ("gemini-4-argon", Api.GEMINI, "google/gemini-4-argon"),
    ],
)
def test_the_model_tells_the_provider(tmp_path: Path, model: str, api: Api, named: str) -> None:
    run = _run(tmp_path, spec=_spec(model))
    assert agent_for(run.spec).api(run.spec) is api
    assert dict(pairwise(OpenCode().command(run)))["--model"] == named


@pytest.mark.parametrize("model", ["mistral-large", "/x", "x/", None])
def test_a_model_whose_provider_nobody_knows_is_refused(tmp_path: Path, model: str | None) -> None:
    with pytest.raises(AgentError, match="provider/model"):
        OpenCode().command(_run(tmp_path, spec=_spec(model)))


@pytest.mark.parametrize(
    ("model", "base"),
    [
        ("anthropic/claude-sonnet-4-5", "http://127.0.0.1:7/anthropic/v1"),
        ("openai/gpt-5.5", "http://127.0.0.1:7/openai-responses/v1"),
        ("google/gemini-2.5-pro", "http://127.0.0.1:7/gemini/v1beta"),
        ("house/m1", "http://127.0.0.1:7/openai-chat/v1"),
    ],
)
def test_a_metered_run_knows_the_meter_and_no_key(tmp_path: Path, model: str, base: str) -> None:
    run = _run(tmp_path, spec=_spec(model), endpoint=ENDPOINT)
    provider, _, name = model.partition("/")
    declared = _configuration(run)["provider"][provider]
    assert declared["options"] == {"baseURL": base, "apiKey": "placeholder"}
    assert declared["models"] == {name: {}}
    assert ("npm" in declared) is (provider == "house")
    keys = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY")
    assert not set(keys) & set(OpenCode().environment(run, dict.fromkeys(keys, "real")))


def test_an_unmetered_run_gets_its_own_provider_s_key_alone(tmp_path: Path) -> None:
    run = _run(tmp_path)
    offered = {"PATH": "/bin", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "o", "GITHUB_TOKEN": "t", "HOME": "/root"}
    env = OpenCode().environment(run, offered)
    assert (env["ANTHROPIC_API_KEY"], env["HOME"]) == ("k", str(run.home))
    assert not {"OPENAI_API_KEY", "GITHUB_TOKEN"} & set(env)
    assert "options" not in _configuration(run)["provider"]["anthropic"]


def test_only_the_run_s_own_folders_are_open_to_it(tmp_path: Path) -> None:
    run = _run(tmp_path)
    rules = _configuration(run)["permission"]
    assert rules["task"] == "deny"
    outside = rules["external_directory"]
    assert next(iter(outside.items())) == ("*", "deny"), "the last rule that fits counts"
    assert outside[f"{run.result_file.parent}/*"] == "allow"
    assert f"{run.worktree.parent.parent}/*" not in outside


def test_the_work_tree_sets_up_nothing_and_instructs(tmp_path: Path) -> None:
    run = _run(tmp_path)
    assert OpenCode().environment(run, {})["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    assert _configuration(run)["instructions"] == []
    for name in ("CLAUDE.md", "AGENTS.md"):
        (run.worktree / name).write_text("Be brief.\n")
    assert _configuration(run)["instructions"] == [str(run.worktree / "AGENTS.md")]


def test_effort_needs_a_model_that_is_declared_to_reason(tmp_path: Path) -> None:
    run = _run(tmp_path, spec=_spec("openai/gpt-6.1-sol", Effort.LOW))
    assert _configuration(run)["provider"]["openai"]["models"] == {"gpt-6.1-sol": {"reasoning": True}}


def test_a_whole_run_as_recorded(tmp_path: Path) -> None:
    result = _recorded(_run(tmp_path, spec=_spec("openai/gpt-5.5")), "whole")
    assert (result.ok, result.error, result.complete) == (True, None, True)
    assert result.session == SESSION
    assert result.final_text == "All done: created hello.txt."
    assert result.denied == 2, "a file and a shell command outside of the work tree"
    assert result.calls == (
        Call("gpt-5.5", 1000, 60, 200, 300, reasoning_tokens=10),
        Call("gpt-5.5", 100, 40, 1400, 50, reasoning_tokens=5),
        Call("gpt-5.5", 1000, 50, reasoning_tokens=0),
        Call("gpt-5.5", 120, 30, 1500, reasoning_tokens=0),
    )
    assert result.usd == Decimal("0.01805")


def test_a_resumed_run_counts_its_own_as_recorded(tmp_path: Path) -> None:
    result = _recorded(_run(tmp_path, resume=True, session=SESSION), "resumed")
    assert result.calls == (Call("claude-sonnet-4-5", 500, 20, 2000, reasoning_tokens=0),)
    assert result.session == SESSION


@pytest.mark.parametrize(
    ("name", "exit_code", "said"),
    [
        ("spent", 1, "OpenCode ended with exit code 1: APIError: the budget is spent."),
        ("overflow", 1, "prompt is too long"),
        ("ended", -15, "OpenCode ended with exit code -15; no step was ended."),
        ("ended", None, "ended by the runner"),
        ("whole", 1, "its last step ended with 'stop'"),
    ],
)
def test_what_is_no_success_as_recorded(tmp_path: Path, name: str, exit_code: int | None, said: str) -> None:
    result = _recorded(_run(tmp_path), name, exit_code)
    assert not result.ok
    assert said in (result.error or "")
    assert result.final_text is None


def test_a_step_that_never_ended_makes_the_figures_at_least(tmp_path: Path) -> None:
    result = _recorded(_run(tmp_path), "ended", -15)
    assert (result.calls, result.complete) == (None, False)
    assert _recorded(_run(tmp_path), "spent", 1).complete


@pytest.mark.parametrize("reason", ["length", "tool-calls", "unknown", None, 3])
def test_only_a_stop_is_an_end(tmp_path: Path, reason: Any) -> None:
    assert not _parse(_run(tmp_path), _finish(reason)).ok


def test_dollars_of_an_unknown_model_are_not_zero(tmp_path: Path) -> None:
    assert _parse(_run(tmp_path), _finish("tool-calls"), _finish(cost=0)).usd is None
    assert _parse(_run(tmp_path), _finish("tool-calls"), _finish()).usd == Decimal(1)


def test_hostile_lines_are_passed_over(tmp_path: Path) -> None:
    odd: list[dict[str, Any] | bytes] = [
        b"[" * 100_000,
        b"\xff\xfe",
        {"type": "text", "part": {"text": 3}},
        {"type": "tool_use", "part": {"state": "error"}},
        {"type": ["step_finish"], "sessionID": "--fork"},
        {"type": "step_finish", "part": []},
    ]
    result = _parse(_run(tmp_path), *odd, _finish(output=-1, reasoning=True, cache=7, input="9"))
    assert result.ok
    assert result.session is None
    assert result.calls == (Call("claude-sonnet-4-5", 0, 0, reasoning_tokens=0),) * 2
