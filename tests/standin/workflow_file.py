"""A workflow file as the stand-in's Actions read it: inputs, permissions, concurrency, jobs and their time-outs.

Only what GitHub enforces before or around a run is read here; the steps are act's affair. Expressions are understood
where GitHub itself evaluates them without a runner (``run-name``, ``concurrency``), as dotted names alone.
"""

import re
from dataclasses import dataclass
from typing import Any

import yaml

from tests.standin.model import LEVEL_RANK, Permissions

DEFAULT_PERMISSIONS: Permissions = {"contents": "read", "packages": "read"}
"""What a ``GITHUB_TOKEN`` may where nothing is declared, under GitHub's restricted setting."""
SCOPES = (
    "actions",
    "checks",
    "contents",
    "deployments",
    "discussions",
    "id-token",
    "issues",
    "packages",
    "pages",
    "pull-requests",
    "repository-projects",
    "security-events",
    "statuses",
)
DEFAULT_MINUTES = 360.0
"""A job without ``timeout-minutes`` ends after six hours."""
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


class WorkflowError(Exception):
    """The file or the dispatch of it is not valid; the text is the API's message."""


@dataclass(frozen=True)
class WorkflowJob:
    """One job: its key in the file, shown name, labels it runs on, effective permissions, time-out in minutes."""

    key: str
    name: str
    labels: tuple[str, ...]
    permissions: Permissions
    minutes: float
    actions: tuple[str, ...]


@dataclass(frozen=True)
class Workflow:
    """A parsed workflow file; ``inputs`` is None without a ``workflow_dispatch`` trigger."""

    path: str
    name: str
    run_name: str
    inputs: dict[str, dict[str, Any]] | None
    group: str | None
    cancel_in_progress: bool
    jobs: tuple[WorkflowJob, ...]

    def checked_inputs(self, given: dict[str, str]) -> dict[str, str]:
        """The inputs of a dispatch with defaults filled in; WorkflowError for a missing, unknown or disallowed one."""
        if self.inputs is None:
            raise WorkflowError("Workflow does not have 'workflow_dispatch' trigger")
        unknown = sorted(set(given) - set(self.inputs))
        if unknown:
            raise WorkflowError(f"Unexpected inputs provided: {unknown}".replace("'", '"'))
        return {name: self._checked_input(name, declared, given) for name, declared in self.inputs.items()}

    @staticmethod
    def _checked_input(name: str, declared: dict[str, Any], given: dict[str, str]) -> str:
        value = str(given.get(name, declared.get("default", "")))
        if declared.get("required") == "true" and not value:
            raise WorkflowError(f"Required input '{name}' not provided")
        if declared.get("type") == "choice" and value not in declared.get("options", []):
            raise WorkflowError(f"Provided value '{value}' for input '{name}' not in the list of allowed values")
        return value

    @property
    def permissions(self) -> Permissions:
        """What one token for all jobs may: for each scope the least that any job declares."""
        least = {scope: min((job.permissions.get(scope, "none") for job in self.jobs), key=rank) for scope in SCOPES}
        return {scope: level for scope, level in least.items() if level != "none"}

    @property
    def minutes(self) -> float:
        """The longest time-out of a job."""
        return max(job.minutes for job in self.jobs)


def rank(level: str) -> int:
    """The order of permission levels."""
    return LEVEL_RANK[level]


def evaluate(text: str, context: dict[str, Any]) -> str:
    """Text with each ``${{ dotted.name }}`` replaced from the context; unknown names are empty, as on GitHub."""

    def value(found: re.Match[str]) -> str:
        node: Any = context
        for part in found[1].split("."):
            node = node.get(part, "") if isinstance(node, dict) else ""
        return str(node)

    if "${{" in EXPRESSION.sub("", text):
        raise WorkflowError(f"the stand-in does not evaluate the expression in {text!r}")
    return EXPRESSION.sub(value, text)


def parse(path: str, text: str) -> Workflow:
    """Read a workflow file; WorkflowError when it is no workflow."""
    try:
        # BaseLoader keeps scalars as text: YAML 1.1 would read the key `on` as a boolean.
        document = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise WorkflowError(f"Invalid workflow file: {path}") from error
    if not isinstance(document, dict) or not isinstance(document.get("jobs"), dict):
        raise WorkflowError(f"Invalid workflow file: {path}")
    name = document.get("name") or path
    concurrency = document.get("concurrency") or {}
    group = concurrency if isinstance(concurrency, str) else concurrency.get("group")
    cancels = isinstance(concurrency, dict) and concurrency.get("cancel-in-progress") == "true"
    above = _permissions(document.get("permissions"), DEFAULT_PERMISSIONS)
    jobs = tuple(_job(key, job, above) for key, job in document["jobs"].items())
    return Workflow(path, name, document.get("run-name") or name, _inputs(document.get("on")), group, cancels, jobs)


def _inputs(trigger: Any) -> dict[str, dict[str, Any]] | None:
    if isinstance(trigger, dict) and "workflow_dispatch" in trigger:
        return dict((trigger["workflow_dispatch"] or {}).get("inputs") or {})
    names = [trigger] if isinstance(trigger, str) else trigger
    return {} if "workflow_dispatch" in (names or []) else None


def _job(key: str, job: dict[str, Any], above: Permissions) -> WorkflowJob:
    runs_on = job.get("runs-on", [])
    labels = (runs_on,) if isinstance(runs_on, str) else tuple(runs_on)
    actions = tuple(step["uses"] for step in job.get("steps", []) if "uses" in step)
    minutes = float(job.get("timeout-minutes", DEFAULT_MINUTES))
    return WorkflowJob(key, job.get("name", key), labels, _permissions(job.get("permissions"), above), minutes, actions)


def _permissions(declared: Any, default: Permissions) -> Permissions:
    if declared is None:
        return default
    if isinstance(declared, str):
        return dict.fromkeys(SCOPES, declared.removesuffix("-all"))
    return dict(declared) if isinstance(declared, dict) else {}
