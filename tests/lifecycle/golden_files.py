"""Compare a text with the file that holds it; ``TWOGATE_GOLDEN=write`` writes the files anew for `git diff` to show."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def assert_same(text: str, path: Path) -> None:
    """Fail where the file reads otherwise."""
    if os.environ.get("TWOGATE_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path.name} is missing; write it with TWOGATE_GOLDEN=write"
    assert text == path.read_text(encoding="utf-8"), f"{path.name} reads otherwise; see TWOGATE_GOLDEN=write"
