"""A plan becomes several: issues of their own under the old one, each with a plan that waits for its own decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.results import SplitChild, Unit, Verdict
from tests.scenarios.runner import plan_document
from tests.scenarios.test_trouble import outlast

if TYPE_CHECKING:
    from typing import Any

    from tests.scenarios.village import Village

FIRST = SplitChild(plan=plan_document(title="Round the total", steps=("Round it.",)))
SECOND = SplitChild(plan=plan_document(title="Say so in the README", files=("README.md",)), depends_on=(1,))
SAID = ["status", "plan 1", "alice: /split code and words"]


def asked(village: Village) -> int:
    """An issue whose plan a runner is asked to split."""
    issue = village.planned()
    village.alice.comment(issue, "/split code and words")
    village.settle()
    return issue


def parts(village: Village, issue: int) -> list[int]:
    """The issues of the parts that were made, in order."""
    split = village.plan(issue).split
    return [child.number for child in split.children if child.number] if split else []


def issues_of_bot(village: Village) -> list[dict[str, Any]]:
    """Every issue that the bot has opened, oldest first."""
    found = [i for i in village.alice.call("GET", "/issues?state=all&per_page=100") if i["user"]["type"] == "Bot"]
    return sorted(found, key=lambda issue: issue["number"])


def test_a_plan_is_split_into_issues_with_plans_of_their_own(village: Village) -> None:
    issue = asked(village)
    assert "Each part comes as an issue of its own." in village.text(issue, "status")
    runner = village.runner(issue)
    runner.split_plan(FIRST, SECOND)
    assert runner.spec.unit is Unit.SPLIT_PLAN
    assert [(words.kind, words.text) for words in runner.spec.feedback] == [("split", "code and words")]
    assert village.stands(issue) == "split"
    assert village.path(issue) == ["draft", "split"]
    one, two = parts(village, issue)
    assert village.thread(issue) == [*SAID, "split_done"]
    assert village.text(issue, "plan 1").startswith("**Split into parts, which go on in its place.**")
    for name in ("split_done", "status"):
        assert f"| 2 | #{two} | Say so in the README | part 1 |" in village.text(issue, name)
    assert village.notes(issue, "child_made") == [f"part 1 is #{one}", f"split into #{one}, #{two}"]
    made = issues_of_bot(village)
    assert [(i["number"], i["title"]) for i in made] == [(one, "Round the total"), (two, "Say so in the README")]
    assert f"Part 2 of 2 of #{issue}, split as `alice` asked." in made[1]["body"]
    assert [i["number"] for i in village.alice.call("GET", f"/issues/{issue}/sub_issues")] == [one, two]


def test_each_part_starts_as_a_draft_with_its_plan_and_goes_its_own_way(village: Village) -> None:
    issue = asked(village)
    village.runner(issue).split_plan(FIRST, SECOND)
    one, two = parts(village, issue)
    runs = len(village.runs())
    for number, title in ((one, "Round the total"), (two, "Say so in the README")):
        assert village.stands(number) == "draft, waits for plan_decision"
        assert village.thread(number) == ["status", "plan 1"]
        assert village.text(number, "plan 1").startswith(f"### Plan, revision 1: {title}")
        assert f"| Part of | #{issue} |" in village.text(number, "status")
        assert village.labels(number) == ["agent", "plan: draft"]
        plan = village.plan(number)
        assert (plan.requester.login, plan.part_of) == ("alice", issue)
        assert plan.policy == village.plan(issue).policy
    assert village.plan(one).choices.depends_on == ()
    assert village.plan(two).choices.depends_on == (one,)
    assert village.notes(two, "plan_requested") == [f"part 2 of 2 of #{issue}"]
    assert len(village.runs()) == runs, "the parts are written already"
    village.periodically("reconcile")
    village.alice.comment(one, "/approve")
    village.settle()
    village.runner(one).execute({"shop/basket.py": "rounded"})
    assert village.stands(one) == "in_review, waits for diff_decision"
    assert village.thread(one) == ["status", "plan 1", "alice: /approve", "review 1"]
    village.alice.comment(two, "/update shorter")
    village.settle()
    assert village.runner(two).claim().issue.title == "Say so in the README"


def test_parts_wait_for_what_the_plan_had_to_wait_for(village: Village) -> None:
    first = village.planned()
    issue = village.planned()
    village.alice.comment(issue, f"/depends #{first}\n/split")
    village.settle()
    village.runner(issue).split_plan(FIRST, SECOND)
    one, two = parts(village, issue)
    assert village.plan(one).choices.depends_on == (first,)
    assert village.plan(two).choices.depends_on == (first, one)


def test_a_part_is_held_when_its_label_is_taken_off(village: Village) -> None:
    issue = asked(village)
    village.runner(issue).split_plan(FIRST, SECOND)
    one, two = parts(village, issue)
    village.tom.unlabel(one, "agent")
    village.settle()
    assert village.stands(one) == "held: label_removed, draft, waits for plan_decision"
    assert village.stands(two) == "draft, waits for plan_decision"


@pytest.mark.parametrize("kind", ["error_after", "reset_after"])
@pytest.mark.parametrize("path", ["/issues$", "/sub_issues$"])
def test_a_part_whose_answer_was_lost_is_made_once(village: Village, kind: str, path: str) -> None:
    issue = asked(village)
    village.github.faults.add(kind, method="POST", path=path, actor=".*bot.*")
    village.runner(issue).split_plan(FIRST, SECOND)
    village.later(60)
    assert village.stands(issue) == "split"
    assert [i["number"] for i in issues_of_bot(village)] == parts(village, issue)
    assert [i["number"] for i in village.alice.call("GET", f"/issues/{issue}/sub_issues")] == parts(village, issue)
    assert [village.thread(number) for number in parts(village, issue)] == [["status", "plan 1"]] * 2
    assert village.thread(issue) == [*SAID, "split_done"]


def test_what_was_made_in_part_goes_on(village: Village) -> None:
    issue = asked(village)
    fault = village.github.faults.add("error", method="POST", path="/issues$", actor=".*bot.*", status=403, count=None)
    village.excused = {"make_child"}
    village.runner(issue).split_plan(FIRST, SECOND)
    assert village.stands(issue) == "failed, waits for person"
    assert "to go on with the parts" in village.text(issue, "status")
    fault.count = fault.hits
    village.alice.comment(issue, "/retry")
    village.settle()
    assert village.stands(issue) == "split"
    assert village.path(issue) == ["draft", "failed", "draft", "split"]
    assert village.thread(issue) == [*SAID, "alice: /retry", "split_done"]
    assert [i["number"] for i in issues_of_bot(village)] == parts(village, issue)


def stopped_between(village: Village) -> int:
    """An issue whose first part is made, while GitHub's trouble keeps the bot from making the second one."""
    issue = asked(village)
    posts = {"method": "POST", "path": "/issues$", "actor": ".*bot.*"}
    village.github.faults.add("error_after", **posts)  # it is looked up, not made again
    village.github.faults.add("error", count=None, **posts)
    village.runner(issue).split_plan(FIRST, SECOND)
    assert village.stands(issue) == "draft, waits for bot"
    assert len(parts(village, issue)) == len(issues_of_bot(village)) == 1
    return issue


