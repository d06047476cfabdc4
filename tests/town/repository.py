"""Prepare a repository for the town: its code, the workflow that users copy, and a policy."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PINNED = "1" * 40
"""Stands for the commit of Twogate's own repository that the workflow refers to; the machine maps it to this checkout."""

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


def git(folder: Path, *arguments: str) -> str:
    """Run git in a repository as Mia, with no configuration of the machine."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=AUTHOR, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


def workflow() -> str:
    """The workflow as ``twogate init`` fills it in."""
    text = (ROOT / ".github/workflows/twogate.yml").read_text()
    return text.replace("OWNER/twogate", "acme/twogate").replace("0" * 40, PINNED)


def prepare(source: Path, target: Path, policy: str, *, branch: str = "main") -> Path:
    """Copy a folder or clone a repository to ``target``, add workflow and policy, and commit."""
    if (source / ".git").exists():
        git(target.parent, "clone", "--quiet", str(source), target.name)
    else:
        target.mkdir(parents=True)
        subprocess.run(["cp", "-r", f"{source}/.", str(target)], check=True)
        git(target, "init", "--quiet", "-b", branch)
    for path, text in {".github/workflows/twogate.yml": workflow(), ".github/twogate.yml": policy}.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text)
    git(target, "add", "--all")
    git(target, "commit", "--quiet", "-m", "Let Twogate in")
    return target
