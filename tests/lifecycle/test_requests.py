"""From what somebody said to an event or a refusal: every command, every permission, every way of saying it."""

from __future__ import annotations

import pytest

from bot.lifecycle import events as ev
from bot.lifecycle.commands import Command, Verb
from bot.lifecycle.meanings import MEANINGS
from bot.lifecycle.plan import Person, Plan
from bot.lifecycle.policy import Approvers, Permission, Policy
from bot.lifecycle.requests import Reading, Refusal, Request, decide
from bot.lifecycle.states import HoldCause, State, Via, WaitingOn
from runner.contract import Feedback
from tests.lifecycle import stories
from tests.lifecycle.makers import ALICE, HEAD, ISSUE, REPO

POLICY = Policy(approvers=Approvers(permission=Permission.MAINTAIN))
PLAN = stories.plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REVIEWED)
LEAST = {
    Verb.PLAN: Permission.TRIAGE,
    Verb.APPROVE: Permission.MAINTAIN,
    Verb.REJECT: Permission.MAINTAIN,
    Verb.REOPEN: Permission.MAINTAIN,
    Verb.UPDATE: Permission.WRITE,
    Verb.EXPAND: Permission.WRITE,
    Verb.SPLIT: Permission.WRITE,
    Verb.ANSWER: Permission.TRIAGE,
    Verb.REVISE: Permission.WRITE,
    Verb.FIX: Permission.WRITE,
    Verb.ACCEPT: Permission.WRITE,
    Verb.REMEMBER: Permission.WRITE,
    Verb.RETRY: Permission.WRITE,
    Verb.CANCEL: Permission.WRITE,
    Verb.ICEBOX: Permission.WRITE,
    Verb.THAW: Permission.WRITE,
    Verb.START: Permission.WRITE,
    Verb.DEPENDS: Permission.WRITE,
    Verb.PRIORITY: Permission.WRITE,
    Verb.AGENT: Permission.MAINTAIN,
    Verb.BUDGET: Permission.MAINTAIN,
    Verb.COSTS: Permission.WRITE,
    Verb.STATUS: Permission.READ,
    Verb.HELP: Permission.READ,
}


WORDS = {
    Verb.COSTS: "1970-01",
    Verb.DEPENDS: "default",
    Verb.PRIORITY: "high",
    Verb.AGENT: "codex",
    Verb.BUDGET: "8usd",
    Verb.ACCEPT: "1, 3",
    Verb.REMEMBER: "1, 3",
}


def request(verb: Verb, argument: str = "", **fields) -> Request:
    argument = argument or WORDS.get(verb, "")
    base = {
        "repo": REPO,
        "issue_number": 12,
        "command": Command(verb=verb, argument=argument),
        "actor": ALICE,
        "via": Via.COMMAND,
        "at": 500.0,
        "source": "comment:7:0",
        "comment_id": 7,
    }
    return Request(**{**base, **fields})


def reading(permission: Permission = Permission.ADMIN, **fields) -> Reading:
    return Reading(**{"permission": permission, "policy": POLICY, "issue": ISSUE, **fields})


def reaction(verb: Verb = Verb.APPROVE, **fields) -> Request:
    return request(verb, **{"via": Via.REACTION, "comment_id": None, "on_comment": 903, "reaction_id": 1, **fields})


@pytest.mark.parametrize(("verb", "words"), [(Verb.AGENT, "devin"), (Verb.BUDGET, "lots"), (Verb.PRIORITY, "urgent")])
def test_words_that_mean_nothing_are_answered_with_what_would(verb, words):
    refusal = decide(request(verb, words), reading(), None)
    assert isinstance(refusal, Refusal)
    assert refusal.topic == "not_understood"
    assert f"/{verb}" in refusal.reason or words in refusal.reason


def test_every_verb_is_judged():
    assert set(MEANINGS) == set(Verb) == set(LEAST)


@pytest.mark.parametrize("verb", list(Verb))
def test_a_command_becomes_its_event_for_who_may(verb):
    event = decide(request(verb, WORDS.get(verb, "words")), reading(LEAST[verb]), PLAN)
    assert type(event) is MEANINGS[verb].event
    assert (event.by, event.via, event.at, event.source) == (ALICE, Via.COMMAND, 500.0, "comment:7:0")
    assert event.comment_id == 7


