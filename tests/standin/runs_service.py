"""Actions of the stand-in: runs are created, queued, carried out by ``act.Machine``, cancelled and re-run."""

import itertools
import shutil
import threading
import traceback

from tests.standin import gitstore, workflow_file
from tests.standin.act import Line, Machine, Patience, Reason
from tests.standin.entities import Repo, User, WorkflowRun
from tests.standin.model import Hub
from tests.standin.render import Render
from tests.standin.render_actions import ActionsRender
from tests.standin.run_plan import check_out, context_of, plan_of, withdraw
from tests.standin.workflow_file import Workflow, WorkflowError
from tests.standin.workflow_runs import ActionsSettings, Attempt, JobRun, Phase, holders, startable, superseded

FIRST_JOB_ID = 60_000_000_001
FIRST_WORKFLOW_ID = 1_200_001
CLOSE_SECONDS = 20.0
"""How long ``close`` waits for the threads of the runs that it ended."""


class Actions:
    """All runs of a hub; one a hub, by ``hub.service(Actions)``. State changes under ``hub.lock``."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.settings = ActionsSettings()
        self.attempts: list[Attempt] = []
        self._render = ActionsRender(Render(hub))
        self._job_ids = itertools.count(FIRST_JOB_ID)
        self._workflow_ids: dict[tuple[int, str], int] = {}
        self._machines: dict[Attempt, Machine] = {}
        self._threads: dict[Attempt, threading.Thread] = {}
        self._closed = False

    # Reading

    def workflow(self, repo: Repo, sha: str, path: str) -> Workflow | None:
        """The workflow file of that path at a commit, or None; WorkflowError when it is invalid."""
        try:
            text = gitstore.run(self.hub.git_dir(repo), "cat-file", "blob", f"{sha}:{path}").decode()
        except gitstore.GitError:
            return None
        return workflow_file.parse(path, text)

    def workflow_id(self, repo: Repo, path: str) -> int:
        """The number of a workflow, made on first use."""
        return self._workflow_ids.setdefault((repo.id, path), FIRST_WORKFLOW_ID + len(self._workflow_ids))

    def attempt(self, run: WorkflowRun, number: int | None = None) -> Attempt | None:
        """An attempt of a run, by default the newest."""
        found = [a for a in self.attempts if a.run is run and number in {None, a.number}]
        return found[-1] if found else None

    # Starting

    def dispatch(self, repo: Repo, path: str, branch: str, given: dict[str, str], actor: User) -> Attempt:
        """Create a run of a workflow at a branch; WorkflowError when the dispatch is not valid."""
        sha = gitstore.resolve(self.hub.git_dir(repo), branch)
        if sha is None:
            raise WorkflowError(f"No ref found for: {branch}")
        workflow = self.workflow(repo, sha, path)
        if workflow is None:
            raise WorkflowError(f"Workflow does not exist at {branch}: {path}")
        inputs = workflow.checked_inputs(given)
        now = self.hub.clock()
        number = 1 + sum(1 for run in repo.runs.values() if run.path == path)
        run = WorkflowRun(
            self.hub.next_id("run"),
            repo,
            number,
            path,
            workflow.name,
            "",
            "workflow_dispatch",
            branch.removeprefix("refs/heads/"),
            sha,
            actor,
            now,
            now,
            inputs=inputs,
        )
        run.title = workflow_file.evaluate(workflow.run_name, context_of(run))
        repo.runs[run.id] = run
        attempt = self._add(run, workflow, actor)
        self._render.emit_run(attempt, "requested")
        self._join(attempt)
        return attempt

    def rerun(self, run: WorkflowRun, actor: User) -> Attempt:
        """Another attempt at a completed run. As on GitHub no ``requested`` event is sent."""
        last = self.attempt(run)
        assert last is not None
        assert last.phase == "completed"
        attempt = self._add(run, last.workflow, actor)
        self._join(attempt)
        return attempt

    def _add(self, run: WorkflowRun, workflow: Workflow, actor: User) -> Attempt:
        before = self.attempt(run)
        number = before.number + 1 if before else 1
        group = workflow_file.evaluate(workflow.group, context_of(run)) if workflow.group else None
        jobs = [JobRun(next(self._job_ids), declared) for declared in workflow.jobs]
        folder = self.hub.home / "actions" / f"{run.id}-{number}"
        folder.mkdir(parents=True)
        runner = f"standin-{self.hub.random.getrandbits(48):012x}"
        now, number_of_workflow = self.hub.clock(), self.workflow_id(run.repo, run.path)
        attempt = Attempt(run, number, workflow, number_of_workflow, actor, group, jobs, folder, runner, now, now)
        run.attempt = number
        self.attempts.append(attempt)
        return attempt

    def _join(self, attempt: Attempt) -> None:
        """Put a new attempt in line: behind its concurrency group, ending those that it supersedes."""
        for other in superseded(attempt, self.attempts):
            self.cancel(other)
        self._set(attempt, "pending" if holders(attempt, self.attempts) else "queued")
        for job in attempt.jobs:
            self._render.emit_job(attempt, job, "queued")
        self._pump()

    def _pump(self) -> None:
        for attempt in self.attempts:
            if attempt.phase == "pending" and not holders(attempt, self.attempts):
                self._set(attempt, "queued")
        for attempt in [] if self._closed else startable(self.attempts, self.settings.slots):
            self._set(attempt, "in_progress")
            self._start(attempt)

    def _start(self, attempt: Attempt) -> None:
        settings = self.settings
        limit = attempt.workflow.minutes * settings.seconds_per_minute
        patience = Patience(limit, settings.interrupt, settings.terminate)
        plan = plan_of(self.hub, attempt, settings)
        machine = Machine(attempt.folder, plan, patience, lambda line: self._follow(attempt, line))
        thread = threading.Thread(target=self._carry_out, args=(attempt, machine), daemon=True)
        self._machines[attempt], self._threads[attempt] = machine, thread
        thread.start()

    def _set(self, attempt: Attempt, phase: Phase, conclusion: str | None = None) -> None:
        attempt.phase, attempt.conclusion = phase, conclusion
        attempt.updated_at = attempt.run.updated_at = self.hub.clock()
        attempt.run.status, attempt.run.conclusion = attempt.status, conclusion

    # Ending

    def cancel(self, attempt: Attempt, reason: Reason = "cancelled") -> None:
        """Cancel (or with ``killed``: force-cancel) what is not over; what has not started ends at once."""
        machine = self._machines.get(attempt)
        if machine is not None:
            machine.stop(reason)
        elif attempt.phase != "completed":
            self._complete(attempt, "cancelled")

    def vanish(self, attempt: Attempt) -> None:
        """Kill the machine under a run; GitHub goes on to believe that it runs, until ``give_up``."""
        self._machines[attempt].stop("vanished")

    def give_up(self, attempt: Attempt) -> None:
        """GitHub notices that a vanished machine is lost: the run fails."""
        self._complete(attempt, "failure")

    def close(self) -> None:
        """End all runs and wait for their threads; nothing starts afterwards."""
        with self.hub.lock:
            self._closed = True
            for machine in self._machines.values():
                machine.stop("killed")
            threads = list(self._threads.values())
        for thread in threads:
            thread.join(CLOSE_SECONDS)

    def _complete(self, attempt: Attempt, conclusion: str) -> None:
        for job in attempt.jobs:
            if job.status != "completed":
                self._complete_job(attempt, job, conclusion)
        self._set(attempt, "completed", conclusion)
        self._render.emit_run(attempt, "completed")
        self._pump()

    def _complete_job(self, attempt: Attempt, job: JobRun, conclusion: str) -> None:
        job.status, job.conclusion, job.completed_at = "completed", conclusion, self.hub.clock()
        self._render.emit_job(attempt, job, "completed")

    # Carrying out, in the run's own thread

    def _carry_out(self, attempt: Attempt, machine: Machine) -> None:
        status = 1
        try:
            if not machine.stopped_within(self.settings.start_delay):
                with self.hub.lock:
                    self._render.emit_run(attempt, "in_progress")
                check_out(self.hub, attempt, machine.plan.source)
                status = machine.carry_out()
        except Exception:  # noqa: BLE001 - the run must end, and its log must tell why
            self._log(attempt, traceback.format_exc())
        with self.hub.lock:
            self._clear(attempt, machine)
            if machine.reason == "vanished":
                self._set(attempt, "lost")
                self._pump()
            else:
                self._complete(attempt, conclusion_of(machine.reason, status))

    def _clear(self, attempt: Attempt, machine: Machine) -> None:
        withdraw(self.hub, machine.plan)
        for part in ("source", "cache"):
            shutil.rmtree(attempt.folder / part, ignore_errors=True)
        del self._machines[attempt], self._threads[attempt]

    @staticmethod
    def _log(attempt: Attempt, text: str) -> None:
        with attempt.log.open("a") as log:
            log.write(text.rstrip() + "\n")

    def _follow(self, attempt: Attempt, line: Line) -> None:
        """Take in one line of act's output: what the steps print into the log, what becomes of the jobs."""
        self._log(attempt, f"{line.get('step', '')} | {line.get('msg', '')}")
        job = next((job for job in attempt.jobs if job.declared.key == line.get("jobID")), None)
        if job is None or (job.status != "queued" and "jobResult" not in line):
            return
        with self.hub.lock:
            if job.status == "queued":
                job.status, job.started_at = "in_progress", self.hub.clock()
                self._render.emit_job(attempt, job, "in_progress")
            if "jobResult" in line and self._machines[attempt].reason is None:
                self._complete_job(attempt, job, line["jobResult"])


def conclusion_of(reason: Reason | None, status: int) -> str:
    """A run's conclusion from why it was stopped, else from act's exit status."""
    if reason is not None:
        return "timed_out" if reason == "timed_out" else "cancelled"
    return "failure" if status else "success"
