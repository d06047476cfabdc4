"""The object store: what comes in, what goes out, and who may steer it."""

from __future__ import annotations

import hashlib
import subprocess
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from runner.git import GitError
from runner.store import EmptyRepositoryError, ObjectStore, PushRejectedError, StoreError
from tests.runner.workbench import BOT, ENVIRONMENT, Bench, bench, sh

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Bench:
    return bench(tmp_path)


def write_object(repository: Path, kind: str, content: bytes) -> str:
    """Write a loose object that git itself would refuse to make."""
    whole = f"{kind} {len(content)}\0".encode() + content
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    path = repository / ".git/objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(whole))
    return name


def commit_raw(repository: Path, tree: str, author: bytes) -> str:
    return write_object(
        repository, "commit", b"tree %s\nauthor %s\ncommitter %s\n\nm\n" % (tree.encode(), author, author)
    )


def test_branches_that_exist_are_fetched_whole(place: Bench) -> None:
    sh(place.origin, "for n in 1 2 3; do git commit -q --allow-empty -m $n; done; git tag v1; git branch plan/7")
    tips = place.store.fetch(place.url, ["trunk", "plan/7", "plan/8"])
    assert tips == {
        "trunk": sh(place.origin, "git rev-parse trunk"),
        "plan/7": sh(place.origin, "git rev-parse plan/7"),
    }
    assert place.store.count_commits(place.base, tips["trunk"]) == 3
    assert place.store.refs("refs/tags/") == {}
    assert not (place.store.path / "shallow").exists()


def test_a_repository_without_commits_is_told_as_such(tmp_path: Path) -> None:
    sh(tmp_path, "git init -q -b main empty")
    with pytest.raises(EmptyRepositoryError, match="no commit yet"):
        ObjectStore(tmp_path / "home", 1).fetch(str(tmp_path / "empty"), ["main"])


def test_a_repository_of_sha256_is_served(tmp_path: Path) -> None:
    sh(tmp_path, "git init -q -b main --object-format=sha256 o; cd o; echo x > x; git add .; git commit -qm one")
    store = ObjectStore(tmp_path / "home", 1)
    tip = store.fetch(str(tmp_path / "o"), ["main"])["main"]
    assert len(tip) == 64
    assert store.read(tip, b"x") == b"x\n"


def test_a_shallow_repository_is_refused_by_name(place: Bench, tmp_path: Path) -> None:
    sh(place.origin, "for n in 1 2 3; do git commit -q --allow-empty -m $n; done")
    sh(tmp_path, f"git clone -q --depth 1 file://{place.origin} shallow")
    store = ObjectStore(tmp_path / "new", 1)
    with pytest.raises(StoreError, match="lacks a part of its history"):
        store.fetch(f"file://{tmp_path}/shallow", ["trunk"])
    assert store.refs("refs/") == {}
    tips = store.fetch(f"file://{place.origin}", ["trunk"])
    assert store.count_commits(place.base, tips["trunk"]) == 3


def test_a_single_commit_is_fetched_and_an_absent_one_is_an_error(place: Bench) -> None:
    sh(place.origin, "git commit -q --allow-empty -m two; git branch aside; git reset -q --hard HEAD~")
    aside = sh(place.origin, "git rev-parse aside")
    place.store.fetch(place.url, ["trunk"], [aside])
    assert place.store.has(aside)
    with pytest.raises(GitError, match=r"fetch ended|not our ref"):
        place.store.fetch(place.url, ["trunk"], ["1" * 40])


def test_history_with_careless_dates_is_fetched(place: Bench) -> None:
    tree = sh(place.origin, "git rev-parse HEAD^{tree}")
    careless = commit_raw(place.origin, tree, b"A U Thor<a@b> 1 +0000")
    sh(place.origin, f"git update-ref refs/heads/careless {careless}")
    assert place.store.fetch(place.url, ["careless"]) == {"careless": careless}


