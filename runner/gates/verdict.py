"""The results of the built-in gates, worded alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.contract import MAX_TAIL, GateResult, GateStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LINE = 300
"""Characters of a summary (``runner.results.Line``)."""
MAX_NAME = 160
"""Characters of a path that are shown."""


def passed(name: str, summary: str) -> GateResult:
    """Return a passed result; how long it took is filled in by the registry."""
    return GateResult(name=name, blocking=True, status=GateStatus.PASSED, seconds=0, summary=summary)


def noted(name: str, faults: Sequence[str]) -> GateResult:
    """Return a result that shows ``faults`` and keeps nothing from a reviewer."""
    return failed(name, faults).model_copy(update={"blocking": False})


def failed(name: str, faults: Sequence[str]) -> GateResult:
    """Return a failed result that names the first of ``faults`` and, in its tail, as many as fit."""
    more = f" And {len(faults) - 1} more." if len(faults) > 1 else ""
    summary = cut(faults[0], MAX_LINE - len(more)) + more
    return GateResult(
        name=name, blocking=True, status=GateStatus.FAILED, seconds=0, summary=summary, tail=listed(faults)
    )


def listed(faults: Sequence[str]) -> str:
    """Return as many of ``faults`` as fit into a result's tail, and how many do not."""
    lines: list[str] = []
    left = MAX_TAIL - 40
    for number, fault in enumerate(faults):
        line = cut(fault, MAX_LINE)
        if len(line) + 1 > left:
            lines.append(f"[{len(faults) - number} more are not shown]")
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines)


def cut(text: str, length: int) -> str:
    """Return ``text`` in at most ``length`` characters, with the cut to be seen."""
    return text if len(text) <= length else text[: length - 1] + "…"


def shown(path: bytes) -> str:
    r"""Return a path as people read it: UTF-8, everything unprintable or undecodable as ``\xNN``."""
    text = path.decode("utf-8", "surrogateescape")
    return cut("".join(_visible(character) for character in text), MAX_NAME)


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
