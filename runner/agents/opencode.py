"""OpenCode, headless; read and run against version 1.18.33.

Facts that this rests on:

- A prompt that is an argument is put in quotation marks, and a number among the arguments ends it; the same prompt on
  standard input arrives as it is. It reads standard input to its end, so one that stays open holds it for ever.
- There is no final event: it ended well where it exits with 0, told no error and the last step's reason is ``stop``.
- Tokens are told a step; input is without cache, output without reasoning. A kill loses the open step's.
- Its dollars come from a price list of its own, and are 0 for a model that is not on it.
- A model that is not on its list has to be declared, and with ``reasoning`` for ``--variant`` to have an effect.
- With compaction an overflow is tried again without end; so are streams that end too soon and answers that are no JSON,
  which the meter's count of calls without progress ends. Errors (429, 500, a broken connection) are tried six times in
  100 s, and nothing sets that.
- Steps of subagents are not in the stream, so none are offered.
- Snapshots, for undoing, take a quarter of its processor time and fill its data folder: switched off.
- The work tree's ``opencode.json`` is switched off, with the servers it names and the permissions it gives; its
  instructions then have to be named. Plugins in its ``.opencode`` are run, ``--pure`` or not: as code of the agent's
  own, which can do no more than a shell command of it.
- ``external_directory`` stops its tools, and the paths it sees in shell commands, but is no sandbox.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

from runner.agents.base import (
    AgentError,
    AgentResult,
    Call,
    common_environment,
    count,
    dollars,
    fed,
    json_lines,
    shortened,
    table,
)
from runner.agents.mcp import PATIENCE_SECONDS, SERVER
from runner.agents.models import api_of
from runner.terms import Api

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.agents.base import AgentRun
    from runner.terms import AgentSpec

APIS = {"anthropic": Api.ANTHROPIC, "openai": Api.RESPONSES, "google": Api.GEMINI}
"""The wire formats of its built-in providers; any other provider is spoken to in Chat Completions."""
CREDENTIALS = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
}
"""Names it may take from the runner's environment, by provider; those of others are the owner's to allow."""
QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
    "OPENCODE_DISABLE_AUTOCOMPACT": "1",
    "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
}
"""Nothing is downloaded or shared, an overflow ends the run, and the work tree can't change how it is set up."""
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
"""Where a repository tells agents about itself; it reads the first that is there."""
CONFIGURED, CONFIGURATIONS = (".config/opencode", ".opencode"), ("config.json", "opencode.json", "opencode.jsonc")
"""Folders of HOME, and files in them, that it puts together with what it is told in a variable."""
CHAT_PACKAGE = "@ai-sdk/openai-compatible"
"""The built-in client for Chat Completions."""
SESSION = re.compile(r"ses_[A-Za-z0-9]{1,64}")
"""What its sessions are called."""
DENIALS = ("prevents you from using", "rejected permission")
"""How the error of a tool call reads that its permissions refused."""


class OpenCode:
    """Adapter for ``opencode run``. A model is ``provider/model``; without a provider its name tells the maker."""

    program = "opencode"
    resumes = True
    keeps: tuple[str, ...] = (".local/share/opencode/opencode.db", ".local/share/opencode/opencode.db-wal")

    def api(self, spec: AgentSpec) -> Api | None:
        """Return the wire format of the model's provider."""
        return APIS.get(_model(spec)[0], Api.CHAT) if spec.model else None

    def command(self, run: AgentRun) -> list[str]:
        """Return the argument list; the prompt comes from its file."""
        return fed(
            run.prompt_file,
            [
                *(self.program, "run", "--pure", "--format", "json", "--title", "run"),
                *("--dir", str(run.worktree), "--model", "/".join(_model(run.spec))),
                *(["--variant", run.spec.effort] if run.spec.effort else []),
                *(["--session", run.session] if run.resume else []),
            ],
        )

    def environment(self, run: AgentRun, offered: Mapping[str, str]) -> dict[str, str]:
        """Return the whole environment; the configuration is a variable, which wins over every file."""
        names = () if run.endpoint else CREDENTIALS.get(_model(run.spec)[0], ())
        own = {"OPENCODE_CONFIG_CONTENT": json.dumps(_configuration(run)), **QUIET}
        return common_environment(run, offered, names) | own

    def files(self, run: AgentRun) -> dict[str, str]:  # noqa: ARG002 - others look
        """Return what takes the place of every configuration that an earlier run may have left in HOME."""
        return {f"{folder}/{name}": "{}" for folder, name in product(CONFIGURED, CONFIGURATIONS)}

    def parse(self, run: AgentRun, stream: Iterable[bytes], exit_code: int | None) -> AgentResult:
        """Read the stream; see the module's head for what is trusted in it."""
        reading = _Reading(run.spec.model and _model(run.spec)[1])
        for event in json_lines(stream):
            reading.take(event)
        error = reading.error(exit_code)
        complete = exit_code is not None and not reading.open
        return AgentResult(
            ok=error is None,
            error=error,
            session=reading.session,
            final_text=reading.text if error is None else None,
            denied=reading.denied,
            calls=tuple(reading.calls) if reading.calls or complete else None,
            usd=reading.usd(),
            complete=complete,
        )


