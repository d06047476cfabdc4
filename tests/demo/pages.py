"""The threads and pull requests as pages to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from tests.town.town import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.town import Town


def write_pages(town: Town, issues: list[int], folder: Path) -> list[Path]:
    """Write one page a thread and pull request, and return where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = []
    for issue in issues:
        plan = town.plan(issue)
        pages.append(_save(town, f"issues/{issue}", folder / f"issue-{issue}.html"))
        if plan is not None and plan.pull_request is not None:
            pages.append(_save(town, f"pull/{plan.pull_request}", folder / f"pull-{plan.pull_request}.html"))
    return pages


def _save(town: Town, path: str, file: Path) -> Path:
    answer = httpx.get(f"{town.github.url}/{REPOSITORY}/{path}", timeout=30)
    answer.raise_for_status()
    file.write_text(answer.text)
    return file
