"""None of five kinds of daemon survives a run, however it ends, with a sandbox and without."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

import pytest

from tests.pitfalls.arena import CAPABILITY
from tests.pitfalls.daemons import ENDS, KINDS, End, killed_runner, start, survivors

LAYOUTS = ("sandbox", "bare")
REASONS = {"by itself": "exited", "time-out": "timed_out", "stop": "stopped"}
QUICK = {"sandbox": 3, "bare": 2}
"""Runs of each end in the fast suite: twenty in all."""
DRILLED = 25
"""Runs of each end in the drill: two hundred in all."""


def once(layout: str, end: End) -> None:
    if layout == "sandbox" and not CAPABILITY.bubblewrap:
        pytest.skip(f"confinement was not tested: {CAPABILITY.sentence}")
    if layout == "bare" and CAPABILITY.can_switch_user and not Path("/usr/bin/python3").exists():
        pytest.skip("not tested: the system has no Python that every user can start")
    token = f"daemons-{secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory(prefix="twogate-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        if end == "kill -9 of the runner":
            assert killed_runner(layout, folder, token) == []
            return
        ended = start(layout, folder, token, end)
        assert survivors(token) == []
        assert (folder / "output").read_text() == "ready\n"
        assert ended.reason == REASONS[end]
        assert (folder / "tree/up").read_bytes() == b"x" * KINDS
        if layout == "bare" and end == "by itself":
            assert ended.left_behind >= KINDS


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_22_daemons(layout: str, end: End) -> None:
    for _ in range(QUICK[layout]):
        once(layout, end)


@pytest.mark.drill
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_22_daemons_two_hundred_times(layout: str, end: End) -> None:
    for _ in range(DRILLED):
        once(layout, end)
