"""Claude Code, headless; read and run against versions 2.1.332 and 2.1.197.

Facts the parser rests on: one ``assistant`` event a content block, all with one message id and the usage of the
stream's start; the true output in ``message_delta``; background work may print a second ``result``; on an API error the
subtype stays ``success`` while ``is_error`` is true; ``total_cost_usd`` sums over a resumed session in 2.1.332, where
``model_usage_since_last_result`` is the run's own.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from runner.agents.base import (
    AgentResult,
    Call,
    common_environment,
    count,
    dollars,
    json_lines,
    prompt_of,
    shortened,
    table,
)
from runner.agents.mcp import PATIENCE_SECONDS, servers
from runner.terms import Api

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.agents.base import AgentRun
    from runner.terms import AgentSpec

CREDENTIALS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN")
"""Names Claude Code may take from the runner's environment."""
QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
"""Nobody but the model's API is spoken to, and the version stays the one that was installed."""
MAX_RETRIES = 3
"""Tries of a failing API call; ten, the default, take minutes to say that a key is wrong."""
MAX_TURNS = 200
"""Turns after which a run that never ends by itself is stopped, below every budget of time or money."""
INSTRUCTIONS = ("CLAUDE.md", "AGENTS.md")
"""Where a repository tells agents about itself; the first that is there is read."""
WRITE_TOOLS = "Bash,Edit,Read,Write,Glob,Grep"
READ_TOOLS = "Bash,Read,Write,Glob,Grep"
"""Tools offered: none that makes worktrees, schedules or subagents. Write is needed for the result file; that a
read-only unit leaves the tree alone is seen to by the sandbox, and checked."""


class Claude:
    """Adapter for ``claude -p``."""

    program = "claude"
    resumes = True
    keeps: tuple[str, ...] = (".claude/projects/*/{session}.jsonl",)

    def api(self, spec: AgentSpec) -> Api:  # noqa: ARG002 - others look
        """Return the one it speaks."""
        return Api.ANTHROPIC

    def command(self, run: AgentRun) -> list[str]:
        """Return the argument list; the prompt is one argument, so that nothing waits on standard input."""
        own = run.budget.usd if run.endpoint is None else None  # the meter stops in time, and for every agent alike
        budget = ["--max-budget-usd", f"{own:f}"] if own is not None else []
        return [
            self.program,
            "-p",
            prompt_of(run),
            *("--output-format", "stream-json", "--verbose", "--include-partial-messages"),
            *(["--model", run.spec.model] if run.spec.model else []),
            *(["--effort", run.spec.effort] if run.spec.effort else []),
            *("--permission-mode", "bypassPermissions", "--setting-sources", "user"),
            *("--strict-mcp-config", "--mcp-config", json.dumps({"mcpServers": servers(run, alwaysLoad=True)})),
            *("--tools", READ_TOOLS if run.read_only else WRITE_TOOLS),
            *("--max-turns", str(MAX_TURNS), *budget),
            *("--resume" if run.resume else "--session-id", run.session),
        ]

    def environment(self, run: AgentRun, offered: Mapping[str, str]) -> dict[str, str]:
        """Return the whole environment; the configuration folder lies in the run's home."""
        own = {
            "CLAUDE_CONFIG_DIR": str(run.home / ".claude"),
            "CLAUDE_CODE_MAX_RETRIES": str(MAX_RETRIES),
            "MCP_TIMEOUT": str(PATIENCE_SECONDS * 1000),
            "MCP_TOOL_TIMEOUT": str(PATIENCE_SECONDS * 1000),
            **QUIET,
            **({"IS_SANDBOX": "1"} if os.geteuid() == 0 else {}),  # without it, root is refused the permission mode
        }
        if run.endpoint is None:
            return common_environment(run, offered, CREDENTIALS) | own
        metered = {"ANTHROPIC_BASE_URL": run.endpoint.base(Api.ANTHROPIC), "ANTHROPIC_API_KEY": run.endpoint.key}
        return common_environment(run, offered, ()) | own | metered

    def files(self, run: AgentRun) -> dict[str, str]:
        """Return what makes it read the repository's instructions, and these alone of what the work tree says to it.

        The settings of a work tree can start commands (hooks) and lead it to another address than the meter's.
        """
        named = next((name for name in INSTRUCTIONS if (run.worktree / name).is_file()), None)
        return {".claude/CLAUDE.md": f"@{run.worktree / named}\n" if named else ""}

    def parse(self, run: AgentRun, stream: Iterable[bytes], exit_code: int | None) -> AgentResult:
        """Read the stream; see the module's head for what is trusted in it."""
        reading = _Reading()
        for event in json_lines(stream):
            reading.take(event)
        error = reading.error(exit_code)
        return AgentResult(
            ok=error is None,
            error=error,
            session=reading.session,
            final_text=reading.text() if error is None else None,
            denied=len(denials) if isinstance(denials := reading.last.get("permission_denials"), list) else 0,
            calls=reading.calls(),
            usd=reading.usd(resumed=run.resume),
            complete=bool(reading.last),
        )


