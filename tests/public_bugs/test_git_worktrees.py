"""Work trees that other systems could not make again, made in the wrong place, or lost work with.

AO#1034, AO#76, AO#1130, AO#1926, aoagents/ReverbCode#353, claude-squad#207, vibe-kanban#1320, emdash#3247, emdash#2102,
claude-code#45737, claude-code#51930, claude-code#56225, claude-code#74719, omniscribe#111, vscode#336678,
hojinzs/github-symphony#777, All-Hands-AI/openhands-resolver#94, bamseynet/tmux-claude-orchestrator#86,
dfinity/ic#11183, cheasee-pi#1000.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from runner.place import list_workspaces
from runner.store import ObjectStore, StoreError
from runner.worktree import Workspace
from tests.runner.workbench import BOT, UID, Bench, bench, sh

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Bench:
    return bench(tmp_path)


def test_a_branch_that_an_orphaned_tree_has_checked_out_is_no_hindrance(place: Bench) -> None:
    orphan = place.open("orphan00", "plan/7")
    sh(orphan.tree, "echo dirty > a.txt")
    assert place.open("another0", "plan/7").is_clean_against(place.base)


def test_a_folder_that_vanished_can_be_made_again(place: Bench) -> None:
    workspace = place.open()
    shutil.rmtree(workspace.folder)
    workspace._lock.close()
    assert place.open().is_clean_against(place.base)


def test_a_retry_starts_from_the_base_it_was_given_and_not_from_stale_code(place: Bench) -> None:
    first = place.open()
    sh(first.tree, "echo old > old.txt")
    first.commit("old", BOT)
    first.close()
    sh(place.origin, "echo moved > a.txt; git commit -qam moved")
    base = place.fetch()
    again = Workspace.open(place.store, plan_uid=UID, branch="plan/7", base=base)
    assert (again.tree / "a.txt").read_text() == "moved\n"
    assert not (again.tree / "old.txt").exists()
    assert again.changes() == ()


def test_a_tree_that_can_not_be_made_leaves_no_folder_to_run_in(place: Bench) -> None:
    with pytest.raises(StoreError):
        place.open(head="2" * 40)
    assert list_workspaces(place.home, 42) == ()


def test_a_setting_of_one_plan_breaks_no_other(place: Bench) -> None:
    one, two = place.open("plan0001", "plan/1"), place.open("plan0002", "plan/2")
    sh(
        one.tree,
        "git config core.bare true; git config extensions.worktreeConfig true; git worktree prune --expire=now",
    )
    assert sh(two.tree, "git status --porcelain; git rev-parse --is-inside-work-tree") == "true"
    assert two.inspect().finding is None


def test_work_of_an_agent_that_failed_is_kept(place: Bench) -> None:
    workspace = place.open()
    sh(workspace.tree, "echo edited > a.txt; echo untracked > new.txt; git rm -q src/m.py")
    saved = workspace.salvage()
    workspace.remove()
    assert saved
    assert place.store.read(saved, b"a.txt") == b"edited\n"
    assert place.store.read(saved, b"new.txt") == b"untracked\n"
    assert place.store.read(saved, b"src/m.py") is None


def test_two_installations_and_two_repositories_on_one_machine_share_nothing(place: Bench, tmp_path: Path) -> None:
    other = ObjectStore(tmp_path / "other-home", 42)
    other.fetch(place.url, ["trunk"])
    neighbour = ObjectStore(place.home, 43)
    neighbour.fetch(place.url, ["trunk"])
    trees = [
        Workspace.open(store, plan_uid=UID, branch="plan/7", base=place.base)
        for store in (place.store, other, neighbour)
    ]
    sh(trees[0].tree, "echo mine > a.txt; git commit -qam mine")
    assert all(tree.inspect().finding is None for tree in trees)
    assert [tree.head == place.base for tree in trees] == [False, True, True]
