"""The demo is confined as well as the machine can, and plays where its script's user has no Python."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.demo.confinement import mode
from tests.demo.players import Player

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = Player("a script", {}, scripted=True)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that everybody may read, with all that is on PATH: what becomes another user, and a Python."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "setpriv").symlink_to(shutil.which("setpriv") or "/none")
        (folder / "python3").symlink_to(shutil.which("true") or "/none")
        monkeypatch.setenv("PATH", name)
        yield folder


def test_without_bubblewrap_the_script_is_as_confined_as_can_be(programs: Path) -> None:
    said: list[str] = []
    assert mode(SCRIPT, {"PATH": str(programs)}, said.append) == "auto"
    assert said == []


@pytest.mark.skipif(os.geteuid() != 0, reason="not tested: only root hands its agents to another user")
def test_where_its_user_has_no_python_the_script_is_unconfined_and_that_is_told(programs: Path) -> None:
    said: list[str] = []
    (programs / "python3").unlink()
    closed = programs / "closed"
    closed.mkdir(mode=0o700)
    (closed / "python3").write_text("#!/bin/sh\nexit 0\n")
    (closed / "python3").chmod(0o755)
    machine = {"PATH": f"{closed}:{programs}"}
    assert mode(SCRIPT, machine, said.append) == "off"
    assert "runs unconfined. Install bubblewrap" in said[0]
    assert mode(Player("a real one", {}), machine, said.append) == "auto", "a real agent is never let loose"
