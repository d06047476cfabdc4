"""What others say about a commit or a pull request: comments beside lines, reviews, checks and their logs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bot.github import shapes
from bot.github.clients import TIMEOUT_SECONDS
from bot.github.connection import Verbs
from bot.github.faults import Refused
from bot.github.gateway import Missing
from bot.github.logs import tail
from bot.github.quote import segment, segments
from bot.github.tokens import WANTS_PERMISSION, seconds
from bot.lifecycle.ci import CiCheck, CiState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.github.gateway import InlineComment, PullReview
    from bot.lifecycle.plan import Repo

JOB_URL = re.compile(r"/actions/runs/[0-9]{1,20}/job/([0-9]{1,18})(?:[/?#]|$)")
"""Where the check run of an Actions job leads: the address ends in the job's number."""
ACTIONS = "github-actions"
"""The App by which Actions reports its jobs."""
CHECK_STATES = {
    "success": CiState.PASSED,
    "neutral": CiState.NEUTRAL,
    "skipped": CiState.NEUTRAL,
    "stale": CiState.NEUTRAL,
}
"""What the conclusion of a check run amounts to; every other one is a failure."""
STATUS_STATES = {"success": CiState.PASSED, "pending": CiState.PENDING}
"""What the state of a commit status amounts to; ``failure`` and ``error`` are failures."""


class Reviews(Verbs):
    """What the bot gathers at the moment of a decision. All of it is untrusted text."""

    def checks(self, repo: Repo, head: str) -> tuple[CiCheck, ...]:
        """Return what others report about a commit: the newest check run and status of each name; ours left out."""
        runs = self._at(repo).pages(f"/commits/{segment(head)}/check-runs", {"filter": "latest"}, key="check_runs")
        own = self._connection.clients.app_id
        others = [_check(json) for json in runs if (json.get("app") or {}).get("id") != own]
        return (*others, *map(_status, self._statuses(repo, head)))

    def _statuses(self, repo: Repo, head: str) -> list[Any]:
        """Return the newest status of each context; none where the App may not read statuses."""
        try:
            return list(self._at(repo).pages(f"/commits/{segment(head)}/status", key="statuses"))
        except Refused as refusal:
            if WANTS_PERMISSION not in refusal.said:
                raise
            return []

    def job_log(self, repo: Repo, job_id: int) -> str | None:
        """Return the end of the log of an Actions job; None where GitHub has none (any more)."""
        try:
            return tail(self._at(repo).kept_elsewhere(f"/actions/jobs/{job_id}/logs"), TIMEOUT_SECONDS)
        except Missing:
            self._must_be_there(repo)
            return None

    def commit_comments(self, repo: Repo, base: str, head: str) -> list[InlineComment]:
        """Return the comments on the commits that ``head`` has beyond ``base``, the newest 250, oldest commit first.

        Asks only about commits that have comments: the comparison counts them.
        """
        compared = self._at(repo).call("GET", f"/compare/{segments(base)}...{segments(head)}")
        spoken_of = [json["sha"] for json in compared["commits"] if json["commit"]["comment_count"]]
        return [comment for sha in spoken_of for comment in self._comments_of(repo, sha)]

    def _comments_of(self, repo: Repo, sha: str) -> Iterator[InlineComment]:
        return map(shapes.inline_comment, self._at(repo).pages(f"/commits/{sha}/comments"))

    def review_comments(self, repo: Repo, pull: int) -> list[InlineComment]:
        """Return the comments beside lines of a pull request, oldest first."""
        return [shapes.inline_comment(json) for json in self._at(repo).pages(f"/pulls/{pull}/comments")]

    def reviews(self, repo: Repo, pull: int) -> list[PullReview]:
        """Return the reviews of a pull request that were handed in, oldest first."""
        found = map(shapes.review, self._at(repo).pages(f"/pulls/{pull}/reviews"))
        return [review for review in found if review is not None]


def _check(json: Any) -> CiCheck:
    app, url = (json.get("app") or {}).get("slug") or "", _page(json.get("details_url"), json.get("html_url"))
    conclusion = json.get("conclusion") if json.get("status") == "completed" else None
    job = JOB_URL.search(url) if app == ACTIONS else None
    return CiCheck(
        name=json["name"],
        state=CHECK_STATES.get(conclusion, CiState.FAILED) if conclusion else CiState.PENDING,
        conclusion=conclusion or "",
        url=url,
        app=app,
        job_id=int(job[1]) if job else None,
        at=_last_said(json, "started_at", "completed_at"),
    )


def _status(json: Any) -> CiCheck:
    return CiCheck(
        name=json["context"],
        state=STATUS_STATES.get(json["state"], CiState.FAILED),
        conclusion=json["state"],
        url=_page(json.get("target_url")),
        at=_last_said(json, "created_at", "updated_at"),
    )


def _page(*addresses: str | None) -> str:
    """Return the first of these that is a page of the web; whoever reports a check may write anything there."""
    return next((address for address in addresses if address and address.startswith(("https://", "http://"))), "")


def _last_said(json: Any, *times: str) -> float:
    """Return the latest of these times that is given."""
    return max((seconds(json[name]) for name in times if json.get(name)), default=0.0)
