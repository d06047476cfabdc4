"""Whose approval counts, and how many: teams, named people, code owners, distinct people, bots and Apps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.results import SplitChild
from tests.scenarios.runner import plan_document
from tests.scenarios.test_plan_gate import another_bot, plan_comment
from tests.standin.entities import Token
from tests.town.people import Person

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scenarios.village import Village

POSTED = ["status", "plan 1"]
AT_PLAN_GATE = "draft, waits for plan_decision"
EXECUTING = "executing, waits for runner"


@pytest.fixture
def carl(village: Village) -> Person:
    """A third person who may write."""
    return village.person("carl", "write")


@pytest.fixture
def team(village: Village) -> Iterator[str]:
    """A team of the organisation in which Bob is, for the time of one scenario."""
    village.github.control.add_member("acme", "bob", ["core"])
    yield "core"
    village.github.control.remove_member("acme", "bob")


def say(village: Village, person: Person, issue: int, words: str) -> None:
    person.comment(issue, words)
    village.settle()


def test_two_people_have_to_approve_each_gate_and_the_pull_request_names_all(village: Village) -> None:
    village.set_policy("approvers: {count: 2}")
    issue = village.planned()
    say(village, village.alice, issue, "/approve")
    assert village.stands(issue) == AT_PLAN_GATE
    assert "**1 of 2 approvals**, by `alice`. Still needed:\n\n- one more person" in village.text(issue, "status")
    say(village, village.alice, issue, "/approve")
    assert "you have approved this already" in village.text(issue, "not_now")
    village.bob.react(plan_comment(village, issue))
    village.look()
    assert village.stands(issue) == EXECUTING
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    say(village, village.bob, issue, "/approve")
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.pulls() == []
    assert "**1 of 2 approvals**, by `bob`" in village.text(issue, "status")
    say(village, village.alice, issue, "/approve")
    assert village.stands(issue) == "pr_open, waits for merge"
    said = ["alice: /approve", "alice: /approve", "not_now"]
    assert village.thread(issue) == [*POSTED, *said, "review 2", "bob: /approve", "alice: /approve"]
    rows = [line for line in village.pulls()[0]["body"].splitlines() if line.startswith(("| plan |", "| diff |"))]
    assert [row.split("|")[1:3] for row in rows] == [
        [" plan ", " `alice` "],
        [" plan ", " `bob` "],
        [" diff ", " `bob` "],
        [" diff ", " `alice` "],
    ]
    assert village.notes(issue, "approved")[0] == "approved by 1, which is not enough yet"


def test_a_rewrite_voids_the_approvals_given_so_far(village: Village) -> None:
    village.set_policy("approvers: {count: 2}")
    issue = village.planned()
    say(village, village.alice, issue, "/approve")
    say(village, village.alice, issue, "/update smaller")
    village.runner(issue).write_plan()
    say(village, village.bob, issue, "/approve")
    assert village.stands(issue) == AT_PLAN_GATE
    assert "**1 of 2 approvals**, by `bob`" in village.text(issue, "status")
    assert village.thread(issue) == [*POSTED, "alice: /approve", "alice: /update smaller", "plan 2", "bob: /approve"]


def test_a_thumb_that_was_taken_back_before_the_second_came_does_not_count(village: Village, carl: Person) -> None:
    village.set_policy("approvers: {count: 2}")
    issue = village.planned()
    comment = plan_comment(village, issue)
    thumb = village.alice.react(comment)
    village.look()
    assert "**1 of 2 approvals**, by `alice`" in village.text(issue, "status")
    village.alice.call("DELETE", f"/issues/comments/{comment}/reactions/{thumb}")
    say(village, village.bob, issue, "/approve")
    assert village.stands(issue) == AT_PLAN_GATE
    assert "**1 of 2 approvals**, by `bob`" in village.text(issue, "status")
    village.person("bob", "triage")
    say(village, carl, issue, "/approve")
    assert village.stands(issue) == AT_PLAN_GATE
    assert "**1 of 2 approvals**, by `carl`" in village.text(issue, "status")
    assert village.thread(issue) == [*POSTED, "bob: /approve", "carl: /approve"]


def test_only_members_of_the_team_and_named_people_decide(village: Village, team: str, carl: Person) -> None:
    village.set_policy(f"approvers: {{teams: [{team}], users: [Carl]}}")
    issue = village.planned()
    say(village, village.alice, issue, "/approve")
    told = village.text(issue, "not_allowed")
    assert "in the team `core`, or named `Carl`, and GitHub says that you are none" in told
    say(village, village.bob, issue, "/approve")
    assert village.stands(issue) == EXECUTING
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    say(village, carl, issue, "/reject not like this")
    assert village.stands(issue) == "rejected"
    said = ["alice: /approve", "not_allowed", "bob: /approve", "review 2", "carl: /reject not like this"]
    assert village.thread(issue) == [*POSTED, *said]
    assert village.notes(issue, "refused") == ["alice is none of the approvers"]


def test_each_file_needs_an_owner_of_it(village: Village, team: str, carl: Person) -> None:
    village.push("alice", {".github/CODEOWNERS": "* @carl\n/shop/ @acme/core\n/docs/ @nobody"})
    village.set_policy("approvers: {codeowners: true}")
    issue = village.planned(files=("shop/**", "README.md"))
    say(village, village.bob, issue, "/approve")
    assert village.stands(issue) == AT_PLAN_GATE
    status = village.text(issue, "status")
    assert "**1 of 1 approvals**, by `bob`. Still needed:\n\n- an owner of `README.md`: `@carl`" in status
    say(village, carl, issue, "/approve")
    assert village.stands(issue) == EXECUTING
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    say(village, village.alice, issue, "/approve")
    assert "- an owner of `shop/basket.py`: `@acme/core`" in village.text(issue, "status")
    say(village, village.bob, issue, "/approve")
    assert village.stands(issue) == "pr_open, waits for merge"
    said = ["bob: /approve", "carl: /approve", "review 2", "alice: /approve", "bob: /approve"]
    assert village.thread(issue) == [*POSTED, *said]


def test_an_owner_by_public_address_counts(village: Village, carl: Person) -> None:
    village.push("alice", {"CODEOWNERS": "* carl@example.com"})
    village.set_policy("approvers: {codeowners: true}")
    issue = village.planned()
    say(village, village.bob, issue, "/approve")
    assert "`carl@example.com`" in village.text(issue, "status")
    assert village.stands(issue) == AT_PLAN_GATE
    assert village.thread(issue) == [*POSTED, "bob: /approve"]
    user = village.github.hub.user("carl")
    user.email = "Carl@example.com"
    say(village, carl, issue, "/approve")
    user.email = None
    assert village.stands(issue) == EXECUTING


def test_who_asked_or_had_it_rewritten_leaves_the_approval_to_another(village: Village, carl: Person) -> None:
    village.set_policy("approvers: {distinct: true}")
    issue = village.opened()
    village.alice.label(issue, "agent")
    village.settle()
    village.runner(issue).write_plan()
    village.alice.react(plan_comment(village, issue))
    village.look()
    assert "you asked for the plan" in village.text(issue, "needs_another")
    say(village, village.bob, issue, "/update smaller")
    village.runner(issue).write_plan()
    say(village, village.bob, issue, "/approve")
    assert "your words are what the plan was last written from" in village.text(issue, "needs_another")
    assert village.stands(issue) == AT_PLAN_GATE
    say(village, carl, issue, "/approve")
    assert village.stands(issue) == EXECUTING
    said = ["needs_another", "bob: /update smaller", "plan 2", "bob: /approve", "needs_another", "carl: /approve"]
    assert village.thread(issue) == [*POSTED, *said]
    assert village.notes(issue, "refused") == ["alice is the plan's requester", "bob is the plan's author"]


def test_whose_remark_went_into_the_text_leaves_the_approval_to_another(village: Village) -> None:
    village.set_policy("approvers: {distinct: true}")
    issue = village.planned()
    village.alice.comment(issue, "> Round it.\n\nHalf even.")
    say(village, village.bob, issue, "/update as Alice says")
    village.runner(issue).write_plan()
    say(village, village.alice, issue, "/approve")
    assert village.stands(issue) == AT_PLAN_GATE
    assert village.notes(issue, "refused") == ["alice is the plan's author"]
    said = ["alice: > Round it.", "bob: /update as Alice says", "plan 2", "alice: /approve", "needs_another"]
    assert village.thread(issue) == [*POSTED, *said]


def test_who_asked_for_a_plan_does_not_approve_its_parts(village: Village, carl: Person) -> None:
    village.set_policy("approvers: {distinct: true}")
    issue = village.opened()
    say(village, village.alice, issue, "/plan")
    village.runner(issue).write_plan()
    say(village, village.bob, issue, "/split in two")
    part = SplitChild(plan=plan_document(title="Round the total"))
    village.runner(issue).split_plan(part, part)
    split = village.plan(issue).split
    child = split.children[0].number or 0 if split else 0
    for person in (village.alice, village.bob):
        say(village, person, child, "/approve")
        assert village.stands(child) == AT_PLAN_GATE
    assert village.notes(child, "refused") == ["alice is the plan's author", "bob is the plan's requester"]
    say(village, carl, child, "/approve")
    assert village.stands(child) == EXECUTING
    refused = ["alice: /approve", "needs_another", "bob: /approve", "needs_another"]
    assert village.thread(child) == [*POSTED, *refused, "carl: /approve"]


def test_who_left_the_owners_before_the_second_approval_is_none_of_them(village: Village, team: str) -> None:
    village.push("alice", {"CODEOWNERS": f"* @acme/{team}"})
    village.set_policy("approvers: {codeowners: true, count: 2}")
    issue = village.planned()
    say(village, village.bob, issue, "/approve")
    assert "Still needed:\n\n- one more person" in village.text(issue, "status")
    village.github.control.remove_member("acme", "bob")
    say(village, village.alice, issue, "/approve")
    assert village.stands(issue) == AT_PLAN_GATE
    assert "**1 of 2 approvals**, by `alice`" in village.text(issue, "status")
    assert village.thread(issue) == [*POSTED, "bob: /approve", "alice: /approve"]


def test_what_two_approved_one_of_them_does_not_change_alone(village: Village, team: str) -> None:
    village.push("alice", {"CODEOWNERS": f"* @acme/{team}"})
    village.set_policy("approvers: {codeowners: true, count: 2}")
    issue = village.planned()
    for person in (village.alice, village.bob):
        say(village, person, issue, "/approve")
    approved = village.thread(issue)
    say(village, village.alice, issue, "/budget 9usd")
    told = village.text(issue, "wished")
    assert "- one more person\n- an owner of" in told
    assert told.endswith("says the same: `/budget 9usd`")
    assert village.plan(issue).choices.budget is None
    say(village, village.bob, issue, "/budget $9.00")
    assert (village.plan(issue).budget.usd, village.plan(issue).wished) == (9, ())
    comment = village.alice.comment(issue, "/agent codex")
    village.settle()
    village.alice.call("DELETE", f"/issues/comments/{comment}")
    say(village, village.bob, issue, "/agent codex")
    assert village.plan(issue).choices.agent is None, "what was taken back is no word for it"
    assert [said.by.login for wish in village.plan(issue).wished for said in wish.approvals] == ["bob"]
    assert "asked for by `bob`; to count, it has to be said by one more person too" in village.text(issue, "status")
    said = ["alice: /budget 9usd", "wished", "bob: /budget $9.00", "wished", "bob: /agent codex", "wished"]
    assert village.thread(issue) == [*approved, *said]
    assert village.notes(issue, "budget_chosen") == [
        "/budget 9usd asked for by 1, which is not enough yet",
        "budget chosen",
    ]


def test_a_listed_bots_label_and_commands_count(village: Village) -> None:
    name = f"other-{village.repository_id}"
    village.set_policy(f"approvers: {{bots: [{name}]}}")
    issue = village.opened()
    with another_bot(village, {"issues": "write", "metadata": "read"}) as bot:
        assert bot.post(f"/issues/{issue}/labels", json={"labels": ["agent"]}).is_success
        village.settle()
        village.runner(issue).write_plan()
        assert bot.post(f"/issues/{issue}/comments", json={"body": "/approve"}).is_success
        village.settle()
    assert village.stands(issue) == EXECUTING
    assert village.thread(issue) == [*POSTED, f"{name}[bot]: /approve"]
    assert village.plan(issue).requester.login == f"{name}[bot]"


def test_a_listed_bot_has_no_more_than_write_and_is_not_answered(village: Village) -> None:
    name = f"other-{village.repository_id}"
    village.set_policy(f"approvers: {{permission: maintain, bots: ['{name}[bot]']}}")
    issue = village.planned()
    with another_bot(village, {"issues": "write", "metadata": "read"}) as bot:
        assert bot.post(f"/issues/{issue}/comments", json={"body": "/approve"}).is_success
    village.settle()
    assert village.stands(issue) == AT_PLAN_GATE
    assert village.thread(issue) == [*POSTED, f"{name}[bot]: /approve"]
    assert village.notes(issue, "refused") == [f"{name}[bot] lacks 4"]


def through_app(village: Village, login: str, slug: str, issue: int, words: str) -> None:
    """A comment that an App writes with a person's token."""
    hub = village.github.hub
    app = next((app for app in hub.apps.values() if app.slug == slug), None)
    if app is None:
        made = village.github.control.create_app(slug, "acme")
        app = hub.apps[int(made["app_id"])]
    token = hub.add_token(Token(f"ghu_{login}", "user", hub.user(login), app=app))
    person = Person(login, token.raw, village.github.api_url, village.repository)
    say(village, person, issue, words)
    person.close()


