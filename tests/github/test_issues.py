"""Issues of the bot's own, comments folded away, branches brought on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import Permanent, Transient
from bot.github.ensure import marked
from bot.github.gateway import MadeIssue, Missing
from tests.github.test_writes import AFTER

if TYPE_CHECKING:
    from tests.github.conftest import World


def ensure(world: World, key: str = "ab-1", *, first: bool) -> MadeIssue:
    return world.gateway.ensure_issue(world.repo, key, "A part", "Do it", ["agent"], first=first)


@pytest.mark.parametrize("fault", AFTER)
def test_an_issue_whose_answer_was_lost_is_not_opened_again(world: World, fault: str) -> None:
    world.gateway.identity()
    world.fault(fault, method="POST", path=".*/issues$")
    with pytest.raises(Transient):
        ensure(world, first=True)
    found = ensure(world, first=False)
    info = world.gateway.issue(world.repo, found.number)
    assert (info.snapshot.title, info.snapshot.body, info.labels) == ("A part", marked("ab-1", "Do it"), ("agent",))
    assert [name for _, name, _ in world.written()].count("issues/create") == 1
    other = ensure(world, "ab-2", first=False)
    assert other.number != found.number


def test_an_issue_with_a_forged_mark_is_not_ours(world: World) -> None:
    forged = world.issue("A part", marked("ab-1", "forged"))
    assert ensure(world, first=False).number != forged


def test_a_closed_issue_is_still_found(world: World) -> None:
    made = ensure(world, first=True)
    world.person("mia", "admin")
    world.ask("mia", "PATCH", f"/issues/{made.number}", {"state": "closed"})
    assert ensure(world, first=False) == made


def test_sub_issues_hang_once(world: World) -> None:
    parent, child = world.issue(), ensure(world, first=True)
    for _ in range(2):
        assert world.gateway.ensure_sub_issue(world.repo, parent, child.id)
    assert [row["number"] for row in world.ask("mia", "GET", f"/issues/{parent}/sub_issues")] == [child.number]
    with pytest.raises(Permanent, match="only have one parent"):
        world.gateway.ensure_sub_issue(world.repo, world.issue(), child.id)
    with pytest.raises(Missing):
        world.gateway.ensure_sub_issue(world.repo, 99, child.id)


def test_a_server_without_sub_issues_says_so(world: World) -> None:
    parent, child = world.issue(), ensure(world, first=True)
    world.standin.hub.has_sub_issues = False
    try:
        assert not world.gateway.ensure_sub_issue(world.repo, parent, child.id)
        with pytest.raises(Missing):
            world.gateway.ensure_sub_issue(world.repo, 99, child.id)
    finally:
        world.standin.hub.has_sub_issues = True


def test_a_comment_is_superseded_in_one_request(world: World) -> None:
    made = world.gateway.ensure_comment(world.repo, world.issue(), "k", "old", first=True)
    for _ in range(2):
        assert world.gateway.supersede(world.repo, made, marked("k", "older")) is None
    shown = world.ask("mia", "GET", f"/issues/comments/{made.id}")
    assert (shown["minimized"], shown["body"]) == ({"reason": "outdated"}, marked("k", "older"))
    assert [name for _, name, _ in world.written()].count("graphql/Change") == 2
    world.ask("mia", "DELETE", f"/issues/comments/{made.id}")
    with pytest.raises(Missing):
        world.gateway.supersede(world.repo, made, marked("k", "older"))


@pytest.mark.parametrize("refused", ["minimizeComment", "updateIssueComment"])
def test_the_half_that_was_refused_is_told_or_done_by_itself(world: World, refused: str) -> None:
    made = world.gateway.ensure_comment(world.repo, world.issue(), "k", "old", first=True)
    world.standin.hub.refused.add(refused)
    try:
        told = world.gateway.supersede(world.repo, made, marked("k", "older"))
    finally:
        world.standin.hub.refused.clear()
    assert world.gateway.comment(world.repo, made.id).body == marked("k", "older")
    assert (told is not None) == (refused == "minimizeComment")


def test_a_branch_is_brought_on_from_where_it_is_known_to_be(world: World) -> None:
    first = world.commit("plan/1", {"a.txt": "a"})
    second = world.commit("plan/1-next", {"b.txt": "b"}, parent="plan/1")
    for _ in range(2):
        world.gateway.advance_branch(world.repo, "plan/1", second, expected=first)
    assert world.gateway.branch_head(world.repo, "plan/1") == second
    assert world.asked("git/get-ref") == 2, "one for the test, and one to see why nothing was to be moved"
    elsewhere = world.commit("other", {"c.txt": "c"})
    with pytest.raises(Permanent, match="somebody has pushed"):
        world.gateway.advance_branch(world.repo, "plan/1", elsewhere, expected=first)
    with pytest.raises(Permanent, match="fast forward"):
        world.gateway.advance_branch(world.repo, "plan/1", elsewhere, expected=second)
    with pytest.raises(Permanent, match="no branch of a plan"):
        world.gateway.advance_branch(world.repo, "main", second, expected=first)
    with pytest.raises(Missing):
        world.gateway.advance_branch(world.repo, "plan/9", second, expected=first)
    assert world.gateway.branch_head(world.repo, "plan/1") == second
