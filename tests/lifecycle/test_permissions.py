"""Who may say what: every role by every command, said by a person, a bot, through an App, or by somebody who is gone."""

from __future__ import annotations

import pytest

from bot.lifecycle import events as ev
from bot.lifecycle.approvers import Approvers
from bot.lifecycle.commands import Command, Verb
from bot.lifecycle.permission import Permission
from bot.lifecycle.plan import Person
from bot.lifecycle.policy import Policy
from bot.lifecycle.requests import Reading, Request, decide
from bot.lifecycle.rights import Refusal
from bot.lifecycle.states import State, Via, WaitingOn
from tests.lifecycle import stories
from tests.lifecycle.makers import ALICE, HEAD, ISSUE, REPO

ROLES = {
    "none": Permission.NONE,
    "read": Permission.READ,
    "triage": Permission.TRIAGE,
    "write": Permission.WRITE,
    "maintain": Permission.MAINTAIN,
    "admin": Permission.ADMIN,
    "member of the organisation": Permission.READ,
    "member of the team": Permission.WRITE,
}
"""What GitHub answers for each. An organisation's member has what the organisation gives everybody; a team gives more
only where it has a role here, and to be in it makes nobody an approver unless the policy names it."""
DECIDING = frozenset({Verb.APPROVE, Verb.REJECT, Verb.REOPEN, Verb.AGENT, Verb.BUDGET})
READING = frozenset({Verb.STATUS, Verb.HELP})
LEAST = {verb: Permission.READ if verb in READING else Permission.WRITE for verb in Verb} | {
    Verb.PLAN: Permission.TRIAGE,
    Verb.ANSWER: Permission.TRIAGE,
}
WORDS = {Verb.PRIORITY: "high", Verb.AGENT: "codex", Verb.BUDGET: "8usd", Verb.ANSWER: "1: yes"}
PLAN = stories.plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REVIEWED)
BOB = Person(id=8, login="bob")
ROBOT = Person(id=9, login="renovate[bot]")
LISTED = Policy(approvers=Approvers(bots=("renovate", "chat-ops")))
TEAM = Policy(approvers=Approvers(teams=("core",), users=("ann",)))


def judge(verb: Verb, permission: Permission, *, policy: Policy | None = None, teams=(), stands=True, **fields):
    """What becomes of a command."""
    said = {
        "repo": REPO,
        "issue_number": 12,
        "command": Command(verb=verb, argument=WORDS.get(verb, "")),
        "actor": BOB,
        "via": Via.COMMAND,
        "at": 500.0,
        "source": "comment:7:0",
        "comment_id": 7,
    }
    read = Reading(
        permission=permission,
        policy=policy or Policy(),
        issue=ISSUE,
        teams=teams,
        still_stands=stands,
        plan_sha256="2" * 64,
        branch_head=HEAD,
    )
    return decide(Request(**{**said, **fields}), read, PLAN)


TURNED_AWAY = frozenset({None, "needs_triage", "not_allowed", "needs_another", "through_app"})


def acts(answer: object) -> bool:
    """Whether it was judged by what it asks for, rather than by who asks."""
    return not (isinstance(answer, Refusal) and answer.topic in TURNED_AWAY)


def topic(answer: object) -> str | None:
    assert isinstance(answer, Refusal)
    return answer.topic


@pytest.mark.parametrize("verb", list(Verb))
@pytest.mark.parametrize("role", ROLES)
def test_a_person_may_what_their_role_gives(role, verb):
    answer = judge(verb, ROLES[role])
    assert acts(answer) is (ROLES[role] >= LEAST[verb])
    if not acts(answer):
        assert topic(answer) == ("needs_triage" if verb is Verb.PLAN else "not_allowed")
    elif not isinstance(answer, Refusal):
        assert answer.by == BOB


@pytest.mark.parametrize("verb", list(Verb))
@pytest.mark.parametrize("role", ROLES)
def test_a_bot_that_nobody_listed_may_nothing_and_hears_nothing(role, verb):
    answer = judge(verb, ROLES[role], actor=ROBOT, bot=ROBOT.login)
    assert topic(answer) is None
    assert answer.reason == "said by renovate[bot], which the policy does not list"


@pytest.mark.parametrize("verb", list(Verb))
@pytest.mark.parametrize("role", ROLES)
def test_a_listed_bot_may_what_its_permission_gives_and_hears_no_refusal(role, verb):
    answer = judge(verb, ROLES[role], policy=LISTED, actor=ROBOT, bot=ROBOT.login)
    assert acts(answer) is (ROLES[role] >= LEAST[verb])
    if not acts(answer):
        assert topic(answer) is None


@pytest.mark.parametrize("verb", list(Verb))
@pytest.mark.parametrize("role", ROLES)
def test_what_an_app_says_for_a_person_counts_where_the_app_is_listed(role, verb):
    allowed = ROLES[role] >= LEAST[verb]
    assert acts(judge(verb, ROLES[role], policy=LISTED, bot="chat-ops")) is allowed
    answer = judge(verb, ROLES[role], policy=LISTED, bot="another-app")
    assert topic(answer) == ("through_app" if allowed else None)