def test_what_an_app_says_with_a_persons_token_is_the_apps(village: Village) -> None:
    village.set_policy("approvers: {bots: [chat-ops]}")
    issue = village.planned()
    through_app(village, "alice", "mail-bridge", issue, "/approve")
    assert village.stands(issue) == AT_PLAN_GATE
    assert "through the App `mail-bridge`" in village.text(issue, "through_app")
    through_app(village, "rita", "mail-bridge", issue, "/approve")
    through_app(village, "alice", "chat-ops", issue, "/approve")
    assert village.stands(issue) == EXECUTING
    said = ["alice: /approve", "through_app", "rita: /approve", "alice: /approve"]
    assert village.thread(issue) == [*POSTED, *said]


def test_a_remark_that_an_app_wrote_with_a_persons_token_is_the_apps(village: Village) -> None:
    village.set_policy("approvers: {bots: [chat-ops]}")
    issue = village.planned()
    through_app(village, "alice", "mail-bridge", issue, "> Round it.\n\nNever.")
    through_app(village, "alice", "chat-ops", issue, "> Round it.\n\nDown.")
    say(village, village.bob, issue, "/update")
    assert [(f.kind, f.text) for f in village.runner(issue).claim().feedback] == [
        ("annotation", "Down."),
        ("update", ""),
    ]
    assert village.thread(issue) == [*POSTED, "alice: > Round it.", "alice: > Round it.", "bob: /update"]


