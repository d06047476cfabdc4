"""The report: on disk first, then to the bot, and sent again at the next start where the bot was away.

``jobs/<id>/`` holds ``spec.json``, ``report.json`` and, until the bot has accepted or refused it, ``key``: the job's
bearer secret, readable by the runner's user alone. No agent is ever shown that folder. A key without a report belongs
to a job that runs, or that was killed before it could say anything: :mod:`runner.leftovers` reports for the dead.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.client import RefusedError, UnreachableError
from runner.contract import JobSpec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.client import Client
    from runner.contract import Claim, Report
    from runner.steps.redact import Redactor

REPORT_FILE = "report.json"
KEY_FILE = "key"
LOCK_FILE = "lock"
"""Held by the process that runs the job, and gone with it."""
SPEC_FILE = "spec.json"
WRITTEN = ("issue", "plan", "feedback", "ledger", "known", "recommendation", "lessons")
"""What of a specification people and agents wrote, so that anything may stand in it."""
RESEND_DEADLINE = 5.0
"""Seconds that one spooled report of an earlier job may hold up the start of the next."""
MAX_RESENDS = 20
"""Spooled reports that one start tries, oldest first; the rest wait for the start after it."""


@dataclass(frozen=True, slots=True)
class Spool:
    """The folders of all jobs on this machine."""

    jobs: Path

    def folder(self, job: str) -> Path:
        """Return the job's folder, made on first use."""
        folder = self.jobs / job
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def keep(self, claim: Claim, redact: Redactor) -> None:
        """Keep what the job is, and its key for the report, whoever writes and sends it; people's words redacted."""
        folder = self.folder(claim.spec.job)
        spec = claim.spec.model_dump(mode="json")
        spec |= {name: redact.cleaned(spec[name]) for name in WRITTEN}
        write_atomically(folder / SPEC_FILE, json.dumps(spec, indent=1).encode())
        write_atomically(folder / KEY_FILE, claim.job_key.encode())

    def owes(self, job: str) -> JobSpec | None:
        """Return what the job was to do where it has a key and no report: nobody told the bot how it ended."""
        folder = self.jobs / job
        if (folder / REPORT_FILE).exists() or not (folder / KEY_FILE).exists():
            return None
        try:
            return JobSpec.model_validate_json((folder / SPEC_FILE).read_bytes())
        except (OSError, ValueError):
            return None

    def write(self, report: Report) -> None:
        """Write the report; from here on it outlives this process."""
        write_atomically(self.folder(report.job) / REPORT_FILE, _body(report))

    def settle(self, report: Report, key: str, client: Client, say: Callable[[str], None], *, deadline: float) -> bool:
        """Write the report and send it, where the disk has no room for it all the same; returns as :meth:`send`."""
        try:
            self.write(report)
        except OSError as error:
            say(f"report of job {report.job} can't be written to the disk: {error}")
        return self._send(report.job, key, _body(report), client, say, deadline)

    def send(self, job: str, client: Client, say: Callable[[str], None], *, deadline: float) -> bool:
        """Send the job's report; returns whether it is settled, which forgets the key."""
        folder = self.folder(job)
        body, key = (folder / REPORT_FILE).read_bytes(), (folder / KEY_FILE).read_text()
        return self._send(job, key, body, client, say, deadline)

    def _send(
        self, job: str, key: str, body: bytes, client: Client, say: Callable[[str], None], deadline: float
    ) -> bool:
        try:
            client.report(job, key, body, deadline=deadline)
        except UnreachableError as error:
            say(f"report of job {job} kept for the next start: {error}")
            return False
        except RefusedError as error:
            say(f"report of job {job} dropped, the bot does not want it: {error}")
        (self.jobs / job / KEY_FILE).unlink(missing_ok=True)
        return True

    def resend(self, client: Client, say: Callable[[str], None]) -> None:
        """Send what earlier jobs left behind; the first sign that the bot is away ends the attempt."""
        for job in self.unsent()[:MAX_RESENDS]:
            if not self.send(job, client, say, deadline=RESEND_DEADLINE):
                return

    def unsent(self) -> list[str]:
        """Return the jobs whose report the bot has not settled, oldest first."""
        found = [path.parent for path in self.jobs.glob(f"*/{REPORT_FILE}") if (path.parent / KEY_FILE).exists()]
        return [folder.name for folder in sorted(found, key=lambda folder: (folder / REPORT_FILE).stat().st_mtime)]


def _body(report: Report) -> bytes:
    return report.model_dump_json(indent=1).encode()


def write_atomically(path: Path, content: bytes) -> None:
    """Replace ``path``, mode 0600, in one step that survives a power cut."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108
        raise
