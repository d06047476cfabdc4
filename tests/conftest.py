"""What all tests save themselves: the same costly work for the same input, again in every test; and waiting at the end.

Nothing here changes what is tested: a private key that was proved to be one is not proved again (60 ms each time), and
the certificates that the machine trusts are read once and not for each HTTP client (25 ms), none of which needs them
on loopback.
"""

from __future__ import annotations

import functools
import gc
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives import serialization

if TYPE_CHECKING:
    import pytest

HERE = Path(__file__).parent
LONG = (
    "lifecycle/test_coverage.py",
    "canaries",
    "faults",
    "scenarios/test_town.py",
    "acceptance",
    "runner",
    "pitfalls",
)
"""Files, and folders of files, of which one test can take half a minute: begun first, so that no worker ends with one."""

# Before httpx, jwt and bot.settings take the names over.
ssl.create_default_context = functools.lru_cache(ssl.create_default_context)
serialization.load_pem_private_key = functools.lru_cache(serialization.load_pem_private_key)


def pytest_collection_finish() -> None:
    """Take what collecting made, ten thousand tests and all modules, out of every later search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long; files stay whole, and in their order."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    path = item.path.relative_to(HERE)
    return next((turn for turn, name in enumerate(LONG) if path.is_relative_to(name)), len(LONG))
