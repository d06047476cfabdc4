"""Verbs whose result must exist once: a first try writes, any later one looks for its own earlier result first.

An answer can get lost after the write was done (a 502, a reset connection, a killed process), and GitHub has no
idempotency keys. So each thing carries a mark of its effect, and counts as found only where this App made it.
"""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bot.errors import Permanent, RetryAt, Transient
from bot.github import shapes
from bot.github.faults import Refused
from bot.github.quote import segment
from bot.github.reads import Reads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bot.github.connection import Connection
    from bot.github.gateway import CheckRun, Comment, Pull
    from bot.lifecycle.plan import Repo

SETTLE_SECONDS = 5.0
"""How long after a dispatch its absence from the list of runs proves nothing."""
KEY = re.compile(r"[A-Za-z0-9._:/@-]{1,200}")
"""What may stand in a mark: nothing that could end an HTML comment."""
RUN_DETAILS = "return_run_details"
"""Asks API version 2022-11-28 for the run's id; later versions always tell, and some servers don't know the word."""


def marker(key: str) -> str:
    """Return the invisible first line by which a comment is found again. Raises ``ValueError`` for an unfit key."""
    if not KEY.fullmatch(key) or "--" in key:
        raise ValueError(f"{key!r} can't be an effect's key")
    return f"<!-- twogate:{key} -->"


def marked(key: str, body: str) -> str:
    """Return a comment's text with its mark."""
    return f"{marker(key)}\n{body}"


class Ensures(Reads):
    """What the bot makes once. Every verb may be repeated with ``first=False`` after any failure."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._dispatched_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def ensure_comment(self, repo: Repo, number: int, key: str, body: str, *, first: bool) -> Comment:
        """Post a comment that begins with the mark of ``key``, or return the one that does."""
        mark = marker(key)
        if not first:
            for comment in self.comments(repo, number):
                if comment.by_app and comment.body.startswith(mark):
                    return comment
        made = self._at(repo).call("POST", f"/issues/{number}/comments", json={"body": marked(key, body)})
        return shapes.comment(made, self.identity())

    def ensure_dispatch(
        self, repo: Repo, workflow: str, ref: str, inputs: Mapping[str, str], *, marker: str, first: bool
    ) -> int:
        """Start a workflow and return its run's id, or the id of the run that carries ``marker`` in its name.

        Raises ``Transient`` where the server accepted but told no id: the next try looks for the run.
        """
        if not first:
            if found := self.find_run(repo, workflow, marker):
                return found.id
            self._let_settle(marker)
        with self._remembered(marker):
            answer = self._dispatch(repo, workflow, {"ref": ref, "inputs": dict(inputs)})
        if answer is None:
            raise Transient(f"GitHub accepted {marker} without naming its run: it is looked for next.")
        return int(answer["workflow_run_id"])

    def _dispatch(self, repo: Repo, workflow: str, wanted: dict[str, Any]) -> Any:
        path = f"/actions/workflows/{segment(workflow)}/dispatches"
        if self._connection.clients.tells_run_ids:
            return self._at(repo).call("POST", path, json=wanted)
        try:
            return self._at(repo).call("POST", path, json={**wanted, RUN_DETAILS: True})
        except Refused as refusal:
            if RUN_DETAILS not in refusal.said:
                raise
            return self._at(repo).call("POST", path, json=wanted)

    @contextmanager
    def _remembered(self, marker: str) -> Iterator[None]:
        """Remember when a run was asked for, unless it was refused: then there is none."""
        with self._lock:
            self._dispatched_at = {m: at for m, at in self._dispatched_at.items() if not self._settled(at)}
            self._dispatched_at[marker] = self._connection.now()
        try:
            yield
        except (Permanent, RetryAt):
            with self._lock:
                self._dispatched_at.pop(marker, None)
            raise

    def _let_settle(self, marker: str) -> None:
        """Put the try off while a run that was asked for may not be listed yet."""
        with self._lock:
            asked_at = self._dispatched_at.get(marker)
        if asked_at is not None and not self._settled(asked_at):
            raise RetryAt(asked_at + SETTLE_SECONDS, f"The run of {marker} may not be listed yet.")

    def _settled(self, asked_at: float) -> bool:
        return self._connection.now() >= asked_at + SETTLE_SECONDS

    def ensure_check_run(self, repo: Repo, head: str, check: CheckRun, *, first: bool) -> int:
        """Make a check run on a commit, or return the App's own one with the same external id."""
        if not first:
            asked: dict[str, str | int] = {"check_name": check.name, "filter": "all"}
            for json in self._at(repo).pages(f"/commits/{segment(head)}/check-runs", asked, key="check_runs"):
                by_app = (json.get("app") or {}).get("id") == self._connection.clients.app_id
                if by_app and json.get("external_id") == check.external_id:
                    return int(json["id"])
        wanted = {"head_sha": head, **check_body(check)}
        return int(self._at(repo).call("POST", "/check-runs", json=wanted)["id"])

    def ensure_pull(self, repo: Repo, *, branch: str, base: str, title: str, body: str, first: bool) -> Pull:
        """Open a pull request, or return the open one of that branch: GitHub allows only one."""
        if not first and (found := self._open_pull(repo, branch)):
            return found
        wanted = {"head": branch, "base": base, "title": title, "body": body}
        try:
            return shapes.pull(self._at(repo).call("POST", "/pulls", json=wanted))
        except Refused as refusal:
            if "already exists" in refusal.said and (found := self._open_pull(repo, branch)):
                return found
            raise

    def _open_pull(self, repo: Repo, branch: str) -> Pull | None:
        found = self.find_pull(repo, branch)
        return found if found is not None and found.state == "open" else None


def check_body(check: CheckRun) -> dict[str, Any]:
    """Return a check run as GitHub takes it."""
    ended = {"status": "completed", "conclusion": check.conclusion} if check.conclusion else {"status": "in_progress"}
    return {
        "name": check.name,
        "external_id": check.external_id,
        "output": {"title": check.title, "summary": check.summary, **_annotations(check)},
        "actions": [
            {"label": a.label, "description": a.description, "identifier": a.identifier} for a in check.actions
        ],
        **ended,
    }


def _annotations(check: CheckRun) -> dict[str, Any]:
    shown = [
        {"path": a.path, "start_line": a.line, "end_line": a.line, "annotation_level": "failure", "message": a.message}
        for a in check.annotations
    ]
    return {"annotations": shown} if shown else {}
