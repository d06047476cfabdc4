"""Bandit over the Python files of a change, in a process of its own: what it reads was written by others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 120.0
"""For one run over all files."""
MAX_FILES = 500
"""Files that it is run over."""
LEVEL = "--severity-level=medium"
"""What is less severe is told by linters."""
Finding = tuple[bytes, range, str]
"""Path, lines, and what was found."""


class BanditError(Exception):
    """It could not be run; the message says why."""


def findings(files: dict[bytes, bytes]) -> list[Finding]:
    """Return what Bandit says of Python files by their paths; ``# nosec`` does not silence it. Raises BanditError."""
    chosen = dict(list(files.items())[:MAX_FILES])
    if not chosen:
        return []
    with tempfile.TemporaryDirectory(prefix="twogate-bandit-") as name:
        folder = Path(name)
        for number, content in enumerate(chosen.values()):
            (folder / f"{number}.py").write_bytes(content)
        report = _run(folder)
    paths = list(chosen)
    return list(_found(report, paths))


def _run(folder: Path) -> dict[str, Any]:
    command = [
        sys.executable,
        "-I",
        "-m",
        "bandit",
        "-r",
        "-q",
        "-f",
        "json",
        "--exit-zero",
        "--ignore-nosec",
        LEVEL,
        ".",
    ]
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            close_fds=False,
        )
        report = json.loads(ended.stdout)
    except subprocess.TimeoutExpired:
        raise BanditError(f"Bandit was not done after {SECONDS:.0f} s.") from None
    except (OSError, ValueError):
        raise BanditError("Bandit could not be run: install twogate with its dependencies.") from None
    if not isinstance(report, dict):
        raise BanditError("Bandit answered with what is no report.")
    return report


def _found(report: dict[str, Any], paths: list[bytes]) -> Iterator[Finding]:
    for row in report.get("results", ()):
        path = paths[int(Path(row["filename"]).stem)]
        lines = row.get("line_range") or [row["line_number"]]
        owner = f"Bandit {row['test_id']}"
        yield path, range(min(lines), max(lines) + 1), f"{row['issue_text'].rstrip('.')} ({owner})"
