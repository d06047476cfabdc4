"""Issues that the bot itself opens, and how they hang together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from bot.github import shapes
from bot.github.ensure import marked, marker
from bot.github.faults import Refused
from bot.github.gateway import Missing
from bot.github.shows import Shows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.github.gateway import MadeIssue
    from bot.lifecycle.plan import Repo

FIND_ISSUE_LIMIT = 300
"""How many of the App's newest issues are searched for a mark: a lost answer is missed within minutes."""


class Issues(Shows):
    """Opening issues, each once."""

    def ensure_issue(
        self, repo: Repo, key: str, title: str, body: str, labels: Sequence[str], *, first: bool
    ) -> MadeIssue:
        """Open an issue whose text begins with the mark of ``key``, or return the one that does."""
        mark = marker(key)
        if not first:
            for json in self._own_issues(repo):
                if "pull_request" not in json and (json.get("body") or "").startswith(mark):
                    return shapes.made_issue(json)
        wanted = {"title": title, "body": marked(key, body), "labels": list(labels)}
        return shapes.made_issue(self._at(repo).call("POST", "/issues", json=wanted))

    def _own_issues(self, repo: Repo) -> Iterator[Any]:
        """Yield the App's newest issues, open and closed."""
        asked = {"creator": f"{self.identity().slug}[bot]", "state": "all", "sort": "created", "direction": "desc"}
        for _, json in zip(range(FIND_ISSUE_LIMIT), self._at(repo).pages("/issues", asked), strict=False):
            yield json

    def ensure_sub_issue(self, repo: Repo, parent: int, child_id: int) -> bool:
        """Make an issue a sub-issue of ``parent``; False where the server has no sub-issues.

        Such a server answers 404, as it does where the parent is gone; then that raises ``Missing``.
        """
        path = f"/issues/{parent}/sub_issues"
        try:
            self._at(repo).call("POST", path, json={"sub_issue_id": child_id})
        except Missing:
            self._at(repo).call("GET", f"/issues/{parent}")
            return False
        except Refused as refusal:
            if refusal.status != httpx.codes.UNPROCESSABLE_ENTITY or not self._hangs(repo, path, child_id):
                raise
        return True

    def _hangs(self, repo: Repo, path: str, child_id: int) -> bool:
        return any(json["id"] == child_id for json in self._at(repo).pages(path))