def over(village: Village) -> None:
    """GitHub's trouble is over."""
    village.github.faults.clear()
    village.later(600)


def test_who_cancels_in_between_is_heard(village: Village) -> None:
    issue = stopped_between(village)
    village.alice.comment(issue, "/cancel")
    village.settle()
    assert village.stands(issue) == "cancelled"
    over(village)
    assert village.thread(issue) == [*SAID, "alice: /cancel"]
    (made,) = issues_of_bot(village)
    assert village.plan_or_none(made["number"]) is None
    village.tom.comment(made["number"], "/plan")
    village.settle()
    assert village.stands(made["number"]) == "draft, waits for runner"


def test_who_steers_in_between_is_told_and_the_split_goes_on(village: Village) -> None:
    issue = stopped_between(village)
    village.alice.comment(issue, "/update not like this")
    village.settle()
    assert village.notes(issue, "update_requested") == [
        "it is being split, which takes seconds; each part then asks for its own decision"
    ]
    over(village)
    assert village.thread(issue) == [*SAID, "alice: /update not like this", "not_now", "split_done"]
    assert "being split" in village.text(issue, "not_now")
    assert village.stands(issue) == "split"
    assert len(issues_of_bot(village)) == 2


def test_a_hold_in_between_stops_it_and_its_end_goes_on(village: Village) -> None:
    issue = stopped_between(village)
    village.mia.call("PATCH", f"/issues/{issue}", state="closed")
    village.settle()
    over(village)
    assert village.stands(issue) == "held: issue_closed, draft, waits for bot"
    assert len(issues_of_bot(village)) == 1
    village.mia.call("PATCH", f"/issues/{issue}", state="open")
    village.settle()
    assert village.stands(issue) == "split"
    assert [i["number"] for i in issues_of_bot(village)] == parts(village, issue)


