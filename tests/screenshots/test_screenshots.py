"""The pictures of the documentation, and how the pages that they show lie in a narrow window."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.screenshots.__main__ import FOLDER, LARGEST, WIDTHS
from tests.screenshots.browser import Browser, NoBrowserError
from tests.screenshots.dashboard import SHOTS, dashboard
from tests.screenshots.play import pages
from tests.screenshots.threads import THREADS
from tests.town.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

WANTED = {
    "docs/explanation/threads.md": {f"{name}-{width}.png" for name in THREADS for width in WIDTHS},
    "docs/how-to/dashboard.md": {
        f"dashboard-{name}-{width}.png" for name, (_, widths) in SHOTS.items() for width in widths
    },
}
"""The pages of the documentation, and the pictures that each shows."""


def test_every_picture_is_there_is_shown_and_is_small() -> None:
    for page, wanted in WANTED.items():
        assert wanted == set(re.findall(r'src="../images/([^"]+)"', (ROOT / page).read_text())), page
    assert set().union(*WANTED.values()) == {file.name for file in FOLDER.iterdir()}
    for file in FOLDER.iterdir():
        data = file.read_bytes()
        width = int(file.stem.rpartition("-")[2])
        assert data.startswith(b"\x89PNG"), file
        assert int.from_bytes(data[16:20], "big") == width, file
        assert len(data) <= LARGEST, file


def test_no_page_is_wider_than_its_window(tmp_path: Path) -> None:
    try:
        with Browser() as browser:
            played = pages(tmp_path)
            for width in (320, *WIDTHS):
                for name, page in played.items():
                    seen = browser.open(page.html, width, dark=width == 375)
                    assert (seen.width, seen.outside) == (width, []), f"{name} at {width}"
            with dashboard(tmp_path) as (addresses, cookie):
                for width in (320, *WIDTHS):
                    for name, address in addresses.items():
                        seen = browser.visit(address, width, cookie, dark=width == 375)
                        assert (seen.width, seen.outside) == (width, []), f"{name} at {width}"
            wide = browser.open(f"<body><p style='width:900px'>{'x' * 300}</p></body>", 375)
            assert wide.outside, "what sticks out is found"
    except NoBrowserError as fault:
        pytest.skip(f"Whether the pages fit narrow windows was not tested. {fault}")