def _model(spec: AgentSpec) -> tuple[str, str]:
    """Return provider and model; raises AgentError where no provider can be told."""
    provider, slash, model = (spec.model or "").partition("/")
    if provider and slash and model:
        return provider, model
    known = {api: name for name, api in APIS.items()}
    if spec.model and not slash and (named := known.get(api_of(spec.model))):
        return named, spec.model
    raise AgentError(
        f"OpenCode needs its model as provider/model, as in anthropic/claude-sonnet-4-5, and got {spec.model!r}. "
        "Name one under agent: or tiers: in the policy file."
    )


def _configuration(run: AgentRun) -> dict[str, Any]:
    provider, model = _model(run.spec)
    declared: dict[str, Any] = {"models": {model: {"reasoning": True} if run.spec.effort else {}}}
    if run.endpoint:
        api = APIS.get(provider, Api.CHAT)
        version = "v1beta" if api is Api.GEMINI else "v1"
        declared["options"] = {"baseURL": f"{run.endpoint.base(api)}/{version}", "apiKey": run.endpoint.key}
        declared |= {"npm": CHAT_PACKAGE, "name": provider} if api is Api.CHAT else {}
    command = list(run.tools.mcp) if run.tools else []
    reachable = (run.result_file.parent, run.prompt_file.parent, run.home)
    return {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "model": f"{provider}/{model}",
        "small_model": f"{provider}/{model}",
        "instructions": [str(run.worktree / name) for name in INSTRUCTIONS if (run.worktree / name).is_file()][:1],
        "enabled_providers": [provider],
        "provider": {provider: declared},
        "mcp": {SERVER: {"type": "local", "command": command, "timeout": PATIENCE_SECONDS * 1000}} if command else {},
        "permission": {
            "*": "allow",
            "task": "deny",
            "external_directory": {"*": "deny", **{f"{folder}/*": "allow" for folder in reachable}},
        },
    }


class _Reading:
    """What has been understood of a stream so far."""

    def __init__(self, model: str | None) -> None:
        self._model = model
        self.session: str | None = None
        self.calls: list[Call] = []
        self.open = False
        """Whether a step has begun and not ended."""
        self.text = ""
        """What the model said in the last step."""
        self.denied = 0
        self._reason: object = None
        self._fault = ""
        self._amounts: list[Decimal | None] = []

    def take(self, event: dict[str, Any]) -> None:
        """Take in one event."""
        session = event.get("sessionID")
        self.session = session if isinstance(session, str) and SESSION.fullmatch(session) else self.session
        part = table(event, "part")
        match event.get("type"):
            case "step_start":
                self.open, self.text, self._reason = True, "", None
            case "text" if isinstance(part.get("text"), str):
                self.text += part["text"]
            case "tool_use":
                refused = str(table(part, "state").get("error"))
                self.denied += any(words in refused for words in DENIALS)
            case "step_finish":
                self._finish(part)
            case "error":
                error = table(event, "error")
                self._fault = shortened(f"{error.get('name')}: {table(error, 'data').get('message')}").rstrip(".")

    def _finish(self, part: dict[str, Any]) -> None:
        tokens = table(part, "tokens")
        cache = table(tokens, "cache")
        reasoning = count(tokens, "reasoning") or 0
        self.open, self._reason = False, part.get("reason")
        self._amounts.append(dollars(part, "cost"))
        self.calls.append(
            Call(
                model=self._model,
                input_tokens=count(tokens, "input") or 0,
                output_tokens=(count(tokens, "output") or 0) + reasoning,
                cache_read_tokens=count(cache, "read") or 0,
                cache_write_tokens=count(cache, "write") or 0,
                reasoning_tokens=reasoning,
            )
        )

    def error(self, exit_code: int | None) -> str | None:
        """Return what went wrong, or None."""
        if exit_code is None:
            return "OpenCode was ended by the runner."
        if self._fault:
            return f"OpenCode ended with exit code {exit_code}: {self._fault}."
        if exit_code == 0 and self._reason == "stop":
            return None
        last = f"its last step ended with {str(self._reason)[:50]!r}" if self._reason else "no step was ended"
        return f"OpenCode ended with exit code {exit_code}; {last}."

    def usd(self) -> Decimal | None:
        """Return the dollars; None where a step has none, since the price is not known then."""
        known = [amount for amount in self._amounts if amount]
        return sum(known, Decimal(0)) if known and len(known) == len(self._amounts) else None
