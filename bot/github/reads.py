"""The gateway's reading verbs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bot.github import reactions, shapes
from bot.github.gateway import Missing
from bot.github.glance import KEPT_CHARACTERS, Glances, keep, seen
from bot.github.people import People
from bot.github.quote import segment, segments
from bot.github.reviews import Reviews
from bot.lifecycle.plan import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.github.gateway import Comment, Comparison, IssueInfo, Pull, ReactedComment, RepositoryInfo, Run

COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""A commit's whole name; a shorter one may be a branch."""
FIND_RUN_LIMIT = 300
"""How many of the newest dispatched runs are searched for a marker: a lost answer is missed within minutes."""


class Reads(People, Reviews, Glances):
    """What the bot asks. See :class:`bot.github.gateway.Gateway` for the failures."""

    def repository(self, repo: Repo) -> RepositoryInfo:
        """Return the repository by its number, wherever it lies now; at most a minute old."""
        return shapes.repository(self._connection.described(repo))

    def find_repository(self, owner: str, name: str) -> Repo:
        """Return the repository of these names."""
        path, clients = f"/repos/{segment(owner)}/{segment(name)}", self._connection.clients
        installation = int(clients.app.call("GET", f"{path}/installation")["id"])
        found = clients.installation(installation).call("GET", path)
        return Repo(id=found["id"], owner=found["owner"]["login"], name=found["name"], installation_id=installation)

    def issue(self, repo: Repo, number: int) -> IssueInfo:
        """Return an issue as it reads now; one that was transferred away is ``Missing``."""
        known = seen(repo).issues.get(number)
        return known or shapes.issue(self._at(repo).call("GET", f"/issues/{number}"))

    def comment(self, repo: Repo, comment_id: int) -> Comment:
        """Return one comment."""
        if (known := seen(repo).comments.get(comment_id)) is not None:
            return known
        return shapes.comment(self._at(repo).call("GET", f"/issues/comments/{comment_id}"), self.identity())

    def comments(self, repo: Repo, number: int) -> list[Comment]:
        """Return all comments of an issue, oldest first."""
        app = self.identity()
        return [shapes.comment(json, app) for json in self._at(repo).pages(f"/issues/{number}/comments")]

    def reactions(self, repo: Repo, node_ids: Sequence[str]) -> list[ReactedComment | None]:
        """Return the decision reactions of each comment; None where it is gone. Ids may lie in several repositories."""
        known = seen(repo).reactions
        if node_ids and all(node in known for node in node_ids):
            return [known[node] for node in node_ids]
        return reactions.read(self._connection.rest(repo), node_ids)

    def branch_head(self, repo: Repo, branch: str) -> str | None:
        """Return the commit a branch is at; None where there is none."""
        if branch in seen(repo).branches:
            return seen(repo).branches[branch]
        try:
            return str(self._at(repo).call("GET", f"/git/ref/heads/{segments(branch)}")["object"]["sha"])
        except Missing:
            self._must_be_there(repo)
            return None

    def file(self, repo: Repo, path: str, ref: str) -> str | None:
        """Return a text file at a commit or branch; None where there is none; ``Permanent`` for all else.

        What a commit holds never changes, so small files of commits are kept.
        """
        key = (repo.id, path, ref)
        if key in self._files:
            return self._files[key]
        try:
            answer = self._at(repo).call("GET", f"/contents/{segments(path)}", params={"ref": ref})
        except Missing:
            self._must_be_there(repo)
            text = None
        else:
            text = shapes.text_file(answer, path)
        if COMMIT.fullmatch(ref) and len(text or "") <= KEPT_CHARACTERS:
            keep(self._files, key, text)
        return text

    def organisation_file(self, repo: Repo, path: str) -> str | None:
        """Return a text file of the owner's ``.github`` repository as it is now; None where either is not there."""
        owner = self.repository(repo).owner
        try:
            answer = self._connection.rest(repo).call(
                "GET", f"/repos/{segment(owner)}/.github/contents/{segments(path)}"
            )
        except Missing:
            return None
        return shapes.text_file(answer, path)

    def compare(self, repo: Repo, base: str, head: str) -> Comparison:
        """Return how two commits or branches stand to each other."""
        return shapes.comparison(self._at(repo).call("GET", f"/compare/{segments(base)}...{segments(head)}"))

    def run(self, repo: Repo, run_id: int) -> Run:
        """Return a workflow run at its latest attempt."""
        return shapes.run(self._at(repo).call("GET", f"/actions/runs/{run_id}"))

    def find_run(self, repo: Repo, workflow: str, marker: str) -> Run | None:
        """Return the newest run the App itself dispatched with ``marker`` as a word of its name."""
        bot = self.identity().bot_user_id
        for json in self._dispatched(repo, workflow):
            by_app = (json.get("actor") or {}).get("id") == bot
            if by_app and marker in (json.get("display_title") or "").split():
                return shapes.run(json)
        return None

    def _dispatched(self, repo: Repo, workflow: str) -> Iterator[Any]:
        path, asked = f"/actions/workflows/{segment(workflow)}/runs", {"event": "workflow_dispatch"}
        runs = self._at(repo).pages(path, asked, key="workflow_runs")
        for _, json in zip(range(FIND_RUN_LIMIT), runs, strict=False):
            yield json

    def pull(self, repo: Repo, number: int) -> Pull:
        """Return a pull request."""
        return shapes.pull(self._at(repo).call("GET", f"/pulls/{number}"))

    def pull_body(self, repo: Repo, number: int) -> str:
        """Return the text of a pull request as it reads now, its lines ended as we end them."""
        return (self._at(repo).call("GET", f"/pulls/{number}")["body"] or "").replace("\r\n", "\n")

    def find_pull(self, repo: Repo, branch: str) -> Pull | None:
        """Return the open pull request of a branch of this repository, else its newest closed one, else None."""
        owner = self.repository(repo).owner
        asked = {"head": f"{owner}:{branch}", "state": "all", "sort": "created", "direction": "desc"}
        found = [json for json in self._at(repo).pages("/pulls", asked) if json["head"]["ref"] == branch]
        pulls = [pull for pull in map(shapes.pull, found) if pull.head_repository_id == repo.id]
        return next((p for p in pulls if p.state == "open"), pulls[0] if pulls else None)
