"""Addresses on GitHub's web pages."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan, Review, Revision

GITHUB = "https://github.com"
"""Where repositories are shown, unless a GitHub of one's own is used."""


class Links:
    """Addresses around one plan."""

    def __init__(self, web: str, plan: Plan) -> None:
        self._repo = f"{web.rstrip('/')}/{quote(plan.repo.owner, safe='')}/{quote(plan.repo.name, safe='')}"
        self._issue = f"{self._repo}/issues/{plan.issue_number}"

    def comment(self, shown: Revision | Review | None) -> str:
        """Return the address of the comment that shows this; the issue's where there is none yet."""
        thread = getattr(shown, "thread", None)
        where = self._issue if thread is None else f"{self._repo}/pull/{thread}"
        return f"{where}#issuecomment-{shown.comment_id}" if shown and shown.comment_id else where

    def commit(self, sha: str) -> str:
        """Return the address of a commit, beside whose lines people can write."""
        return f"{self._repo}/commit/{sha}"

    def run(self, run_id: int) -> str:
        """Return the address of an Actions run."""
        return f"{self._repo}/actions/runs/{run_id}"