def test_history_with_a_dangerous_tree_is_refused_by_name(place: Bench) -> None:
    blob = sh(place.origin, "git hash-object -w a.txt")
    tree = write_object(place.origin, "tree", b"100644 .GIT\0" + bytes.fromhex(blob))
    sh(place.origin, f"git update-ref refs/heads/trap {commit_raw(place.origin, tree, b'A <a@b> 1 +0000')}")
    with pytest.raises(StoreError, match=r"hasDotgit.*fetch\.fsck\.hasDotgit warn"):
        place.store.fetch(place.url, ["trap"])


def test_a_push_goes_only_where_it_is_expected(place: Bench) -> None:
    workspace = place.open()
    (workspace.tree / "a.txt").write_text("two\n")
    head = workspace.commit("two", BOT)
    assert head is not None
    place.store.push(place.url, head, "plan/7", expect=None)
    assert place.store.remote_tip(place.url, "plan/7") == head
    with pytest.raises(PushRejectedError):
        place.store.push(place.url, place.base, "plan/7", expect=None)
    sh(place.origin, "git checkout -q plan/7; git commit -q --allow-empty -m theirs")
    theirs = sh(place.origin, "git rev-parse plan/7")
    (workspace.tree / "a.txt").write_text("three\n")
    third = workspace.commit("three", BOT)
    assert third is not None
    with pytest.raises(PushRejectedError, match=r"refused.*(stale|rejected|fetch first)"):
        place.store.push(place.url, third, "plan/7", expect=head)
    with pytest.raises(PushRejectedError, match="does not build on"):
        place.store.push(place.url, place.base, "plan/7", expect=theirs)
    assert place.store.remote_tip(place.url, "plan/7") == theirs


@pytest.mark.parametrize(
    "branch", ["trunk", "main", "refs/heads/plan/7", "plan/../main", "-plan/7", "plan/7\n", "plan/"]
)
def test_nothing_but_a_plan_branch_is_ever_pushed(place: Bench, branch: str) -> None:
    with pytest.raises(PushRejectedError, match="may push"):
        place.store.push(place.url, place.base, branch, expect=place.base)


def test_a_push_that_the_server_refuses_is_told_with_its_words(place: Bench) -> None:
    hook = place.origin / ".git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho 'workflows are protected' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(PushRejectedError, match=r"(?s)refused.*workflows are protected"):
        place.store.push(place.url, place.base, "plan/7", expect=None)


def test_a_branch_is_deleted_only_where_it_still_is(place: Bench) -> None:
    place.store.push(place.url, place.base, "plan/7", expect=None)
    with pytest.raises(PushRejectedError):
        place.store.delete_remote_branch(place.url, "plan/7", expect="1" * 40)
    place.store.delete_remote_branch(place.url, "plan/7", expect=place.base)
    assert place.store.remote_tip(place.url, "plan/7") is None


def test_a_foreign_hand_on_the_store_is_found_and_undone(place: Bench) -> None:
    store = place.store
    assert store.tampered() == ()
    sh(
        store.path,
        "git config core.fsmonitor evil; mkdir hooks info; echo x > hooks/post-commit; echo '*' > info/exclude",
    )
    sh(store.path, f"git update-ref refs/heads/other {place.base}; git update-ref -d refs/remotes/origin/trunk")
    sh(store.path, "git pack-refs --all; echo /elsewhere > objects/info/alternates; ln -s / link")
    assert set(store.tampered()) >= {
        *("config", "hooks/post-commit", "info/exclude", "packed-refs", "refs/remotes/origin/trunk"),
        *("objects/info/alternates", "link"),
    }
    assert store.tampered() == ()
    assert store.refs("refs/") == {"remotes/origin/trunk": place.base}
    assert "fsmonitor" not in (store.path / "config").read_text()


def test_a_change_that_a_kill_interrupted_accuses_nobody(place: Bench) -> None:
    record = place.home / "locks/42.refs"
    with place.store.changing():
        assert not record.exists()  # this is what a kill -9 here would leave
    record.unlink()
    place.store.git.run("update-ref", "refs/remotes/origin/new", place.base)
    assert place.store.tampered() == ()
    assert record.exists()


