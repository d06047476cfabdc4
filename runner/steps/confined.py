"""Run a command of the repository (a check, a preparation) in the sandbox, within the job's time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner import process
from runner.sandbox import Confinement, agent_environment
from runner.steps.agent import GRACE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from runner.steps.context import Job
    from runner.store import Checkout
    from runner.terms import Network


def environment(job: Job, checkout: Checkout) -> dict[str, str]:
    """Return what a command gets: nothing of the runner's but how to find programs, and ``CI=true``."""
    extra = {process.MARKER: job.spec.job, "CI": "true"}
    return agent_environment(job.settings.environment, home=checkout.home, tmp=checkout.tmp, extra=extra)


@dataclass(frozen=True)
class Confined:
    """Runs commands in one checkout; ends the job where it must end."""

    job: Job
    checkout: Checkout
    network: Network

    def __call__(
        self, command: list[str], *, cwd: Path, env: Mapping[str, str], seconds: float, output: Path
    ) -> process.Ended:
        """Run ``command`` in ``cwd`` for at most ``seconds``."""
        watch, place = self.job.watch, self.checkout
        confinement = Confinement(cwd=cwd, writable=place.writable, readonly=place.readonly, network=self.network)
        with watch.polled():
            ended = process.run(
                self.job.sandbox.wrap(command, confinement),
                cwd=cwd,
                env=env,
                stdout_path=output,
                deadline_seconds=min(seconds, watch.remaining()),
                stop=lambda: ending.sentence if (ending := watch.ending()) else None,
                grace_seconds=GRACE,
            )
        watch.check()
        return ended
