"""A command of the repository as a gate: run it, keep all it printed, tell what it broke from what was broken."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING, Protocol

from runner.contract import MAX_TAIL, GateResult, GateStatus
from runner.gates.errors import first_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.process import Ended
    from runner.terms import GateSpec

SHELL = "/bin/sh"
MAX_COMPARED = 4_000_000
"""Bytes from the end of an output in which failures are compared with the base's."""
MAX_REPEATED = 600
"""Seconds that a failed check may have taken to be run once more; a longer one would cost more than it tells."""
MISSING = "a program it calls is missing on the runner, or can't be executed."
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""What a shell exits with where the command isn't there: the machine's fault, not the change's."""

ENDED = {
    "timed_out": "Not done after {seconds} s.",
    "output_flood": "It printed more than is kept.",
    "silent": "It said nothing for too long.",
    "stopped": "The job was stopped.",
}
"""Why the runner ended a command."""

FAILURE = re.compile(r"fail|error|exception|panic|assert|not ok|fatal|undefined|✗|✘|cannot|warning", re.IGNORECASE)
"""Lines that tell of a failure, in the output of the usual tools."""
VARYING = (
    (re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]"), ""),
    (re.compile(r"\b0x[0-9a-fA-F]+"), "0x"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds?|m|min)\b"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ][\d:.,+Z-]*"), "<time>"),
    (re.compile(r"(:|line |\()\d+(?::\d+)?"), r"\1<line>"),
    (re.compile(r",? ?\b\d+ (?:passed|passing|ok|skipped|deselected|xfailed|warnings?|total|tests?|files?)\b"), ""),
    (re.compile(r"/(?:tmp|var/tmp|private)/[^\s:'\")]*"), "<tmp>"),
    (re.compile(r"[ =_-]{2,}"), " "),
)
"""What differs between two runs that fail alike: colours, addresses, times, line numbers, counts of what went well."""


class Execute(Protocol):
    """Start a command in a folder, write all it prints to a file, and end its whole tree at the deadline."""

    def __call__(self, command: list[str], *, cwd: Path, env: Mapping[str, str], seconds: float, output: Path) -> Ended:
        """Return when the process has ended; standard input is empty, both outputs go to ``output``."""


@dataclass(frozen=True, slots=True)
class GateRun:
    """A gate's result, the file with the whole of its output, and the folder it ran in."""

    result: GateResult
    output: Path
    worktree: Path


def run_gate(gate: GateSpec, worktree: Path, output: Path, env: Mapping[str, str], execute: Execute) -> GateRun:
    """Run ``gate`` in ``worktree``; everything it prints goes to ``output``. Only exit code 0 in time passes."""
    ended = execute([SHELL, "-c", gate.run], cwd=worktree, env=env, seconds=gate.timeout_seconds, output=output)
    result = GateResult(
        name=gate.name,
        blocking=gate.blocking,
        status=_status(ended),
        seconds=max(0.0, ended.seconds),
        summary=_summary(gate, ended),
        tail=tail_of(output),
        first_error="" if _status(ended) is GateStatus.PASSED else first_error(_lines(output)),
        detected=gate.detected,
    )
    return GateRun(result, output, worktree)


def _status(ended: Ended) -> GateStatus:
    if ended.reason == "timed_out":
        return GateStatus.TIMED_OUT
    return GateStatus.PASSED if ended.reason == "exited" and ended.returncode == 0 else GateStatus.FAILED


def _summary(gate: GateSpec, ended: Ended) -> str:
    if ended.reason != "exited":
        return f"{ENDED[ended.reason].format(seconds=gate.timeout_seconds)} Its processes were ended."
    match ended.returncode:
        case 0:
            return "Passed."
        case code if code in {NOT_FOUND, NOT_EXECUTABLE}:
            return f"Exit code {code}: {MISSING}"
        case code if code < 0:
            return f"Ended by signal {-code}."
        case code:
            return f"Exit code {code}."


def again(first: GateRun, second: GateRun) -> GateRun:
    """Return what came of a check that failed and was run once more, unchanged; the failure is what is shown."""
    if second.result.status is not GateStatus.PASSED:
        return first
    summary = f"Flaky: failed ({first.result.summary.rstrip('.').lower()}), then passed unchanged."
    seconds = first.result.seconds + second.result.seconds
    update = {"status": GateStatus.FLAKY, "summary": summary, "seconds": seconds}
    return GateRun(first.result.model_copy(update=update), first.output, first.worktree)


def may_be_flaky(run: GateRun) -> bool:
    """Whether running once more could tell anything: a check that blocks, ended by itself, soon, and could be run."""
    result = run.result
    ran = (
        result.status is GateStatus.FAILED and MISSING not in result.summary and "processes were" not in result.summary
    )
    return ran and result.blocking and result.seconds <= MAX_REPEATED


def _lines(output: Path) -> list[str]:
    return _printable(_end_of(output, MAX_COMPARED)[0].decode("utf-8", "replace")).splitlines()


def tail_of(output: Path, limit: int = MAX_TAIL) -> str:
    """Return the end of ``output`` in at most ``limit`` characters, and where it is cut, how much is left out."""
    data, size = _end_of(output, 4 * limit)
    text = _printable(data.decode("utf-8", "replace"))
    if size == len(data) and len(text) <= limit:
        return text
    note = f"[the end of {size} bytes]\n"
    return note + text[-(limit - len(note)) :]


def against_base(now: GateRun, before: GateRun) -> GateResult:
    """Return the result of ``now``, as ``failed_before`` where ``before`` (the base) failed in the same way.

    In the same way: the same status, and no line that tells of a failure which the base's output lacks, whatever
    varies from run to run set aside. When in doubt, the change is held to have broken it. A check whose program is
    missing has looked at neither side, so it holds the work back as well.
    """
    result = now.result
    if result.status is not before.result.status or result.status not in {GateStatus.FAILED, GateStatus.TIMED_OUT}:
        return result
    if MISSING in result.summary:
        return result
    new = _failures(now) - _failures(before)
    if result.status is GateStatus.FAILED and (new or result.summary != before.result.summary):
        return result
    summary = f"{result.summary} It failed in the same way before the change."
    return result.model_copy(update={"status": GateStatus.FAILED_BEFORE, "summary": summary})


def _failures(run: GateRun) -> set[str]:
    text = _end_of(run.output, MAX_COMPARED)[0].decode("utf-8", "replace").replace(str(run.worktree), "<tree>")
    return {_steady(line) for line in text.splitlines() if FAILURE.search(line)}


def _steady(line: str) -> str:
    for pattern, replacement in VARYING:
        line = pattern.sub(replacement, line)
    return line.strip()


def _end_of(path: Path, limit: int) -> tuple[bytes, int]:
    """Return the last ``limit`` bytes of a file, and how many it has; nothing where there is no file."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - limit))
            return file.read(limit), size
    except FileNotFoundError:
        return b"", 0


def _printable(text: str) -> str:
    """Return ``text`` without colours and control characters, which mean nothing outside of a terminal."""
    plain = VARYING[0][0].sub("", text.replace("\r\n", "\n"))
    return "".join(c for c in plain if c.isprintable() or c in "\n\t")
