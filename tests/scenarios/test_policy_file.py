"""The policy file: one that can't be used, the organisation's, and pull requests that change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.lifecycle.policy_file import json_schema
from bot.store import policies
from tests.town.repository import git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.scenarios.village import Village


def asked(village: Village) -> int:
    """An issue for which Tom asks for a plan."""
    issue = village.opened()
    village.tom.label(issue, "agent")
    village.settle()
    return issue


def agent_of(village: Village, issue: int) -> str:
    return village.plan(issue).agents[next(iter(village.plan(issue).agents))].name


def test_where_there_never_was_a_valid_file_the_defaults_hold_and_the_line_is_named(village: Village) -> None:
    village.set_policy("gates: [{name: tests, run: 'true'}]\nbudged: {usd: 5}")
    issue = asked(village)
    assert village.thread(issue) == ["policy_invalid", "status"]
    told = village.text(issue, "policy_invalid")
    assert "`.github/twogate.yml` can't be used. Line 4: `budged` is not a known key" in told
    assert "There was never one that could be used, so the defaults hold" in told
    assert agent_of(village, issue) == "claude"
    village.set_policy("budget: {usd: 5}")
    village.alice.comment(issue, "/cancel")
    village.alice.comment(issue, "/plan")
    village.settle()
    assert agent_of(village, issue) == "scripted"
    assert village.thread(issue).count("policy_invalid") == 1


def test_a_file_that_breaks_leaves_the_last_valid_one_in_force_for_new_plans_too(village: Village) -> None:
    asked(village)
    village.set_policy("nonsense: 1")
    second, third = asked(village), asked(village)
    assert village.thread(second) == ["policy_invalid", "status"]
    assert "The last one that could be used stays in force" in village.text(second, "policy_invalid")
    assert village.thread(third) == ["status"]
    for issue in (second, third):
        assert agent_of(village, issue) == "scripted"
        assert [gate.name for gate in village.plan(issue).policy.gates or ()] == ["tests"]
    village.set_policy("nonsense: 2")
    fourth = asked(village)
    assert village.thread(fourth) == ["policy_invalid", "status"]
    assert [e.event for e in village.journal(fourth)][:1] == ["plan_requested"]


def test_a_broken_file_is_not_told_to_those_who_may_not_ask(village: Village) -> None:
    village.set_policy("nonsense: 1")
    issue = village.opened()
    village.tom.label(issue, "bug")
    village.mia.comment(issue, "/plan")
    village.settle()
    assert village.thread(issue) == ["mia: /plan", "needs_triage"]


def test_a_file_that_breaks_leaves_running_plans_under_the_last_valid_one(village: Village) -> None:
    issue = village.planned()
    village.set_policy("nonsense: 1")
    village.alice.comment(issue, "/approve")
    village.settle()
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    told = ["status", "plan 1", "alice: /approve", "policy_invalid", "review 2", "alice: /approve"]
    assert village.thread(issue) == told


@pytest.fixture
def organisation(village: Village) -> Iterator[Callable[[str], None]]:
    """Sets the organisation's defaults; they are gone afterwards, since villages share the organisation."""
    control, folder = village.github.control, village.home / "organisation"
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")

    def write(text: str) -> None:
        (folder / ".github").mkdir(exist_ok=True)
        (folder / ".github/twogate.yml").write_text(text)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", "Say how we work")
        control.create_repository("acme/.github", str(folder), private=False)

    yield write
    control.delete_repository("acme/.github", "alice")
    village.settle()


def test_the_organisations_defaults_hold_where_the_repository_says_nothing(
    village: Village, organisation: Callable[[str], None]
) -> None:
    organisation("label: robot\nbudget: {usd: 3}\nqueue: {overlap: 'off', max_in_review: 2}\n")
    issue = asked(village)
    policy = village.plan(issue).policy
    assert (policy.label, policy.overlap, policy.max_in_review) == ("agent", "warn", 8)
    assert policy.budget.usd == 3
    assert village.thread(issue) == ["status"]


def test_broken_defaults_of_the_organisation_are_named_and_left_out(
    village: Village, organisation: Callable[[str], None]
) -> None:
    organisation("budget: {usd: 3}\nbudged: {}\n")
    issue = asked(village)
    assert village.plan(issue).policy.budget.usd is None
    assert village.thread(issue) == ["policy_invalid", "status"]
    told = village.text(issue, "policy_invalid")
    assert "`acme/.github/.github/twogate.yml` can't be used. Line 2: `budged` is not a known key" in told
    assert "The organisation's defaults are left out until it is mended" in told
    assert village.thread(asked(village)) == ["status"]


