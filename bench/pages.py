"""What the dashboard's pages take at ten thousand plans with a hundred thousand lines of journal, and with none.

The baseline that tells what ten thousand plans cost is a bot that has just enough of them to fill its pages: it shows
as many rows. Beside it stands an empty bot, which shows none; that ratio is mostly what it takes to write rows at all
(decision 27). Pages are made by the real application over a SQLite file, without the network between. The first look
at costs is apart: figures are remembered.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measure import Measure
from bot.lifecycle.permission import Permission
from bot.lifecycle.states import State, WaitingOn
from bot.store.engine import open_store
from bot.store.migrate import migrate
from bot.web.limits import Rate
from tests.web import company
from tests.web.looking import looks

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan
    from tests.web.looking import Looker

PLANS, FEW = 10_000, 300
"""Plans of the large bot, and of one that just fills the pages as well."""
ROUNDS = 40
"""Looks at each page, after the first."""
OFTEN = Rate(1_000_000, 60.0, "pages a minute")
"""More than anybody looks at; the clock of the bench stands still."""
PAGES = {
    "queue": "/",
    "one state": "/?state=merged",
    "ideas": "/ideas",
    "costs": "/costs?period=90d",
    "runners": "/runners",
    "audit": "/audit",
    "audit of a person": "/audit?person=bob",
}
TABS = {"plan": "", "diff": "/diff", "timeline": "/timeline", "costs of a plan": "/costs"}


def measure() -> list[Measure]:
    """Measure every page at both sizes."""
    with tempfile.TemporaryDirectory(prefix="twogate-bench-") as folder:
        large, few = _times(Path(folder, "large.db"), PLANS), _times(Path(folder, "few.db"), FEW)
        none = _times(Path(folder, "none.db"), 0)
    return [
        *(Measure(f"page: {n}, p95", large[n][0], "ms", few[n][0], f"{FEW:,} plans") for n in PAGES | TABS),
        *(Measure(f"page: {name}, p95", large[name][0], "ms", none[name][0], "an empty bot") for name in PAGES),
        Measure("page: costs, first look", large["costs"][1], "ms", few["costs"][1], f"{FEW:,} plans"),
    ]


def _times(file: Path, count: int) -> dict[str, tuple[float, float]]:
    """Return for each page the 95th percentile of its times and its first time, in milliseconds."""
    migrate(f"sqlite:///{file}")
    now = time.time()
    store = open_store(f"sqlite:///{file}", now=lambda: now)
    made = company.found(store, count, now) if count else []
    everywhere = {repo.id: Permission.WRITE for repo in company.REPOS}
    looker = looks(store, lambda: now, company.ALICE, everywhere, looking=OFTEN)
    looker.get("/nowhere")
    found = {name: _looks(looker, path) for name, path in _paths(made).items()}
    store.dispose()
    return found


def _paths(made: list[Plan]) -> dict[str, str]:
    shown = [p for p in made if (p.state, p.waiting_on) == (State.IN_REVIEW, WaitingOn.DIFF_DECISION)]
    return PAGES | {name: f"/plans/{shown[0].uid}{tab}" for name, tab in TABS.items() if shown}


def _looks(looker: Looker, path: str) -> tuple[float, float]:
    took = []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        answer = looker.browser.get(path)
        took.append((time.perf_counter() - started) * 1_000)
        if answer.status_code != 200:  # noqa: PLR2004 - a page that is not there is no measure
            raise RuntimeError(f"{path}: {answer.status}")
    first, *later = took
    return sorted(later)[int(len(later) * 0.95)], first
