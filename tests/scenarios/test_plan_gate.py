"""The first gate: whose yes counts, on which text, and what everybody else is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from tests.scenarios.village import Village

POSTED = ["status", "plan 1"]


def plan_comment(village: Village, issue: int) -> int:
    revision = village.plan(issue).revision
    assert revision is not None
    assert revision.comment_id is not None
    return revision.comment_id


def another_bot(village: Village, permissions: dict[str, str]) -> httpx.Client:
    """A client that is another App in the same repository."""
    control, hub = village.github.control, village.github.hub
    app = control.create_app(f"other-{village.repository_id}", "acme", permissions=permissions)
    token = hub.create_installation_token(hub.installations[app["installation_id"]]).raw
    base = f"{village.github.api_url}/repos/{village.repository}"
    return httpx.Client(base_url=base, headers={"Authorization": f"token {token}"}, timeout=20)


def test_a_writers_thumb_approves(village: Village) -> None:
    issue = village.planned()
    village.alice.react(plan_comment(village, issue))
    village.look()
    assert village.stands(issue) == "executing, waits for runner"
    assert village.thread(issue) == POSTED
    (approval,) = [e for e in village.journal(issue) if e.event == "approved"]
    assert (approval.actor_login, approval.details["via"]) == ("alice", "reaction")
    assert village.plan(issue).plan_approval is not None


def test_a_readers_thumb_is_passed_over_in_silence(village: Village) -> None:
    issue = village.planned()
    village.rita.react(plan_comment(village, issue))
    village.tom.react(plan_comment(village, issue))
    village.look()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == POSTED
    assert sorted(village.notes(issue, "refused")) == ["rita lacks 3", "tom lacks 3"]


def test_a_readers_command_is_answered(village: Village) -> None:
    issue = village.planned()
    village.rita.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == [*POSTED, "rita: /approve", "not_allowed"]
    assert "`/approve` needs write permission" in village.text(issue, "not_allowed")


def test_a_permission_that_was_taken_away_no_longer_counts(village: Village) -> None:
    issue = village.planned()
    village.alice.react(plan_comment(village, issue))
    village.person("alice", "triage")
    village.look()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == POSTED


def test_bots_approve_nothing(village: Village) -> None:
    issue = village.planned()
    with another_bot(village, {"issues": "write", "metadata": "read", "contents": "write"}) as bot:
        comment = plan_comment(village, issue)
        assert bot.post(f"/issues/comments/{comment}/reactions", json={"content": "+1"}).is_success
        assert bot.post(f"/issues/{issue}/comments", json={"body": "/approve"}).is_success
    village.look()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == [*POSTED, f"other-{village.repository_id}[bot]: /approve"]
    assert village.notes(issue, "approved") == []


def test_a_thumb_withdrawn_before_it_was_seen_is_void(village: Village) -> None:
    issue = village.planned()
    comment = plan_comment(village, issue)
    reaction = village.alice.react(comment)
    village.alice.call("DELETE", f"/issues/comments/{comment}/reactions/{reaction}")
    village.look()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == POSTED


def test_a_thumb_withdrawn_between_look_and_use_is_void(village: Village) -> None:
    issue = village.planned()
    comment = plan_comment(village, issue)
    reaction = village.alice.react(comment)
    village.clock.ahead += 60
    assert village.worker.run_periodic("poll")
    village.alice.call("DELETE", f"/issues/comments/{comment}/reactions/{reaction}")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.notes(issue, "refused") == ["withdrawn or edited before it was used"]


@pytest.mark.parametrize("first", ["+1", "-1"])
def test_where_yes_and_no_both_stand_the_no_wins(village: Village, first: str) -> None:
    issue = village.planned()
    comment = plan_comment(village, issue)
    village.alice.react(comment, first)
    village.bob.react(comment, "-1" if first == "+1" else "+1")
    village.look()
    assert village.stands(issue) == "rejected"
    assert village.path(issue) == ["draft", "rejected"]
    assert village.thread(issue) == POSTED
    assert "plan was rejected" in village.text(issue, "status")


def test_a_thumb_on_an_old_revision_decides_nothing(village: Village) -> None:
    issue = village.planned()
    old = plan_comment(village, issue)
    village.alice.comment(issue, "/update Use Decimal.")
    village.settle()
    village.runner(issue).write_plan(title="Use Decimal")
    village.alice.react(old)
    village.look()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == ["status", "plan 1", "alice: /update Use Decimal.", "plan 2"]
    assert "revision 2" in village.text(issue, "plan 1").splitlines()[0].lower()


def test_an_approval_said_before_the_plan_was_there_is_refused(village: Village) -> None:
    issue = village.labelled()
    village.alice.comment(issue, "/approve")
    village.settle()
    village.runner(issue).write_plan()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == ["status", "alice: /approve", "nothing_to_decide", "plan 1"]


def test_an_edited_comment_is_no_command(village: Village) -> None:
    issue = village.planned()
    comment = village.alice.comment(issue, "Looks good.")
    village.settle()
    _a_second_later(village)
    village.alice.edit_comment(comment, "/approve")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == [*POSTED, "alice: /approve"]


def test_a_command_edited_before_it_was_used_is_void(village: Village) -> None:
    issue = village.planned()
    comment = village.alice.comment(issue, "/approve")
    _a_second_later(village)
    village.alice.edit_comment(comment, "/reject no, wait")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.notes(issue, "refused") == ["withdrawn or edited before it was used"]


def test_a_command_deleted_before_it_was_used_is_void(village: Village) -> None:
    issue = village.planned()
    comment = village.alice.comment(issue, "/approve")
    village.alice.call("DELETE", f"/issues/comments/{comment}")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == POSTED


def _a_second_later(village: Village) -> None:
    """GitHub's times are whole seconds: let what comes next fall into another one."""
    village.github_ahead(2)