@pytest.mark.parametrize("verb", list(Verb))
def test_a_user_who_is_gone_may_nothing(verb):
    """GitHub knows nobody of that number any more: it is asked by number, and answers nothing."""
    assert topic(judge(verb, Permission.NONE)) in {"needs_triage", "not_allowed"}


@pytest.mark.parametrize("verb", list(Verb))
@pytest.mark.parametrize("role", ROLES)
def test_an_edited_comment_is_never_a_command(role, verb):
    assert topic(judge(verb, ROLES[role], stands=False)) is None


@pytest.mark.parametrize("verb", list(Verb))
@pytest.mark.parametrize("role", ROLES)
def test_who_is_in_no_team_decides_nothing_where_teams_are_named_and_may_all_else(role, verb):
    answer = judge(verb, ROLES[role], policy=TEAM)
    assert acts(answer) is (ROLES[role] >= LEAST[verb] and verb not in DECIDING)
    if verb in DECIDING:
        assert topic(answer) == "not_allowed"
        assert answer.details == {"teams": "core", "users": "ann"}


@pytest.mark.parametrize("verb", sorted(DECIDING))
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("who", [{"teams": ("core",)}, {"actor": Person(id=8, login="Ann")}], ids=["member", "user"])
def test_members_and_named_users_decide_within_their_permission(who, role, verb):
    assert acts(judge(verb, ROLES[role], policy=TEAM, **who)) is (ROLES[role] >= Permission.WRITE)


def test_a_renamed_login_is_another_name_and_the_same_person():
    """Names in the policy are names; whose plan it is and who has approved goes by numbers."""
    renamed = ALICE.model_copy(update={"login": "alice-of-old"})
    distinct = Policy(approvers=Approvers(distinct=True))
    assert PLAN.requester.id == renamed.id
    assert topic(judge(Verb.APPROVE, Permission.ADMIN, policy=distinct, actor=renamed)) == "needs_another"
    was_named = Policy(approvers=Approvers(users=("alice",)))
    assert isinstance(judge(Verb.APPROVE, Permission.WRITE, policy=was_named, actor=ALICE), ev.Approved)
    assert topic(judge(Verb.APPROVE, Permission.WRITE, policy=was_named, actor=renamed)) == "not_allowed"


def test_who_asked_or_had_it_rewritten_is_told_that_another_must_approve():
    distinct = Policy(approvers=Approvers(distinct=True))
    updated = PLAN.model_copy(update={"updated_by": (BOB,)})

    def answer(verb: Verb, who: Person, **fields):
        said = {"repo": REPO, "issue_number": 12, "at": 500.0, "source": "x", "via": Via.COMMAND, "actor": who}
        request = Request(**{**said, "command": Command(verb=verb), **fields})
        return decide(request, Reading(permission=Permission.ADMIN, policy=distinct), updated)

    carol = Person(id=3, login="carol")
    assert isinstance(answer(Verb.APPROVE, carol), ev.Approved)
    assert answer(Verb.APPROVE, ALICE).details == {"what": "requester"}
    assert answer(Verb.APPROVE, BOB).details == {"what": "author"}
    thumb = {"via": Via.REACTION, "on_comment": 903, "reaction_id": 1}
    assert topic(answer(Verb.APPROVE, BOB, **thumb)) == "needs_another"
    assert isinstance(answer(Verb.REJECT, BOB), ev.Rejected)
    more = {"command": Command(verb=Verb.BUDGET, argument="8usd")}
    assert topic(answer(Verb.BUDGET, ALICE, **more)) == "needs_another"
    assert isinstance(answer(Verb.BUDGET, carol, **more), ev.BudgetChosen)
    updated = updated.model_copy(update={"state": State.DRAFT, "plan_approval": None})
    assert isinstance(answer(Verb.BUDGET, ALICE, **more), ev.BudgetChosen), "the plan is up for decision anew"


@pytest.mark.parametrize(
    ("prefix", "word", "heard"),
    [
        (None, "", True),
        (None, "twogate", True),
        (None, "tg", False),
        ("tg", "tg", True),
        ("tg", "twogate", True),
        ("tg", "", False),
        ("tg", "other", False),
    ],
)
def test_only_the_policys_prefix_and_our_own_name_count(prefix, word, heard):
    policy = Policy(prefix=prefix)
    answer = judge(Verb.CANCEL, Permission.ADMIN, policy=policy, command=Command(verb=Verb.CANCEL, prefix=word))
    assert acts(answer) is heard
    if not heard:
        assert topic(answer) is None


def test_a_prefix_is_asked_of_words_alone():
    on = {"via": Via.REACTION, "on_comment": 903, "reaction_id": 1}
    assert isinstance(judge(Verb.APPROVE, Permission.ADMIN, policy=Policy(prefix="tg"), **on), ev.Approved)
    assert isinstance(
        judge(Verb.APPROVE, Permission.ADMIN, policy=Policy(prefix="tg"), via=Via.BUTTON, on_head=HEAD), ev.Approved
    )
