"""``python -m tests.screenshots``: pictures of the threads and of the dashboard, into ``docs/images``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.screenshots.browser import Browser, NoBrowserError
from tests.screenshots.dashboard import MOST, SHOTS, dashboard
from tests.screenshots.play import pages
from tests.town.repository import ROOT

FOLDER = ROOT / "docs/images"
WIDTHS = {1280: 2300, 375: 2000}
"""Width of the window -> the most of the page that is shown; pixels."""
LARGEST = 200_000
"""Bytes of one picture."""


def main() -> int:
    """Take every picture anew."""
    try:
        with tempfile.TemporaryDirectory(prefix="twogate-screenshots-") as folder, Browser() as browser:
            for name, page in pages(Path(folder)).items():
                for width, most in WIDTHS.items():
                    browser.open(page.html, width)
                    _save(FOLDER / f"{name}-{width}.png", browser.picture(width, most, page.start))
            with dashboard(Path(folder)) as (addresses, cookie):
                for name, (_, widths) in SHOTS.items():
                    for width in widths:
                        browser.visit(addresses[name], width, cookie)
                        _save(FOLDER / f"dashboard-{name}-{width}.png", browser.picture(width, MOST[width]))
    except NoBrowserError as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    return 0


def _save(file: Path, picture: bytes) -> None:
    assert len(picture) <= LARGEST, f"{file.name} has {len(picture):,} bytes"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(picture)
    sys.stdout.write(f"{file.relative_to(ROOT)}: {len(picture):,} bytes\n")


if __name__ == "__main__":
    sys.exit(main())
