"""``kill -9`` of the bot's processes and of runners at seeded moments of the demo: it ends right all the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome
from tests.demo.__main__ import environment, policy
from tests.demo.players import scripted
from tests.demo.script import ROUND, TASKS
from tests.demo.stage import built_in
from tests.demo.story import Scene, Teller, perform
from tests.faults.killer import Killer, drawn
from tests.faults.truth import faults
from tests.town import Town

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan
    from tests.demo.script import Task
    from tests.faults.killer import Strike

BOT = str(Path(__file__).with_name("hasty_bot.py"))
TOGETHER = {"serve": ("-P", BOT, "serve")}
APART = {"web": ("-m", "bot", "web"), "work": ("-P", BOT, "work")}
KILLS = 20
LAST_WHOLE, LAST_APART, LAST_QUICK = 140, 110, 34
"""The request by which all are dead. Undisturbed, three issues need 119 and one 42; each start of a worker adds some."""


class Persistent(Scene):
    """A scene whose Alice says /retry where the same work was lost twice, as the bot then asks her to."""

    _answered = 0

    def _stuck(self, plan: Plan | None) -> None:
        lost = plan is not None and plan.failure is not None and plan.failure.outcome is Outcome.LOST
        if not lost or plan is None or plan.state != "failed":
            super()._stuck(plan)
        elif plan.jobs_opened > self._answered:
            self._answered = plan.jobs_opened
            self.cast.alice.comment(self.issue, "/retry")
            self._tell("Alice: /retry")


def drill(home: Path, processes: dict[str, tuple[str, ...]], tasks: tuple[Task, ...], strikes: list[Strike]) -> str:
    """Play these tasks under these strikes, check everything, and return who died how often."""
    stage, player, teller = built_in(), scripted(home / "agent", tasks), Teller()
    rules, machine = policy(stage, player), environment(stage, player)
    with Town(home, source=stage.source, policy=rules, machine=machine, processes=processes) as town:
        killer = Killer(town, strikes, teller)
        killer.start()
        try:
            scenes = perform(town, tasks, teller, Persistent)
        finally:
            killer.done.set()
            killer.join()
        if killer.fault is not None:
            raise killer.fault
        town.settle()
        assert faults(town, scenes) == [], town.known()
        assert sum(killer.deaths.values()) == len(strikes), killer.deaths
    return ", ".join(f"{count} x {who}" for who, count in sorted(killer.deaths.items()))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder that the agent's user may enter."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == tmp_path.owner() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    return tmp_path


@pytest.mark.slow
def test_a_few_kills_during_one_issue(home: Path) -> None:
    print(drill(home, TOGETHER, (ROUND,), drawn(17, 4, [*TOGETHER], LAST_QUICK)))


@pytest.mark.drill
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_twenty_kills_of_the_whole_bot_and_of_runners(home: Path, seed: int) -> None:
    print(drill(home, TOGETHER, TASKS, drawn(seed, KILLS, [*TOGETHER], LAST_WHOLE)))


@pytest.mark.drill
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_twenty_kills_of_web_worker_and_runners(home: Path, seed: int) -> None:
    print(drill(home, APART, TASKS, drawn(seed, KILLS, [*APART], LAST_APART)))
