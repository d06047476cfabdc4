"""Around the plan: the repository is renamed, the App suspended, and somebody acts in the App's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bot.store import throttles
from tests.town.people import Person

if TYPE_CHECKING:
    from tests.scenarios.village import Village


def drill(make: str) -> Any:
    """A case like its neighbours, for the long suite."""
    return pytest.param(make, marks=pytest.mark.drill)


def rename(village: Village, name: str) -> None:
    """Rename the repository; people follow it, as their browsers do."""
    village.github.control.rename_repository(village.repository, name, "alice")
    village.repository = f"acme/{name}"
    for login, person in list(village.people.items()):
        person.close()
        village.people[login] = Person(login, village.country.tokens[login], village.github.api_url, village.repository)
    village.settle()


@pytest.mark.parametrize("make", ["labelled", drill("planned"), "executing", drill("reviewed"), drill("pulled")])
def test_a_repository_renamed_in_the_middle_goes_on(village: Village, make: str) -> None:
    issue = getattr(village, make)()
    rename(village, f"store-{village.repository_id}")
    if make == "labelled":
        village.runner(issue).write_plan()
    if make in {"labelled", "planned"}:
        village.alice.comment(issue, "/approve")
        village.settle()
    if make in {"labelled", "planned", "executing"}:
        village.runner(issue).execute({"shop/basket.py": "rounded"})
    if make != "pulled":
        village.alice.comment(issue, "/approve")
        village.settle()
    village.alice.merge(village.plan(issue).pull_request or 0)
    village.settle()
    assert village.stands(issue) == "merged", village.known()
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "review 2", "alice: /approve"]
    assert village.branches() == []


def test_a_repository_renamed_under_a_running_job_goes_on(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    rename(village, f"store-{village.repository_id}")
    runner.claim = lambda: runner.spec  # type: ignore[method-assign]  # it has its job already
    runner.execute({"shop/basket.py": "rounded"})
    assert village.stands(issue) == "in_review, waits for diff_decision"


def test_a_suspended_app_holds_its_plans_until_it_is_back(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    installation = int(village.app["installation_id"])
    village.github.control.suspend(installation)
    try:
        village.settle()
        assert village.stands(issue) == "held: app_suspended, executing, waits for runner"
        assert runner.progress("agent") is not None
        village.later(120)
    finally:
        village.github.control.suspend(installation, suspended=False)
    village.settle()
    village.later(120)
    assert village.stands(issue) == "executing, waits for runner"
    assert village.run_state(runner.job) == "completed cancelled"
    assert village.runner(issue).job != runner.job
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "review 3"]


def test_an_archived_repository_holds_its_plans(village: Village) -> None:
    issue = village.planned()
    village.github.control.archive_repository(village.repository, "alice")
    village.excused = {"show_status"}
    village.settle()
    assert village.stands(issue) == "held: repository_archived, draft, waits for plan_decision"
    village.github.control.archive_repository(village.repository, "alice", archived=False)
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"


def test_the_end_of_an_archive_nobody_told_of_is_found(village: Village) -> None:
    issue = village.planned()
    village.github.control.archive_repository(village.repository, "alice")
    village.excused = {"show_status"}
    village.settle()
    village.github.faults.add("drop", event="repository.unarchived")
    village.github.control.archive_repository(village.repository, "alice", archived=False)
    village.later(120)
    village.periodically("reconcile")
    assert village.stands(issue) == "draft, waits for plan_decision"


def pushed_as_the_app(village: Village) -> str:
    """Somebody has got hold of the App's rights and pushes to the default branch."""
    hub = village.github.hub
    token = hub.create_installation_token(hub.installations[int(village.app["installation_id"])]).raw
    commit = village.workshop.commit("main", {"shop/backdoor.py": "x"}, "Trust me")
    url = f"{village.github.url}/{village.repository}.git".replace("://", f"://x-access-token:{token}@")
    assert village.workshop.push(url, commit, "main")
    return commit


def test_a_push_of_the_app_to_the_default_branch_stops_everything(village: Village) -> None:
    issue = village.planned()
    commit = pushed_as_the_app(village)
    village.settle()
    gate = throttles.installation_gate(int(village.app["installation_id"]))
    with village.parts.store.read() as tx:
        (alarm,) = [closed for closed in throttles.closed(tx) if closed.name == gate]
    assert commit[:12] in alarm.reason
    asked = len(village.github.control.log())
    village.alice.comment(issue, "/approve")
    village.look()
    village.later(86_400)
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert len(village.runs()) == 1
    assert [e for e in village.github.control.log(asked) if e["method"] != "GET" and "[bot]" in str(e)] == []
    with village.parts.store.write() as tx:
        assert throttles.lift(tx, gate)
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"


def test_work_that_is_on_the_default_branch_before_its_approval_stops_everything(village: Village) -> None:
    village.excused = {"read_back"}
    issue = village.executing()
    runner = village.runner(issue)
    head = runner.publish({"shop/basket.py": "rounded"})
    url = f"{village.github.url}/{village.repository}.git".replace("://", f"://bob:{village.country.tokens['bob']}@")
    assert village.workshop.push(url, head, "main")
    runner.report("verified", **runner.verified(head))  # type: ignore[arg-type]
    village.settle()
    with village.parts.store.read() as tx:
        reasons = [closed.reason for closed in throttles.closed(tx)]
    assert any("before its diff was approved" in reason for reason in reasons)
    assert village.pulls() == []
