"""What the list is made of: policies, workflows and reports, as GitHub and the database have them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import yaml

from bot.data_flow.of_repository import Facts
from bot.errors import UserError
from bot.lifecycle.policy import Policy, PolicyError, parse_policy
from bot.store import jobs, plans, policies
from bot.worker.policies import POLICY_PATH, Policies

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from bot.github.gateway import Gateway, Installed
    from bot.serving import Parts
    from bot.store.engine import Tx

MOST_REPOSITORIES = 200
"""Repositories that are listed unless they are named: each takes a few questions to GitHub."""
LAST_REPORTS = 20
"""Reports of a repository's jobs in which machines and model APIs are looked for."""
OWN_ACTION = "./"
"""How a workflow names an action of its own repository."""
LONGEST_WORD = 200
"""Characters of a label or an action's name that are shown."""


def of_file(path: Path) -> Facts:
    """Return what a policy file would make of it. Raises :class:`~bot.errors.UserError` where it can't be used."""
    try:
        return Facts(policy=parse_policy(path.read_text(encoding="utf-8")), policy_from=str(path), name=str(path))
    except PolicyError as error:
        raise UserError(f"{path}:{error.line}: {error.reason}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: this is not UTF-8 text: save it as UTF-8.") from error
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.") from error


def in_force(parts: Parts, names: Collection[str]) -> Iterator[Facts]:
    """Yield what holds in the repositories of these names, or in all where the App is installed, as GitHub says now.

    Raises :class:`~bot.errors.UserError` for a name that is not among them.
    """
    wanted = {name.casefold() for name in names}
    found = [each for each in _installed(parts.gateway) if not wanted or _name(each).casefold() in wanted]
    if missing := wanted - {_name(each).casefold() for each in found}:
        raise UserError(f"The App is not installed on {', '.join(sorted(missing))}: look whether the name is right.")
    if len(found) > MOST_REPOSITORIES and not wanted:
        raise UserError(f"The App is installed on more than {MOST_REPOSITORIES} repositories: name those to list.")
    read = Policies(parts.gateway, parts.store, parts.now)
    for each in found:
        yield _facts(parts, read, each)


def as_last_read(tx: Tx) -> list[Facts]:
    """Return what held when a policy was last read, of the repositories that have a plan; asks nobody."""
    found = []
    for number, repo in plans.repositories(tx).items():
        policy, where = policies.last_valid(tx, number) or Policy.default(), f"{repo.owner}/{repo.name}"
        found.append(Facts(policy=policy, policy_from="the policy as last read", name=where, **_reports(tx, number)))
    return found


def _installed(gateway: Gateway) -> Iterator[Installed]:
    active = (grant for grant in gateway.grants() if not grant.suspended)
    return itertools.chain.from_iterable(gateway.installed(grant.installation_id) for grant in active)


def _name(each: Installed) -> str:
    return f"{each.repo.owner}/{each.repo.name}"


def _facts(parts: Parts, read: Policies, each: Installed) -> Facts:
    repo, branch = each.repo, each.default_branch
    path = f".github/workflows/{parts.settings.workflow}"
    runs_on, actions = _workflow(parts.gateway.file(repo, path, branch) or "")
    with parts.store.read() as tx:
        reports = _reports(tx, repo.id)
    return Facts(
        policy=read.at(repo, branch).policy,
        policy_from=f"{POLICY_PATH} on {branch}",
        name=_name(each),
        public=each.public,
        runs_on=runs_on,
        actions=actions,
        workflow_from=f"{path} on {branch}",
        **reports,
    )


def _reports(tx: Tx, repository_id: int) -> dict[str, Any]:
    last = jobs.last_reports(tx, repository_id, LAST_REPORTS)
    reached = sorted({origin for report in last for origin in report.reached})
    return {"machines": tuple(sorted({report.runner for report in last})), "reached": tuple(reached)}


def _workflow(text: str) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return what a workflow's jobs run on, and which actions they name; whatever else it may be."""
    try:
        jobs_of_it = _mapping(_mapping(yaml.safe_load(text)).get("jobs")).values()
    except yaml.YAMLError:
        return None, ()
    found = [_mapping(job) for job in jobs_of_it]
    labels = [label for job in found for label in _labels(job.get("runs-on"))]
    steps = [_mapping(step) for job in found for step in _sequence(job.get("steps"))]
    uses = [used for step in steps if isinstance(used := step.get("uses"), str) and not used.startswith(OWN_ACTION)]
    return (_words(labels) if found else None), _words(uses)


def _labels(runs_on: object) -> list[str]:
    if isinstance(runs_on, dict):
        return _labels(runs_on.get("group")) + _labels(runs_on.get("labels"))
    return [str(label) for label in (runs_on if isinstance(runs_on, list) else [runs_on]) if label is not None]


def _words(texts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text[:LONGEST_WORD] for text in texts))


def _mapping(value: object) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
