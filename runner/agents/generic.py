"""Any command-line agent, by its command alone.

The command of the policy file is an argument list, in which placeholders are replaced once and never looked at again.
The agent is told in the prompt where its result goes, so ``{prompt_file}`` is all it needs.

With ``output: jsonl`` it may print, among other lines, one usage record a call to a model; without any the usage is
unknown, which is not zero::

    {"type": "usage", "id": "c1", "model": "m", "input_tokens": 900, "output_tokens": 50,
     "cache_read_tokens": 100, "cache_write_tokens": 0, "reasoning_tokens": 10, "usd": 0.0123}

Input is without cache reads and writes, output with reasoning. ``id`` (a record seen twice counts once), ``model``, the
cache and reasoning counts and ``usd`` may be left out.

With ``api`` it is pointed at the meter by the variables that the SDKs of that wire format read.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from runner.agents.base import AgentError, AgentResult, Call, common_environment, count, dollars, json_lines
from runner.terms import Api

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.agents.base import AgentRun
    from runner.terms import AgentSpec

PLACEHOLDER = re.compile(r"\{(prompt_file|result_file|model|unit|attempt|worktree)\}")
"""What is replaced in a command; braces around anything else are the command's own."""
OPENAI = (("OPENAI_BASE_URL", "OPENAI_API_BASE"), "/v1", "OPENAI_API_KEY")
METERED = {
    Api.ANTHROPIC: (("ANTHROPIC_BASE_URL",), "", "ANTHROPIC_API_KEY"),
    Api.RESPONSES: OPENAI,
    Api.CHAT: OPENAI,
    Api.GEMINI: (("GOOGLE_GEMINI_BASE_URL",), "", "GEMINI_API_KEY"),
}
"""By which variables the SDKs of a wire format take their base address, what they expect at its end, and their key."""


class Generic:
    """Adapter for a command of the policy file."""

    program = ""
    resumes = False
    keeps: tuple[str, ...] = ()

    def api(self, spec: AgentSpec) -> Api | None:
        """Return what the policy file says."""
        return spec.api

    def command(self, run: AgentRun) -> list[str]:
        """Return the command with its placeholders replaced."""
        if not run.spec.command:
            raise AgentError(f"Agent {run.spec.name!r} has no command; give one under agents: in the policy file.")
        if run.spec.model is None and any("{model}" in part for part in run.spec.command):
            raise AgentError(f"The command of agent {run.spec.name!r} asks for {{model}}, and no model is set.")
        values = {
            "prompt_file": str(run.prompt_file),
            "result_file": str(run.result_file),
            "model": run.spec.model or "",
            "unit": run.unit.value,
            "attempt": str(run.attempt),
            "worktree": str(run.worktree),
        }
        return [PLACEHOLDER.sub(lambda found: values[found[1]], part) for part in run.spec.command]

    def environment(self, run: AgentRun, offered: Mapping[str, str]) -> dict[str, str]:
        """Return the common environment, and the way to the meter.

        Where there is none, which credentials the agent gets is for the runner's owner to say.
        """
        common = common_environment(run, offered, ())
        if run.endpoint is None or run.spec.api is None:
            return common
        names, end, key = METERED[run.spec.api]
        return common | dict.fromkeys(names, run.endpoint.base(run.spec.api) + end) | {key: run.endpoint.key}

    def files(self, run: AgentRun) -> dict[str, str]:  # noqa: ARG002 - others look
        """Return none: what it needs is for its command to bring along."""
        return {}

    def parse(self, run: AgentRun, stream: Iterable[bytes], exit_code: int | None) -> AgentResult:
        """Read the usage records, where there are any; the exit code alone says whether it ended well."""
        records = _usage_records(stream) if run.spec.output == "jsonl" else []
        amounts = [dollars(record, "usd") for record in records]
        known = [amount for amount in amounts if amount is not None]
        return AgentResult(
            ok=exit_code == 0,
            error=None if exit_code == 0 else _error(run.spec.name, exit_code),
            session=None,
            calls=tuple(_call(record) for record in records) or None,
            usd=sum(known, Decimal(0)) if known and len(known) == len(amounts) else None,
            complete=exit_code is not None,
        )


def _usage_records(stream: Iterable[bytes]) -> list[dict[str, Any]]:
    records: dict[object, dict[str, Any]] = {}
    for number, record in enumerate(json_lines(stream)):
        if record.get("type") != "usage" or None in (count(record, "input_tokens"), count(record, "output_tokens")):
            continue
        name = record.get("id")
        records[name if isinstance(name, str) else number] = record
    return list(records.values())


def _call(record: dict[str, Any]) -> Call:
    model = record.get("model")
    return Call(
        model=model if isinstance(model, str) else None,
        input_tokens=count(record, "input_tokens") or 0,
        output_tokens=count(record, "output_tokens") or 0,
        cache_read_tokens=count(record, "cache_read_tokens") or 0,
        cache_write_tokens=count(record, "cache_write_tokens") or 0,
        reasoning_tokens=count(record, "reasoning_tokens"),
    )


def _error(name: str, exit_code: int | None) -> str:
    if exit_code is None:
        return f"Agent {name} was ended by the runner."
    return f"Agent {name} ended with exit code {exit_code}."
