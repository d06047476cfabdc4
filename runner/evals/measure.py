"""Go through cases and versions, several at a time where asked, until all are tried or time or dollars are used up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.evals.figures import Figures, figures
from runner.evals.trial import try_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.evals.case import Case
    from runner.evals.trial import Bench, Trial
    from runner.evals.versions import Version
    from runner.results import Unit


@dataclass(frozen=True)
class Measured:
    """All that a measurement found."""

    unit: Unit
    agent: str
    model: str | None
    cases: tuple[Case, ...]
    versions: tuple[Version, ...]
    repeat: int
    trials: tuple[Trial, ...]

    def of(self, version: Version, case: Case | None = None) -> list[Trial]:
        """Return the trials of a version, those of one case where it is named."""
        names = {case.name} if case else {each.name for each in self.cases}
        return [trial for trial in self.trials if trial.version == version.name and trial.case in names]

    def figures(self, version: Version) -> Figures:
        """Return what a version came to."""
        return figures(self.of(version), len(self.cases) * self.repeat)


def measure(bench: Bench, cases: Sequence[Case], versions: Sequence[Version], repeat: int, jobs: int) -> Measured:
    """Try every case with every version ``repeat`` times, ``jobs`` at a time.

    The versions of a case are tried one after the other, so that a measurement that is cut short compares like with
    like, and what changes meanwhile (a model, a machine under load) changes for all of them.
    """
    rounds = [(case, version) for _ in range(repeat) for case in cases for version in versions]
    with ThreadPoolExecutor(jobs) as pool:
        under_way = [pool.submit(try_out, bench, *pair) for pair in rounds]
        try:
            wait(under_way)
        except KeyboardInterrupt:
            bench.purse.stopped = "it was interrupted"
    trials = tuple(trial.result() for trial in under_way)
    agent = bench.terms.agent
    return Measured(cases[0].unit, agent.name, agent.model, tuple(cases), tuple(versions), repeat, trials)
