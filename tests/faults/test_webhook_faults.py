"""What goes wrong between GitHub and the bot, during one issue's whole story: nothing is done twice, and it is merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bot.store import health
from tests.faults.patience import BOT, STEPS, time_goes_by, until
from tests.scenarios.conftest import country, source, sqlite_template, sqlite_url, village
from tests.standin import gitstore

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.scenarios.village import Village
    from tests.standin.faults import Fault

    Disturb = Callable[[str], object]

__all__ = ["country", "source", "sqlite_template", "sqlite_url", "village"]

WRITES = [
    ("POST", r"/dispatches$"),
    ("POST", r"/issues/\d+/comments$"),
    ("PATCH", r"/check-runs/\d+$"),
    ("POST", r"/pulls$"),
]
"""Every kind of write that the story needs of the bot, but for those that go out as mutations, several in a request."""
MUTATIONS = r"/graphql$"
"""Where those go, and what is looked at before a decision: one in three requests there meets trouble."""
LEAST_MUTATIONS = 2
"""Of a dozen such requests at one in three."""


def agree(village: Village, issue: int, disturb: Disturb) -> None:
    """Alice approves, and Bob says something right after her."""
    disturb("issue_comment.created")
    village.alice.comment(issue, "/approve")
    village.bob.comment(issue, "Thanks!")


def story(village: Village, disturb: Disturb = lambda _: None) -> int:
    """From the label to the merge. ``disturb`` is told of the deliveries that another follows at once, before they go."""
    disturb("issues.opened")
    issue = village.opened()
    village.tom.label(issue, "agent")
    until(village, issue, "draft, waits for runner")
    village.runner(issue).write_plan()
    until(village, issue, "draft, waits for plan_decision")
    agree(village, issue, disturb)
    until(village, issue, "executing, waits for runner")
    head = village.runner(issue).execute({"shop/basket.py": "rounded"})
    until(village, issue, "in_review, waits for diff_decision")
    agree(village, issue, disturb)
    until(village, issue, "pr_open, waits for merge")
    disturb("pull_request.closed")
    village.alice.merge(village.plan(issue).pull_request or 0)
    until(village, issue, "merged")
    for _ in range(STEPS):
        if not open_work(village):
            break
        time_goes_by(village)
    ended_right(village, issue, head)
    return issue


def open_work(village: Village) -> int:
    with village.parts.store.read() as tx:
        found = health.look(tx)
    return found.effects.waiting + found.deliveries.waiting


def ended_right(village: Village, issue: int, head: str) -> None:
    """Everything is there once, and as if there had been no trouble; the village itself looks for what is doubled."""
    assert open_work(village) == 0, village.known()
    said = ["alice: /approve", "bob: Thanks!"] * 2
    assert sorted(village.thread(issue)) == sorted(["status", "plan 1", "review 2", *said])
    assert "is merged. This plan is done." in village.text(issue, "status")
    assert village.labels(issue) == ["agent", "plan: merged"]
    assert village.runs() == [f"twogate {village.plan(issue).uid}-{number}" for number in (1, 2)]
    assert [pull["head"]["sha"] for pull in village.pulls()] == [head]
    assert len(village.repo.checks) == 1
    assert village.branches() == []
    seen = [reaction["content"] for reaction in village.alice.pages(f"/issues/{issue}/reactions")]
    assert seen == ["eyes"]
    versions = [entry.version for entry in village.journal(issue) if entry.version is not None]
    assert versions == list(range(1, village.plan(issue).version + 1))
    log = gitstore.text(village.github.hub.git_dir(village.repo), "log", "--first-parent", "--format=%P", "main")
    assert log.split("\n")[0].split()[1] == head


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "duplicate"},
        {"kind": "redeliver", "probability": 0.5},
        {"kind": "drop"},
        pytest.param({"kind": "drop", "probability": 0.5}, marks=pytest.mark.drill),
        {"kind": "delay", "seconds": 0.3, "probability": 0.5},
    ],
    ids=lambda fault: "-".join(map(str, fault.values())),
)
def test_every_delivery_is_disturbed(village: Village, fault: dict[str, Any]) -> None:
    set_up = village.github.faults.add(**fault, count=None)
    story(village)
    assert set_up.hits > 5


def test_deliveries_overtake_each_other(village: Village) -> None:
    swapped: list[Fault] = []
    story(village, lambda event: swapped.append(village.github.faults.add("reorder", event=event)))
    assert [fault.hits for fault in swapped] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"kind": "error", "status": 502}, marks=pytest.mark.drill),
        {"kind": "error_after", "status": 502},
        {"kind": "reset_after"},
        {"kind": "secondary", "status": 429, "seconds": 20},
        pytest.param({"kind": "secondary", "status": 403, "seconds": 20}, marks=pytest.mark.drill),
        pytest.param({"kind": "primary", "seconds": 20}, marks=pytest.mark.drill),
    ],
    ids=lambda fault: f"{fault['kind']}-{fault.get('status', '')}",
)
def test_every_kind_of_write_meets_trouble_once(village: Village, fault: dict[str, Any]) -> None:
    met = [village.github.faults.add(**fault, actor=BOT, method=method, path=path) for method, path in WRITES]
    often = village.github.faults.add(**fault, actor=BOT, path=MUTATIONS, count=None, probability=0.3)
    story(village)
    assert [(fault.method, fault.path) for fault in met if fault.hits != 1] == []
    assert often.hits >= LEAST_MUTATIONS
