"""OpenAI Codex, headless; read and run against version 0.171.0.

Facts the adapter rests on: ``OPENAI_BASE_URL`` is not read and the built-in provider tries WebSockets first, so that a
metered run gets a provider of its own; standard input must be empty, or it waits for ever; the usage of
``turn.completed`` is of the whole thread, and the one of a run is in the session log (``rollout-*.jsonl``), a record a
call; its own sandbox keeps git's folder of a linked work tree read-only, so that ours alone confines it.
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
from runner.agents.mcp import PATIENCE_SECONDS, SERVER
from runner.terms import Api

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from runner.agents.base import AgentRun
    from runner.terms import AgentSpec

CREDENTIALS = ("CODEX_API_KEY",)
"""Names Codex may take from the runner's environment where no meter holds the key."""
KEY = "MODEL_API_KEY"
"""The variable that holds the placeholder of a metered run."""
MAX_RETRIES = 2
"""Tries more of a failing call; five, the default, take half a minute to say that a key is wrong."""
IDLE_MS = 300_000
"""Milliseconds that a stream may be silent."""
ROLLOUTS = ".codex/sessions/*/*/*/rollout-*.jsonl"
"""Where the session logs are, relative to HOME."""
QUIET = ("-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false", "-c", "allow_login_shell=false")
"""Nobody but the model's API is spoken to."""
OFF = ("plugins", "apps", "hooks")
"""Features that are switched off: what speaks to others, and what a repository could start."""


class Codex:
    """Adapter for ``codex exec``."""

    program = "codex"
    resumes = True
    keeps: tuple[str, ...] = (".codex/sessions/*/*/*/rollout-*-{session}.jsonl",)

    def api(self, spec: AgentSpec) -> Api:  # noqa: ARG002 - others look
        """Return the one it speaks."""
        return Api.RESPONSES

    def command(self, run: AgentRun) -> list[str]:
        """Return the argument list; the prompt is its last argument, after the thread to go on with."""
        return [
            *(self.program, "exec", *(["resume"] if run.resume else []), "--json"),
            *(["-m", run.spec.model] if run.spec.model else []),
            *(["-c", f"model_reasoning_effort={json.dumps(run.spec.effort)}"] if run.spec.effort else []),
            *_provider(run),
            *_servers(run),
            *QUIET,
            *(word for feature in OFF for word in ("--disable", feature)),
            *("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
            *([run.session] if run.resume else []),
            prompt_of(run),
        ]

    def environment(self, run: AgentRun, offered: Mapping[str, str]) -> dict[str, str]:
        """Return the whole environment; its folder is ``.codex`` in HOME, which it makes itself."""
        if run.endpoint is None:
            return common_environment(run, offered, CREDENTIALS)
        return common_environment(run, offered, ()) | {KEY: run.endpoint.key}

    def files(self, run: AgentRun) -> dict[str, str]:  # noqa: ARG002 - others look
        """Return none: every setting is a flag."""
        return {}

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
            calls=tuple(_calls(run)) or None if run.endpoint is None else None,
            complete=exit_code is not None and reading.ended,
        )


def _provider(run: AgentRun) -> list[str]:
    if run.endpoint is None:
        return []
    fields = {
        "name": json.dumps("meter"),
        "base_url": json.dumps(f"{run.endpoint.base(Api.RESPONSES)}/v1"),
        "env_key": json.dumps(KEY),
        "wire_api": json.dumps("responses"),
        "request_max_retries": str(MAX_RETRIES),
        "stream_max_retries": str(MAX_RETRIES),
        "stream_idle_timeout_ms": str(IDLE_MS),
    }
    own = ("-c", 'model_provider="meter"', "-c", f"model_providers.meter={_inline(fields)}")
    return ["--ignore-user-config", *own]


def _servers(run: AgentRun) -> list[str]:
    """Return what names the run's tools; a required one is waited for before the model is first asked."""
    if run.tools is None:
        return []
    program, *arguments = run.tools.mcp
    fields = {
        "command": json.dumps(program),
        "args": json.dumps(arguments),
        "required": "true",
        "startup_timeout_sec": str(PATIENCE_SECONDS),
        "tool_timeout_sec": str(PATIENCE_SECONDS),
        "default_tools_approval_mode": json.dumps("approve"),
        "omit_tools_from": json.dumps(["deferred"]),
    }
    return ["-c", f"mcp_servers.{SERVER}={_inline(fields)}"]


def _inline(fields: Mapping[str, str]) -> str:
    """Return an inline table of TOML, from fields whose values are written already."""
    return "{" + ",".join(f"{name}={value}" for name, value in fields.items()) + "}"


class _Reading:
    """What has been understood of a stream so far."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.text: str | None = None
        self.denied = 0
        self.ended = False
        self._failure: str | None = None
        self._completed = False

    def take(self, event: dict[str, Any]) -> None:
        """Take in one event."""
        kind, item = event.get("type"), table(event, "item")
        if kind == "thread.started" and isinstance(event.get("thread_id"), str):
            self.session = event["thread_id"]
        elif kind == "item.completed":
            self.denied += item.get("status") == "declined"
            if item.get("type") == "agent_message" and isinstance(item.get("text"), str):
                self.text = item["text"]
        elif kind == "turn.completed":
            self._completed = self.ended = True
        elif kind == "turn.failed":
            self.ended, self._failure = True, shortened(table(event, "error").get("message") or "")

    def error(self, exit_code: int | None) -> str | None:
        """Return what went wrong, or None."""
        if exit_code is None:
            return "Codex was ended by the runner."
        if self._failure is not None:
            return f"Codex ended with exit code {exit_code}: {self._failure}."
        if not self._completed:
            return f"Codex ended with exit code {exit_code} and without completing its turn."
        return None if exit_code == 0 else f"Codex ended with exit code {exit_code}."


def _calls(run: AgentRun) -> Iterator[Call]:
    """Yield the calls that the session logs tell of since the run began."""
    model: str | None = None
    for record in json_lines(log_lines(run.home, ROLLOUTS)):
        payload = table(record, "payload")
        if record.get("type") == "turn_context" and isinstance(payload.get("model"), str):
            model = payload["model"]
        elif record.get("type") == "token_usage_record" and moment(record, "timestamp") >= run.started_at:
            yield _call(model, table(payload, "usage"))


def _call(model: str | None, usage: dict[str, Any]) -> Call:
    """Return one call; the log's input includes what is read from and written to the cache."""
    read, written = count(usage, "cached_input_tokens") or 0, count(usage, "cache_write_input_tokens") or 0
    return Call(
        model=model,
        input_tokens=max(0, (count(usage, "input_tokens") or 0) - read - written),
        output_tokens=count(usage, "output_tokens") or 0,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=count(usage, "reasoning_output_tokens"),
    )
