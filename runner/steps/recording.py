"""The log of an agent's run in a job: opened before anything is asked, closed however the run ends."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.agents.readers import reader_for
from runner.logs.events import Asked, Started
from runner.logs.record import RunLog
from runner.steps.redact import Redactor, carried_values
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.agents.base import AgentResult
    from runner.meter import Tap
    from runner.meter.ledger import CallSettled
    from runner.results import Unit
    from runner.steps.context import Job
    from runner.terms import AgentSpec
    from runner.worktree import Mounts

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


@dataclass(frozen=True)
class RunOf:
    """Whose run it is, and what it is asked."""

    unit: Unit
    spec: AgentSpec
    number: int
    attempt: int
    resumed: bool
    prompt: str


def open_log(job: Job, folder: Path, mounts: Mounts, run: RunOf) -> RunLog:
    """Begin the log of a run."""
    asked = run.prompt.encode("utf-8", "replace")
    redact = Redactor(job.settings.environment, carried=carried_values(job.settings.home, job.spec))
    places = {f"{mounts.cwd}/": "", str(mounts.cwd): ".", str(job.exchange): "$EXCHANGE", str(mounts.home): "~"}
    log = RunLog(folder, reader_for(run.spec), redact, job.now, places)
    started = Started(
        job=job.spec.job,
        plan=job.spec.plan_name,
        revision=job.spec.revision,
        unit=run.unit,
        number=run.number,
        attempt=run.attempt,
        agent=run.spec.name,
        model=run.spec.model,
        resumed=run.resumed,
        prompt_bytes=len(asked),
        prompt_sha256=hashlib.sha256(asked).hexdigest(),
    )
    log.begin(started, run.prompt)
    return log


def asked_of(tap: Tap, answer: AgentResult) -> list[Asked]:
    """Return the calls to models that a run made: as they were metered, else as the agent tells them."""
    if tap.calls or not answer.calls:
        return [Asked(at=call.at, usd=call.usd, model=call.model, **_tokens(call)) for call in tap.calls]
    sums = {name: sum(getattr(call, name) for call in answer.calls) for name in TOKENS}
    model = answer.calls[-1].model
    return [Asked(usd=answer.usd, model=model, metered=False, calls=len(answer.calls), **sums)]


def _tokens(call: CallSettled) -> dict[str, int | None]:
    return {name: getattr(call, name) for name in TOKENS}


@dataclass
class Closer:
    """What closes the log of a run."""

    log: RunLog | None = None
    fault: str = ""
    """Why the result could not be used; empty where it could."""


@contextmanager
def closing() -> Iterator[Closer]:
    """Close the log at the end of the block, with how the run ended."""
    closer = Closer()
    try:
        yield closer
    except Ending as ending:
        _close(closer, ending.outcome.value, ending.sentence)
        raise
    except BaseException as error:
        _close(closer, "runner_failed", f"{type(error).__name__}: {error}")
        raise
    _close(closer, "invalid_result" if closer.fault else "answered", closer.fault)


def _close(closer: Closer, outcome: str, sentence: str) -> None:
    if closer.log is not None:
        closer.log.end(outcome, sentence)
