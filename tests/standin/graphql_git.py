"""GraphQL: commits and the files in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.standin import gitstore

if TYPE_CHECKING:
    from tests.standin.entities import Repo
    from tests.standin.model import Hub

TEXT_LIMIT = 512_000
"""Bytes of a file's text that are told."""


@dataclass
class CommitNode:
    """A commit of a repository."""

    hub: Hub
    repo: Repo
    oid: str

    def file(self, path: str) -> dict[str, Any] | None:
        """The entry of a path: a file with its text (null where it is binary), or a folder."""
        git = self.hub.git_dir(self.repo)
        listed = gitstore.run(git, "ls-tree", "-z", "--full-tree", self.oid, path).decode().rstrip("\0")
        if not listed:
            return None
        mode, kind, sha = listed.partition("\t")[0].split(" ")
        shown: dict[str, Any] = {"type": kind.capitalize(), "oid": sha}
        if kind == "blob":
            raw = gitstore.run(git, "cat-file", "blob", sha)
            text = None if b"\0" in raw else raw[:TEXT_LIMIT].decode(errors="replace")
            shown |= {"text": text, "isTruncated": len(raw) > TEXT_LIMIT}
        return {"mode": int(mode, 8), "name": path.rsplit("/", 1)[-1], "object": shown}
