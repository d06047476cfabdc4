"""The gateway's other writing verbs: each is harmless when repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from bot.errors import Permanent
from bot.github import shapes
from bot.github.changes import Change
from bot.github.connection import Verbs
from bot.github.ensure import check_body
from bot.github.faults import Refused, Unaccepted
from bot.github.gateway import Missing
from bot.github.quote import segments
from bot.github.tokens import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.errors import TwogateError
    from bot.github.gateway import CheckRun, Comment, Grant, Installed
    from bot.lifecycle.plan import Repo

OWN_BRANCHES = "plan/"
"""The bot removes no other branch, whatever it is told."""


class Writes(Verbs):
    """What the bot changes, takes back, or asks to be done again."""

    def edit_comment(self, repo: Repo, comment_id: int, body: str) -> Comment:
        """Replace a comment's text; a mark has to be part of it (:func:`bot.github.ensure.marked`)."""
        answer = self._at(repo).call("PATCH", f"/issues/comments/{comment_id}", json={"body": body})
        return shapes.comment(answer, self.identity())

    def cancel_run(self, repo: Repo, run_id: int) -> None:
        """Stop a workflow run; one that has ended or is gone is as wanted."""
        try:
            self._at(repo).call("POST", f"/actions/runs/{run_id}/cancel")
        except Missing:
            return
        except Refused as refusal:
            if refusal.status != httpx.codes.CONFLICT:
                raise

    def update_check_run(self, repo: Repo, check_run_id: int, check: CheckRun) -> None:
        """Bring a check run to what it should show."""
        self._at(repo).call("PATCH", f"/check-runs/{check_run_id}", json=check_body(check))

    def edit_pull(self, repo: Repo, number: int, body: str) -> None:
        """Replace the whole text of a pull request."""
        self._at(repo).call("PATCH", f"/pulls/{number}", json={"body": body})

    def delete_branch(self, repo: Repo, branch: str, head: str) -> bool:
        """Remove a plan's branch where it is at ``head``; one that is gone is as wanted.

        False where it is at another commit: somebody's work would be lost.
        """
        if not branch.startswith(OWN_BRANCHES):
            raise Permanent(f"{branch} is no branch of a plan: the bot does not remove it.")
        if self._move(repo, branch, head, "0" * len(head)) is None:
            return True
        try:
            at = self._at(repo).call("GET", f"/git/ref/heads/{segments(branch)}")["object"]["sha"]
            if at != head:
                return False
            self._at(repo).call("DELETE", f"/git/refs/heads/{segments(branch)}")
        except Missing:
            return True
        except Refused as refusal:
            if "does not exist" not in refusal.said:
                raise
        return True

    def advance_branch(self, repo: Repo, branch: str, head: str, *, expected: str) -> None:
        """Bring a plan's branch from ``expected`` on to ``head``, which follows it; there already is as wanted."""
        if not branch.startswith(OWN_BRANCHES):
            raise Permanent(f"{branch} is no branch of a plan: the bot does not move it.")
        if self._move(repo, branch, expected, head) is None:
            return
        at = self._at(repo).call("GET", f"/git/ref/heads/{segments(branch)}")["object"]["sha"]
        if at == head:
            return
        if at != expected:
            raise Permanent(f"{branch} is at {at[:10]} rather than {expected[:10]}: somebody has pushed to it.")
        self._at(repo).call("PATCH", f"/git/refs/heads/{segments(branch)}", json={"sha": head, "force": False})

    def _move(self, repo: Repo, branch: str, before: str, after: str) -> TwogateError | None:
        """Move a branch only where it is at ``before``, in one step; zeros remove it. Return why it was not done."""
        segments(branch)  # else it is no branch's name
        update = {"name": f"refs/heads/{branch}", "beforeOid": before, "afterOid": after, "force": False}
        wanted = {"repositoryId": self._connection.node_id(repo), "refUpdates": [update]}
        self._connection.before_write(repo.installation_id)
        done = self._connection.rest(repo).change([Change("moved", "updateRefs", wanted)])
        return done.faults.get("moved")

    def supersede(self, repo: Repo, comment: Comment, body: str) -> Permanent | None:
        """Replace a comment's text and fold it away as outdated, in one request; return why it was not folded."""
        changes = [
            Change("text", "updateIssueComment", {"id": comment.node_id, "body": body}),
            Change("fold", "minimizeComment", {"subjectId": comment.node_id, "classifier": "OUTDATED"}),
        ]
        self._connection.before_write(repo.installation_id)
        try:
            faults = self._connection.rest(repo).change(changes).faults
        except Permanent as refusal:
            faults = dict.fromkeys(("text", "fold"), refusal)
        if "text" in faults:
            self.edit_comment(repo, comment.id, body)
        fold = faults.get("fold")
        if fold is not None and not isinstance(fold, Permanent):
            raise fold
        return fold

    def mint_push_token(self, repo: Repo) -> tuple[str, float]:
        """Return a token that may write the contents of this repository alone, and when it ends (epoch seconds)."""
        narrowed = {"repository_ids": [repo.id], "permissions": {"contents": "write"}}
        return self._connection.clients.mint(repo.installation_id, narrowed)

    def revoke_token(self, token: str) -> None:
        """End a token; one that GitHub does not know any more is as wanted."""
        with self._connection.clients.bearing(token) as rest:
            try:
                rest.call("DELETE", "/installation/token")
            except (Missing, Unaccepted):
                return

    def redeliver_failed(self, since: float) -> int:
        """Ask again for the deliveries since then of which no try was answered well; return how many.

        GitHub keeps deliveries for three days and does not send them again by itself.
        """
        return sum(self._redelivered(number) for number in self._undelivered(since))

    def undelivered(self, since: float) -> int:
        """Return how many deliveries since then were never answered well, in no try so far."""
        return len(self._undelivered(since))

    def _undelivered(self, since: float) -> list[int]:
        """Return the newest try of each."""
        good: set[str] = set()
        failed: dict[str, int] = {}
        for json in self._connection.clients.app.pages("/app/hook/deliveries"):
            if seconds(json["delivered_at"]) < since:
                break
            if json["status"] == "OK":
                good.add(json["guid"])
            else:
                failed.setdefault(json["guid"], json["id"])
        return [number for guid, number in failed.items() if guid not in good]

    def _redelivered(self, number: int) -> bool:
        """Ask for one delivery again; False where GitHub has let go of it meanwhile."""
        try:
            self._connection.clients.app.call("POST", f"/app/hook/deliveries/{number}/attempts")
        except (Missing, Refused):
            return False
        return True

    def grants(self) -> list[Grant]:
        """Return every installation of the App with what it may do there."""
        return [shapes.grant(json) for json in self._connection.clients.app.pages("/app/installations")]

    def installed(self, installation_id: int) -> Iterator[Installed]:
        """Yield the repositories in which an installation lets the App work, page by page."""
        rest = self._connection.clients.installation(installation_id)
        for json in rest.pages("/installation/repositories", key="repositories"):
            yield shapes.installed(json, installation_id)
