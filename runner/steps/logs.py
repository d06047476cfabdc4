"""Where the policy says ``logs: commit``: the short log of each run of the job, as a file on the plan's branch."""

from __future__ import annotations

import re
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
MOST = 2_000
"""Logs of a commit that are looked at."""
MAX_FILE = 64_000
"""Bytes of one that are looked at; the short log is shorter."""


def inherited_logs(job: Job, head: str, base: str) -> dict[bytes, bytes]:
    """Return the logs that the branch brings along from the plan's earlier jobs: path to content."""
    before = set(_logs(job, base))
    return {path: content for path, content in _logs(job, head).items() if path not in before}


def commit_logs(job: Job, workspace: Workspace) -> dict[bytes, bytes]:
    """Commit the short logs of the job that are not on the branch yet, by themselves; return what was written."""
    if not job.spec.logs.commit:
        return {}
    there, files = _logs(job, workspace.head), dict[str, bytes]()
    taken = {display(path) for path in there}
    for log in sorted(job.folder.glob(f"*/{LOG_FILE}")):
        name, content = NAME.fullmatch(log.parent.name), log.read_bytes()
        if name and content not in there.values():
            files[_free(job, name[1], taken | files.keys())] = content
    for path, content in files.items():
        write_inside(workspace.tree, path, content, job.sandbox.owner)
    if files:
        subject = f"Note what agents did (#{job.spec.issue.number})"
        workspace.add(files, message(job, subject), AUTHOR, when=job.now())
    return {path.encode(): content for path, content in files.items()}


def _logs(job: Job, commit: str) -> dict[bytes, bytes]:
    found = (path for path in job.store.files(commit, [OVERRIDES.encode()]) if PLACE.fullmatch(display(path)))
    return job.store.contents(commit, sorted(found, reverse=True)[:MOST], MAX_FILE)


def _free(job: Job, unit: str, taken: set[str]) -> str:
    start = f"{OVERRIDES}/{unit}/Logs/{job.today}-plan-{job.spec.issue.number}"
    return next(path for n in count(1) if (path := f"{start}-{n}.md") not in taken)
