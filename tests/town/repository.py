"""Prepare a repository for the town: its code, the workflow that users copy, and a policy."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PINNED = "1" * 40
"""Stands for the commit of Twogate's own repository that the workflow refers to; the machine maps it to this checkout."""
GIT_SECONDS = 600
"""For one git command; somebody's large repository is cloned."""

AUTHOR = {
    "GIT_AUTHOR_NAME": "Mia",
    "GIT_AUTHOR_EMAIL": "mia@example.com",
    "GIT_COMMITTER_NAME": "Mia",
    "GIT_COMMITTER_EMAIL": "mia@example.com",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
}


def git(folder: Path, *arguments: str, given: str = "", **environment: str) -> str:
    """Run git in a repository as Mia, with no configuration of the machine."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=AUTHOR | environment,
        input=given,
        capture_output=True,
        text=True,
        check=True,
        timeout=GIT_SECONDS,
    )
    return done.stdout.strip()


def workflow() -> str:
    """The workflow as ``twogate init`` fills it in."""
    text = (ROOT / ".github/workflows/twogate.yml").read_text()
    return text.replace("OWNER/twogate", "acme/twogate").replace("0" * 40, PINNED)


def prepare(source: Path, target: Path, policy: str, *, branch: str = "main") -> Path:
    """Copy a folder or clone a repository to ``target``, add workflow and policy in a commit, and return ``target``.

    A clone is bare and has the source's branch; ``branch`` is the name for a folder's.
    """
    files = {".github/workflows/twogate.yml": workflow(), ".github/twogate.yml": policy}
    if (source / ".git").exists() or (source / "HEAD").is_file():
        _commit(clone(source, target), files, "Let Twogate in")
        return target
    target.mkdir(parents=True)
    subprocess.run(["cp", "-r", f"{source}/.", str(target)], check=True)
    git(target, "init", "--quiet", "-b", branch)
    for path, text in files.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text)
    git(target, "add", "--all")
    git(target, "commit", "--quiet", "-m", "Let Twogate in")
    return target


def clone(source: Path, target: Path) -> Path:
    """Clone the branch that ``source`` is on, bare and without its work tree, also of another owner's repository."""
    trusting = target.with_name(f"{target.name}.gitconfig")
    trusting.write_text("[safe]\n\tdirectory = *\n")
    options = ("--quiet", "--bare", "--single-branch", "--no-tags")
    git(target.parent, "clone", *options, "--", str(source), target.name, GIT_CONFIG_GLOBAL=str(trusting))
    return target


def _commit(repository: Path, files: dict[str, str], message: str) -> None:
    """Commit files on top of a bare repository's head. Without a work tree, no file of it can be changed by accident."""
    index = {"GIT_INDEX_FILE": str(repository / "index")}
    git(repository, "read-tree", "HEAD", **index)
    for path, text in files.items():
        blob = git(repository, "hash-object", "-w", "--stdin", given=text)
        git(repository, "update-index", "--add", "--replace", "--cacheinfo", f"100644,{blob},{path}", **index)
    tree = git(repository, "write-tree", **index)
    git(repository, "update-ref", "HEAD", git(repository, "commit-tree", tree, "-p", "HEAD", "-m", message))