def test_a_renamed_person_is_the_same_and_their_old_name_is_nobodys(village: Village) -> None:
    village.set_policy("approvers: {users: [dora], count: 1}")
    dora = village.person("dora", "write")
    issue = village.planned()
    village.github.control.rename_user("dora", "dora-of-old")
    try:
        say(village, dora, issue, "/approve")
        assert village.stands(issue) == AT_PLAN_GATE
        assert village.thread(issue) == [*POSTED, "dora-of-old: /approve", "not_allowed"]
    finally:
        village.github.control.rename_user("dora-of-old", "dora")
    say(village, dora, issue, "/approve")
    assert village.stands(issue) == EXECUTING


def test_with_a_prefix_bare_commands_are_other_bots(village: Village) -> None:
    village.set_policy("commands: {prefix: tg}")
    issue = village.planned()
    say(village, village.alice, issue, "/approve")
    say(village, village.alice, issue, "/other approve")
    assert village.stands(issue) == AT_PLAN_GATE
    say(village, village.alice, issue, "/TG approve")
    assert village.stands(issue) == EXECUTING
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    say(village, village.alice, issue, "/twogate approve")
    assert village.stands(issue) == "pr_open, waits for merge"
    said = ["alice: /approve", "alice: /other approve", "alice: /TG approve", "review 2", "alice: /twogate approve"]
    assert village.thread(issue) == [*POSTED, *said]
    assert village.notes(issue, "refused") == ["commands begin with /tg here", "meant for /other"]


