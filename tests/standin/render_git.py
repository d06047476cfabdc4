"""Commits, comparisons, branches, refs and files as GitHub's JSON, read from real git."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from tests.standin import gitstore
from tests.standin.gitstore import GitError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.standin.entities import Repo
    from tests.standin.render import Render

Json = dict[str, Any]
STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}
COMMIT_FORMAT = "%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B"
MAX_FILES = 300
"""Files that a comparison lists at most."""
MAX_COMMITS = 250
"""Commits that a comparison lists at most."""


class GitRender:
    """Renders one repository's git."""

    def __init__(self, render: Render, repo: Repo) -> None:
        self.render = render
        self.repo = repo
        self.path: Path = render.hub.git_dir(repo)
        self.api = render.repo_api(repo)
        self.page = render.web(f"/{repo.full_name}")

    def raw_commit(self, sha: str) -> dict[str, str]:
        """A commit's fields as git prints them."""
        names = ("sha", "tree", "parents", "an", "ae", "at", "cn", "ce", "ct", "message")
        out = gitstore.run(self.path, "log", "-1", f"--format={COMMIT_FORMAT}", sha).decode(errors="replace")
        return dict(zip(names, out.rstrip("\n").split("\0"), strict=True))

    def commit(self, sha: str) -> Json:
        """A commit."""
        raw = self.raw_commit(sha)
        url = f"{self.api}/commits/{sha}"
        parents = [
            {"sha": p, "url": f"{self.api}/commits/{p}", "html_url": f"{self.page}/commit/{p}"}
            for p in raw["parents"].split()
        ]
        return {
            "sha": sha,
            "node_id": f"C_{sha}",
            "url": url,
            "html_url": f"{self.page}/commit/{sha}",
            "comments_url": f"{url}/comments",
            "commit": self._inner(raw),
            "author": None,
            "committer": None,
            "parents": parents,
        }

    def _inner(self, raw: dict[str, str]) -> Json:
        from tests.standin.entities import iso

        unsigned = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}
        return {
            "author": {"name": raw["an"], "email": raw["ae"], "date": iso(float(raw["at"]))},
            "committer": {"name": raw["cn"], "email": raw["ce"], "date": iso(float(raw["ct"]))},
            "message": raw["message"].rstrip("\n"),
            "tree": {"sha": raw["tree"], "url": f"{self.api}/git/trees/{raw['tree']}"},
            "url": f"{self.api}/git/commits/{raw['sha']}",
            "comment_count": sum(c.pull is None and c.commit == raw["sha"] for c in self.repo.inline.values()),
            "verification": unsigned,
        }

    def full_commit(self, sha: str) -> Json:
        """A commit with statistics and files."""
        parents = self.raw_commit(sha)["parents"].split()
        base = parents[0] if parents else gitstore.text(self.path, "hash-object", "-t", "tree", "--stdin")
        files = self.files(base, sha)
        added, removed = sum(f["additions"] for f in files), sum(f["deletions"] for f in files)
        stats = {"additions": added, "deletions": removed, "total": added + removed}
        return {**self.commit(sha), "stats": stats, "files": files[:MAX_FILES]}

    def files(self, base: str, head: str) -> list[Json]:
        """What changed between two commits (or trees), a diff entry a file."""
        raw = gitstore.run(self.path, "diff", "--raw", "-z", "--no-abbrev", "-M", base, head).decode(errors="replace")
        counts = self._counts(base, head)
        rows: list[Json] = []
        parts = iter(raw.split("\0"))
        for meta in parts:
            if not meta:
                break
            *_, blob, letter = meta.split(" ")
            first = next(parts)
            name = next(parts) if letter[0] in "RC" else first
            rows.append(self._file(base, head, letter[0], blob, first, name, counts))
        return rows

    def _counts(self, base: str, head: str) -> dict[str, tuple[str, str]]:
        out = gitstore.run(self.path, "diff", "--numstat", "-z", "--no-renames", base, head).decode(errors="replace")
        rows = [line.split("\t", 2) for line in out.split("\0") if line]
        return {name: (added, removed) for added, removed, name in rows}

    def _file(
        self, base: str, head: str, letter: str, blob: str, old: str, name: str, counts: dict[str, tuple[str, str]]
    ) -> Json:
        patch = self._patch(base, head, old, name)
        lines = patch.splitlines() if patch else []
        added = sum(1 for line in lines if line.startswith("+"))
        removed = sum(1 for line in lines if line.startswith("-"))
        binary = counts.get(name, ("0", "0"))[0] == "-"
        entry = {
            "sha": self._blob(base, old) if letter == "D" else blob,
            "filename": name,
            "status": STATUS[letter],
            "additions": added,
            "deletions": removed,
            "changes": added + removed,
            "blob_url": f"{self.page}/blob/{head}/{name}",
            "raw_url": f"{self.page}/raw/{head}/{name}",
            "contents_url": f"{self.api}/contents/{name}?ref={head}",
        }
        if patch and not binary:
            entry["patch"] = patch
        return entry if old == name else {**entry, "previous_filename": old}

    def _blob(self, base: str, name: str) -> str:
        return gitstore.text(self.path, "rev-parse", f"{base}:{name}")

    def _patch(self, base: str, head: str, old: str, name: str) -> str:
        paths = [f":(literal){p}" for p in dict.fromkeys((old, name))]
        out = gitstore.run(self.path, "diff", "-M", base, head, "--", *paths).decode(errors="replace")
        start = out.find("\n@@")
        return out[start + 1 :].rstrip("\n") if start >= 0 else ""

    def compare(self, basehead: str, base: str, head: str) -> Json:
        """A comparison of two commits of one history; None of its commits is paged."""
        fork = gitstore.merge_base(self.path, base, head)
        if fork is None:
            raise GitError("no common ancestor")
        ahead, behind = gitstore.commits_between(self.path, base, head), gitstore.commits_between(self.path, head, base)
        status = {(False, False): "identical", (True, False): "ahead", (False, True): "behind"}
        url, page = f"{self.api}/compare/{basehead}", f"{self.page}/compare/{basehead}"
        return {
            "url": url,
            "html_url": page,
            "permalink_url": f"{self.page}/compare/{base[:12]}...{head[:12]}",
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "base_commit": self.commit(base),
            "merge_base_commit": self.commit(fork),
            "status": status.get((bool(ahead), bool(behind)), "diverged"),
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": [self.commit(sha) for sha in ahead[-MAX_COMMITS:]],
            "files": self.files(fork, head)[:MAX_FILES],
        }

    def diff(self, base: str, head: str) -> str:
        """The three-dot diff as text."""
        fork = gitstore.merge_base(self.path, base, head) or base
        return gitstore.run(self.path, "diff", "-M", fork, head).decode(errors="replace")

    def branch(self, name: str, sha: str) -> Json:
        """A branch with its commit."""
        url = f"{self.api}/branches/{name}"
        off = {"enabled": False, "required_status_checks": {"enforcement_level": "off", "contexts": [], "checks": []}}
        return {
            "name": name,
            "commit": self.commit(sha),
            "_links": {"self": url, "html": f"{self.page}/tree/{name}"},
            "protected": False,
            "protection": off,
            "protection_url": f"{url}/protection",
        }

    def short_branch(self, name: str, sha: str) -> Json:
        """A branch as lists have it."""
        return {"name": name, "commit": {"sha": sha, "url": f"{self.api}/commits/{sha}"}, "protected": False}

    def ref(self, name: str, sha: str, kind: str) -> Json:
        """A git reference."""
        target = {"sha": sha, "type": kind, "url": f"{self.api}/git/{kind}s/{sha}"}
        return {"ref": name, "node_id": f"REF_{name}", "url": f"{self.api}/git/{name}", "object": target}

    def entries(self, commit: str, path: str) -> list[tuple[str, str, str, str]]:
        """(mode, type, sha, path) of the tree entries at or right below a path."""
        args = ["ls-tree", "-z", "--full-tree", commit, *([f"{path}"] if path else [])]
        out = gitstore.run(self.path, *args).decode(errors="replace")
        return [(*line.split("\t", 1)[0].split(" "), line.split("\t", 1)[1]) for line in out.split("\0") if line]  # type: ignore[misc]

    def content(self, entry: tuple[str, str, str, str], ref: str, *, whole: bool) -> Json:
        """A file (with its bytes when ``whole``), directory or submodule of a tree."""
        mode, kind, sha, path = entry
        shown = {"120000": "symlink", "040000": "dir", "160000": "submodule"}.get(mode, "file")
        url, git = f"{self.api}/contents/{path}?ref={ref}", f"{self.api}/git/{kind}s/{sha}"
        data = gitstore.run(self.path, "cat-file", "blob", sha) if kind == "blob" else b""
        raw = f"{self.page}/raw/{ref}/{path}" if kind == "blob" else None
        body = {
            "name": path.rsplit("/", 1)[-1],
            "path": path,
            "sha": sha,
            "size": len(data),
            "type": shown,
            "url": url,
            "html_url": f"{self.page}/blob/{ref}/{path}",
            "git_url": git,
            "download_url": raw,
            "_links": {"self": url, "git": git, "html": f"{self.page}/blob/{ref}/{path}"},
        }
        if whole and kind == "blob":
            body |= {"encoding": "base64", "content": base64.encodebytes(data).decode()}
        return body
