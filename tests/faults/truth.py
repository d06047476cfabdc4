"""What must hold when everything was killed again and again: GitHub's records are the truth, the bot's must agree."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bot.store import jobs, outbox, usage
from tests import audit
from tests.demo.promises import broken
from tests.town.town import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.demo.story import Scene
    from tests.town import Town


def faults(town: Town, scenes: list[Scene]) -> list[str]:
    """A sentence for everything that is not as it must be."""
    found = [*broken(town, scenes, scripted=True, sound=True), *_pulls(town, scenes), *_given_up(town)]
    for scene in scenes:
        found += [f"#{scene.issue}: {fault}" for fault in _costs(town, scene)]
    with town.store.read() as tx:
        return found + audit.faults(tx)


def _pulls(town: Town, scenes: list[Scene]) -> Iterator[str]:
    pulls = town.people["alice"].call("GET", "/pulls?state=all")
    heads = Counter(pull["head"]["ref"] for pull in pulls)
    if len(pulls) != len(scenes) or len(heads) != len(pulls):
        yield f"pull requests of {heads} rather than one an issue"


def _given_up(town: Town) -> Iterator[str]:
    with town.store.read() as tx:
        yield from (f"given up: {parked.kind} {parked.error}" for parked in outbox.parked(tx))


def _costs(town: Town, scene: Scene) -> Iterator[str]:
    """Every job that reported counts whole, every other as far as it was heard of, none twice."""
    plan = town.plan(scene.issue)
    assert plan is not None
    with town.store.read() as tx:
        spent = Counter(row.job for row in usage.of_plan(tx, plan.uid))
        for job in jobs.of_plan(tx, plan.uid):
            report, progress = jobs.report_of(tx, job.id), jobs.last_progress(tx, job.id)
            known = len(report.usage) if report else len(progress.usage) if progress else 0
            if spent[job.id] != known:
                yield f"job {job.id} counts {spent[job.id]} runs of agents rather than {known}"
    dispatched = {run.title for run in town.github.control.repo(REPOSITORY).runs.values()}
    known_jobs = {f"twogate {plan.uid}-{number}" for number in range(1, plan.jobs_opened + 1)}
    if unknown := {title for title in dispatched if title.startswith(f"twogate {plan.uid}")} - known_jobs:
        yield f"runs of jobs that the plan does not know: {unknown}"
