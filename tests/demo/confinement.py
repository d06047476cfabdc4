"""How the demo confines its agent: as well as the machine can, and not at all where its script could not start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runner.sandbox import Confinement, Sandbox, probe
from runner.terms import SandboxMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.demo.players import Player

START_SECONDS = 60.0
"""For a Python that does nothing, on a busy machine."""


def mode(player: Player, machine: Mapping[str, str], tell: Callable[[str], None]) -> str:
    """Return ``auto``, and ``off`` for the script where its user can't start the machine's Python; tells that.

    Without bubblewrap, root hands its agents to another user, and nobody else can look into root's home, where a
    version manager may have put Python. A real agent is never let loose as root: its job fails and says why.
    """
    capability = probe()
    if capability.bubblewrap or not player.scripted:
        return SandboxMode.AUTO.value
    command = Sandbox(SandboxMode.AUTO, capability).wrap(["python3", "-c", ""], Confinement(Path("/")))
    tried = subprocess.run(command, env=machine, cwd="/", capture_output=True, timeout=START_SECONDS, check=False)
    if tried.returncode == 0:
        return SandboxMode.AUTO.value
    tell(
        f"bubblewrap does not run here, and no other user can start the Python in {sys.base_prefix}: this demo's "
        "script runs unconfined. Install bubblewrap to see it confined."
    )
    return SandboxMode.OFF.value
