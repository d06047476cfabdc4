"""Each pitfall is met twice: with a sandbox, and with what is left without one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pitfalls.arena import CAPABILITY, Arena, sandbox_of
from tests.runner.workbench import bench

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.sandbox import Sandbox


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the agent's user can get to without a sandbox."""
    with tempfile.TemporaryDirectory(prefix="twogate-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@pytest.fixture(params=["sandbox", "bare"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "sandbox" and not CAPABILITY.bubblewrap:
        pytest.skip(f"confinement was not tested: {CAPABILITY.sentence}")
    return sandbox_of(request.param)


@pytest.fixture
def arena(folder: Path, sandbox: Sandbox) -> Arena:
    return Arena(bench(folder), sandbox)