@pytest.mark.parametrize("said", ["/cancel", "/update in one piece"])
def test_who_stops_the_splitting_before_it_is_written_stops_its_job(village: Village, said: str) -> None:
    issue = asked(village)
    job = village.runner(issue).job
    village.alice.comment(issue, said)
    village.settle()
    assert village.run_state(job) == "completed cancelled"
    assert village.thread(issue) == [*SAID, f"alice: {said}"]
    assert issues_of_bot(village) == []
    if said != "/cancel":
        assert [words.kind for words in village.runner(issue).claim().feedback] == ["split", "update"]


def test_parts_that_wait_for_each_other_are_not_made(village: Village) -> None:
    issue = asked(village)
    village.runner(issue).split_plan(FIRST.model_copy(update={"depends_on": (2,)}), SECOND)
    assert village.stands(issue) == "failed, waits for person"
    assert "parts 1, 2 wait for each other" in village.text(issue, "status")
    assert issues_of_bot(village) == []
    village.alice.comment(issue, "/retry")
    village.settle()
    assert village.runner(issue).claim().unit is Unit.SPLIT_PLAN


def test_parts_that_nobody_asked_for_are_not_made(village: Village) -> None:
    issue = village.labelled()
    village.runner(issue).split_plan(FIRST, SECOND)
    assert village.stands(issue) == "failed, waits for person"
    assert village.thread(issue) == ["status"]
    assert issues_of_bot(village) == []


def test_what_the_parts_say_mentions_nobody_and_commands_nothing(village: Village) -> None:
    issue = asked(village)
    nasty = plan_document(
        title="@bob /approve <!-- twogate:x -->", summary="@bob\n\n/approve\n\nCloses #1", verdict="plan"
    )
    village.runner(issue).split_plan(SplitChild(plan=nasty), SECOND)
    body = issues_of_bot(village)[0]["body"]
    assert "@bob" not in body
    assert "\n/approve" not in body
    assert "#1\n" not in f"{body}\n"
    assert village.stands(parts(village, issue)[0]) == "draft, waits for plan_decision"


def test_the_parts_of_a_refused_plan_are_refused(village: Village) -> None:
    issue = asked(village)
    village.runner(issue).split_plan(FIRST, SplitChild(plan=plan_document(verdict=Verdict.REFUSE, reason="No.")))
    assert "part 2 is no plan" in village.text(issue, "status")
    assert issues_of_bot(village) == []


def test_a_part_whose_plan_an_outage_swallowed_gets_it_once_that_is_over(village: Village) -> None:
    issue = asked(village)
    village.github.faults.add("error", method="POST", path="/sub_issues$", count=None)
    village.runner(issue).split_plan(FIRST, SECOND)
    outlast(village)
    assert village.stands(issue) == "split"
    assert [village.plan_or_none(number) for number in parts(village, issue)] == [None, None]
    village.github.faults.clear()
    village.periodically("reconcile")
    assert [village.thread(number) for number in parts(village, issue)] == [["status", "plan 1"]] * 2
    assert village.thread(issue) == [*SAID, "split_done"]


def test_a_part_whose_issue_was_closed_before_its_plan_came_is_held(village: Village) -> None:
    issue = asked(village)
    village.github.faults.add("error", method="GET", path=r"/issues/\d+$", status=502, count=None)
    village.runner(issue).split_plan(FIRST, SECOND)
    one, two = parts(village, issue)
    assert village.plan_or_none(one) is None
    village.alice.close_issue(one)
    village.settle()
    village.github.faults.clear()
    village.later(600)
    assert village.stands(one).startswith("held: issue_closed, draft")
    village.alice.comment(one, "/approve")
    village.settle()
    assert village.thread(one) == ["status", "plan 1", "alice: /approve", "plan_held"]
    assert village.stands(two) == "draft, waits for plan_decision"
