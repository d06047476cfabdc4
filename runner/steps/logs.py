"""Where the policy says ``logs: commit``: the short log of each run of the job, as a file on the plan's branch."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from runner.git import display
from runner.logs import LOG_FILE
from runner.logs.shelf import NAME
from runner.program import OVERRIDES
from runner.results import Unit
from runner.steps.commit import AUTHOR, message, write_inside

if TYPE_CHECKING:
    from runner.steps.context import Job
    from runner.worktree import Workspace

PLACE = re.compile(rf"{re.escape(OVERRIDES)}/(?:{'|'.join(Unit)})/Logs/\d{{4}}-\d\d-\d\d-plan-\d+-\d+\.md")
"""``.twogate/promptware/<Unit>/Logs/<date>-plan-<issue>-<n>.md``."""


def logs_at(job: Job, commit: str) -> dict[bytes, bytes]:
    """Return the logs that a commit has and the job's base has not, by path: those that jobs of this plan wrote."""
    store = job.store
    before = set(store.files(job.spec.base))
    paths = (path for path in store.files(commit) if path not in before and PLACE.fullmatch(display(path)))
    return {path: store.read(commit, path) or b"" for path in paths}


def commit_logs(job: Job, workspace: Workspace) -> dict[bytes, bytes]:
    """Commit the short logs that are not on the branch yet, by themselves; return what the runner wrote there in all."""
    if not job.spec.logs.commit:
        return {}
    own = logs_at(job, workspace.head) if job.spec.head else {}
    written = set(own.values()) | set(logs_at(job, workspace.head).values())
    taken = {display(path) for path in job.store.files(workspace.head)}
    files: dict[str, bytes] = {}
    for log in sorted(job.folder.glob(f"*/{LOG_FILE}")):
        name, content = NAME.fullmatch(log.parent.name), log.read_bytes()
        if name and content not in written:
            files[_free(job, name[1], taken | files.keys())] = content
    for path, content in files.items():
        write_inside(workspace.tree, path, content, job.sandbox.owner)
    if files:
        workspace.commit(message(job, f"Note what was run (#{job.spec.issue.number})"), AUTHOR, when=job.now())
    return own | {path.encode(): content for path, content in files.items()}


def _free(job: Job, unit: str, taken: set[str]) -> str:
    today = datetime.fromtimestamp(job.now(), UTC).date()
    start = f"{OVERRIDES}/{unit}/Logs/{today}-plan-{job.spec.issue.number}"
    return next(path for n in count(1) if (path := f"{start}-{n}.md") not in taken)
