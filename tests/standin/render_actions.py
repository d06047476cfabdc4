"""Workflows, runs and jobs as GitHub's JSON."""

from typing import Any

from tests.standin.entities import Repo, User, WorkflowRun, iso, node_id
from tests.standin.render import Render
from tests.standin.render_git import GitRender
from tests.standin.workflow_runs import Attempt, JobRun

Json = dict[str, Any]


class ActionsRender:
    """Renders the Actions of one hub."""

    def __init__(self, render: Render) -> None:
        self.render = render

    def workflow(self, repo: Repo, number: int, path: str, name: str) -> Json:
        """A workflow."""
        file = path.rsplit("/", 1)[-1]
        page = self.render.web(f"/{repo.full_name}")
        return {
            "id": number,
            "node_id": node_id("W", number),
            "name": name,
            "path": path,
            "state": "active",
            "created_at": iso(repo.created_at),
            "updated_at": iso(repo.created_at),
            "url": f"{self.render.repo_api(repo)}/actions/workflows/{number}",
            "html_url": f"{page}/blob/{repo.default_branch}/{path}",
            "badge_url": f"{page}/workflows/{file}/badge.svg",
        }

    def run(self, attempt: Attempt) -> Json:
        """A run as of one attempt: its newest, or an older one."""
        run, repo = attempt.run, attempt.run.repo
        url = f"{self.render.repo_api(repo)}/actions/runs/{run.id}"
        shown = self.render.repository(repo)
        return {
            "id": run.id,
            "name": run.name,
            "node_id": run.node_id,
            "head_branch": run.head_branch,
            "head_sha": run.head_sha,
            "path": run.path,
            "display_title": run.title,
            "run_number": run.number,
            "event": run.event,
            "status": attempt.status,
            "conclusion": attempt.conclusion,
            "workflow_id": attempt.workflow_id,
            "check_suite_id": run.id,
            "check_suite_node_id": node_id("CS", run.id),
            "url": url,
            "html_url": self.render.web(f"/{repo.full_name}/actions/runs/{run.id}"),
            "pull_requests": [],
            "created_at": iso(run.created_at),
            "updated_at": iso(attempt.updated_at),
            "actor": self.render.user(run.actor),
            "run_attempt": attempt.number,
            "referenced_workflows": [],
            "run_started_at": iso(attempt.created_at),
            "triggering_actor": self.render.user(attempt.actor),
            **self._links(run, url, attempt.number),
            "workflow_url": f"{self.render.repo_api(repo)}/actions/workflows/{attempt.workflow_id}",
            "head_commit": self._commit(repo, run.head_sha),
            "repository": shown,
            "head_repository": shown,
        }

    def _links(self, run: WorkflowRun, url: str, attempt: int) -> Json:
        return {
            "jobs_url": f"{url}/jobs",
            "logs_url": f"{url}/logs",
            "check_suite_url": f"{self.render.repo_api(run.repo)}/check-suites/{run.id}",
            "artifacts_url": f"{url}/artifacts",
            "cancel_url": f"{url}/cancel",
            "rerun_url": f"{url}/rerun",
            "previous_attempt_url": f"{url}/attempts/{attempt - 1}" if attempt > 1 else None,
        }

    def _commit(self, repo: Repo, sha: str) -> Json:
        raw = GitRender(self.render, repo).raw_commit(sha)
        return {
            "id": sha,
            "tree_id": raw["tree"],
            "message": raw["message"].rstrip("\n"),
            "timestamp": iso(float(raw["ct"])),
            "author": {"name": raw["an"], "email": raw["ae"]},
            "committer": {"name": raw["cn"], "email": raw["ce"]},
        }

    def job(self, attempt: Attempt, job: JobRun) -> Json:
        """A job of an attempt; its steps are act's affair and not listed."""
        run, base = attempt.run, self.render.repo_api(attempt.run.repo)
        begun = job.started_at is not None
        return {
            "id": job.id,
            "run_id": run.id,
            "run_url": f"{base}/actions/runs/{run.id}",
            "run_attempt": attempt.number,
            "node_id": node_id("CR", job.id),
            "head_sha": run.head_sha,
            "head_branch": run.head_branch,
            "url": f"{base}/actions/jobs/{job.id}",
            "html_url": self.render.web(f"/{run.repo.full_name}/actions/runs/{run.id}/job/{job.id}"),
            "status": job.status,
            "conclusion": job.conclusion,
            "created_at": iso(attempt.created_at),
            "started_at": iso(job.started_at or attempt.created_at),
            "completed_at": iso(job.completed_at),
            "name": job.declared.name,
            "steps": [],
            "check_run_url": f"{base}/check-runs/{job.id}",
            "labels": list(job.declared.labels),
            "runner_id": 1 if begun else None,
            "runner_name": attempt.runner if begun else None,
            "runner_group_id": 1 if begun else None,
            "runner_group_name": "Default" if begun else None,
            "workflow_name": run.name,
        }

    def emit_run(self, attempt: Attempt, action: str) -> None:
        """Send a workflow_run event."""
        run = attempt.run
        workflow = self.workflow(run.repo, attempt.workflow_id, run.path, run.name)
        body = {"action": action, "workflow": workflow, "workflow_run": self.run(attempt)}
        self._emit("workflow_run", body, run.repo, attempt.actor)

    def emit_job(self, attempt: Attempt, job: JobRun, action: str) -> None:
        """Send a workflow_job event."""
        body = {"action": action, "workflow_job": self.job(attempt, job)}
        self._emit("workflow_job", body, attempt.run.repo, attempt.actor)

    def _emit(self, event: str, body: Json, repo: Repo, sender: User) -> None:
        self.render.hub.emit(event, body, repo, sender=sender)
