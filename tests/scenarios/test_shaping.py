"""A plan takes its shape: more detail, other words, remarks on its lines, answers to its questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.worker.effects import remarks
from runner.contract import Feedback
from runner.results import Unit, Verdict
from tests.scenarios.test_plan_gate import another_bot

if TYPE_CHECKING:
    from tests.scenarios.runner import Runner
    from tests.scenarios.village import Village

POSTED = ["status", "plan 1"]
ASKING = {
    "verdict": Verdict.NEEDS_INFORMATION,
    "title": "Which total?",
    "questions": ("Is it the total of the basket or of the invoice?", "Should it round half up or half even?"),
}


def asking(village: Village) -> int:
    """An issue whose plan waits for answers."""
    issue = village.labelled()
    village.runner(issue).write_plan(**ASKING)
    assert village.stands(issue) == "draft, waits for answers"
    return issue


def said_to(runner: Runner) -> list[tuple[str, str, str, str]]:
    """What a job is told, as kind, author, quote and text."""
    return [(words.kind, words.author, words.quote, words.text) for words in runner.claim().feedback]


def asked_by_bot(village: Village) -> int:
    """How many calls the bot has made."""
    return sum("bot" in str(entry["actor"]) for entry in village.github.control.log())


def hidden(village: Village, issue: int) -> list[str]:
    """The reasons for which comments of the thread are folded away, in order."""
    return [comment.minimized_reason or "" for comment in village.repo.issues[issue].comments]


def test_expand_asks_for_more_detail(village: Village) -> None:
    issue = village.planned()
    village.alice.comment(issue, "/expand the rounding, step by step")
    village.settle()
    assert "The plan is being rewritten" in village.text(issue, "status")
    runner = village.runner(issue)
    spec = runner.claim()
    assert (spec.unit, spec.revision) == (Unit.EXPAND_PLAN, 1)
    assert spec.feedback == (Feedback(kind="expand", author="alice", text="the rounding, step by step"),)
    runner.tell_plan(steps=("Find it.", "Round it."), changes=("Step 1 says where.",))
    assert village.thread(issue) == [*POSTED, "alice: /expand the rounding, step by step", "plan 2"]
    assert "**What changed**\n\n- Step 1 says where." in village.text(issue, "plan 2")
    assert village.text(issue, "plan 1").startswith("**Superseded by revision 2.**")
    assert hidden(village, issue) == ["", "OUTDATED", "", ""]
    assert village.notes(issue, "expand_requested") == ["writing the plan in more detail"]
    assert village.path(issue) == ["draft"]


def test_expand_is_for_a_plan_that_is_not_at_work(village: Village) -> None:
    issue = village.labelled()
    village.alice.comment(issue, "/expand")
    village.settle()
    assert village.thread(issue) == ["status", "alice: /expand", "not_now"]
    assert "no plan to expand yet" in village.text(issue, "not_now")
    working = village.executing()
    village.alice.comment(working, "/expand")
    village.settle()
    assert village.thread(working) == [*POSTED, "alice: /approve", "alice: /expand", "not_now"]
    assert village.stands(working) == "executing, waits for runner"


def test_a_reader_can_not_have_the_plan_expanded(village: Village) -> None:
    issue = village.planned()
    village.tom.comment(issue, "/expand")
    village.settle()
    assert village.thread(issue) == [*POSTED, "tom: /expand", "not_allowed"]
    assert village.notes(issue, "refused") == ["tom lacks 3"]


def test_replies_that_quote_the_plan_go_into_the_next_rewrite_once(village: Village) -> None:
    issue = village.planned(summary="The total is a sum of floats.", steps=("Round it.", "Say so in the README."))
    village.bob.comment(issue, "> Round it.\n\nHalf even, please.")
    village.tom.comment(issue, "> Say so in the README.\n\nAnd in the help.")
    village.rita.comment(issue, "> Round it.\n\nNo, don't.")
    village.bob.comment(issue, "I like it.")
    village.bob.comment(issue, "> Say so in the README.\n\nBriefly.")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    seen = len(village.github.control.log())
    village.alice.comment(issue, "/update with these")
    village.settle()
    asked = [entry["path"] for entry in village.github.control.log(seen)]
    assert {who: sum(f"/collaborators/{who}/" in path for path in asked) for who in ("bob", "tom", "rita", "mia")} == {
        "bob": 1,
        "tom": 1,
        "rita": 1,
        "mia": 0,
    }
    runner = village.runner(issue)
    assert said_to(runner) == [
        ("annotation", "bob", "1. Round it.", "Half even, please."),
        ("annotation", "tom", "2. Say so in the README.", "And in the help."),
        ("annotation", "bob", "2. Say so in the README.", "Briefly."),
        ("update", "alice", "", "with these"),
    ]
    runner.tell_plan(changes=("Half even.",))
    village.alice.comment(issue, "/update more")
    village.settle()
    assert said_to(village.runner(issue)) == [("update", "alice", "", "more")]
    assert village.thread(issue)[-3:] == ["alice: /update with these", "plan 2", "alice: /update more"]


def test_a_remark_reads_as_it_stands_when_it_is_used(village: Village) -> None:
    issue = village.planned()
    comment = village.bob.comment(issue, "> Round it.\n\nUp.")
    withdrawn = village.bob.comment(issue, "> Round it.\n\nNever.")
    village.bob.edit_comment(comment, "> Round it.\n\nDown.")
    village.bob.call("DELETE", f"/issues/comments/{withdrawn}")
    village.alice.comment(issue, "> Round it.\n\nTo cents.\n\n/expand")
    village.settle()
    assert said_to(village.runner(issue)) == [
        ("annotation", "bob", "1. Round it.", "Down."),
        ("annotation", "alice", "1. Round it.", "To cents."),
        ("expand", "alice", "", ""),
    ]


def test_of_very_many_remarks_the_oldest_go_along(village: Village, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remarks, "MOST_REMARKS", 2)
    monkeypatch.setattr(remarks, "LONGEST_REMARK", 5)
    issue = village.planned()
    for words in ("First of all", "Second", "Third"):
        village.bob.comment(issue, f"> Round it.\n\n{words}")
    village.alice.comment(issue, "/update")
    village.settle()
    assert [text for _, _, _, text in said_to(village.runner(issue))] == ["First", "Secon", ""]


def test_remarks_wait_while_the_same_text_is_posted_again(village: Village) -> None:
    issue = village.planned()
    village.bob.comment(issue, "> Round it.\n\nUp.")
    village.alice.comment(issue, "/budget 3usd")
    village.settle()
    assert "nothing in the plan itself, which reads as in revision 1" in village.text(issue, "plan 2")
    village.alice.comment(issue, "/update")
    village.settle()
    assert ("annotation", "bob", "1. Round it.", "Up.") in said_to(village.runner(issue))


def test_conversation_costs_no_call(village: Village) -> None:
    issue = village.planned()
    before = asked_by_bot(village)
    village.mia.comment(issue, "Thanks, 1: this is nice, 2: I look forward to it.")
    village.settle()
    assert asked_by_bot(village) == before > 0
    assert village.thread(issue) == [*POSTED, "mia: Thanks, 1: this is nice, 2: I look forward to it."]


def test_a_comment_that_github_will_not_fold_away_is_journalled(village: Village) -> None:
    issue = village.planned()
    village.alice.comment(issue, "/update smaller")
    village.settle()
    runner = village.runner(issue)
    runner.claim()
    village.github.faults.add("error", method="POST", path="/graphql$", status=403)
    runner.tell_plan(changes=("Smaller.",))
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert any(note.startswith("minimise was refused") for note in village.notes(issue, "effect_failed"))
    assert village.thread(issue) == [*POSTED, "alice: /update smaller", "plan 2"]


# questions


def test_the_author_answers_without_any_right_and_the_plan_goes_on(village: Village) -> None:
    issue = asking(village)
    assert "Question 1: Is it the total of the basket or of the invoice?" in village.text(issue, "status")
    village.mia.comment(issue, "1: The basket.")
    village.settle()
    assert village.stands(issue) == "draft, waits for answers"
    status = village.text(issue, "status")
    assert "Answered: 1 of 2." in status
    assert "Question 1" not in status
    assert "Question 2: Should it round half up or half even?" in status
    village.mia.comment(issue, "And 2 is for you to say.\r\n\r\n2) half even\r\n")
    village.settle()
    assert village.stands(issue) == "draft, waits for runner"
    runner = village.runner(issue)
    assert said_to(runner) == [
        ("answer", "mia", ASKING["questions"][0], "The basket."),
        ("answer", "mia", ASKING["questions"][1], "half even"),
    ]
    assert runner.spec.unit is Unit.UPDATE_PLAN
    runner.tell_plan(changes=("Half even.",))
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == [*POSTED, "mia: 1: The basket.", "mia: And 2 is for you to say.", "plan 2"]
    assert village.notes(issue, "answered") == [
        "answered: 1 of 2 questions",
        "every question is answered: rewriting the plan",
    ]
    assert village.path(issue) == ["draft"]


@pytest.mark.parametrize("words", ["1: The basket.\n2: Half even.", "/answer 1: The basket.\n2: Half even."])
def test_a_person_with_triage_answers_and_a_reader_does_not(village: Village, words: str) -> None:
    issue = asking(village)
    village.rita.comment(issue, words)
    village.settle()
    told = ["not_allowed"] if words.startswith("/") else []
    assert village.thread(issue) == [*POSTED, f"rita: {words.splitlines()[0]}", *told]
    assert village.notes(issue, "refused") == ["rita lacks 2"]
    assert village.stands(issue) == "draft, waits for answers"
    village.tom.comment(issue, words)
    village.settle()
    assert village.stands(issue) == "draft, waits for runner"
    assert [text for *_, text in said_to(village.runner(issue))] == ["The basket.", "Half even."]


def test_an_approval_covers_no_answer_that_is_not_in_the_text(village: Village) -> None:
    issue = village.planned(questions=("Half up or half even?",))
    village.mia.comment(issue, "/answer 1: Neither. Delete the basket.")
    village.settle()
    assert "1 answer is kept for the next rewrite" in village.text(issue, "status")
    village.alice.comment(issue, "/approve")
    village.settle()
    assert said_to(village.runner(issue)) == []
    assert village.thread(issue) == [*POSTED, "mia: /answer 1: Neither. Delete the basket.", "alice: /approve"]


def test_another_app_answers_and_remarks_nothing(village: Village) -> None:
    issue = asking(village)
    with another_bot(village, {"issues": "write", "metadata": "read"}) as bot:
        for words in ("1: The basket.\n2: Half even.", "> Which total?\n\nThe basket."):
            assert bot.post(f"/issues/{issue}/comments", json={"body": words}).is_success
    village.settle()
    assert village.stands(issue) == "draft, waits for answers"
    assert len(village.thread(issue)) == len(POSTED) + 2
    village.alice.comment(issue, "/update")
    village.settle()
    assert said_to(village.runner(issue)) == [("update", "alice", "", "")]


def test_conversation_about_questions_is_left_alone(village: Village) -> None:
    issue = asking(village)
    village.mia.comment(issue, "I have to think about the first one.")
    village.settle()
    assert village.stands(issue) == "draft, waits for answers"
    assert village.thread(issue) == [*POSTED, "mia: I have to think about the first one."]
    assert village.notes(issue, "answered") == []


def test_an_answer_that_was_edited_or_taken_back_counts_as_it_reads(village: Village) -> None:
    issue = asking(village)
    comment = village.mia.comment(issue, "1: The invoice.")
    village.mia.edit_comment(comment, "1: The basket.")
    gone = village.mia.comment(issue, "2: Half up.")
    village.mia.call("DELETE", f"/issues/comments/{gone}")
    village.settle()
    assert [(words.quote, words.text) for words in village.plan(issue).feedback] == [
        (ASKING["questions"][0], "The basket.")
    ]
    assert village.stands(issue) == "draft, waits for answers"


def test_answers_to_a_plan_up_for_decision_wait_for_the_next_rewrite(village: Village) -> None:
    issue = village.planned(questions=("Half up?", "In the README too?"))
    village.mia.comment(issue, "1: no, half even")
    village.tom.comment(issue, "/answer 2: yes")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert "1 answer is kept for the next rewrite." in village.text(issue, "status")
    village.alice.comment(issue, "/update")
    village.settle()
    assert said_to(village.runner(issue)) == [
        ("answer", "tom", "In the README too?", "yes"),
        ("answer", "mia", "Half up?", "no, half even"),
        ("update", "alice", "", ""),
    ]
    assert village.thread(issue) == [*POSTED, "mia: 1: no, half even", "tom: /answer 2: yes", "alice: /update"]


def test_an_answer_to_nothing_is_answered(village: Village) -> None:
    issue = village.planned()
    village.mia.comment(issue, "/answer 1: yes")
    village.settle()
    assert village.thread(issue) == [*POSTED, "mia: /answer 1: yes", "not_now"]
    assert "asks nothing now" in village.text(issue, "not_now")
