"""What a run finds of its tools: a folder for PATH, the client beside it, and the socket.

``promptware/<Unit>/Tools/`` holds an executable for each tool; a run gets those that the unit's head names. A
repository adds its own under ``.twogate/promptware/<Unit>/Tools/``: whatever executable file lies there in the base
commit, read from there and never from a branch. They run as the agent, in its sandbox, and may do what it may.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

from runner.agents.base import ToolAccess
from runner.head import PromptwareError
from runner.program import BUILT_IN, OVERRIDES
from runner.terms import Tool
from runner.tools import client

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from runner.results import Unit
    from runner.store import ObjectStore

Executables = dict[str, bytes]
"""By name."""

EXECUTABLE = "100755"
"""Git's mode of a file that may be run."""
LAUNCHER = "twogate-tool"
"""What the executables call, each with its own name first."""
NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
"""How a repository's own executable may be called."""
MOST_OWN = 20
"""Executables that a repository may add to a unit."""
MAX_OWN = 64_000
"""Bytes of one."""
TAKEN = frozenset({*Tool, LAUNCHER})
"""Names that have their meaning already."""
LAUNCH = """#!/bin/sh
for python in {python} python3; do
  if command -v "$python" >/dev/null 2>&1; then exec "$python" -I -S {client} --socket {socket} "$@"; fi
done
echo "There is no Python to run the tools with. Write the result to the result file." && exit 1
"""


def own_executables(store: ObjectStore, base: str, unit: Unit) -> Executables:
    """Return the repository's own executables for ``unit``, from its base commit; raises :class:`PromptwareError`."""
    folder = f"{OVERRIDES}/{unit}/Tools/"
    found: Executables = {}
    for entry in store.entries(base):
        name = entry.path.removeprefix(folder.encode()).decode("utf-8", "replace")
        if entry.path.startswith(folder.encode()) and entry.mode == EXECUTABLE:
            _require_fit(folder, name, len(found))
            found[name] = store.read(base, entry.path) or b""
            if len(found[name]) > MAX_OWN:
                raise PromptwareError(f"{folder}{name} has more than {MAX_OWN} bytes: a tool is a small program.")
    return found


def _require_fit(folder: str, name: str, number: int) -> None:
    if not NAME.fullmatch(name):
        raise PromptwareError(f"{folder}{name} can't be a tool: name it in small letters, digits, - and _ alone.")
    if name in TAKEN:
        raise PromptwareError(f"{folder}{name} would stand in for a tool of Twogate's: give it another name.")
    if number >= MOST_OWN:
        raise PromptwareError(f"{folder} holds more than {MOST_OWN} executables: bring them down to that.")


def furnish(place: Path, unit: Unit, allowed: Collection[Tool], own: Mapping[str, bytes]) -> ToolAccess:
    """Fill ``place``, a new folder that agents can read, and return what they reach in it; raises OSError."""
    folder, socket = place / "bin", place / "tools.sock"
    for made in (place, folder):
        made.mkdir()
        made.chmod(0o755)
    shown = place / "client.py"
    shutil.copyfile(client.__file__, shown)
    shown.chmod(0o644)
    words = {"python": sys.executable, "client": str(shown), "socket": str(socket)}
    launcher = LAUNCH.format(**{name: shlex.quote(word) for name, word in words.items()})
    built_in = {tool: (BUILT_IN / unit / "Tools" / tool).read_bytes() for tool in allowed}
    for name, content in ({LAUNCHER: launcher.encode()} | built_in | dict(own)).items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o755)
    return ToolAccess(folder, socket, (str(folder / LAUNCHER), "mcp"))
