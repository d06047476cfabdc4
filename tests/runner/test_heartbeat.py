"""The heartbeat and the watch: who may end a job, and what the report then says."""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from runner.client import RefusedError, UnreachableError
from runner.contract import Outcome, Phase, Progress, ProgressAnswer
from runner.heartbeat import UNREACHABLE_LIMIT, Heartbeat
from runner.watch import Ending, Watch

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    def __init__(self) -> None:
        self.time = 1_000.0

    def __call__(self) -> float:
        return self.time


class Line:
    """The wire: what was sent, and what comes back."""

    def __init__(self, answer: Callable[[], str | None]) -> None:
        self.answer = answer
        self.sent: list[Progress] = []
        self.arrived = threading.Condition()

    def __call__(self, progress: Progress) -> ProgressAnswer:
        try:
            return ProgressAnswer(stop=self.answer(), usd_today=Decimal(3))
        finally:
            with self.arrived:
                self.sent.append(progress)
                self.arrived.notify_all()

    def wait_for(self, phase: Phase) -> Progress:
        with self.arrived:
            assert self.arrived.wait_for(lambda: any(p.phase is phase for p in self.sent), 10)
            return next(p for p in self.sent if p.phase is phase)


def ending_of(watch: Watch) -> Ending:
    ending = watch.ending()
    assert ending is not None
    return ending


def test_a_change_of_phase_is_told_at_once_with_the_lines_made_harmless() -> None:
    clock, line = Clock(), Line(lambda: None)
    with Heartbeat(line, Watch(clock, 60), clock) as heartbeat:
        heartbeat.line("red \x1b[31m and long " + "x" * 500)
        heartbeat.enter(Phase.GATES, 2, ())
        told = line.wait_for(Phase.GATES)
    assert told.attempt == 2
    assert "\x1b" not in told.lines[0]
    assert len(told.lines[0]) == 300


def test_it_beats_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.heartbeat.PERIOD", 0.01)
    clock, line = Clock(), Line(lambda: None)
    with Heartbeat(line, Watch(clock, 60), clock):
        line.wait_for(Phase.PREPARE)


def test_the_bots_stop_reaches_the_watch() -> None:
    clock = Clock()
    watch = Watch(clock, 60)
    Heartbeat(Line(lambda: "cancelled by ada"), watch, clock).enter(Phase.AGENT, 1, ())
    assert ending_of(watch).outcome is Outcome.STOPPED
    assert "cancelled by ada" in ending_of(watch).sentence


def test_a_job_that_is_no_longer_ours_ends() -> None:
    def superseded() -> str | None:
        raise RefusedError(410, "Job superseded.")

    clock = Clock()
    watch = Watch(clock, 60)
    Heartbeat(Line(superseded), watch, clock).enter(Phase.AGENT, 1, ())
    assert "Job superseded." in ending_of(watch).sentence


def test_ten_minutes_of_silence_end_the_job_and_not_a_second_less() -> None:
    def silence() -> str | None:
        raise UnreachableError("No route.")

    clock = Clock()
    watch = Watch(clock, 60)
    line = Line(silence)
    heartbeat = Heartbeat(line, watch, clock)
    clock.time += UNREACHABLE_LIMIT - 1
    heartbeat.enter(Phase.AGENT, 1, ())
    assert not watch.stops()
    clock.time += 1
    heartbeat.enter(Phase.GATES, 1, ())
    assert "had not answered for 10 minutes" in ending_of(watch).sentence


def test_time_over_ends_the_job_with_its_budget_named() -> None:
    clock = Clock()
    watch = Watch(clock, 1.5)
    clock.time += 89
    watch.check()
    assert watch.remaining() == 1
    clock.time += 1
    with pytest.raises(Ending, match=r"1\.5 minutes") as ended:
        watch.check()
    assert ended.value.outcome is Outcome.TIMED_OUT


def test_the_first_reason_wins() -> None:
    clock = Clock()
    watch = Watch(clock, 1)
    watch.end(Ending(Outcome.STOPPED, "first"))
    clock.time += 100
    watch.end(Ending(Outcome.RUNNER_FAILED, "second"))
    assert ending_of(watch).sentence == "first"


def test_a_signal_interrupts_a_step_once_and_leaves_a_polled_step_to_end_in_order() -> None:
    watch = Watch(Clock(), 1)
    with watch.polled():
        watch.interrupt(Ending(Outcome.STOPPED, "signal"))
        assert watch.stops()
    watch.interrupt(Ending(Outcome.STOPPED, "signal again"))
    other = Watch(Clock(), 1)
    with pytest.raises(Ending, match="signal"):
        other.interrupt(Ending(Outcome.STOPPED, "signal"))
    assert other.stops()
