"""Plans that wait for others by a person's word."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.scenarios.village import Village


def say(village: Village, issue: int, words: str, who: str = "alice") -> None:
    getattr(village, who).comment(issue, words)
    village.settle()


def waiting(village: Village, *issues: int, **document: object) -> int:
    """An issue whose approved plan depends on others."""
    issue = village.planned(**document)
    say(village, issue, f"/depends {' '.join(f'#{n}' for n in issues)}\n/approve")
    assert village.stands(issue) == "approved, waits for dependency", village.known()
    return issue


def test_a_plan_starts_once_what_it_depends_on_is_merged(village: Village) -> None:
    first = village.pulled()
    issue = waiting(village, first)
    assert village.thread(issue) == ["status", "plan 1", f"alice: /depends #{first}"]
    told = village.text(issue, "status")
    assert f"It starts once the work of #{first} is merged." in told
    assert f"| Depends on | #{first} |" in told
    say(village, issue, "/status")
    assert village.thread(issue)[-1] == "status"
    assert f"It starts once the work of #{first} is merged." in village.comments(issue)[-1]["body"]
    village.alice.merge(village.plan(first).pull_request or 0)
    village.settle()
    assert village.stands(first) == "merged"
    assert village.stands(issue) == "executing, waits for runner"
    assert village.notes(issue, "depends_chosen") == [f"depends on #{first}"]
    assert village.notes(issue, "queue_waits") == ["waits for dependency"]
    assert village.notes(issue, "slot_granted") == ["a slot is free: executing"]
    assert village.thread(issue)[2:] == [f"alice: /depends #{first}", "alice: /status", "status"]


def test_waits_without_an_end_are_refused_with_the_reason(village: Village) -> None:
    one, two, three = village.planned(), village.planned(), village.planned()
    say(village, two, f"/depends #{three}")
    say(village, three, f"/depends {one}")
    thread = village.thread(one)
    for words, told in (
        (f"#{two}", f"#{one} waits for #{two}, #{two} for #{three}, #{three} for #{one}."),
        (f"#{one}", "A plan can't wait for itself."),
        ("#999", "There is no plan of #999 to wait for"),
        ("drop #2", "This plan does not wait for #2."),
    ):
        say(village, one, f"/depends {words}")
        assert village.thread(one)[-2:] == [f"alice: /depends {words}", "dependency_refused"]
        assert told in village.text(one, "dependency_refused").replace("\u200b", "")
    assert len(village.thread(one)) == len(thread) + 8
    assert village.plan(one).choices.depends_on == ()
    assert [e.event for e in village.journal(one)].count("refused") == 4


def test_who_waits_is_told_once_that_it_ended_unmerged_and_a_person_says_how_it_goes_on(village: Village) -> None:
    first = village.pulled()
    issue = waiting(village, first)
    thread = village.thread(issue)
    village.alice.close_pull(village.plan(first).pull_request or 0)
    village.settle()
    village.periodically("reconcile")
    assert village.stands(first) == "rejected"
    assert village.stands(issue) == "approved, waits for dependency"
    assert village.thread(issue) == [*thread, "dependency_ended"]
    assert f"`/depends drop #{first}` has it start without that" in village.text(issue, "dependency_ended")
    assert f"#{first} ended unmerged" in village.text(issue, "status")
    assert village.notes(issue, "dependency_ended") == [f"#{first} ended unmerged: rejected"]
    say(village, issue, f"/depends drop #{first}")
    assert village.stands(issue) == "executing, waits for runner"
    assert village.thread(issue) == [*thread, "dependency_ended", f"alice: /depends drop #{first}"]


def test_a_later_try_counts_as_what_is_waited_for(village: Village) -> None:
    first = village.planned()
    issue = waiting(village, first)
    say(village, first, "/cancel")
    assert village.thread(issue)[-1] == "dependency_ended"
    say(village, first, "/plan")
    assert village.plan(first).try_number == 2
    assert f"#{first} ended unmerged" not in village.text(issue, "status")
    assert village.stands(issue) == "approved, waits for dependency"


def test_a_merge_nobody_told_of_is_found(village: Village) -> None:
    first = village.pulled()
    issue = waiting(village, first)
    village.github.faults.add("drop", event="pull_request.closed")
    village.github.faults.add("drop", event="push")
    village.alice.merge(village.plan(first).pull_request or 0)
    village.settle()
    assert village.stands(issue) == "approved, waits for dependency"
    village.periodically("reconcile")
    assert village.stands(issue) == "executing, waits for runner"


def test_a_pull_request_that_was_closed_opened_again_and_merged_unseen_is_found(village: Village) -> None:
    first = village.pulled()
    issue = waiting(village, first)
    pull = village.plan(first).pull_request or 0
    village.alice.close_pull(pull)
    village.settle()
    village.github.faults.add("drop", event="pull_request.reopened")
    village.alice.call("PATCH", f"/pulls/{pull}", state="open")
    village.settle()
    assert village.stands(first) == "rejected"
    village.periodically("reconcile")
    assert village.stands(first) == "pr_open, waits for merge"
    assert f"#{first} ended unmerged" not in village.text(issue, "status")
