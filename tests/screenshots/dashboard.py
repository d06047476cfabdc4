"""Pages of the dashboard as a company sees them that has used Twogate for three months: real pages, served on loopback."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bot.lifecycle.permission import Permission
from bot.lifecycle.states import State, WaitingOn
from bot.store.engine import open_store
from bot.store.migrate import migrate
from tests.web import company
from tests.web.lab import served
from tests.web.looking import looks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLANS = 104
"""Plans of the company; enough for every state and for trends."""
SHOTS = {
    "queue": ("/", (1280, 375)),
    "plan": ("/plans/{draft}", (1280, 375)),
    "diff": ("/plans/{review}/diff", (1280,)),
    "costs": ("/costs?period=90d", (1280,)),
    "audit": ("/audit", (1280,)),
}
"""Name of the picture -> the page's address, and the widths of the windows that it is taken in."""
MOST = {1280: 1500, 375: 1500}
"""Width of the window -> the most of the page that is shown; pixels."""


@contextmanager
def dashboard(folder: Path) -> Iterator[tuple[dict[str, str], str]]:
    """Lend the addresses of the pages by the name of their picture, and the cookie of somebody signed in."""
    url = f"sqlite:///{folder / 'company.db'}"
    migrate(url)
    now = time.time()
    store = open_store(url, now=lambda: now)
    made = company.found(store, PLANS, now)
    look = looks(store, lambda: now, company.ALICE, dict.fromkeys((r.id for r in company.REPOS), Permission.WRITE))
    stands = {(plan.state, plan.waiting_on): plan.uid for plan in made}
    uids = {
        "draft": stands[State.DRAFT, WaitingOn.PLAN_DECISION],
        "review": stands[State.IN_REVIEW, WaitingOn.DIFF_DECISION],
    }
    with served(lambda _: look.browser.application) as address:
        yield {name: address + path.format(**uids) for name, (path, _) in SHOTS.items()}, look.cookie
    store.dispose()
