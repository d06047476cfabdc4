"""What is said at the diff gate beside yes and no: the work goes on from what was shown."""

from __future__ import annotations

import pytest

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.patches import line_at, sections
from bot.lifecycle.states import HoldCause, State, Via, WaitingOn
from runner.contract import Feedback, JobKind, Outcome
from runner.results import Unit
from tests.lifecycle import stories
from tests.lifecycle.makers import HEAD, UID, report, said, work
from tests.lifecycle.stepping import STATUS, keys, plan, put, unchanged

REMARK = Feedback(
    kind="review", author="bob", text="Why two?", path="src/greet.py", line=5, quote='    return "Bonjour"'
)
IN_REVIEW = plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REVIEWED)
CHECK = ":check:2:8"


def revise(text: str = "", **fields) -> ev.ReviseRequested:
    return said(ev.ReviseRequested, 500.0, text=text, **fields)


def test_revised_work_goes_on_from_the_commit_that_was_shown():
    before = IN_REVIEW.model_copy(update={"heard": ("commit_comment:1",)})
    step = put(before, revise("One is enough.", remarks=(REMARK,), heard=("commit_comment:2",)))
    after, job = step.plan, step.plan.job
    assert (after.state, after.waiting_on) == (State.EXECUTING, WaitingOn.RUNNER)
    assert (job.kind, job.unit, job.head, job.merge_base_in) == (JobKind.EXECUTE, Unit.EXECUTE_PLAN, HEAD, False)
    assert [(f.kind, f.author, f.text) for f in after.feedback] == [
        ("revise", "alice", "One is enough."), ("review", "bob", "Why two?"),
    ]  # fmt: skip
    assert after.heard == ("commit_comment:1", "commit_comment:2")
    assert (after.plan_approval, after.diff_approval) == (stories.PLAN_APPROVAL, None)
    assert keys(step) == ["-4:dispatch", CHECK, STATUS]
    assert step.note == f"revising {HEAD[:12]}, remarks: 1"
    closing = step.effects[1]
    assert isinstance(closing, fx.ConcludeCheck)
    assert (closing.conclusion, closing.sentence) == ("neutral", "Sent back to be changed by alice.")


def test_remarks_alone_are_enough():
    assert put(IN_REVIEW, revise(remarks=(REMARK,))).plan.feedback == (REMARK,)


def test_an_approval_that_is_not_used_yet_is_over_and_its_trial_merge_is_stopped():
    job = stories.job(JobKind.CHECK_BASE, None, head=HEAD)
    before = plan(State.IN_REVIEW, WaitingOn.RUNNER, job=job, diff_approval=stories.DIFF_APPROVAL, **stories.REVIEWED)
    step = put(before, revise("One is enough."))
    assert (step.plan.state, step.plan.diff_approval) == (State.EXECUTING, None)
    assert keys(step) == ["-3:stop", "-4:dispatch", CHECK, STATUS]


UNPOSTED = stories.GREEN.model_copy(update={"comment_id": None})


@pytest.mark.parametrize(
    ("before", "event", "why"),
    [
        pytest.param(IN_REVIEW, revise(), "nothing to change was said", id="nothing to change"),
        pytest.param(IN_REVIEW, revise(via=Via.BUTTON), "nothing to change was said", id="button without comments"),
        pytest.param(
            plan(State.IN_REVIEW, WaitingOn.BOT, **{**stories.REVIEWED, "review": UNPOSTED}),
            revise("smaller"),
            "its diff is not posted yet",
            id="not shown yet",
        ),
    ],
)
def test_what_can_not_be_revised_is_answered(before, event, why):
    step = put(before, event)
    assert unchanged(before, step)
    (answer,) = step.effects
    assert isinstance(answer, fx.Say)
    assert (answer.topic, answer.to) == (fx.Topic.NOT_NOW, event.by)
    assert answer.details["why"].startswith(why)


@pytest.mark.parametrize("state", [state for state in State if state is not State.IN_REVIEW])
def test_nowhere_else_is_there_work_to_revise(state):
    before = plan(state, None if state in {State.MERGED, State.SPLIT} else WaitingOn.PERSON, **stories.REVIEWED)
    step = put(before, revise("smaller"))
    assert unchanged(before, step)
    assert [effect.topic for effect in step.effects if isinstance(effect, fx.Say)] == [fx.Topic.NOT_NOW]


def test_a_held_diff_is_not_revised():
    step = put(IN_REVIEW, ev.HoldPlaced(at=1.0, source="h", cause=HoldCause.ISSUE_CLOSED), revise("smaller"))
    assert step.plan.state is State.IN_REVIEW
    assert [effect.topic for effect in step.effects] == [fx.Topic.PLAN_HELD]


PATCH = """\
diff --git a/a b.py b/a b.py
index 1..2 100644
--- a/a b.py\t
+++ b/a b.py\t
@@ -1,3 +1,4 @@ def f():
 one
-two
+Two
+Two and a half
 three
@@ -10 +11,2 @@
 ten
+eleven
\\ No newline at end of file
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-+++ b/gone.py
diff --git a/flag.png b/flag.png
Binary files a/flag.png and b/flag.png differ
diff --git "a/\\303\\244.py" "b/\\303\\244.py"
--- "a/\\303\\244.py"
+++ "b/\\303\\244.py"
@@ -1 +1 @@
-x
+y"""


def test_a_patch_comes_apart_by_its_files():
    assert [section.path for section in sections(PATCH)] == ["a b.py", "gone.py", "", "\\303\\244.py"]
    assert "\n".join(line for section in sections(PATCH) for line in section.lines) == PATCH


@pytest.mark.parametrize(
    ("path", "number", "text"),
    [
        ("a b.py", 1, "one"),
        ("a b.py", 3, "Two and a half"),
        ("a b.py", 4, "three"),
        ("a b.py", 5, ""),
        ("a b.py", 12, "eleven"),
        ("gone.py", 1, ""),
        ("other.py", 1, ""),
    ],
)
def test_a_line_is_found_as_the_patch_leaves_it(path, number, text):
    assert line_at(PATCH, path, number) == text


def test_a_diff_is_folded_once_other_work_has_its_place_and_what_was_approved_stays():
    begun = put(IN_REVIEW, revise("One is enough."))
    assert ":outdated:2" not in keys(begun), "nothing newer is there to look at"
    done = report(f"{UID}-4", Outcome.VERIFIED, work=work("e" * 40))
    verified = put(begun.plan, ev.WorkVerified(at=501.0, source="r", job=f"{UID}-4", report=done))
    assert ":outdated:2" in keys(verified)
    (fold,) = (effect for effect in verified.effects if isinstance(effect, fx.FoldReview))
    assert (fold.number, fold.comment_id) == (2, stories.GREEN.comment_id)
    further = put(stories.STATUS["pr_open"], revise("Smaller.", branch_head=HEAD))
    assert further.plan.rework is not None
    assert not [effect for effect in further.effects if isinstance(effect, fx.FoldReview)]
    dropped = put(stories.STATUS["rework-in_review"], said(ev.CancelRequested, 500.0))
    assert dropped.plan.rework is None
    assert [e.number for e in dropped.effects if isinstance(e, fx.FoldReview)] == [
        stories.STATUS["rework-in_review"].review.number
    ]
