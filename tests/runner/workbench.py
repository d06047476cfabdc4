"""Real repositories for the tests of the runner's git: an origin that a contributor would push to, and what lies in it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.store import ObjectStore
from runner.worktree import Author, Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BOT = Author("Twogate", "bot@example.org")
UID = "plan0001"
ENVIRONMENT = {
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "An Author",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "An Author",
    "GIT_COMMITTER_EMAIL": "author@example.org",
}


def sh(cwd: Path, script: str, *, ok: bool = True, env: Mapping[str, str] | None = None) -> str:
    """Run a shell script as a contributor or an agent would; return what it printed."""
    ended = subprocess.run(
        ["sh", "-ec", script],
        cwd=cwd,
        env=ENVIRONMENT | dict(env or {}),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert not ok or ended.returncode == 0, ended.stderr.decode("utf-8", "replace")
    return ended.stdout.decode("utf-8", "surrogateescape").strip()


@dataclass(frozen=True)
class Bench:
    """An origin with one commit on ``trunk``, and a store that has fetched it."""

    home: Path
    origin: Path
    store: ObjectStore
    base: str

    @property
    def url(self) -> str:
        return str(self.origin)

    def open(self, uid: str = UID, branch: str = "plan/7", head: str | None = None) -> Workspace:
        return Workspace.open(self.store, plan_uid=uid, branch=branch, base=self.base, head=head)

    def fetch(self) -> str:
        """Fetch again; return the default branch's tip."""
        return self.store.fetch(self.url, ["trunk"])["trunk"]


def bench(
    folder: Path, script: str = "echo one > a.txt; mkdir src; printf 'x = 1\\n' > src/m.py; ln -s a.txt link"
) -> Bench:
    """Make an origin whose first commit holds what ``script`` writes; made once a session and copied from then on."""
    template = folder.parent / f"bench-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    if not template.exists():
        origin = template / "origin"
        origin.mkdir(parents=True)
        sh(origin, f"git init -q -b trunk; git config receive.denyCurrentBranch ignore; {script}")
        sh(origin, "git add -A && git commit -q --allow-empty -m first")
        ObjectStore(template / "home", 42).fetch(str(origin), ["trunk"])
    shutil.copytree(template, folder, symlinks=True, dirs_exist_ok=True)
    store = ObjectStore(folder / "home", 42)
    base = store.ref("refs/remotes/origin/trunk")
    assert base
    return Bench(folder / "home", folder / "origin", store, base)
