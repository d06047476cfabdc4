"""Run the gates over a commit, always in a fresh checkout of it, and tell what was broken before from what broke now.

Each attempt is judged on a checkout of its commit, never in the agent's work tree: what a check sees is what a person
would get, what a check leaves behind can't slip into the next commit, and the last verdict needs no second run.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING

from runner.contract import GateResult, Outcome
from runner.folders import remove
from runner.gates import registry
from runner.gates.change import MODE_ABSENT, MODE_GITLINK, Change, Changed
from runner.gates.command import MISSING, GateRun, again, against_base, may_be_flaky, run_gate
from runner.gates.secrets import MAX_CONTENT
from runner.git import GitError, display
from runner.promptware import FailedGate
from runner.steps.before import BaseCache
from runner.steps.confined import Confined, environment
from runner.steps.ready import PrepareError, Ready
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from runner.steps.context import Job
    from runner.store import Checkout
    from runner.terms import GateSpec


MAX_BESIDE = 4
"""Checks of one job that run at the same time."""
MAX_READ = 1_000_000
"""Bytes of one file that the built-in gates read, but for those that look for what may stand anywhere."""
WHOLE = MAX_CONTENT + 1
"""Bytes of one file that those read; where there are so many, the file is refused as too large."""


@dataclass(frozen=True)
class Judged:
    """What the gates said of one commit."""

    results: tuple[GateResult, ...]
    outputs: tuple[Path, ...]
    """The whole output of each, where the agent can read it."""

    @property
    def failing(self) -> tuple[FailedGate, ...]:
        """What keeps the work from a reviewer, as the agent is told of it."""
        return tuple(
            FailedGate(result.name, result.summary, output, result.tail)
            for result, output in zip(self.results, self.outputs, strict=True)
            if result.holds_back
        )


class Checks:
    """The gates of one job."""

    def __init__(self, job: Job, base: str) -> None:
        self._job = job
        self._cache = BaseCache(job.settings.home / "cache" / "gates")
        self.ready = Ready(job, base)
        self._before: dict[str, GateRun] = {}
        self._runs = 0

    def run_before(self, base: str) -> None:
        """Run the blocking commands on the base; what fails there is not the change's fault.

        One that can't be run at all on this machine ends the job: no agent could make it pass.
        """
        tree = self._job.store.tree(base)
        gates = [gate for gate in self._job.spec.gates if gate.blocking]
        known = {gate.name: run for gate in gates if (run := self._cache.recall(tree, gate))}
        missing = [gate for gate in gates if gate.name not in known]
        for gate, run in zip(missing, self._commands(base, missing, judged=False), strict=True):
            if run.result.summary.endswith(MISSING):
                raise Ending(Outcome.RUNNER_FAILED, _absent(run.result, self._job.settings.runner))
            known[gate.name] = run
            self._cache.keep(tree, gate, run)
        self._before = known

    def judge(self, base: str, head: str, own: Mapping[bytes, bytes]) -> Judged:
        """Run every gate over ``head``, also after one failed: the agent is told all at once."""
        self.ready.base = base
        built_in = registry.check(self._change(base, head, own), self._job.now, self._job.spec.checks)
        runs = self._verdicts(head)
        outputs = [self._written(result, number) for number, result in enumerate(built_in)]
        results = (*built_in, *(self._compare(run) for run in runs))
        return Judged(results, (*outputs, *(run.output for run in runs)))

    def _verdicts(self, head: str) -> list[GateRun]:
        """Run the repository's commands over ``head``; where it can't be prepared, that is what failed."""
        try:
            return self._commands(head, self._job.spec.gates, judged=True)
        except PrepareError as error:
            return [error.run]

    def _compare(self, run: GateRun) -> GateResult:
        before = self._before.get(run.result.name)
        return against_base(run, before) if before else run.result

    def _written(self, result: GateResult, number: int) -> Path:
        """Write what a built-in gate has to say where the agent can read it."""
        output = self._job.exchange / "in" / f"gate-{self._runs}-built-in-{number}.txt"
        output.write_text(f"{result.summary}\n{result.tail}\n")
        return output

    def _change(self, base: str, head: str, own: Mapping[bytes, bytes]) -> Change:
        store, spec = self._job.store, self._job.spec
        rows = {row.path: row for row in store.changes(base, head)}
        return Change(
            files=tuple(Changed(path, int(row.old_mode, 8), int(row.new_mode, 8)) for path, row in rows.items()),
            plan_files=spec.plan.files if spec.plan else (),
            read=lambda path: self._content(path, rows[path].new_mode, rows[path].new_blob) or b"",
            read_base=lambda path: self._content(path, rows[path].old_mode, rows[path].old_blob),
            tree=store.files(head),
            protected=spec.protected,
            own=own,
            weakens=spec.plan.weakens if spec.plan else (),
            carried=self.ready.values(),
            commands=tuple(gate.run for gate in spec.gates),
            read_whole=lambda path: self._content(path, rows[path].new_mode, rows[path].new_blob, WHOLE) or b"",
            read_whole_base=lambda path: self._content(path, rows[path].old_mode, rows[path].old_blob, WHOLE),
        )

    def _content(self, path: bytes, mode: str, blob: str, cap: int = MAX_READ) -> bytes | None:
        """Return what a file or link holds, None for a submodule and what is not there; of a long one its beginning."""
        if int(mode, 8) in {MODE_ABSENT, MODE_GITLINK}:
            return None
        answer = self._job.store.git.call("cat-file", "blob", blob, cap=cap)
        if answer.returncode and not answer.cut:
            raise GitError("cat-file", answer.returncode, answer.stderr)
        if answer.cut and cap == MAX_READ:
            megabytes = MAX_READ // 1_000_000
            gates = "weakening, security and dependencies"
            self._job.ledger.note(f"{display(path)} is long: {gates} look at its first {megabytes} MB.")
        return answer.stdout

    def _commands(self, sha: str, gates: Sequence[GateSpec], *, judged: bool) -> list[GateRun]:
        if not gates:
            return []
        job, self._runs, begun = self._job, self._runs + 1, time.monotonic()
        folder = job.settings.home / "checkouts" / job.spec.job
        self.ready.provide(sha)
        checkout = job.store.fresh_checkout(sha, folder, job.sandbox.owner)
        try:
            self.ready.furnish(sha, checkout.tree, checkout.home)
            groups = neighbours(gates)
            return [run for group in groups for run in self._beside(checkout, group, judged=judged)]
        finally:
            remove(folder)
            job.ledger.check_seconds += time.monotonic() - begun

    def _beside(self, checkout: Checkout, gates: Sequence[tuple[int, GateSpec]], *, judged: bool) -> Iterator[GateRun]:
        """Run neighbours side by side where there are several, and yield their results in order."""
        if len(gates) == 1:
            yield self._command(checkout, *gates[0], judged=judged)
            return
        with self._job.watch.polled(), ThreadPoolExecutor(MAX_BESIDE) as pool:
            yield from pool.map(lambda gate: self._command(checkout, *gate, judged=judged), gates)

    def _command(self, checkout: Checkout, number: int, gate: GateSpec, *, judged: bool) -> GateRun:
        """Run a check; once more, unchanged, where the change is judged and would be held back by a failure."""
        job = self._job
        job.heartbeat.line(f"running {gate.name}")
        env, confined = environment(job, checkout), Confined(job, checkout, job.sandbox.network_of_checks)
        output = job.exchange / "in" / f"gate-{self._runs}-{number}.txt"
        run = run_gate(gate, checkout.tree, output, env, confined)
        if not (judged and may_be_flaky(run) and self._compare(run).holds_back):
            return run
        job.heartbeat.line(f"running {gate.name} once more")
        return again(run, run_gate(gate, checkout.tree, output.with_suffix(".again.txt"), env, confined))


def _absent(result: GateResult, runner: str) -> str:
    what = f"The check {result.name} can't be run on runner {runner}: {result.summary}"
    return f"{what} {result.first_error} Nothing was spent. Install what it needs, or change the check, then /retry."


def neighbours(gates: Sequence[GateSpec]) -> Iterator[list[tuple[int, GateSpec]]]:
    """Yield the checks with their numbers in the order of the policy, those that may run side by side together."""
    for parallel, group in groupby(enumerate(gates), key=lambda numbered: numbered[1].parallel):
        numbered = list(group)
        yield from [numbered] if parallel else [[one] for one in numbered]