SLICE = "/status\n/plan\n/priority low\n/reopen"
"""A command of each kind: to ask, to ask for a plan, to steer, to decide; none of them changes the plan."""
REFUSALS = ["not_allowed", "needs_triage", "not_allowed", "not_allowed"]
HEARD = {
    "read": (["status_requested"], ["status", "needs_triage", "not_allowed", "not_allowed"]),
    "triage": (["status_requested", "plan_requested"], ["status", "not_allowed", "not_allowed"]),
    "write": (
        ["status_requested", "plan_requested", "priority_chosen"],
        ["status", "not_allowed"],
    ),
    "maintain": (
        ["status_requested", "plan_requested", "priority_chosen", "reopen_requested"],
        ["status", "not_now"],
    ),
}
HEARD["admin"] = HEARD["maintain"]


def heard(village: Village, issue: int, login: str) -> list[str]:
    """The events that somebody's words became."""
    return [e.event for e in village.journal(issue) if e.actor_login == login and e.event != "refused"]


@pytest.mark.parametrize("role", HEARD)
def test_each_role_is_heard_with_what_it_may_and_told_what_else_needs(village: Village, role: str) -> None:
    village.set_policy("approvers: {permission: maintain}")
    issue = village.planned()
    events, answers = HEARD[role]
    person = village.person(f"the-{role}", role)
    say(village, person, issue, SLICE)
    assert heard(village, issue, person.login) == events
    assert village.thread(issue) == [*POSTED, f"{person.login}: /status", *answers]
    assert village.stands(issue) == AT_PLAN_GATE


