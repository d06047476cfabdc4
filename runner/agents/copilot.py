"""GitHub Copilot CLI, headless, with a model provider of one's own; read and run against version 1.0.102.

Facts that this rests on:

- With ``COPILOT_PROVIDER_BASE_URL`` no GitHub sign-in is asked for, with ``COPILOT_OFFLINE`` GitHub not spoken to.
- Without ``-p`` the prompt is read from standard input, as it is; as an argument it must not begin with ``--``.
- There are no tokens on its output. Each call is told in ``session-state/<session>/events.jsonl``, as it ends; input is
  with cache reads and writes, output with reasoning. The log goes on when the session does.
- A SIGTERM ends with exit code 0 and a result of 0: ``aborted`` in ``assistant.idle`` tells.
- It strikes its provider's key out of all that it prints and logs.
- The program unpacks 235 MB before its first start, into ``.cache`` of HOME: of one plan alone, since what one agent
  could write no other plan's may execute. ``COPILOT_PKG_CACHE_HOME`` names a folder where the runner's owner had it
  unpacked (run any ``copilot --help`` with it set), to be read alone: one of TWOGATE_TOOLS.
- What npm links as ``copilot`` starts the program as a child and hands no signal on; the runner ends whole trees.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from runner.agents.base import (
    AgentResult,
    Call,
    common_environment,
    count,
    fed,
    json_lines,
    moment,
    shortened,
    table,
)
from runner.agents.home import log_lines
from runner.agents.mcp import PATIENCE_SECONDS, servers
from runner.agents.models import api_of
from runner.terms import Api

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.agents.base import AgentRun, Endpoint
    from runner.terms import AgentSpec

UNPACKED = "COPILOT_PKG_CACHE_HOME"
"""Where the program was unpacked by the runner's owner; taken from the runner's environment."""
CREDENTIALS = (
    "COPILOT_GITHUB_TOKEN",
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_PROVIDER_BASE_URL",
    "COPILOT_PROVIDER_BEARER_TOKEN",
    "COPILOT_PROVIDER_TYPE",
    "COPILOT_PROVIDER_WIRE_API",
)
"""Names it may take from the runner's environment where there is no meter."""
SUBAGENTS = "task,read_agent,list_agents,write_agent"
"""Tools that are not offered."""


class Copilot:
    """Adapter for ``copilot``."""

    program = "copilot"
    resumes = True
    keeps: tuple[str, ...] = (
        ".copilot/session-state/{session}/events.jsonl",
        ".copilot/session-state/{session}/workspace.yaml",
    )

    def api(self, spec: AgentSpec) -> Api | None:
        """Return the wire format of the model's maker; None without a model, which GitHub alone can choose."""
        if spec.model is None:
            return None
        api = api_of(spec.model)
        return Api.CHAT if api is Api.GEMINI else api

    def command(self, run: AgentRun) -> list[str]:
        """Return the argument list; the prompt comes from its file."""
        return fed(
            run.prompt_file,
            [
                *(self.program, "--output-format=json", "--allow-all", "--no-ask-user", "--no-color"),
                *("--no-auto-update", "--disable-builtin-mcps", f"--excluded-tools={SUBAGENTS}"),
                *([f"--model={run.spec.model}"] if run.spec.model else []),
                *([f"--reasoning-effort={run.spec.effort}"] if run.spec.effort else []),
                f"--{'resume' if run.resume else 'session-id'}={run.session}",
            ],
        )

    def environment(self, run: AgentRun, offered: Mapping[str, str]) -> dict[str, str]:
        """Return the whole environment; with a meter, no credential of the runner is in it."""
        own = {"COPILOT_HOME": str(run.home / ".copilot"), "COPILOT_AUTO_UPDATE": "false"}
        if run.endpoint is None:
            return common_environment(run, offered, (*CREDENTIALS, UNPACKED)) | own
        provider = _provider(run.endpoint, self.api(run.spec))
        return common_environment(run, offered, (UNPACKED,)) | own | provider

    def files(self, run: AgentRun) -> dict[str, str]:
        """Return the servers it may start: the run's tools, and whatever was named there before is gone."""
        named = servers(run, tools=["*"], timeout=PATIENCE_SECONDS * 1000)
        return {".copilot/mcp-config.json": json.dumps({"mcpServers": named})}

    def parse(self, run: AgentRun, stream: Iterable[bytes], exit_code: int | None) -> AgentResult:
        """Read the stream and the session's log; see the module's head for what is trusted in them."""
        reading = _Reading()
        for event in json_lines(stream):
            reading.take(event)
        error = reading.error(exit_code)
        return AgentResult(
            ok=error is None,
            error=error,
            session=run.session if reading.result.get("sessionId") == run.session else None,
            final_text=reading.text if error is None else None,
            denied=reading.denied,
            calls=_calls(run) if run.endpoint is None else None,
            complete=exit_code is not None and bool(reading.result),
        )