def test_what_was_said_and_read_comes_along():
    plan = decide(request(Verb.PLAN), reading(), None)
    assert (plan.repo, plan.issue_number, plan.issue, plan.policy) == (REPO, 12, ISSUE, POLICY)
    approved = decide(reaction(), reading(plan_sha256="2" * 64, branch_head=HEAD), PLAN)
    assert (approved.plan_sha256, approved.branch_head, approved.on_comment) == ("2" * 64, HEAD, 903)
    rejected = decide(reaction(Verb.REJECT), reading(), PLAN)
    assert (rejected.reason, rejected.on_comment) == ("", 903)
    assert decide(request(Verb.REJECT, "no"), reading(), PLAN).reason == "no"
    said = Feedback(kind="annotation", author="bob", quote="Add it.", text="Where?")
    updated = decide(request(Verb.UPDATE, "smaller"), reading(remarks=(said,), heard=("comment:6",)), PLAN)
    assert (updated.text, updated.issue, updated.remarks, updated.heard) == ("smaller", ISSUE, (said,), ("comment:6",))
    assert decide(request(Verb.RETRY, "again"), reading(), PLAN).text == "again"
    remark = Feedback(kind="review", author="bob", text="Why?", path="src/greet.py", line=5)
    revised = decide(request(Verb.REVISE, "again"), reading(remarks=(remark,), heard=("commit_comment:1",)), PLAN)
    assert (revised.text, revised.remarks, revised.heard) == ("again", (remark,), ("commit_comment:1",))


@pytest.mark.parametrize("verb", list(Verb))
@pytest.mark.parametrize("permission", list(Permission))
def test_who_may_not_is_refused_and_told_what_it_needs(verb, permission):
    answer = decide(request(verb), reading(permission), None)
    if permission >= LEAST[verb]:
        assert not isinstance(answer, Refusal)
        return
    assert answer == Refusal(
        topic="needs_triage" if verb is Verb.PLAN else "not_allowed",
        reason=f"alice lacks {LEAST[verb]}",
        needs=LEAST[verb],
    )


def test_the_author_of_the_issue_may_answer_what_the_plan_asks():
    reporter = Person(id=77, login="reporter")
    by = {who: PLAN.model_copy(update={"issue": ISSUE.model_copy(update={"author": who})}) for who in (reporter, None)}

    def came_of(verb: Verb, plan: Plan | None) -> object:
        answer = decide(request(verb, "1: yes", actor=reporter), reading(Permission.NONE), plan)
        return answer.topic if isinstance(answer, Refusal) else type(answer)

    assert came_of(Verb.ANSWER, by[reporter]) is ev.Answered
    assert {came_of(Verb.ANSWER, plan) for plan in (PLAN, by[None], None)} == {"not_allowed"}
    assert came_of(Verb.UPDATE, by[reporter]) == "not_allowed"


def test_answers_are_read_by_their_numbers():
    said = decide(request(Verb.ANSWER, "1: oui"), reading(), PLAN)
    assert said.answers == (ev.Answer(number=1, text="oui"),)
    refusal = decide(request(Verb.ANSWER, ""), reading(), PLAN)
    assert (type(refusal), refusal.topic) == (Refusal, "not_understood")
    unasked = PLAN.model_copy(update={"revisions": ()})
    assert decide(request(Verb.ANSWER, "1: oui"), reading(), unasked).answers == ()


def test_a_reply_is_read_as_it_stands_now_and_met_with_silence_where_it_comes_to_nothing():
    replied = request(Verb.ANSWER, command=Command(verb=Verb.ANSWER), via=Via.REPLY, actor=Person(id=77, login="rita"))
    said = decide(replied, reading(text="1. oui, bien sûr"), PLAN)
    assert said.answers == (ev.Answer(number=1, text="oui, bien sûr"),)
    assert decide(replied, reading(text="never mind"), PLAN).answers == ()
    assert decide(replied, reading(Permission.READ, text="1. oui"), PLAN).topic is None


def test_a_command_that_names_another_bot_is_met_with_silence():
    named = [Command(verb=Verb.CANCEL, prefix=prefix) for prefix in ("", "twogate", "tg")]
    answers = [decide(request(Verb.CANCEL, command=command), reading(), PLAN) for command in named]
    assert [type(answer) for answer in answers] == [ev.CancelRequested, ev.CancelRequested, Refusal]
    assert answers[2] == Refusal(topic=None, reason="meant for /tg")


def test_a_reaction_of_who_may_not_is_met_with_silence():
    answer = decide(reaction(), reading(Permission.READ), PLAN)
    assert answer == Refusal(topic=None, reason=f"alice lacks {Permission.MAINTAIN}", needs=Permission.MAINTAIN)


@pytest.mark.parametrize("said", [request(Verb.APPROVE), reaction()], ids=["command", "reaction"])
def test_what_was_withdrawn_or_edited_is_no_decision_whoever_made_it(said):
    answer = decide(said, reading(still_stands=False), PLAN)
    assert answer == Refusal(topic=None, reason="withdrawn or edited before it was used")


