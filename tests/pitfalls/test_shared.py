"""What plans on one machine share: starts at once, locks, garbage collection, refs, and a branch that an agent leaves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from runner.clearing import clean_leftovers
from runner.place import list_workspaces
from runner.store import ObjectStore
from runner.worktree import Finding, Workspace
from tests.runner.workbench import BOT, sh

if TYPE_CHECKING:
    from tests.pitfalls.arena import Arena

PLANS = 12
"""Plans that start at the same instant; forty of them are a drill of their own."""


def test_row_14_many_work_trees_at_once(arena: Arena) -> None:
    """While agents run git and collect garbage in the trees that are there already."""

    def start(number: int) -> str:
        place, uid = arena.place, f"plan1{number:03}"
        store = ObjectStore(place.home, 42)
        owner = arena.sandbox.owner
        made = Workspace.open(store, plan_uid=uid, branch=f"plan/1{number}", base=place.base, owner=owner)
        arena.agent(
            f"echo {number} > a.txt; git commit -qam {number}; git gc -q --prune=now; git worktree prune --expire=now",
            made,
        )
        assert made.inspect().finding is None
        return store.read(made.head, b"a.txt", 100).decode()  # type: ignore[union-attr]

    with ThreadPoolExecutor(PLANS) as pool:
        assert list(pool.map(start, range(PLANS))) == [f"{number}\n" for number in range(PLANS)]
    assert len(list_workspaces(arena.place.home, 42)) == PLANS + 1


def test_row_15_locks_of_a_killed_git(arena: Arena) -> None:
    ended = arena.agent(
        'echo two > a.txt; git config core.editor "echo up > $TMPDIR/up; sleep 600; :"; git commit -qa',
        ok=False,
        seconds=2,
    )
    assert ended.reason == "timed_out"
    admin = arena.workspace.folder / "repository.git/worktrees/tree"
    (admin / "index.lock").touch()
    (admin / "HEAD.lock").touch()
    (admin / "locked").write_text("initializing")
    arena.agent(
        "d=$(git rev-parse --git-common-dir); : > $d/config.lock; : > $d/refs/heads/plan/7.lock; : > $d/packed-refs.lock"
    )
    assert "index.lock" in arena.naive("git add a.txt 2>&1 || :"), "the trap is not armed"
    assert arena.finish().changes == {b"a.txt": "M"}
    arena.agent("echo three > a.txt; git commit -qam works; git config a.b c")


def test_row_15_a_work_tree_whose_making_was_killed(arena: Arena) -> None:
    workspace = arena.workspace
    state = workspace.folder / "state.json"
    state.write_text(state.read_text().replace('"open"', '"making"'))
    (workspace.folder / "repository.git/worktrees/tree/locked").write_text("initializing")
    (workspace.folder / "index.lock").touch()
    workspace._lock.close()
    clean_leftovers(arena.place.home)
    assert list_workspaces(arena.place.home, 42) == ()
    again = arena.open()
    assert again.is_clean_against(arena.place.base)


CLEAN_UP = "git reflog expire --expire=now --all; git gc -q --prune=now; git prune --expire=now; git repack -qad; git worktree prune --expire=now"


def test_row_16_collected_garbage(arena: Arena) -> None:
    arena.agent("echo one > one; git add one; git commit -qm one")
    assert arena.workspace.inspect().finding is None
    first = arena.workspace.commit("more", BOT) or arena.workspace.head
    other = arena.open("plan0002", "plan/8")
    store = arena.place.store
    store.set_ref("refs/twogate/salvage/plan0009", first)
    arena.workspace.freeze()
    arena.agent(CLEAN_UP + "; echo two > two", other)
    arena.agent(CLEAN_UP + "; git --git-dir=$STORE gc --prune=now 2> /dev/null || :; echo two > two")
    assert store.has(first)
    assert store.salvaged() == {"plan0009": first}
    assert arena.finish().changes == {b"one": "A", b"two": "A"}
    assert other.inspect().finding is None


def test_row_17_other_plans_are_not_there_and_stay(arena: Arena) -> None:
    other = arena.open("plan0002", "plan/8")
    arena.agent("git worktree prune --expire=now; git worktree list | wc -l | grep -qx 2; echo two > a.txt")
    arena.finish()
    arena.agent("git status > /dev/null; echo still > a.txt; git commit -qam still", other)
    assert other.inspect().finding is None


def test_row_18_refs_of_others(arena: Arena) -> None:
    other = arena.open("plan0002", "plan/8")
    store = arena.place.store
    refs, head = store.refs("refs/"), other.head
    arena.agent("echo mine > a.txt; git stash -q; git stash list | wc -l | grep -qx 1")
    arena.agent("git stash pop -q 2> /dev/null || echo none > none", other)
    assert (other.tree / "none").exists(), "one plan got another's stash"
    tries = (
        "git update-ref refs/heads/plan/8 HEAD",
        "git update-ref -d refs/heads/trunk",
        "git branch -f main HEAD",
        "git --git-dir=$STORE update-ref refs/heads/main HEAD",
        "git push -q --force $STORE HEAD:refs/remotes/origin/trunk",
        "echo x > $STORE/packed-refs",
        "git worktree add -f $TMPDIR/w plan/8",
    )
    arena.agent(
        "".join(f"({attempt}) 2> /dev/null || :\n" for attempt in tries) + "git stash pop -q || :; echo two > a.txt"
    )
    seen = arena.finish()
    assert {name: sha for name, sha in store.refs("refs/").items() if name in refs and "plan0001" not in name} == {
        name: sha for name, sha in refs.items() if "plan0001" not in name
    }
    assert other.head == head
    assert other.inspect().finding is None
    assert seen.changes == {b"a.txt": "M"}


def test_row_18_a_store_that_somebody_could_write_is_put_back(arena: Arena) -> None:
    """Where the runner is no root and has no bubblewrap, nothing holds an agent back: it is found out."""
    store = arena.place.store
    refs = store.refs("refs/")
    sh(
        store.path,
        f"git update-ref refs/heads/main {arena.place.base}; git config core.fsmonitor {arena.trap}; mkdir -p hooks; : > hooks/post-index-change",
    )
    arena.agent("echo two > a.txt")
    seen = arena.finish()
    assert (seen.inspection.finding, seen.head) == (Finding.FOREIGN_REFS, None)
    assert "refs/heads/main" in seen.said
    assert store.refs("refs/") == refs
    assert "fsmonitor" not in (store.path / "config").read_text()
    assert not list((store.path / "hooks").iterdir())


@pytest.mark.parametrize(
    "script",
    [
        "git checkout -q -b side; git commit -qam x",
        "git checkout -q --detach; git commit -qam x",
        "git checkout -q --orphan alone; git commit -qm x",
        "git checkout -q --orphan alone; git commit -qm x; git branch -f plan/7; git checkout -q plan/7",
        "git checkout -q -b side; git branch -D plan/7 2> /dev/null || git update-ref -d refs/heads/plan/7",
    ],
)
def test_row_19_the_branch_is_left(arena: Arena, script: str) -> None:
    arena.agent(f"echo two > a.txt; {script}")
    seen = arena.finish()
    assert (seen.inspection.finding, seen.head) == (Finding.WRONG_BRANCH, None)
    assert sh(arena.place.origin, "git for-each-ref --format='%(refname)'") == "refs/heads/trunk"
    assert (arena.workspace.tree / "a.txt").read_text() == "two\n", "the files are kept"


def test_row_19_commits_that_change_nothing(arena: Arena) -> None:
    arena.agent(
        "git commit -q --allow-empty -m nothing; echo two > a.txt; git commit -qam two; echo one > a.txt; git commit -qam back"
    )
    seen = arena.finish()
    assert seen.changes == {}
    store = arena.place.store
    assert store.tree(str(seen.head)) == store.tree(arena.place.base), "by which a job knows that nothing was done"
    assert store.count_commits(arena.place.base, str(seen.head)) == 3
