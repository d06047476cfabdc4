"""Which process is the agent: the first below the runner that is none of the runner's own helpers."""

from __future__ import annotations

from pathlib import Path

HELPERS = frozenset({"bwrap", "setpriv"})


def agent_of(runner: int) -> int:
    """Return the process id of the agent that ``runner`` has started."""
    for pid in _below(runner):
        words = _words(pid)
        name = Path(words[0]).name if words else ""
        if name not in HELPERS and not any(word.endswith(("supervise.py", "shim.py")) for word in words[:6]):
            return pid
    raise AssertionError("no agent runs")


def _below(pid: int) -> list[int]:
    """Return the descendants of a process, each after its parent."""
    children = [int(word) for path in Path(f"/proc/{pid}/task").glob("*/children") for word in path.read_text().split()]
    return [found for child in children for found in (child, *_below(child))]


def _words(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:-1]
