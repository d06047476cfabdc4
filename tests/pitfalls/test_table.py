"""The table in the documentation and the tests are the same thirty-one rows."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs/explanation/security.md"
ROW = re.compile(r"^\| (\d+) \| [^|]+ \| [^|]+ \| `(tests/[a-z_/]+\.py)` \|$", re.MULTILINE)
TEST = re.compile(r"^def test_rows?_((?:\d+_)+)", re.MULTILINE)
ROWS = 31


def rows_by_file() -> dict[str, set[int]]:
    """Return which rows each file tests."""
    return {
        f"tests/pitfalls/{path.name}": {
            int(n) for found in TEST.findall(path.read_text()) for n in found.split("_") if n
        }
        for path in HERE.glob("test_*.py")
    }


def test_each_row_has_a_test_and_the_page_names_its_file() -> None:
    told = {int(number): file for number, file in ROW.findall(PAGE.read_text())}
    assert sorted(told) == list(range(1, ROWS + 1))
    by_file = rows_by_file()
    assert not {number: file for number, file in told.items() if number not in by_file.get(file, set())}
    assert set().union(*by_file.values()) == set(range(1, ROWS + 1))
