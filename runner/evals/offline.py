"""What stands in for a bot and a server while instructions are measured: a repository on disk, and nobody to ask."""

from __future__ import annotations

import shutil
from decimal import Decimal
from typing import TYPE_CHECKING

from runner.contract import EndedPlans, ProgressAnswer, PushToken
from runner.evals.case import REPOSITORY
from runner.evals.versions import place
from runner.git import Git

if TYPE_CHECKING:
    from pathlib import Path

    from runner.contract import Progress, PushTokenRequest
    from runner.evals.case import Case
    from runner.evals.purse import Purse
    from runner.evals.versions import Version

BRANCH = "main"
SOMEBODY = {
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Twogate"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "twogate@example.com"),
    **dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-01-05T09:00:00Z"),
}
"""Who commits a case, and when: the same case is the same commit each time."""


class Nobody:
    """Answers a job as a bot does, whose repository may spend a day what the measurement may, and is thrown away."""

    def __init__(self, purse: Purse) -> None:
        self._purse = purse

    def progress(self, job: str, _key: str, progress: Progress, /) -> ProgressAnswer:
        """Note what is spent, and say what may be, and whether to stop."""
        spent = sum((row.usd for row in progress.usage if row.usd is not None), Decimal(0))
        return ProgressAnswer(stop=self._purse.stopped or None, usd_today=self._purse.spend(job, spent))

    def push_token(self, _job: str, _request: PushTokenRequest, /) -> PushToken:
        """Let it push: the remote is a folder, which asks for no token."""
        return PushToken(token="none", expires_at=0)  # noqa: S106 - a word, no secret

    def ended_plans(self, _key: str, /) -> EndedPlans:
        """Return none."""
        return EndedPlans(plan_uids=())


def make_repository(case: Case, version: Version, folder: Path) -> str:
    """Make the case's repository in ``folder``, which does not exist yet, and return its one commit.

    Raises GitError and OSError.
    """
    tree = folder.with_suffix(".tree")
    shutil.copytree(case.folder / REPOSITORY, tree, symlinks=True)
    program = tree / place(case.unit)
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_bytes(version.data)
    Git(folder).run("init", "-q", "--bare", "-b", BRANCH)
    git = Git(folder, work_tree=tree, environment=SOMEBODY)
    git.run("add", "-A")
    git.run("commit", "-q", "-m", "Start")
    sha = git.run("rev-parse", "HEAD").decode().strip()
    shutil.rmtree(tree)
    return sha
