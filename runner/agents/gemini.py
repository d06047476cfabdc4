"""Gemini CLI, headless; read and run against version 0.61.0.

Facts the adapter rests on: with a base URL set, the kind of sign-in must stand in ``settings.json``; the exit code of
an API error is its HTTP status modulo 256, and a broken stream or a SIGTERM exits with 0, so that the ``result`` event
decides; usage of a call is in the session log (``chats/session-*.jsonl``), twice under one id; without
``GEMINI_CLI_NO_RELAUNCH`` a second process takes the signals.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from runner.agents.base import (
    AgentResult,
    Call,
    common_environment,
    count,
    json_lines,
    moment,
    prompt_of,
    shortened,
    table,
)
from runner.agents.home import log_lines
from runner.agents.mcp import PATIENCE_SECONDS, servers
from runner.terms import Api

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.agents.base import AgentRun
    from runner.terms import AgentSpec

CREDENTIALS = ("GEMINI_API_KEY",)
"""Names Gemini CLI may take from the runner's environment where no meter holds the key."""
MAX_ATTEMPTS = 2
"""Tries of a failing API call; ten, the default, take minutes."""
MAX_TURNS = 200
"""Turns after which a run that never ends by itself is stopped, below every budget of time or money."""
CHATS = ".gemini/tmp/*/chats/session-*.jsonl"
"""Where the session logs are, relative to HOME."""


class Gemini:
    """Adapter for ``gemini -p``."""

    program = "gemini"
    resumes = True
    keeps: tuple[str, ...] = (".gemini/tmp/*/.project_root", ".gemini/tmp/*/chats/session-*.jsonl")

    def api(self, spec: AgentSpec) -> Api:  # noqa: ARG002 - others look
        """Return the one it speaks."""
        return Api.GEMINI

    def command(self, run: AgentRun) -> list[str]:
        """Return the argument list; its write tool takes no path outside the work tree and the folders named."""
        return [
            *(self.program, "-p", prompt_of(run), "-o", "stream-json"),
            *(["-m", run.spec.model] if run.spec.model else []),
            *("--approval-mode", "yolo", "--skip-trust", "--extensions", "none"),
            *("--include-directories", str(run.result_file.parent)),
            *("--resume" if run.resume else "--session-id", run.session),
        ]

    def environment(self, run: AgentRun, offered: Mapping[str, str]) -> dict[str, str]:
        """Return the whole environment; without a key it looks for a log-in in HOME."""
        own = {"GEMINI_CLI_HOME": str(run.home), "GEMINI_CLI_NO_RELAUNCH": "true"}
        if run.endpoint is not None:
            metered = {"GOOGLE_GEMINI_BASE_URL": run.endpoint.base(Api.GEMINI), "GEMINI_API_KEY": run.endpoint.key}
            return common_environment(run, offered, ()) | own | metered
        if "GEMINI_API_KEY" not in offered:
            own["GOOGLE_GENAI_USE_GCA"] = "true"
        return common_environment(run, offered, CREDENTIALS) | own

    def files(self, run: AgentRun) -> dict[str, str]:
        """Return its settings; the loop detection is off, since the runner's own is the same for all agents."""
        settings: dict[str, Any] = {
            "general": {
                "enableAutoUpdate": False,
                "enableAutoUpdateNotification": False,
                "maxAttempts": MAX_ATTEMPTS,
            },
            "model": {"maxSessionTurns": MAX_TURNS, "disableLoopDetection": True},
            "context": {"fileName": ["GEMINI.md", "AGENTS.md"]},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "mcpServers": servers(run, trust=True, timeout=PATIENCE_SECONDS * 1000),
        }
        if run.endpoint is not None:
            settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
        return {".gemini/settings.json": json.dumps(settings)}

    def parse(self, run: AgentRun, stream: Iterable[bytes], exit_code: int | None) -> AgentResult:
        """Read the stream, and the session log where no meter counts."""
        reading = _Reading()
        for event in json_lines(stream):
            reading.take(event)
        error = reading.error(exit_code)
        return AgentResult(
            ok=error is None,
            error=error,
            session=reading.session,
            final_text=reading.text if error is None else None,
            denied=reading.denied,
            calls=_calls(run) if run.endpoint is None else None,
            complete=exit_code is not None and bool(reading.last),
        )


class _Reading:
    """What has been understood of a stream so far."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.text: str | None = None
        self.denied = 0
        self.last: dict[str, Any] = {}
        self._warning: str | None = None
        self._speaks = False

    def take(self, event: dict[str, Any]) -> None:
        """Take in one event."""
        kind = event.get("type")
        speaks = kind == "message" and event.get("role") == "assistant"
        if speaks and isinstance(event.get("content"), str):
            self.text = (self.text or "") + event["content"] if self._speaks else event["content"]
        elif kind == "init" and isinstance(event.get("session_id"), str):
            self.session = event["session_id"]
        elif kind == "tool_result":
            self.denied += table(event, "error").get("type") == "policy_violation"
        elif kind == "error":
            self._warning = shortened(event.get("message") or "")
        elif kind == "result":
            self.last = event
        self._speaks = speaks

    def error(self, exit_code: int | None) -> str | None:
        """Return what went wrong, or None."""
        if exit_code is None:
            return "Gemini CLI was ended by the runner."
        if not self.last:
            return f"Gemini CLI ended with exit code {exit_code} and no result event."
        if self.last.get("status") == "success" and exit_code == 0:
            return None
        said = table(self.last, "error").get("message") or self._warning or ""
        return f"Gemini CLI ended with exit code {exit_code}: {shortened(said)}."


def _calls(run: AgentRun) -> tuple[Call, ...] | None:
    """Return the calls that the session logs tell of since the run began, None where they tell none."""
    found: dict[str, Call] = {}
    for record in json_lines(log_lines(run.home, CHATS)):
        name, tokens = record.get("id"), table(record, "tokens")
        if record.get("type") != "gemini" or not isinstance(name, str) or not tokens:
            continue
        if moment(record, "timestamp") >= run.started_at:
            found[name] = _call(record.get("model"), tokens)
    return tuple(found.values()) or None


def _call(model: object, tokens: dict[str, Any]) -> Call:
    """Return one call; the log's input includes what is read from the cache, its output leaves the thoughts out."""
    read, thoughts = count(tokens, "cached") or 0, count(tokens, "thoughts") or 0
    return Call(
        model=model if isinstance(model, str) else None,
        input_tokens=max(0, (count(tokens, "input") or 0) + (count(tokens, "tool") or 0) - read),
        output_tokens=(count(tokens, "output") or 0) + thoughts,
        cache_read_tokens=read,
        reasoning_tokens=thoughts,
    )