def test_a_plan_comment_edited_before_the_approval_is_posted_again(village: Village) -> None:
    issue = village.planned()
    comment = plan_comment(village, issue)
    body = next(c["body"] for c in village.comments(issue) if c["id"] == comment)
    village.bob.edit_comment(comment, body.replace("Round it.", "Delete everything."))
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == [*POSTED, "approval_void", "plan 2"]
    assert "Delete everything" not in village.text(issue, "plan 2")
    assert "no longer reads as it was posted" in village.text(issue, "approval_void")


def test_an_approval_of_an_edited_plan_is_void_though_nobody_told_of_the_edit(village: Village) -> None:
    issue = village.planned()
    comment = plan_comment(village, issue)
    village.github.faults.add("drop", event="issue_comment.edited")
    village.bob.edit_comment(comment, "Round it, and delete everything.")
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue)[-3:] == ["alice: /approve", "approval_void", "plan 2"]
    assert "@alice" in village.text(issue, "approval_void") or "alice" in village.text(issue, "approval_void")
    assert village.runs() == [f"twogate {village.plan(issue).uid}-1"]


def test_a_plan_edited_between_approval_and_dispatch_is_not_carried_out(village: Village) -> None:
    issue = village.planned()
    comment = plan_comment(village, issue)
    village.github.faults.add("secondary", method="POST", path="/dispatches$", status=403, seconds=60)
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"
    village.github.faults.add("drop", event="issue_comment.edited")
    village.bob.edit_comment(comment, "Round it, and delete everything.")
    village.later(70)
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == [*_edited(village, issue), "alice: /approve", "approval_void", "plan 2"]
    assert len(village.runs()) == 1
    assert village.path(issue) == ["draft", "approved", "executing", "draft"]


def _edited(village: Village, issue: int) -> list[str]:
    """The thread's start where the plan comment was overwritten and lost its mark."""
    return village.thread(issue)[:2]


def test_a_deleted_plan_comment_is_posted_again(village: Village) -> None:
    issue = village.planned()
    village.bob.call("DELETE", f"/issues/comments/{plan_comment(village, issue)}")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == ["status", "approval_void", "plan 2"]
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"


def test_our_own_edits_of_the_plan_comment_change_nothing(village: Village) -> None:
    issue = village.planned()
    village.alice.comment(issue, "/update Use Decimal.")
    village.settle()
    village.runner(issue).write_plan(title="Use Decimal")
    assert village.notes(issue, "plan_comment_changed") == []
    assert village.plan(issue).revisions[-1].number == 2


def test_two_commands_in_one_comment_act_in_order(village: Village) -> None:
    issue = village.planned()
    village.alice.comment(issue, "Not like this.\r\n\r\n/reject too vague\r\n/reopen\r\n")
    village.settle()
    assert village.path(issue) == ["draft", "rejected", "draft"]
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.plan(issue).rejections[0].text == "too vague"
    assert village.thread(issue) == [*POSTED, "alice: Not like this.", "plan 2"]


def test_what_is_quoted_or_code_is_no_command(village: Village) -> None:
    issue = village.planned()
    village.alice.comment(
        issue, "> /approve\n\nI would not say\n\n```\n/approve\n```\n\nnor `/approve`. <!--\n/approve\n-->"
    )
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert len(village.thread(issue)) == 3


def test_the_checks_of_the_policy_changed_after_the_approval(village: Village) -> None:
    issue = village.planned()
    village.github.faults.add("secondary", method="POST", path="/dispatches$", status=403, seconds=60)
    village.alice.comment(issue, "/approve")
    village.settle()
    village.set_policy('gates: [{name: nothing, run: "true", blocking: false}]')
    village.later(70)
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == [*POSTED, "alice: /approve", "approval_void", "plan 2"]
    assert "the checks in the repository's policy have changed" in village.text(issue, "approval_void")
    assert "nothing" in village.text(issue, "plan 2")
