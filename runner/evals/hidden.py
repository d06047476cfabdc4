"""Commands over finished work, with files laid over it that no agent has seen; confined like a repository's checks."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from runner import process
from runner.contract import GateStatus
from runner.evals.case import HIDDEN
from runner.folders import give, remove
from runner.gates.command import run_gate
from runner.sandbox import Confinement, agent_environment
from runner.steps.prepare import confine, open_store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from runner.contract import JobSpec
    from runner.evals.case import Case
    from runner.settings import Settings

GRACE = 2.0
"""Seconds between the request to end and the killing."""


def failing_command(case: Case, spec: JobSpec, settings: Settings, sha: str) -> str:
    """Return the sentence of the first command that does not pass on the commit ``sha``, empty where all do."""
    commands = case.told.expect.commands
    if not commands:
        return ""
    sandbox, folder = confine(spec, settings), settings.home / "hidden"
    checkout = open_store(spec, settings).fresh_checkout(sha, folder, sandbox.owner)
    env = agent_environment(
        settings.environment, home=checkout.home, tmp=checkout.tmp, extra={process.MARKER: spec.job, "CI": "true"}
    )

    def confined(
        command: list[str], *, cwd: Path, env: Mapping[str, str], seconds: float, output: Path
    ) -> process.Ended:
        place = Confinement(
            cwd=cwd, writable=checkout.writable, readonly=checkout.readonly, network=sandbox.network_of_checks
        )
        wrapped = sandbox.wrap(command, place)
        return process.run(wrapped, cwd=cwd, env=env, stdout_path=output, deadline_seconds=seconds, grace_seconds=GRACE)

    try:
        if (case.folder / HIDDEN).is_dir():
            lay_over(case.folder / HIDDEN, checkout.tree)
            give(sandbox.owner, checkout.tree)
        for number, gate in enumerate(commands):
            run = run_gate(gate, checkout.tree, settings.home / f"hidden-{number}.txt", env, confined)
            if run.result.status is not GateStatus.PASSED:
                return f"{gate.name} does not pass on the work: {run.result.summary} {run.result.first_error}".rstrip()
    finally:
        remove(folder)
    return ""


def lay_over(source: Path, tree: Path) -> None:
    """Put the files of ``source`` into ``tree``, in the place of what is there; no link of the work is followed."""
    for file in sorted(path for path in source.rglob("*") if path.is_file()):
        target = tree
        for part in file.relative_to(source).parts[:-1]:
            target = target / part
            if target.is_symlink() or not target.is_dir():
                remove(target)
                target.mkdir()
        remove(target / file.name)
        shutil.copyfile(file, target / file.name)