def _provider(endpoint: Endpoint, api: Api | None) -> dict[str, str]:
    """Return what points it at the meter; for Anthropic Messages it adds the version to the address itself."""
    base = endpoint.base(api or Api.CHAT)
    anthropic = api is Api.ANTHROPIC
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_TYPE": "anthropic" if anthropic else "openai",
        "COPILOT_PROVIDER_WIRE_API": "responses" if api is Api.RESPONSES else "completions",
        "COPILOT_PROVIDER_BASE_URL": base if anthropic else f"{base}/v1",
        "COPILOT_PROVIDER_API_KEY": endpoint.key,
    }


def _calls(run: AgentRun) -> tuple[Call, ...] | None:
    """Return the calls that the session's log tells of this run, None where it tells none."""
    calls: dict[object, Call] = {}
    for event in json_lines(log_lines(run.home, f".copilot/session-state/{run.session}/events.jsonl")):
        if event.get("type") == "session.usage_record" and moment(event, "timestamp") >= run.started_at:
            usage = table(table(event, "data"), "usage")
            name = usage.get("apiCallId")
            calls[name if isinstance(name, str) else len(calls)] = _call(usage)
    return tuple(calls.values()) or None


def _call(usage: dict[str, Any]) -> Call:
    model = usage.get("model")
    read, written = count(usage, "cacheReadTokens") or 0, count(usage, "cacheWriteTokens") or 0
    return Call(
        model=model if isinstance(model, str) else None,
        input_tokens=max(0, (count(usage, "inputTokens") or 0) - read - written),
        output_tokens=count(usage, "outputTokens") or 0,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=count(usage, "reasoningTokens"),
    )


class _Reading:
    """What has been understood of a stream so far."""

    def __init__(self) -> None:
        self.result: dict[str, Any] = {}
        self.text: str | None = None
        """The last message that asked for no tool."""
        self.denied = 0
        self._fault = ""

    def take(self, event: dict[str, Any]) -> None:
        """Take in one event."""
        data = table(event, "data")
        match event.get("type"):
            case "assistant.message":
                said = data.get("content")
                self.text = said if isinstance(said, str) and not data.get("toolRequests") else None
            case "tool.execution_complete":
                self.denied += table(data, "error").get("code") == "denied"
            case "assistant.idle" if data.get("aborted"):
                self._fault = "it was told to stop"
            case "session.error":
                self._fault = shortened(f"{data.get('errorType')}: {data.get('message')}").rstrip(".")
            case "result":
                self.result = event

    def error(self, exit_code: int | None) -> str | None:
        """Return what went wrong, or None."""
        if exit_code is None:
            return "Copilot was ended by the runner."
        if exit_code == 0 and self.result.get("exitCode") == 0 and not self._fault:
            return None
        reason = self._fault or ("it gave no reason" if self.result else "no result event")
        return f"Copilot ended with exit code {exit_code}: {reason}."