def test_membership_gives_no_more_than_the_role_and_no_less(village: Village, team: str) -> None:
    village.set_policy("approvers: {permission: maintain}")
    issue = village.planned()
    village.github.control.add_member("acme", "rita", [])
    say(village, village.rita, issue, SLICE)
    say(village, village.bob, issue, SLICE)
    village.github.control.remove_member("acme", "rita")
    assert heard(village, issue, "rita") == HEARD["read"][0]
    assert heard(village, issue, "bob") == HEARD["write"][0]
    said = ["rita: /status", *HEARD["read"][1], "bob: /status", *HEARD["write"][1]]
    assert village.thread(issue) == [*POSTED, *said]
    assert team == "core"


def test_what_was_edited_or_said_by_who_is_gone_or_no_person_is_not_heard(village: Village) -> None:
    village.set_policy("approvers: {permission: maintain}")
    issue = village.planned()
    boss = village.person("boss", "admin")
    comment = boss.comment(issue, SLICE)
    village.github_ahead(2)
    boss.edit_comment(comment, f"{SLICE}\n/reject")
    village.settle()
    gone = village.person("gone", "admin")
    gone.comment(issue, SLICE)
    users = village.github.hub.users
    number = village.github.hub.user("gone").id
    account = users.pop(number)
    village.settle()
    users[number] = account
    with another_bot(village, {"issues": "write", "metadata": "read"}) as bot:
        assert bot.post(f"/issues/{issue}/comments", json={"body": SLICE}).is_success
    village.settle()
    name = f"other-{village.repository_id}[bot]"
    assert [heard(village, issue, login) for login in ("boss", "gone", name)] == [[], [], []]
    assert village.thread(issue) == [*POSTED, "boss: /status", "gone: /status", *REFUSALS, f"{name}: /status"]
    assert village.stands(issue) == AT_PLAN_GATE