# pull requests and pushes that change it


def offered(village: Village, files: dict[str, str], branch: str) -> str:
    """The head of Bob's pull request with these files."""
    head = village.workshop.commit("main", files)
    offer(village, head, branch)
    return head


def offer(village: Village, head: str, branch: str) -> None:
    token = village.country.tokens["bob"]
    url = f"{village.github.url}/{village.repository}.git".replace("://", f"://bob:{token}@")
    assert village.workshop.push(url, head, branch)
    village.bob.call("POST", "/pulls", title="Change", head=branch, base="main")
    village.settle()


def start(text: str) -> str:
    return f"agent: {{cli: scripted}}\nagents: {{scripted: {{command: [scripted]}}}}\n{text}"


def checks(village: Village, head: str) -> list[tuple[str, str]]:
    """The bot's check runs on a commit, by name and conclusion."""
    found = [check for check in village.repo.checks.values() if check.head_sha == head]
    return [(check.name, check.fields["conclusion"]) for check in found]


def test_a_pull_request_that_changes_the_file_is_told_whether_it_can_be_used(village: Village) -> None:
    good = offered(village, {".github/twogate.yml": start("label: robot"), "a.txt": "a"}, "good")
    bad = offered(village, {".github/twogate.yml": start("budget: {usd: 0}")}, "bad")
    other = offered(village, {"b.txt": "b"}, "other")
    assert checks(village, good) == [("twogate policy", "success")]
    assert checks(village, bad) == [("twogate policy", "failure")]
    assert checks(village, other) == []
    (check,) = [check for check in village.repo.checks.values() if check.head_sha == bad]
    assert check.fields["output"]["title"] == "Line 3: `budget.usd` must be more than 0"
    (remark,) = check.fields["annotations"]
    assert (remark["path"], remark["start_line"]) == (".github/twogate.yml", 3)
    assert remark["message"] == "`budget.usd` must be more than 0"
    mended = village.push("bob", {".github/twogate.yml": start("budget: {usd: 1}")}, "bad")
    village.settle()
    assert checks(village, mended) == [("twogate policy", "success")]
    assert [village.thread(pull["number"]) for pull in village.pulls()] == [[], [], []]


def test_a_pull_request_that_is_behind_a_change_of_the_file_does_not_change_it(village: Village) -> None:
    behind = village.workshop.commit("main", {"c.txt": "c"}, "Before")
    village.set_policy("label: robot")
    offer(village, behind, "behind")
    assert checks(village, behind) == []


def reads(village: Village, since: int) -> list[str]:
    """What the bot asked of the repository, by path."""
    log = village.github.control.log(since)
    own = [entry for entry in log if entry["method"] == "GET" and f"/repos/{village.repository}/" in entry["path"]]
    return [entry["path"].partition(village.repository)[2].partition("?")[0] for entry in own]


def test_other_pull_requests_cost_one_read_and_a_change_of_the_file_two(village: Village) -> None:
    since = len(village.github.control.log())
    offered(village, {"b.txt": "b"}, "other")
    assert len(reads(village, since)) == 1
    since = len(village.github.control.log())
    offered(village, {".github/twogate.yml": start("label: x")}, "changing")
    assert len(reads(village, since)) == 2


def test_a_push_that_breaks_or_mends_the_file_says_so_on_its_commit(village: Village) -> None:
    asked(village)
    broken = village.push("alice", {".github/twogate.yml": "nonsense: 1"})
    village.settle()
    mended = village.push("alice", {".github/twogate.yml": start("label: robot")})
    village.settle()
    neither = village.push("alice", {"c.txt": "c"})
    village.settle()
    assert checks(village, broken) == [("twogate policy", "failure")]
    assert checks(village, mended) == [("twogate policy", "success")]
    assert checks(village, neither) == []
    with village.parts.store.read() as tx:
        kept = policies.last_valid(tx, village.repository_id)
    assert kept is not None
    assert kept.label == "robot"


def test_the_schema_for_editors_is_served_and_knows_every_key(village: Village) -> None:
    answer = village.http.get("/schema/twogate.json", headers={"Origin": "https://editor.example"})
    assert answer.headers["content-type"].startswith("application/schema+json")
    assert answer.headers["access-control-allow-origin"] == "*"
    schema = answer.json()
    assert schema == json_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert {"approvers", "commands", "ci", "inspector", "branches", "pause"} <= schema["properties"].keys()
