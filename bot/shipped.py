"""Files that lie at the top of the repository and, in an installation, inside this package (see pyproject.toml)."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent


def shipped(name: str) -> str:
    """Return the text of ``app.yml`` or of the workflow that users copy, ``.github/workflows/twogate.yml``."""
    inside = PACKAGE / "shipped_files" / Path(name).name
    return (inside if inside.exists() else PACKAGE.parent / name).read_text()