def test_many_runners_share_one_store(place: Bench) -> None:
    sh(place.origin, "for n in 1 2 3 4 5 6 7 8; do git commit -q --allow-empty -m $n; git branch b$n; done")

    def one(number: int) -> str:
        return ObjectStore(place.home, 42).fetch(place.url, [f"b{number}"])[f"b{number}"]

    with ThreadPoolExecutor(8) as pool:
        tips = list(pool.map(one, range(1, 9)))
    assert len(set(tips)) == 8
    assert place.store.tampered() == ()


def test_conflicts_are_found_without_a_work_tree(place: Bench) -> None:
    sh(place.origin, "git checkout -q -b side; echo side > a.txt; git commit -qam side; git checkout -q trunk")
    sh(place.origin, "echo trunk > a.txt; echo new > b.txt; git add .; git commit -qam trunk; git branch clean HEAD~")
    tips = place.store.fetch(place.url, ["trunk", "side", "clean"])
    assert place.store.merge_conflicts(tips["trunk"], tips["side"]) == (b"a.txt",)
    assert place.store.merge_conflicts(tips["trunk"], tips["clean"]) == ()


def test_histories_without_a_common_ancestor_are_an_error(place: Bench) -> None:
    sh(place.origin, "git checkout -q --orphan alone; git commit -qm alone; git checkout -q trunk")
    alone = place.store.fetch(place.url, ["alone"])["alone"]
    with pytest.raises(GitError, match="unrelated"):
        place.store.merge_conflicts(place.base, alone)


def test_a_merge_driver_of_the_branch_is_not_obeyed(place: Bench, tmp_path: Path) -> None:
    sh(place.store.path, f"git config merge.evil.driver 'touch {tmp_path}/ran; true'")
    sh(
        place.origin,
        "echo '* merge=evil' > .gitattributes; git add .; git commit -qam attributes; git checkout -q -b side",
    )
    sh(
        place.origin,
        "echo side > a.txt; git commit -qam side; git checkout -q trunk; echo t > a.txt; git commit -qam t",
    )
    tips = place.store.fetch(place.url, ["trunk", "side"])
    assert place.store.merge_conflicts(tips["trunk"], tips["side"]) == (b"a.txt",)
    assert not (tmp_path / "ran").exists()


def test_a_fresh_checkout_is_a_repository_of_its_own(place: Bench, tmp_path: Path) -> None:
    checkout = place.store.fresh_checkout(place.base, tmp_path / "check")
    assert sh(checkout.tree, "git rev-parse HEAD; git status --porcelain") == place.base
    sh(checkout.tree, "echo changed > a.txt; git add .; git commit -qm mine; git config core.fsmonitor evil")
    again = place.store.fresh_checkout(place.base, tmp_path / "check")
    assert (again.tree / "a.txt").read_text() == "one\n"
    assert place.store.tampered() == ()
    assert place.store.refs("refs/heads/") == {}


def test_salvage_is_kept_for_a_time(place: Bench) -> None:
    workspace = place.open()
    (workspace.tree / "a.txt").write_text("unfinished\n")
    sha = workspace.salvage()
    assert place.store.salvaged() == {f"{workspace.plan_uid}/work": sha}
    assert place.store.expire_salvage(0) == ()
    assert place.store.expire_salvage(4e9) == (f"{workspace.plan_uid}/work",)
    assert place.store.salvaged() == {}


def test_reading_a_file_above_the_cap_is_an_error(place: Bench) -> None:
    assert place.store.read(place.base, b"a.txt", cap=4) == b"one\n"
    assert place.store.read(place.base, b"link") is None
    assert place.store.read(place.base, b"absent") is None
    with pytest.raises(GitError, match="more than 3 bytes"):
        place.store.read(place.base, b"a.txt", cap=3)


def test_a_store_survives_its_runner_being_killed_while_it_is_made(tmp_path: Path) -> None:
    half = tmp_path / "home/repos/7.git"
    half.mkdir(parents=True)
    (half / "config").write_text("[core]\n\tbare = tr")
    store = ObjectStore(tmp_path / "home", 7)
    bare = ["git", f"--git-dir={store.path}", "rev-parse", "--is-bare-repository"]
    assert subprocess.run(bare, env=ENVIRONMENT, capture_output=True, check=True).stdout == b"true\n"
