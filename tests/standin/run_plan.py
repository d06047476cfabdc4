"""What a run is given: the checkout act works from, its variables, token, OIDC grant, secrets and local actions."""

import shutil
from pathlib import Path
from typing import Any

from tests.standin import gitstore, oidc
from tests.standin.act import Plan
from tests.standin.entities import WorkflowRun
from tests.standin.model import Hub
from tests.standin.render import Render
from tests.standin.workflow_file import Workflow
from tests.standin.workflow_runs import ActionsSettings, Attempt

PROJECT = Path(__file__).parent.parent.parent
ACTION_PARTS = ("pyproject.toml", "README.md", "LICENSE", "bot", "runner", "promptware", ".github/actions")
"""What the action needs of the project; the whole folder, with its virtualenv, would cost act seconds a run."""
MACHINE = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
"""A self-hosted machine's own environment, before the settings add to it."""


def plan_of(hub: Hub, attempt: Attempt, settings: ActionsSettings) -> Plan:
    """Everything that act is told of an attempt; makes its token and its OIDC grant, which ``withdraw`` ends."""
    run, repo, render = attempt.run, attempt.run.repo, Render(hub)
    granted = {scope.replace("-", "_"): level for scope, level in attempt.workflow.permissions.items()}
    identity = identity_of(hub, attempt)
    event = {"inputs": run.inputs, "ref": f"refs/heads/{run.head_branch}", "workflow": run.path}
    event |= {"repository": render.repository(repo), "sender": render.user(attempt.actor)}
    mask = {"STANDIN_MASK": identity["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]} if identity else {}
    home = hub.home / "machine"
    home.mkdir(exist_ok=True)
    return Plan(
        attempt.folder / "source",
        run.path,
        event,
        environment_of(hub, attempt) | identity,
        {**repo.secrets, **mask, "GITHUB_TOKEN": hub.create_workflow_token(repo, granted).raw},
        dict(repo.variables),
        local_actions(hub, attempt.workflow, settings),
        {**MACHINE, "HOME": str(home), **settings.machine},
        attempt.runner,
    )


def withdraw(hub: Hub, plan: Plan) -> None:
    """End the credentials of a run; as on GitHub they live no longer than its job."""
    hub.tokens.pop(plan.secrets["GITHUB_TOKEN"], None)
    hub.service(oidc.Issuer).revoke(plan.environment.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN"))


def identity_of(hub: Hub, attempt: Attempt) -> dict[str, str]:
    """The way to OIDC tokens, for a workflow that declares ``id-token: write`` alone."""
    if attempt.workflow.permissions.get("id-token") != "write":
        return {}
    issuer = hub.service(oidc.Issuer)
    claims = oidc.run_claims(attempt.run.repo, attempt.run, attempt.number, attempt.run.actor)
    return {
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{issuer.url}/token?api-version=2.0",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": issuer.grant(claims),
    }


def local_actions(hub: Hub, workflow: Workflow, settings: ActionsSettings) -> dict[str, Path]:
    """Folders that stand in for the repositories of actions: this project for each ``<owner>/twogate@<ref>``."""
    used = (action.partition("@") for job in workflow.jobs for action in job.actions)
    names = {"/".join(path.split("/")[:2]) + "@" + ref for path, _, ref in used if ref}
    ours = {name for name in names if name.partition("@")[0].endswith("/twogate")}
    return {**{name: action_folder(hub, settings) for name in ours}, **settings.local_actions}


def action_folder(hub: Hub, settings: ActionsSettings) -> Path:
    """The folder with this project's action; by default a copy made at first use."""
    if settings.action_folder is not None:
        return settings.action_folder
    folder = hub.home / "action"
    if not folder.exists():
        for part in ACTION_PARTS:
            copy(PROJECT / part, folder / part)
    return folder


def copy(source: Path, target: Path) -> None:
    """Copy a file or folder, without compiled Python."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def check_out(hub: Hub, attempt: Attempt, target: Path) -> None:
    """The folder that act works from: ``.github`` of the run's commit, or all of it where the workflow needs more."""
    run = attempt.run
    whole = any(a.startswith(("./", "actions/checkout@")) for job in attempt.workflow.jobs for a in job.actions)
    gitstore.run(
        attempt.folder, "clone", "--quiet", "--shared", "--no-checkout", str(hub.git_dir(run.repo)), str(target)
    )
    gitstore.run(target, "update-ref", "--no-deref", "HEAD", run.head_sha)
    gitstore.run(target, "checkout", run.head_sha, "--", "." if whole else ".github")


def context_of(run: WorkflowRun) -> dict[str, Any]:
    """What expressions outside of jobs see."""
    github = {"run_id": run.id, "workflow": run.name, "ref": f"refs/heads/{run.head_branch}", "event_name": run.event}
    github |= {"repository": run.repo.full_name, "actor": run.actor.login, "event": {"inputs": run.inputs}}
    return {"inputs": run.inputs, "github": github, "vars": run.repo.variables}


def environment_of(hub: Hub, attempt: Attempt) -> dict[str, str]:
    """The default variables of a run; they also make act's ``github`` context."""
    run, repo, ref = attempt.run, attempt.run.repo, f"refs/heads/{attempt.run.head_branch}"
    return {
        "GITHUB_SERVER_URL": hub.base_url,
        "GITHUB_API_URL": f"{hub.base_url}/api/v3",
        "GITHUB_GRAPHQL_URL": f"{hub.base_url}/api/graphql",
        "GITHUB_REPOSITORY": repo.full_name,
        "GITHUB_REPOSITORY_ID": str(repo.id),
        "GITHUB_REPOSITORY_OWNER": repo.owner.login,
        "GITHUB_REPOSITORY_OWNER_ID": str(repo.owner.id),
        "GITHUB_RUN_ID": str(run.id),
        "GITHUB_RUN_NUMBER": str(run.number),
        "GITHUB_RUN_ATTEMPT": str(attempt.number),
        "GITHUB_ACTOR": run.actor.login,
        "GITHUB_ACTOR_ID": str(run.actor.id),
        "GITHUB_TRIGGERING_ACTOR": attempt.actor.login,
        "GITHUB_EVENT_NAME": run.event,
        "GITHUB_REF": ref,
        "GITHUB_REF_NAME": run.head_branch,
        "GITHUB_REF_TYPE": "branch",
        "GITHUB_SHA": run.head_sha,
        "GITHUB_WORKFLOW": run.name,
        "GITHUB_WORKFLOW_REF": f"{repo.full_name}/{run.path}@{ref}",
        "GITHUB_WORKFLOW_SHA": run.head_sha,
        "RUNNER_NAME": attempt.runner,
        "RUNNER_ENVIRONMENT": "self-hosted",
        "RUNNER_TRACKING_ID": attempt.runner,
    }
