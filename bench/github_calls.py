"""What a merged plan costs GitHub: requests of the App, counted by the stand-in over the demo.

The baseline is what people are left with: comments, reactions, labels, check runs, dispatched runs and pull requests.
A bot that wrote each of them once, and nothing else, would have the ratio 1. Several changes in one GraphQL request are
one write, as GitHub counts them.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measure import Measure
from tests.demo.__main__ import environment, policy
from tests.demo.players import scripted
from tests.demo.stage import set_stage
from tests.demo.story import Teller, perform
from tests.town import Town
from tests.town.town import APP, REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterable

BOT = f"{APP}[bot]"
POLLS = frozenset({"graphql/Reactions", "graphql/MoreReactions"})
"""Polls for reactions depend on how long people take, so they are counted apart."""


def measure() -> list[Measure]:
    """Play the demo and count."""
    home = Path(tempfile.mkdtemp(prefix="twogate-bench-"))
    home.chmod(0o755)
    try:
        return _measure(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _measure(home: Path) -> list[Measure]:
    stage = set_stage("", home, lambda _: None)
    player = scripted(home / "agent", stage.tasks)
    machine = environment(stage, player)
    with Town(home, source=stage.source, policy=policy(stage, player), machine=machine) as town:
        perform(town, stage.tasks, Teller())
        town.settle()
        return _count(town, len(stage.tasks))


def _count(town: Town, plans: int) -> list[Measure]:
    requests = [e for e in town.github.journal.entries if e.actor == BOT and e.path.startswith("/api/")]
    writes = [e for e in requests if e.write]
    polls = [e for e in requests if e.operation in POLLS]
    reads = len(requests) - len(writes) - len(polls)
    left = _left(town) / plans
    called = "comments, reactions, labels, checks, runs and pull requests left behind"
    return [
        Measure("GitHub writes per merged plan", len(writes) / plans, "requests", left, called),
        Measure("GitHub calls per merged plan, without polls", (len(writes) + reads) / plans, "requests", left, called),
        Measure("reaction polls per merged plan", len(polls) / plans, "requests"),
    ]


def _left(town: Town) -> int:
    repo = town.github.hub.repo(*REPOSITORY.split("/"))
    assert repo is not None
    return sum(_things(repo.issues.values())) + len(repo.runs) + len(repo.checks)


def _things(threads: Iterable) -> Iterable[int]:
    """Yield, for each issue and pull request, how many things of the bot it shows."""
    for thread in threads:
        own_pull = thread.user.login == BOT
        comments = sum(comment.user.login == BOT for comment in thread.comments)
        reactions = sum(reaction.user.login == BOT for reaction in thread.reactions)
        yield comments + reactions + own_pull + sum(label.name.startswith("plan: ") for label in thread.labels)