@dataclass
class _Message:
    """One message of the model, that is: one call."""

    model: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)

    def learn(self, usage: dict[str, Any], model: object = None) -> None:
        self.model = model if isinstance(model, str) else self.model
        self.usage |= {name: value for name, value in usage.items() if value is not None}

    def call(self) -> Call:
        return Call(
            model=self.model,
            input_tokens=count(self.usage, "input_tokens") or 0,
            output_tokens=count(self.usage, "output_tokens") or 0,
            cache_read_tokens=count(self.usage, "cache_read_input_tokens") or 0,
            cache_write_tokens=count(self.usage, "cache_creation_input_tokens") or 0,
            cache_write_1h_tokens=count(table(self.usage, "cache_creation"), "ephemeral_1h_input_tokens") or 0,
            reasoning_tokens=count(table(self.usage, "output_tokens_details"), "thinking_tokens"),
        )


class _Reading:
    """What has been understood of a stream so far."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.last: dict[str, Any] = {}
        self._messages: dict[str, _Message] = {}
        self._since: list[dict[str, Any]] = []

    def take(self, event: dict[str, Any]) -> None:
        """Take in one event."""
        session = event.get("session_id")
        self.session = session if isinstance(session, str) else self.session
        kind = event.get("type")
        if kind == "assistant":
            self._start(table(event, "message"))
        elif kind == "stream_event":
            self._part(event, table(event, "event"))
        elif kind == "result":
            self.last = event
            if isinstance(event.get("model_usage_since_last_result"), dict):
                self._since += [u for u in event["model_usage_since_last_result"].values() if isinstance(u, dict)]

    def _start(self, message: dict[str, Any]) -> None:
        name, model = message.get("id"), message.get("model")
        if isinstance(name, str) and name not in self._messages and model != "<synthetic>":
            self._messages[name] = _Message()
            self._messages[name].learn(table(message, "usage"), model)

    def _part(self, event: dict[str, Any], part: dict[str, Any]) -> None:
        if part.get("type") == "message_start":
            self._start(table(part, "message"))
        elif part.get("type") == "message_delta":
            message = self._messages.get(str(event.get("api_message_id")))
            if message:
                message.learn(table(part, "usage"))

    def error(self, exit_code: int | None) -> str | None:
        """Return what went wrong, or None."""
        if exit_code is None:
            return "Claude Code was ended by the runner."
        if not self.last:
            return f"Claude Code ended with exit code {exit_code} and no result event."
        subtype, reason = self.last.get("subtype"), self.last.get("terminal_reason")
        if self.last.get("is_error") is False and subtype == "success" and exit_code == 0:
            return None
        words = shortened(self.last.get("errors") or self.last.get("result") or "")
        return f"Claude Code ended with {reason or subtype}, exit code {exit_code}: {words}."

    def text(self) -> str | None:
        """Return the last message."""
        text = self.last.get("result")
        return text if isinstance(text, str) else None

    def calls(self) -> tuple[Call, ...] | None:
        """Return the calls seen and, as one more, what the agent counted but did not show (compaction)."""
        calls = tuple(message.call() for message in self._messages.values())
        if not self._since:
            return calls if calls or self.last else None
        hidden = Call(
            model=calls[-1].model if calls else None,
            input_tokens=self._hidden("inputTokens", sum(call.input_tokens for call in calls)),
            output_tokens=self._hidden("outputTokens", sum(call.output_tokens for call in calls)),
            cache_read_tokens=self._hidden("cacheReadInputTokens", sum(call.cache_read_tokens for call in calls)),
            cache_write_tokens=self._hidden("cacheCreationInputTokens", sum(call.cache_write_tokens for call in calls)),
        )
        return (*calls, hidden) if hidden.all_input or hidden.output_tokens else calls

    def _hidden(self, name: str, shown: int) -> int:
        return max(0, sum(count(usage, name) or 0 for usage in self._since) - shown)

    def usd(self, *, resumed: bool) -> Decimal | None:
        """Return this run's dollars; None where a model's price is a guess, or the sum may be a whole session's."""
        tables = [*self._since, *(u for u in table(self.last, "modelUsage").values() if isinstance(u, dict))]
        if any(usage.get("costBasis") == "unknown" for usage in tables):
            return None
        if isinstance(self.last.get("model_usage_since_last_result"), dict):
            amounts = [dollars(usage, "costUSD") for usage in self._since]
            return sum((a for a in amounts if a is not None), Decimal(0)) if None not in amounts else None
        return None if resumed else dollars(self.last, "total_cost_usd")
