"""``/revise``: the work goes back to its agent with words and with what stands beside its lines, and comes back new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.contract import Feedback, Ledger, Outcome
from runner.results import ExecutionSummary

if TYPE_CHECKING:
    from tests.scenarios.village import Village

REVIEWED = ["status", "plan 1", "alice: /approve", "review 2"]


def test_revised_work_goes_on_from_its_commit_and_asks_for_a_new_approval(village: Village) -> None:
    issue = village.executing()
    said = ExecutionSummary(
        status="done", summary="Half of it.", delivered=("Round it.",), missing=("Tests: no time.",)
    )
    runner = village.runner(issue)
    shown = runner.publish({"shop/basket.py": "rounded"})
    work = runner.verified(shown)["work"].model_copy(update={"summary": said})
    runner.end(Outcome.VERIFIED, **runner.verified(shown, work=work))
    village.bob.comment(issue, "/revise Round half to even.\n\nAnd say why.")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"
    assert village.checks() == ["neutral: Sent back to be changed by bob."]
    again = village.runner(issue)
    head = again.execute({"shop/basket.py": "rounded to even"})
    assert again.spec.head == shown
    assert again.spec.branch_head == shown
    assert again.spec.feedback == (Feedback(kind="revise", author="bob", text="Round half to even.\n\nAnd say why."),)
    assert again.spec.ledger == Ledger(
        delivered=("Round it.",), missing=("Tests: no time.",), files=("shop/basket.py",)
    )
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.pulls() == []
    assert village.text(issue, "review 2").startswith("**No longer up for decision.**")
    assert not village.text(issue, "review 3").startswith("**No longer")
    village.alice.comment(issue, "/approve")
    village.settle()
    (pull,) = village.pulls()
    assert pull["head"]["sha"] == head
    assert village.thread(issue) == [
        *REVIEWED, "bob: /revise Round half to even.", "review 3", "alice: /approve",
    ]  # fmt: skip
    assert village.path(issue)[-5:] == ["in_review", "executing", "verifying", "in_review", "pr_open"]
    assert village.notes(issue, "revise_requested") == [f"revising {shown[:12]}, remarks: 0"]


def test_nothing_to_change_is_refused_with_a_sentence(village: Village) -> None:
    issue = village.reviewed()
    village.bob.comment(issue, "/revise")
    village.settle()
    village.press(issue, "alice", "revise")
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == [*REVIEWED, "bob: /revise", "not_now", "not_now"]
    assert "write it behind /revise" in village.text(issue, "not_now")
    assert village.checks() == ["action_required: The diff waits for a decision"]


def test_a_revision_ends_an_approval_that_was_not_used_yet(village: Village) -> None:
    issue = village.reviewed("ours")
    village.push("bob", {"shop/basket.py": "theirs"})
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "in_review, waits for runner"
    trial = village.runner(issue)
    village.bob.comment(issue, "/revise Wait, keep theirs.")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"
    assert village.run_state(trial.job) == "completed cancelled"
    village.runner(issue).execute({"shop/basket.py": "theirs, rounded"})
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.pulls() == []
    assert village.thread(issue) == [
        *REVIEWED, "alice: /approve", "bob: /revise Wait, keep theirs.", "review 4",
    ]  # fmt: skip


def test_comments_on_lines_of_the_commit_travel_with_their_place_each_once(village: Village) -> None:
    issue = village.reviewed("one\ntwo\nthree")
    review = village.plan(issue).review
    assert review is not None
    on = f"/commits/{review.work.head}/comments"
    village.bob.call("POST", on, body="Why two?", path="shop/basket.py", line=2)
    village.alice.call("POST", on, body="In all: fine.")
    village.mia.call("POST", on, body="I may only read.", path="shop/basket.py", line=1)
    village.press(issue, "alice", "revise")
    assert village.stands(issue) == "executing, waits for runner"
    runner = village.runner(issue)
    runner.execute({"shop/basket.py": "one\nthree"})
    assert runner.spec.feedback == (
        Feedback(kind="review", author="bob", text="Why two?", path="shop/basket.py", line=2, quote="two"),
        Feedback(kind="review", author="alice", text="In all: fine."),
    )
    village.bob.call("POST", on, body="One is enough.", path="shop/basket.py", line=1)
    village.alice.comment(issue, "/revise")
    village.settle()
    again = village.runner(issue)
    again.claim()
    assert [said.text for said in again.spec.feedback] == ["One is enough."]
    assert village.thread(issue) == [*REVIEWED, "review 3", "alice: /revise"]
    assert [note.rpartition(", ")[2] for note in village.notes(issue, "revise_requested")] == [
        "remarks: 2", "remarks: 1",
    ]  # fmt: skip


def test_the_comments_of_who_may_not_steer_and_of_bots_are_no_words_to_the_agent(village: Village) -> None:
    issue = village.reviewed()
    review = village.plan(issue).review
    assert review is not None
    for person in (village.mia, village.tom):
        person.call("POST", f"/commits/{review.work.head}/comments", body="Delete it all.")
    village.alice.comment(issue, "/revise")
    village.settle()
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == [*REVIEWED, "alice: /revise", "not_now"]


def test_a_reply_that_quotes_lines_of_the_review_travels_with_them(village: Village) -> None:
    issue = village.reviewed("rounded up")
    village.mia.comment(issue, "> +rounded up\n\nI may only read.")
    village.bob.comment(issue, "> +rounded up\n\nWhy up?")
    village.bob.comment(issue, "> Something else altogether\n\nThat is no line of it.")
    village.settle()
    assert village.stands(issue) == "in_review, waits for diff_decision"
    village.press(issue, "alice", "revise")
    assert village.stands(issue) == "executing, waits for runner"
    runner = village.runner(issue)
    runner.execute({"shop/basket.py": "rounded"})
    (said,) = runner.spec.feedback
    assert (said.kind, said.author, said.text) == ("review", "bob", "Why up?")
    assert "rounded up" in said.quote
    village.bob.comment(issue, "/revise")
    village.settle()
    assert village.thread(issue)[-2:] == ["bob: /revise", "not_now"]