UNPOSTED = stories.plan(State.DRAFT, WaitingOn.RUNNER, revisions=())


@pytest.mark.parametrize(
    ("said", "plan", "reason"),
    [
        pytest.param(reaction(), None, "no plan to decide on", id="no plan"),
        pytest.param(reaction(), UNPOSTED, "on a comment that is no longer up for decision", id="nothing posted"),
        pytest.param(reaction(on_comment=901), PLAN, "on a comment that is no longer up for decision", id="older"),
        pytest.param(reaction(on_comment=None), PLAN, "on a comment that is no longer up for decision", id="nowhere"),
        pytest.param(reaction(at=399.0), PLAN, "made before the comment was posted", id="too early"),
    ],
)
def test_a_reaction_counts_only_on_what_is_up_for_decision(said, plan, reason):
    assert decide(said, reading(), plan) == Refusal(topic=None, reason=reason)


@pytest.mark.parametrize("on", [902, 903], ids=["the plan", "the diff"])
def test_a_reaction_on_a_current_comment_counts_from_the_second_it_was_posted(on):
    at = {902: 200.0, 903: 400.0}[on]
    assert isinstance(decide(reaction(on_comment=on, at=at), reading(), PLAN), ev.Approved)


def button(verb: Verb = Verb.APPROVE, head: str = HEAD) -> Request:
    return request(verb, via=Via.BUTTON, comment_id=None, on_head=head)


@pytest.mark.parametrize(
    ("verb", "event"),
    [(Verb.APPROVE, ev.Approved), (Verb.REVISE, ev.ReviseRequested), (Verb.REJECT, ev.Rejected)],
)
def test_a_button_is_a_command_of_who_may(verb, event):
    pressed = decide(button(verb), reading(), PLAN)
    assert (type(pressed), pressed.via, pressed.comment_id) == (event, Via.BUTTON, None)
    refused = decide(button(verb), reading(Permission.TRIAGE), PLAN)
    assert (type(refused), refused.topic) == (Refusal, "not_allowed")


CONCLUDED = PLAN.review.model_copy(update={"buttons": False})


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        pytest.param(button(), None, id="no plan"),
        pytest.param(button(head="f" * 40), PLAN, id="another commit"),
        pytest.param(button(), PLAN.model_copy(update={"waiting_on": WaitingOn.BOT}), id="approved already"),
        pytest.param(button(), PLAN.model_copy(update={"review": CONCLUDED}), id="concluded"),
        pytest.param(button(), PLAN.model_copy(update={"review": None}), id="nothing in review"),
    ],
)
@pytest.mark.parametrize("permission", [Permission.ADMIN, Permission.NONE])
def test_a_late_button_does_nothing_and_says_nothing_whoever_pressed_it(said, plan, permission):
    answer = decide(said, reading(permission), plan)
    assert answer == Refusal(topic=None, reason="the button of a commit that is not up for decision")


def test_what_can_not_be_depended_on_is_refused_with_the_reason():
    asked = request(Verb.DEPENDS, "#7")
    refused = decide(asked, reading(), PLAN)
    assert refused == Refusal(
        topic="dependency_refused", reason="There is no plan of #7 to wait for; `/plan` there asks for one."
    )
    other = stories.plan(issue_number=7)
    granted = decide(asked, reading(), PLAN, {7: other}.get)
    assert (type(granted), granted.depends_on) == (ev.DependsChosen, (7,))
    assert decide(asked, reading(), None).depends_on == (7,)


def test_words_that_name_no_issue_are_not_understood():
    assert decide(request(Verb.DEPENDS, "that"), reading(), PLAN).topic == "not_understood"


@pytest.mark.parametrize("verb", [Verb.PLAN, Verb.REOPEN])
def test_what_begins_in_a_pause_knows_of_it(verb):
    pauses = (HoldCause.POLICY_PAUSED, HoldCause.LABEL_PAUSED)
    assert decide(request(verb), reading(pauses=pauses), PLAN).pauses == pauses


PAUSE = {"via": Via.LABEL, "command": Command(verb=Verb.PLAN, argument="Twogate: Paused")}


def test_a_label_pauses_for_who_may_ask_for_plans():
    event = decide(request(Verb.PLAN, **PAUSE), reading(Permission.TRIAGE), PLAN)
    assert (type(event), event.cause, event.by) == (ev.HoldPlaced, HoldCause.LABEL_PAUSED, ALICE)
    refused = decide(request(Verb.PLAN, **PAUSE), reading(Permission.READ), PLAN)
    assert (refused.topic, refused.needs) == ("not_allowed", Permission.TRIAGE)
    gone = decide(request(Verb.PLAN, **PAUSE), reading(still_stands=False), PLAN)
    assert gone.topic is None
