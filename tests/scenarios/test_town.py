"""On the whole town, with real processes and act: two plans that change the same line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bot.lifecycle.accounts import accounts
from bot.store import histories
from tests.town import Town, TownError
from tests.town.repository import git

if TYPE_CHECKING:
    from collections.abc import Iterator

DEMO = Path(__file__).parent.parent / "demo"
LINE = "return sum(price * count for _, price, count in self.items)"


def task(title: str, replacement: str) -> dict[str, Any]:
    """A task that changes the one line."""
    return {
        "title": title,
        "plan": {
            "verdict": "plan",
            "title": title,
            "summary": "One line.",
            "steps": ["Change it."],
            "files": ["shop/basket.py"],
        },
        "attempts": [[{"path": "shop/basket.py", "find": LINE, "replace": replacement}]],
        "summary": "Changed the line.",
        "pull_request": {"title": title, "body": "One line."},
    }


TASKS = [
    task("Round the total", LINE.replace("sum(", "round(sum(") + ", 2)"),
    task("Make the total a float", LINE.replace("sum(", "float(sum(") + ")"),
]


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    tmp_path.chmod(0o755)
    for parent in (tmp_path.parent, tmp_path.parent.parent):
        parent.chmod(0o755)
    agent = tmp_path / "agent"
    agent.mkdir()
    shutil.copy(DEMO / "agent.py", agent)
    (agent / "script.json").write_text(json.dumps(TASKS))
    command = f'[python3, {agent}/agent.py, {agent}/script.json, "{{unit}}", "{{attempt}}", "{{prompt_file}}", "{{result_file}}"]'
    policy = (
        f"agent: {{cli: scripted}}\nagents: {{scripted: {{command: {command}, output: jsonl}}}}\n"
        "queue: {overlap: warn}\nsandbox: auto\n"
        "gates: [{name: tests, run: python3 -m unittest discover -s tests}]\n"
    )
    machine = {"TWOGATE_TOOLS": str(agent)}
    with Town(tmp_path / "town", source=DEMO / "repository", policy=policy, machine=machine) as founded:
        yield founded


def until(town: Town, issue: int, state: str, waiting_on: str | None = None) -> Any:
    """Wait for a state, but not beyond a failure."""

    def there() -> bool:
        plan = town.plan(issue)
        if plan is not None and plan.state == "failed" and state != "failed":
            raise TownError(f"#{issue} failed: {plan.failure}\n{town.known()}")
        return plan is not None and plan.state == state and waiting_on in {None, plan.waiting_on}

    town.until(f"#{issue} is {state}", there, 240)
    return town.plan(issue)


@pytest.mark.slow
def test_two_plans_that_change_the_same_line(town: Town) -> None:
    """Both give a clean, separate diff; the second is told of the conflict before its pull request."""
    alice = town.person("alice", "write")
    issues = [alice.open_issue(job["title"], "Please.") for job in TASKS]
    for issue in issues:
        alice.label(issue, "agent")
    for issue in issues:
        alice.react(until(town, issue, "draft", "plan_decision").revision.comment_id)
    reviews = [until(town, issue, "in_review", "diff_decision").review for issue in issues]
    for review, wanted in zip(reviews, ("round", "float"), strict=True):
        assert [(f.path, f.added, f.removed) for f in review.work.files] == [("shop/basket.py", 1, 1)]
        assert f"+        return {wanted}(" in review.work.patch
    assert reviews[0].work.base == reviews[1].work.base

    first, second = issues
    alice.comment(first, "/approve")
    alice.merge(until(town, first, "pr_open").pull_request)
    until(town, first, "merged")

    alice.comment(second, "/approve")
    town.until("the diff is up again", lambda: town.plan(second).review.work.head != reviews[1].work.head, 240)
    plan = until(town, second, "in_review", "diff_decision")
    assert plan.pull_request is None
    assert plan.diff_approval is None
    town.settle()
    thread = [comment["body"] for comment in alice.comments(second)]
    told = [n for n, body in enumerate(thread) if "change the same lines" in body and "`shop/basket.py`" in body]
    shown = [n for n, body in enumerate(thread) if f":review:{plan.review.number} " in body.splitlines()[0]]
    assert len(told) == 1
    assert told < shown
    alice.comment(second, "/approve")
    pull = alice.pull(until(town, second, "pr_open").pull_request)
    assert pull["head"]["sha"] == plan.review.work.head
    alice.merge(pull["number"])
    until(town, second, "merged")
    merged = git(town.github.hub.git_dir(town.github.hub.repo_by_id(town.repository_id)), "show", "main:shop/basket.py")
    assert "return round(" in merged
    assert "return float(" in merged
    with town.store.read() as tx:
        found = accounts(histories.by_name(tx, 0, tx.now + 1), 0, tx.now + 1).total
        took = sum(job.seconds or 0 for _, history in histories.by_name(tx, 0, tx.now + 1) for job in history.jobs)
    assert (found.merged, found.check_seconds.at_least) == (2, False)
    assert 0 < (found.check_seconds.value or 0) < took, "what the runners told of their checks is what figures tell"
