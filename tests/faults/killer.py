"""A killer with a seed: which process dies at which moment is drawn before the story begins.

Moments are counted in requests that GitHub has seen, not in seconds: the same seed strikes at the same places of the
story, on a fast machine and on a slow one. Half of the bot's deaths come while GitHub answers, so that what was asked for
is done and nobody hears of it; the others a moment later.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil
from sqlalchemy import update

from bot.store import jobs
from bot.store.schema import timers
from tests.standin.act import descendants, kill, tracked
from tests.standin.runs_service import Actions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.demo.story import Teller
    from tests.standin.front import Entry
    from tests.standin.workflow_runs import Attempt
    from tests.town import Town

RUNNER_DEATHS = ("machine is cut off", "machine falls silent", "machine is lost", "program", "program and agent")
"""Ends of a runner: GitHub cancels its run at once, never notices, or notices; or `twogate-runner` alone dies."""
FIRST = 6
"""The request before which the bot has only just started."""
RUNNER_SHARE = 0.35
"""Of all deaths, those of runners."""
BOT_LAG, RUNNER_LAG = 0.6, 3.0
"""Seconds after a request within which who is not struck within it dies: a runner works long between two requests."""
TICK = 0.1
"""Seconds between two looks at the world."""
PATIENCE = 60.0
"""Seconds that what a death sets going may take."""


@dataclass(frozen=True)
class Strike:
    """One death: at which request, of whom, how, and how many seconds after that request (0: within it)."""

    moment: int
    victim: str
    how: str
    lag: float
    choice: float
    """Which of the runners that are there, between 0 and 1."""


def drawn(seed: int, count: int, processes: list[str], last: int) -> list[Strike]:
    """The deaths of a seed, the last one at the request of that number or before."""
    rng = random.Random(seed)
    strikes = []
    for moment in sorted(rng.sample(range(FIRST, last), count)):
        runner = rng.random() < RUNNER_SHARE
        victim = "runner" if runner else rng.choice(processes)
        how = rng.choice(RUNNER_DEATHS) if runner else "kill -9"
        lag = 0.0 if rng.random() < 0.5 and not runner else rng.uniform(0.0, RUNNER_LAG if runner else BOT_LAG)
        strikes.append(Strike(moment, victim, how, lag, rng.random()))
    return strikes


class Killer(threading.Thread):
    """Strikes one after the other, and starts again what it killed."""

    def __init__(self, town: Town, strikes: list[Strike], teller: Teller) -> None:
        super().__init__(name="killer", daemon=True)
        self._town, self._strikes, self._tell = town, strikes, teller.tell
        self._actions = town.github.hub.service(Actions)
        self._seen, self._due = 0, math.inf
        self._at_once: Callable[[], None] | None = None
        self._moment = threading.Event()
        self._lost: set[str] = set()
        self.done = threading.Event()
        self.deaths: Counter[str] = Counter()
        self.fault: BaseException | None = None
        self._keep, town.github.journal.add = town.github.journal.add, self._see  # type: ignore[method-assign]

    def _see(self, entry: Entry) -> None:
        """Count a request of the API; strike where its moment has come."""
        self._keep(entry)
        self._seen += 1
        if self._seen >= self._due:
            self._due = math.inf
            if self._at_once is not None:
                self._at_once()
            self._moment.set()

    def run(self) -> None:
        """Strike until all is struck, then keep time for those that are lost."""
        try:
            for strike in self._strikes:
                if not self._wait_for(strike):
                    return
                self._strike(strike)
            while not self.done.wait(TICK):
                self._hasten()
        except BaseException as fault:  # noqa: BLE001 - told by the test
            self.fault = fault

    def _wait_for(self, strike: Strike) -> bool:
        self._moment.clear()
        process = self._town.processes.get(strike.victim)
        self._at_once = process.kill if process is not None and strike.lag == 0 else None
        self._due = max(strike.moment, self._seen + 1)
        while not self._moment.wait(TICK):
            self._hasten()
            if self.done.is_set():
                return False
        time.sleep(strike.lag)
        return True

    def _strike(self, strike: Strike) -> None:
        if strike.victim == "runner":
            self._strike_runner(strike)
            return
        process = self._town.processes[strike.victim]
        process.kill()
        self.deaths[strike.victim] += 1
        self._tell(None, f"    kill -9 of {strike.victim}, after {self._seen} requests")
        process.start()
        self._town.until_ready()

    def _strike_runner(self, strike: Strike) -> None:
        while not self.done.wait(TICK):
            self._hasten()
            with self._town.github.hub.lock:
                running = [attempt for attempt in self._actions.attempts if attempt.phase == "in_progress"]
                attempt = running[int(strike.choice * len(running))] if running else None
                if attempt is not None and strike.how.startswith("machine"):
                    self._cut_off(attempt, strike.how)
            if attempt is not None and (strike.how.startswith("machine") or _kill_program(attempt, strike.how)):
                break
        else:
            return
        self.deaths[f"runner: {strike.how}"] += 1
        self._tell(None, f"    the {strike.how} under {attempt.run.title!r}, after {self._seen} requests")
        self._lost.add(attempt.run.title.removeprefix("twogate "))
        if strike.how == "machine is lost":
            self._until_gone(attempt)
            with self._town.github.hub.lock:
                self._actions.give_up(attempt)

    def _cut_off(self, attempt: Attempt, how: str) -> None:
        if how == "machine is cut off":
            self._actions.cancel(attempt, "killed")
        else:
            self._actions.vanish(attempt)

    def _until_gone(self, attempt: Attempt) -> None:
        deadline = time.monotonic() + PATIENCE
        while attempt.phase != "lost":
            assert time.monotonic() < deadline, f"{attempt.run.title} does not vanish: {attempt.phase}"
            time.sleep(TICK)

    def _hasten(self) -> None:
        """Let the minutes go by in which the bot hopes to hear of a runner that is dead."""
        for job_id in list(self._lost):
            with self._town.store.read() as tx:
                job = jobs.get(tx, job_id)
                waits = job is not None and job.is_open and job.reported_at is None
                overdue = job is not None and job.deadline_at <= tx.now
            if not waits:
                self._lost.discard(job_id)
            elif not overdue:
                with self._town.store.write() as tx:
                    jobs.look_again(tx, job_id, tx.now)
                    tx.execute(update(timers).where(timers.c.key == f"lost:{job_id}").values(due_at=tx.now))


def _kill_program(attempt: Attempt, how: str) -> bool:
    """Kill the runner's program, with or without what it started; False where there is none yet."""
    for process in tracked(attempt.runner):
        try:
            found = "twogate-runner" in " ".join(process.cmdline()) and "run" in process.cmdline()
        except psutil.Error:
            continue
        if found:
            kill([process, *(descendants(process) if how == "program and agent" else [])])
            return True
    return False
