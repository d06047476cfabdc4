"""Real git behind the stand-in: every answer about commits, refs and files is read from a bare repository."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

GIT_SECONDS = 60
"""No git command on the small repositories of tests takes longer; one that does is stuck."""
ZERO = "0" * 40


class GitError(Exception):
    """git refused; the text is its stderr."""


def environment(**extra: str) -> dict[str, str]:
    """A clean environment for git: no user or system configuration, no prompts, a fixed identity."""
    who = {"NAME": "standin", "EMAIL": "standin@users.noreply.localhost"}
    names = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    base = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    return {**base, **names, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **extra}


def run(cwd: Path, *args: str, data: bytes | None = None, env: dict[str, str] | None = None) -> bytes:
    """Run git in a repository and return its stdout; raises GitError on a non-zero exit."""
    done = subprocess.run(
        ["git", "-C", str(cwd), *args],
        input=data if data is not None else b"",
        capture_output=True,
        env=environment(**(env or {})),
        timeout=GIT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise GitError(done.stderr.decode(errors="replace").strip() or f"git {args[0]} exited with {done.returncode}")
    return done.stdout


def text(cwd: Path, *args: str) -> str:
    """Like ``run``, as stripped text."""
    return run(cwd, *args).decode(errors="replace").strip()


def create(path: Path, source: Path | None, branch: str) -> None:
    """Make the bare repository, as a copy of ``source`` (a directory or bundle) or with one first commit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if source is not None:
        run(path.parent, "clone", "--quiet", "--bare", str(source), str(path))
    else:
        run(path.parent, "init", "--quiet", "--bare", f"--initial-branch={branch}", str(path))
        blob = run(path, "hash-object", "-w", "--stdin", data=b"# A repository\n").decode().strip()
        tree = run(path, "mktree", data=f"100644 blob {blob}\tREADME.md\n".encode()).decode().strip()
        set_ref(path, f"refs/heads/{branch}", text(path, "commit-tree", "-m", "Start", tree))
    run(path, "symbolic-ref", "HEAD", f"refs/heads/{branch}")


def head_branch(path: Path) -> str:
    """The branch HEAD names in a repository."""
    return text(path, "symbolic-ref", "--short", "HEAD")


def resolve(path: Path, name: str) -> str | None:
    """The commit a branch, tag, full ref or SHA names, or None."""
    if not name or name.startswith("-") or ".." in name:
        return None
    for candidate in (f"refs/heads/{name}", f"refs/tags/{name}", name):
        try:
            return text(path, "rev-parse", "--verify", "--quiet", "--end-of-options", candidate + "^{commit}")
        except GitError:
            continue
    return None


def refs(path: Path, prefix: str) -> list[tuple[str, str, str]]:
    """(ref, sha, object type) of every ref whose full name starts with ``prefix``."""
    out = text(path, "for-each-ref", "--format=%(refname) %(objectname) %(objecttype)")
    rows = [line.split(" ") for line in out.splitlines()]
    return [(ref, sha, kind) for ref, sha, kind in rows if ref.startswith(prefix)]


def ref(path: Path, full: str) -> str | None:
    """The object id of one full ref, or None."""
    return next((sha for name, sha, _ in refs(path, full) if name == full), None)


def set_ref(path: Path, full: str, sha: str, old: str | None = None) -> None:
    """Point a ref at a commit; with ``old`` only if it still is there."""
    run(path, "update-ref", full, sha, *([old] if old is not None else []))


def delete_ref(path: Path, full: str) -> None:
    """Remove a ref."""
    run(path, "update-ref", "-d", full)


def is_ancestor(path: Path, older: str, newer: str) -> bool:
    """Whether ``older`` is reachable from ``newer``."""
    try:
        run(path, "merge-base", "--is-ancestor", older, newer)
    except GitError:
        return False
    return True


def merge_base(path: Path, one: str, two: str) -> str | None:
    """The best common ancestor, or None for unrelated histories."""
    try:
        return text(path, "merge-base", one, two)
    except GitError:
        return None


def commits_between(path: Path, base: str, head: str) -> list[str]:
    """Commits of ``base..head``, oldest first."""
    return text(path, "rev-list", "--reverse", "--topo-order", f"{base}..{head}").split()


def merged_tree(path: Path, base: str, head: str) -> str | None:
    """The tree of merging head into base without conflict, else None."""
    try:
        return text(path, "merge-tree", "--write-tree", "--no-messages", base, head).splitlines()[0]
    except GitError:
        return None


def commit_tree(path: Path, tree: str, parents: list[str], message: str, env: dict[str, str] | None = None) -> str:
    """Write a commit object and return its SHA."""
    flags = [flag for parent in parents for flag in ("-p", parent)]
    return run(path, "commit-tree", tree, *flags, data=message.encode(), env=env).decode().strip()


def picked_tree(path: Path, onto: str, sha: str) -> str | None:
    """The tree of cherry-picking a commit, or None on conflict.

    The pick is a merge whose common ancestor is the commit's parent; git 2.39 has no ``--merge-base``, so a commit
    with ``onto``'s tree and that parent stands for ``onto``.
    """
    parent = text(path, "rev-parse", f"{sha}^")
    ours = commit_tree(path, text(path, "rev-parse", f"{onto}^{{tree}}"), [parent], "pick\n")
    return merged_tree(path, ours, sha)
