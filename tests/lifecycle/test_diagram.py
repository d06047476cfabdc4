"""The lifecycle's page in the documentation is what the table says. ``UPDATE_DOCS=1`` writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

from bot.lifecycle.diagram import mermaid, rework_table, table

PAGE = Path(__file__).parent.parent.parent / "docs/explanation/lifecycle.md"


def between(text: str, name: str, new: str) -> str:
    """The page with one generated part put in place."""
    start, end = f"<!-- {name}: generated -->\n", f"<!-- {name}: end -->"
    head, rest = text.split(start)
    return f"{head}{start}{new}\n{rest[rest.index(end) :]}"


def test_the_page_is_generated_from_the_table():
    page = PAGE.read_text()
    wanted = between(page, "diagram", f"```mermaid\n{mermaid()}\n```")
    wanted = between(wanted, "table", table())
    wanted = between(wanted, "rework", rework_table())
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(wanted)
    assert page == wanted, "run it with UPDATE_DOCS=1 and commit the page"
