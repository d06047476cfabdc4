"""A self-hosted runner by script: it claims, reports and pushes as the real one does, without an agent."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from runner.contract import Claim, FileChange, GateResult, GateStatus, JobSpec, Outcome, Report, Usage, Work
from runner.results import (
    ExecutionSummary,
    IssueText,
    Lesson,
    PlanDocument,
    PullRequestText,
    SplitChild,
    SplitDocument,
    Unit,
    Verdict,
)
from tests.standin.oidc import Issuer, run_claims
from tests.town.repository import AUTHOR, git

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from tests.scenarios.village import Village
    from tests.standin.workflow_runs import Attempt

CHECKED = 0.25
"""Seconds that the checks take in each execution here."""
PASSED = GateResult(name="tests", blocking=True, status=GateStatus.PASSED, seconds=1, summary="12 passed")
FAILED = PASSED.model_copy(update={"status": GateStatus.FAILED, "summary": "1 failed", "tail": "assert 1 == 2"})
SPENT = "0.0125"
"""Dollars that each run of an agent costs here."""


class Workshop:
    """A clone in which runners and people make their commits."""

    def __init__(self, folder: Path, remote: Path) -> None:
        self._folder, self._remote = folder, remote

    def _git(self, *arguments: str) -> str:
        if not self._folder.exists():
            git(self._remote, "clone", "--quiet", str(self._remote), str(self._folder))
        return git(self._folder, *arguments)

    def commit(self, start: str, files: dict[str, str], message: str = "Do it") -> str:
        """Commit these files on top of a commit or branch of the remote, and return the commit."""
        self._git("fetch", "--quiet", "origin")
        known = git(self._remote, "rev-parse", "--verify", start)
        self._git("checkout", "--quiet", "--detach", known)
        for path, text in files.items():
            target = self._folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(f"{text}\n")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "-m", message)
        return self._git("rev-parse", "HEAD")

    def merge(self, head: str, base: str, files: dict[str, str]) -> str:
        """Merge a commit into another, settle what conflicts by these files, and return the merge."""
        self._git("fetch", "--quiet", "origin")
        self._git("checkout", "--quiet", "--detach", head)
        subprocess.run(
            ["git", "merge", "--quiet", base], cwd=self._folder, env=AUTHOR, capture_output=True, check=False
        )
        for path, text in files.items():
            (self._folder / path).write_text(f"{text}\n")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "-m", "Merge the default branch")
        return self._git("rev-parse", "HEAD")

    def push(self, url: str, commit: str, branch: str) -> bool:
        """Push a commit to a branch over HTTP; tell whether the remote took it."""
        self._git("remote")  # makes the clone where there is none
        done = subprocess.run(
            ["git", "push", "--quiet", "--force", url, f"{commit}:refs/heads/{branch}"],
            cwd=self._folder,
            env={**AUTHOR, "GIT_TERMINAL_PROMPT": "0"},
            capture_output=True,
            timeout=60,
            check=False,
        )
        return done.returncode == 0

    def changes(self, base: str, head: str) -> tuple[FileChange, ...]:
        """The files that differ, as a report names them."""
        rows = self._git("diff", "--numstat", f"{base}...{head}").splitlines()
        found = []
        for row in rows:
            added, removed, path = row.split("\t")
            found.append(FileChange(path=path, status="modified", added=int(added), removed=int(removed)))
        return tuple(found)

    def diff(self, base: str, head: str) -> str:
        return self._git("diff", f"{base}...{head}")

    def tree(self, commit: str) -> str:
        return self._git("rev-parse", f"{commit}^{{tree}}")

    def conflicts(self, base: str, head: str) -> tuple[str, ...]:
        """The paths in which a merge of the two conflicts."""
        self._git("fetch", "--quiet", "origin")
        done = subprocess.run(
            ["git", "merge-tree", "--write-tree", "--name-only", "--no-messages", base, head],
            cwd=self._folder,
            env=AUTHOR,
            capture_output=True,
            text=True,
            check=False,
        )
        return tuple(done.stdout.split("\n")[1:-1]) if done.returncode == 1 else ()

    def tip(self, branch: str) -> str | None:
        """Where a branch of the remote stands."""
        found = git(self._remote, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        return found or None

    def remote_branches(self) -> list[str]:
        return git(self._remote, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/plan").split()


class Runner:
    """One job's runner: the machine of one attempt of its run."""

    def __init__(self, village: Village, job: str, attempt: Attempt) -> None:
        self.village, self.job, self.attempt = village, job, attempt
        self.key = ""
        self._spec: JobSpec | None = None

    @property
    def spec(self) -> JobSpec:
        assert self._spec is not None, "the job was not claimed"
        return self._spec

    # the words of the contract

    def token(self, changes: dict[str, Any] | None = None, audience: str | None = None, key: Any = None) -> str:
        """An identity token of the run; ``changes`` alter its claims, ``key`` signs a forgery."""
        run = self.attempt.run
        claims = run_claims(self.village.repo, run, self.attempt.number, self.attempt.actor)
        now = int(self.village.clock())
        times = {"iat": now, "nbf": now - 600, "exp": now + 300}
        issuer = self.village.github.hub.service(Issuer)
        return issuer.mint(claims, audience or self.village.url, {**times, **(changes or {})}, key)

    def ask(self, method: str, path: str, bearer: str, content: str = "") -> httpx.Response:
        headers = {"Authorization": f"Bearer {bearer}"}
        return self.village.http.request(method, f"/runner/{path}", headers=headers, content=content)

    def try_claim(self, token: str | None = None) -> httpx.Response:
        return self.ask("POST", f"jobs/{self.job}/claim", token or self.token())

    def claim(self) -> JobSpec:
        answer = self.try_claim()
        assert answer.status_code == 200, answer.text
        claim = Claim.model_validate_json(answer.text)
        self.key, self._spec = claim.job_key, claim.spec
        self.village.settle()
        return claim.spec

    def progress(self, phase: str) -> str | None:
        """Send a heartbeat and return why to stop, if so."""
        answer = self.ask("POST", f"jobs/{self.job}/progress", self.key, f'{{"phase": "{phase}"}}')
        assert answer.status_code == 200, answer.text
        self.village.settle()
        stop: str | None = answer.json()["stop"]
        return stop

    def try_push_token(self, sha: str, gates: tuple[GateResult, ...] = (PASSED,)) -> httpx.Response:
        rows = ",".join(gate.model_dump_json() for gate in gates)
        return self.ask("POST", f"jobs/{self.job}/push-token", self.token(), f'{{"sha": "{sha}", "gates": [{rows}]}}')

    def try_report(self, outcome: Outcome, **fields: Any) -> httpx.Response:
        start: dict[str, Any] = {"sentence": "It ended.", "runner": "here", "started_at": 1.0, "ended_at": 2.0}
        report = Report.model_validate({"job": self.job, "outcome": outcome, "check_seconds": 0.0, **start, **fields})
        return self.ask("PUT", f"jobs/{self.job}/report", self.key, report.model_dump_json())

    def report(self, outcome: Outcome, **fields: Any) -> None:
        answer = self.try_report(outcome, **fields)
        assert answer.status_code == 200, answer.text

    def end(self, outcome: Outcome, **fields: Any) -> None:
        """Report, and let the run end."""
        self.report(outcome, **fields)
        if self.attempt.run.status != "completed":
            self.village.finish_run(self.attempt, "success" if outcome.is_success else "failure")
        self.village.settle()

    # whole jobs

    def usage(self) -> tuple[Usage, ...]:
        unit = self.spec.unit or Unit.EXECUTE_PLAN
        fields = {"unit": unit, "agent": "scripted", "model": None, "attempt": 1, "seconds": 3, "usd": SPENT}
        return (Usage.model_validate({**fields, "usd_source": "reported", "input_tokens": 900, "output_tokens": 80}),)

    def write_plan(self, **document: Any) -> None:
        """Do a planning job."""
        self.claim()
        self.tell_plan(**document)

    def tell_plan(self, **document: Any) -> None:
        """End a planning job that is claimed."""
        self.end(Outcome.PLANNED, plan=plan_document(**document), usage=self.usage())

    def split_plan(self, *parts: SplitChild) -> None:
        """Do a splitting job."""
        self.claim()
        cut = SplitDocument(summary="One thing each.", children=parts)
        self.end(Outcome.PLANNED, split=cut, usage=self.usage())

    def execute(self, files: dict[str, str], **report: Any) -> str:
        """Do an execution: commit, be checked, push, report; returns the commit."""
        head = self.publish(files)
        self.end(Outcome.VERIFIED, **self.verified(head, **report))
        return head

    def publish(self, files: dict[str, str], message: str = "Do it") -> str:
        """Do an execution up to the push."""
        spec, shop = self.claim(), self.village.workshop
        self.progress("agent")
        if spec.merge_base_in:
            head = shop.merge(spec.head or "", spec.base, files)
        else:
            head = shop.commit(spec.head or spec.base, files, message)
        self.progress("gates")
        self.progress("publish")
        answer = self.try_push_token(head)
        assert answer.status_code == 200, answer.text
        assert self.push(head, answer.json()["token"])
        self.village.settle()
        return head

    def push(self, head: str, token: str) -> bool:
        url = self.spec.repository.clone_url.replace("://", f"://x-access-token:{token}@")
        return self.village.workshop.push(url, head, self.spec.branch)

    def verified(self, head: str, **fields: Any) -> dict[str, Any]:
        """The fields of a report of verified work."""
        base, shop = self.spec.base, self.village.workshop
        since = self.spec.shown or base
        files = shop.changes(since, head)
        work = Work(
            base=base,
            head=head,
            tree=shop.tree(head),
            commits=1,
            files=files,
            files_total=len(files),
            patch=shop.diff(since, head),
            patch_cut=False,
            since=self.spec.shown,
            summary=ExecutionSummary(status="done", summary="Rounded."),
            pull_request=PullRequestText(title="Round the total", body="It is rounded."),
        )
        told = {"work": work, "gates": (PASSED,), "usage": self.usage(), "attempts": 1, "check_seconds": CHECKED}
        return {**told, **fields}

    def write_issue(self, title: str = "Test the mail greeter", *lessons: Lesson) -> JobSpec:
        """Do the writing of an issue from a recommendation."""
        spec = self.claim()
        text = IssueText(title=title, body="It has no test.")
        self.end(Outcome.ISSUE_WRITTEN, issue=text, usage=self.usage(), lessons=lessons)
        return spec

    def check_base(self) -> tuple[str, ...]:
        """Do a trial merge and return the conflicts."""
        spec = self.claim()
        found = self.village.workshop.conflicts(spec.base, spec.head or "")
        self.end(Outcome.BASE_CONFLICT if found else Outcome.BASE_CLEAN, conflicts=found)
        return found


def plan_document(**fields: Any) -> PlanDocument:
    """A plan as an agent returns it."""
    start: dict[str, Any] = {
        "verdict": Verdict.PLAN,
        "title": "Round the total",
        "summary": "The total is a sum of floats.",
        "steps": ("Round it.",),
        "files": ("shop/**",),
    }
    return PlanDocument.model_validate({**start, **fields})
