"""One plan's work tree: what an agent may do in it, what it may not, and what is left when somebody is killed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import textwrap
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from runner.clearing import clean_leftovers, remove_workspace
from runner.place import list_workspaces
from runner.store import ObjectStore, StoreError
from runner.worktree import Finding, Workspace
from tests.runner.workbench import BOT, ENVIRONMENT, UID, Bench, bench, sh

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Bench:
    return bench(tmp_path)


@pytest.fixture
def workspace(place: Bench) -> Workspace:
    return place.open()


def changed(workspace: Workspace) -> dict[bytes, str]:
    return {change.path: change.status for change in workspace.changes()}


def test_the_agent_finds_a_clean_work_tree_on_its_branch(workspace: Workspace) -> None:
    assert sh(workspace.tree, "git status --porcelain --branch") == "## plan/7"
    assert f"{workspace.tree}" in sh(workspace.tree, "git worktree list")
    assert sh(workspace.tree, "git rev-parse HEAD origin/base") == f"{workspace.base}\n{workspace.base}"
    assert workspace.inspect().finding is None
    assert workspace.is_clean_against(workspace.base)
    assert workspace.commit("nothing", BOT) is None


def test_what_lies_on_disk_is_committed_byte_for_byte(workspace: Workspace) -> None:
    sh(
        workspace.tree,
        "printf 'a\\r\\nb\\r\\n' > crlf; printf 'no end' > noend; printf '\\0\\377' > bin; chmod +x a.txt",
    )
    sh(workspace.tree, "ln -sfn src link; mv src/m.py src/n.py; mkdir -p deep/er; : > deep/er/empty")
    assert workspace.inspect().finding is None
    head = workspace.commit("work\n\nTrailer: yes\n", BOT, when=1_700_000_000)
    assert head == workspace.head
    store = workspace.store
    assert store.read(workspace.head, b"crlf") == b"a\r\nb\r\n"
    assert store.read(workspace.head, b"noend") == b"no end"
    assert store.read(workspace.head, b"bin") == b"\0\xff"
    assert {entry.path: entry.mode for entry in store.entries(workspace.head)} == {
        b"a.txt": "100755",
        b"bin": "100644",
        b"crlf": "100644",
        b"deep/er/empty": "100644",
        b"link": "120000",
        b"noend": "100644",
        b"src/n.py": "100644",
    }
    shown = store.git.run("log", "-1", "--format=%an <%ae> %ct%n%B", workspace.head).decode()
    assert shown == "Twogate <bot@example.org> 1700000000\nwork\n\nTrailer: yes\n\n"
    assert workspace.is_clean_against(workspace.head)


def test_files_folders_and_links_take_each_others_places(place: Bench, workspace: Workspace) -> None:
    sh(
        workspace.tree,
        "rm -r src; echo file > src; rm a.txt; mkdir a.txt; echo x > a.txt/in; rm link; mkdir link; : > link/y",
    )
    workspace.commit("swap", BOT)
    assert workspace.store.files(workspace.head) == (b"a.txt/in", b"link/y", b"src")
    workspace.freeze()
    sh(workspace.tree, "rm -r a.txt; mkdir real; echo x > real/in; ln -s real a.txt")
    workspace.commit("link in place of a folder", BOT)
    assert workspace.store.files(workspace.head) == (b"a.txt", b"link/y", b"real/in", b"src")
    assert workspace.is_clean_against(workspace.head)


def test_commits_of_the_agent_are_kept(workspace: Workspace) -> None:
    sh(workspace.tree, "echo 1 > one; git add one; git commit -qm 'by the agent'; git gc -q --prune=now; echo 2 > two")
    inspection = workspace.inspect()
    assert (inspection.finding, inspection.tip) == (None, workspace.head)
    workspace.commit("by the runner", BOT)
    log = workspace.store.git.run("log", "--format=%s", workspace.head).decode().split("\n")
    assert log[:3] == ["by the runner", "by the agent", "first"]
    workspace.freeze()
    assert sh(workspace.tree, "git log -1 --format=%s; git status --porcelain") == "by the runner"


def test_the_agent_may_do_what_it_likes_in_its_own_repository(
    place: Bench, workspace: Workspace, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    trap = f"touch {ran}; cat"
    sh(
        workspace.tree,
        "echo changed > a.txt; git stash -q; git branch other; git tag v9; git update-ref refs/replace/x HEAD || :",
    )
    sh(workspace.tree, f"git config core.fsmonitor '{trap}'; git config filter.evil.clean '{trap}'")
    sh(workspace.tree, f"git config diff.external '{trap}'; git config merge.evil.driver '{trap}'")
    sh(workspace.tree, "echo '* filter=evil diff=evil merge=evil' > .gitattributes; echo mine > b.txt")
    hooks = workspace.folder / "repository.git/hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (hooks / name).chmod(0o755)
    assert workspace.inspect().finding is None
    workspace.commit("mine", BOT)
    assert changed(workspace) == {b".gitattributes": "A", b"b.txt": "A"}
    assert place.store.read(workspace.head, b"b.txt") == b"mine\n"
    assert not ran.exists()
    assert place.store.tampered() == ()
    workspace.freeze()
    assert sh(workspace.tree, "git stash list; git tag; git config core.fsmonitor || :") == ""


@pytest.mark.parametrize(
    "script",
    [
        "git update-index --skip-worktree a.txt; echo hidden > a.txt",
        "git update-index --assume-unchanged a.txt; echo hidden > a.txt",
        "touch -r a.txt ../tmp/t; echo two > a.txt; touch -r ../tmp/t a.txt",
        "printf '*\\n' >> \"$(git rev-parse --git-common-dir)/info/exclude\" 2>/dev/null || :; echo hidden > a.txt",
        "git config core.excludesFile /etc/passwd; echo hidden > a.txt; git rm -q --cached a.txt",
    ],
)
def test_no_trick_hides_a_change(workspace: Workspace, script: str) -> None:
    sh(workspace.tree, script)
    workspace.inspect()
    assert not workspace.is_clean_against(workspace.base)
    workspace.commit("found", BOT)
    assert changed(workspace) == {b"a.txt": "M"}


def test_an_exclude_file_of_the_repository_hides_no_new_file(workspace: Workspace) -> None:
    sh(
        workspace.tree,
        'd="$(git rev-parse --git-common-dir)/info"; mkdir -p "$d"; echo "*" > "$d/exclude"; echo x > new',
    )
    workspace.inspect()
    workspace.commit("found", BOT)
    assert changed(workspace) == {b"new": "A"}


def test_ignored_files_are_left_out_and_do_not_count(workspace: Workspace) -> None:
    sh(
        workspace.tree,
        "printf 'build/\\n*.pyc\\n' > .gitignore; mkdir build; mkfifo build/pipe; ln -s / build/root; : > x.pyc",
    )
    assert workspace.inspect().finding is None
    workspace.commit("ignore", BOT)
    assert changed(workspace) == {b".gitignore": "A"}
    assert workspace.is_clean_against(workspace.head)


def test_line_endings_follow_the_attributes_of_the_tree(tmp_path: Path) -> None:
    place = bench(
        tmp_path,
        "echo '*.bat text eol=crlf' > .gitattributes; printf 'a\\r\\nb\\r\\n' > run.bat; printf 'x\\r\\n' > raw",
    )
    workspace = place.open()
    assert (workspace.tree / "run.bat").read_bytes() == b"a\r\nb\r\n"
    assert place.store.read(place.base, b"run.bat") == b"a\nb\n"
    assert workspace.is_clean_against(place.base)
    with (workspace.tree / "run.bat").open("ab") as file:
        file.write(b"c\r\n")
    workspace.commit("c", BOT)
    assert place.store.read(workspace.head, b"run.bat") == b"a\nb\nc\n"
    assert place.store.read(workspace.head, b"raw") == b"x\r\n"


CARELESS = (
    "printf 'a\\r\\nb\\r\\n' > stored; printf 'a\\r\\nb\\n' > mixed; git add stored mixed; "
    "printf 'stored text\\nmixed text eol=crlf\\n' > .gitattributes; git add .gitattributes; "
    "git commit -qm attributes; git update-index --assume-unchanged stored mixed"
)
"""Line ends that were committed before the attributes forbade them, as old projects have them."""


def test_files_stored_against_their_attributes_count_as_changed_only_where_they_were(tmp_path: Path) -> None:
    place = bench(tmp_path, CARELESS)
    assert place.store.read(place.base, b"stored") == b"a\r\nb\r\n"
    assert place.store.read(place.base, b"mixed") == b"a\r\nb\n"
    workspace = place.open()
    assert workspace.is_clean_against(place.base)
    sh(workspace.tree, "echo new > new.txt; chmod +x stored")
    workspace.commit("new", BOT)
    assert changed(workspace) == {b"new.txt": "A", b"stored": "M"}
    assert place.store.read(workspace.head, b"stored") == b"a\r\nb\r\n"
    sh(workspace.tree, "printf 'c\\r\\n' >> stored")
    assert not workspace.is_clean_against(workspace.head)
    workspace.commit("c", BOT)
    assert place.store.read(workspace.head, b"stored") == b"a\nb\nc\n"
    assert changed(workspace) == {b"new.txt": "A", b"stored": "M"}


@pytest.mark.parametrize(
    ("script", "finding"),
    [
        ("rm .git", Finding.DAMAGED),
        ("rm .git; git init -q; git add -A; git commit -qm mine", Finding.DAMAGED),
        ("rm .git; mkdir .cache-git; echo 'gitdir: .cache-git' > .git", Finding.DAMAGED),
        ("rm .git; ln -s /etc/passwd .git", Finding.DAMAGED),
        ("rm .git; mkfifo .git", Finding.DAMAGED),
        ("echo /tmp > ../repository.git/worktrees/tree/commondir", Finding.DAMAGED),
        ("echo /etc > ../repository.git/objects/info/alternates", Finding.DAMAGED),
        ("rm -rf ../repository.git", Finding.DAMAGED),
        ("git checkout -q --detach", Finding.WRONG_BRANCH),
        ("git checkout -q -b side; git commit -qam x --allow-empty", Finding.WRONG_BRANCH),
        ("git checkout -q --orphan alone", Finding.WRONG_BRANCH),
        (
            "git checkout -q --orphan alone; git commit -qm x; git branch -f plan/7; git checkout -q plan/7",
            Finding.WRONG_BRANCH,
        ),
        ("git update-ref -d refs/heads/plan/7", Finding.WRONG_BRANCH),
        ("git commit -qm x --allow-empty; find ../repository.git/objects -type f -delete", Finding.DAMAGED),
        ("echo nonsense > ../repository.git/worktrees/tree/HEAD", Finding.WRONG_BRANCH),
    ],
)
def test_a_broken_repository_is_named_and_the_files_are_kept(
    place: Bench, workspace: Workspace, script: str, finding: Finding
) -> None:
    sh(workspace.tree, "echo precious > new.txt")
    sh(workspace.tree, script)
    inspection = workspace.inspect()
    assert inspection.finding is finding, inspection
    assert inspection.tip is None
    assert "kept" in " ".join(inspection.sentences)
    assert (workspace.tree / "new.txt").read_text() == "precious\n"
    assert sh(workspace.tree, "git symbolic-ref HEAD; git rev-parse HEAD") == f"refs/heads/plan/7\n{place.base}"
    workspace.commit("rescued", BOT)
    assert changed(workspace)[b"new.txt"] == "A"
    assert place.store.tampered() == ()


def test_a_work_tree_that_was_removed_is_made_anew(workspace: Workspace) -> None:
    shutil.rmtree(workspace.tree)
    assert workspace.inspect().finding is Finding.DAMAGED
    assert workspace.is_clean_against(workspace.base)
    workspace.tree.rename(workspace.folder / "moved")
    workspace.tree.symlink_to("/etc")
    assert workspace.inspect().finding is Finding.DAMAGED
    assert workspace.is_clean_against(workspace.base)


def test_stray_locks_hold_nothing_up(workspace: Workspace) -> None:
    admin = workspace.folder / "repository.git/worktrees/tree"
    for lock in (
        admin / "index.lock",
        admin / "HEAD.lock",
        admin / "../../config.lock",
        admin / "../../refs/heads/plan/7.lock",
    ):
        lock.touch()
    sh(workspace.tree, "echo x > new")
    assert workspace.inspect().finding is None
    assert workspace.commit("x", BOT)
    workspace.freeze()
    sh(workspace.tree, "git commit -q --allow-empty -m works; git config a.b c")


@pytest.mark.parametrize(
    ("script", "word"),
    [
        ("mkdir sub; cd sub; git init -q; echo x > f; git add f; git commit -qm x", "repository of its own"),
        ("ln -s /etc/passwd evil", "link out of"),
        ("ln -s ../../state.json src/evil", "link out of"),
        ("rm a.txt; mkfifo a.txt", "neither a file nor a link"),
        ("truncate -s 50G huge", "can't be pushed"),
        ("echo x > A.TXT", "upper and lower case"),
    ],
)
def test_files_that_must_not_be_committed_are_refused_and_left_out(
    workspace: Workspace, script: str, word: str
) -> None:
    sh(workspace.tree, script)
    sh(workspace.tree, "echo good > good.txt")
    inspection = workspace.inspect()
    assert inspection.finding is Finding.REFUSED_FILES
    assert word in " ".join(inspection.sentences)
    assert inspection.tip == workspace.base
    workspace.commit("the rest", BOT)
    assert changed(workspace) == {b"good.txt": "A"}


def test_a_socket_in_the_tree_is_no_matter(workspace: Workspace) -> None:
    here = os.open(".", os.O_RDONLY)
    os.chdir(workspace.tree)  # a socket's path may have a hundred bytes only
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("s")
    finally:
        os.fchdir(here)
        os.close(here)
    assert workspace.inspect().finding is None
    assert workspace.commit("x", BOT) is None


def test_links_that_were_there_before_are_no_fault(tmp_path: Path) -> None:
    workspace = bench(tmp_path, "ln -s /usr/share/doc docs; ln -s ../outside up").open()
    assert workspace.inspect().finding is None
    sh(workspace.tree, "ln -sfn /usr/share/info docs")
    assert workspace.inspect().finding is Finding.REFUSED_FILES


def test_submodules_stay_as_they_are(tmp_path: Path) -> None:
    sub = f"160000,{'1' * 40},lib"
    place = bench(
        tmp_path,
        f"echo a > a.txt; git add .; git update-index --add --cacheinfo {sub}; git commit -qm x; mkdir lib; rmdir lib",
    )
    sh(place.origin, f"git update-index --add --cacheinfo {sub}; git commit -qm sub || :")
    base = place.fetch()
    workspace = Workspace.open(place.store, plan_uid=UID, branch="plan/7", base=base)
    assert workspace.is_clean_against(base)
    assert workspace.commit("none", BOT) is None
    sh(workspace.tree, "rmdir lib; mkdir lib; cd lib; git init -q; git commit -qm x --allow-empty; : > f")
    assert workspace.inspect().finding is None
    assert workspace.commit("none", BOT) is None
    sh(workspace.tree, "rm -rf lib; echo b > a.txt")
    workspace.commit("b", BOT)
    assert changed(workspace) == {b"a.txt": "M"}


def test_large_file_pointers_stay_pointers(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\\noid sha256:%064d\\nsize 5\\n"
    place = bench(
        tmp_path, f"echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes; printf '{pointer}' 0 > x.bin"
    )
    workspace = place.open()
    assert (workspace.tree / "x.bin").read_text().startswith("version https://git-lfs")
    assert workspace.is_clean_against(place.base)


LARGE = "echo '*.bin filter=lfs -text' > .gitattributes; echo '*.key filter=git-crypt' >> .gitattributes; "


@pytest.mark.parametrize(
    ("script", "left"),
    [
        ("head -c 3000 /dev/urandom > new.bin", {}),
        ("echo content > x.bin", {}),
        ("echo 'version https://git-lfs.github.com/spec/v1' > y.bin", {}),
        ("echo '*.dat filter=lfs' >> .gitattributes; echo raw > f.dat", {b".gitattributes": "M"}),
        ("echo secret > plain.key", {}),
        ("mv x.bin moved.bin", {b"x.bin": "D", b"moved.bin": "A"}),
        ("rm x.bin", {b"x.bin": "D"}),
    ],
)
@pytest.mark.parametrize("by_the_agent", [False, True])
def test_nothing_is_stored_that_only_a_filter_may_store(
    tmp_path: Path, script: str, left: dict[bytes, str], *, by_the_agent: bool
) -> None:
    workspace = bench(tmp_path, f"{LARGE} echo pointer > x.bin").open()
    sh(workspace.tree, f"{script}; echo good > good.txt")
    if by_the_agent:
        sh(
            workspace.tree,
            "git add -A; git commit -qm mine; echo more > more.txt; git add more.txt; git commit -qm more",
        )
        left = {**left, b"more.txt": "A"}
    inspection = workspace.inspect()
    refused = script.split(maxsplit=1)[0] not in {"mv", "rm"}
    assert (inspection.finding is Finding.REFUSED_FILES) == refused, inspection
    assert not refused or "LFS" in " ".join(inspection.sentences) or "git-crypt" in " ".join(inspection.sentences)
    workspace.commit("the rest", BOT)
    assert changed(workspace) == {**left, b"good.txt": "A"}
    stored = {row.path for row in workspace.store.history(workspace.base, workspace.head)}
    assert stored == changed(workspace).keys()


def test_what_a_sparse_work_tree_lacks_was_not_deleted(place: Bench, workspace: Workspace) -> None:
    sh(workspace.tree, "git sparse-checkout set --no-cone /a.txt; test ! -e src; echo new > a.txt; git commit -qam a")
    sh(workspace.tree, "echo newer > b.txt")
    inspection = workspace.inspect()
    assert inspection.finding is Finding.REFUSED_FILES
    assert "sparse" in " ".join(inspection.sentences)
    workspace.commit("b", BOT)
    assert changed(workspace) == {b"a.txt": "M", b"b.txt": "A"}
    assert (workspace.tree / "src/m.py").exists()
    workspace.freeze()
    assert sh(workspace.tree, "git status --porcelain") == ""


def test_objects_of_another_repository_do_not_get_in(place: Bench, workspace: Workspace, tmp_path: Path) -> None:
    sh(tmp_path, "git init -q secret; cd secret; echo secret > s; git add s; git commit -qm s")
    blob = sh(tmp_path / "secret", "git hash-object s")
    sh(
        workspace.tree,
        f"export GIT_ALTERNATE_OBJECT_DIRECTORIES={tmp_path}/secret/.git/objects; "
        f"git update-index --add --cacheinfo 100644,{blob},s; git commit -qm steal",
    )
    inspection = workspace.inspect()
    assert inspection.finding is Finding.DAMAGED
    assert place.store.git.call("cat-file", "-e", blob).returncode != 0


def test_objects_that_lie_about_their_name_do_not_get_in(place: Bench, workspace: Workspace) -> None:
    sh(workspace.tree, "echo honest > f; git add f; git commit -qm f; echo forged > g; git hash-object -w g")
    honest, forged = (sh(workspace.tree, f"git hash-object {name}") for name in "fg")
    objects = workspace.folder / "repository.git/objects"
    target = objects / honest[:2] / honest[2:]
    target.unlink()
    shutil.copyfile(objects / forged[:2] / forged[2:], target)
    assert workspace.inspect().finding is Finding.DAMAGED
    assert place.store.git.call("cat-file", "-e", honest).returncode != 0


def test_a_link_among_the_objects_is_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    sh(workspace.tree, "echo x > f; git add f; git commit -qm f")
    objects = workspace.folder / "repository.git/objects"
    (tmp_path / "away").mkdir()
    (objects / "aa").mkdir(exist_ok=True)
    (objects / "aa" / ("b" * 38)).symlink_to("/etc/shadow")
    assert workspace.inspect().finding is Finding.DAMAGED


def test_a_store_that_was_touched_ends_as_foreign_refs(place: Bench, workspace: Workspace) -> None:
    sh(place.store.path, f"git update-ref refs/heads/main {place.base}")
    inspection = workspace.inspect()
    assert inspection.finding is Finding.FOREIGN_REFS
    assert "refs/heads/main" in inspection.sentences[0]
    assert "refs/heads/main" not in place.store.refs("refs/heads/")


def test_published_commits_can_not_be_rewritten(place: Bench, workspace: Workspace) -> None:
    sh(workspace.tree, "echo 1 > f")
    head = workspace.commit("one", BOT)
    assert head
    place.store.push(place.url, head, "plan/7", expect=None)
    workspace.freeze()
    sh(workspace.tree, "git commit -q --amend -m rewritten")
    assert workspace.inspect().finding is Finding.WRONG_BRANCH
    assert workspace.head == head


def test_the_base_is_merged_in_and_conflicts_are_left_to_the_agent(place: Bench, workspace: Workspace) -> None:
    sh(workspace.tree, "echo ours > a.txt; echo mine > mine.txt")
    head = workspace.commit("ours", BOT)
    sh(place.origin, "echo theirs > a.txt; echo new > new.txt; git add .; git commit -qam theirs")
    base = place.fetch()
    workspace.close()
    again = place.open(head=head)
    assert again.merge_base_in(base) == (b"a.txt",)
    assert "<<<<<<<" in (again.tree / "a.txt").read_text()
    assert (again.tree / "new.txt").read_text() == "new\n"
    sh(again.tree, "echo both > a.txt")
    assert again.inspect().finding is None
    merged = again.commit("merge", BOT)
    assert place.store.git.run("log", "-1", "--format=%P", str(merged)).decode().split() == [head, base]
    assert changed(again) == {b"a.txt": "M", b"mine.txt": "A"}
    again.freeze()
    assert again.commit("nothing more", BOT) is None


def test_an_agent_may_finish_the_merge_itself(place: Bench, workspace: Workspace) -> None:
    sh(workspace.tree, "echo mine > mine.txt")
    workspace.commit("ours", BOT)
    sh(place.origin, "echo new > new.txt; git add .; git commit -qam theirs")
    base = place.fetch()
    assert workspace.merge_base_in(base) == ()
    sh(workspace.tree, "git commit -qm 'merged by the agent'")
    assert workspace.inspect().finding is None
    assert place.store.is_ancestor(base, workspace.head)
    assert workspace.commit("nothing more", BOT) is None
    assert workspace.merge_base_in(base) == ()


def test_two_plans_on_one_file_do_not_see_each_other(place: Bench) -> None:
    one, two = place.open("plan0001", "plan/1"), place.open("plan0002", "plan/2")
    sh(one.tree, "echo uno > a.txt; git commit -qam one")
    sh(two.tree, "echo two > a.txt; git stash -q; git stash pop -q")
    for workspace in (one, two):
        assert workspace.inspect().finding is None
        workspace.commit("rest", BOT)
    assert place.store.read(one.head, b"a.txt") == b"uno\n"
    assert place.store.read(two.head, b"a.txt") == b"two\n"
    assert place.store.count_commits(place.base, two.head) == 1


STARTER = """
import pathlib, sys
from runner.store import ObjectStore
from runner.worktree import Workspace
home, url, base, number = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
store = ObjectStore(pathlib.Path(home), 7)
tips = store.fetch(url, ["trunk", f"plan/{number}"], [base])
workspace = Workspace.open(store, plan_uid=f"plan{number}", branch=f"plan/{number}", base=tips["trunk"])
print(workspace.tree, flush=True)
sys.stdin.readline()
(workspace.tree / "a.txt").write_text(number)
assert workspace.inspect().finding is None
assert workspace.is_clean_against(base) is False
workspace.remove()
"""


def test_twenty_plans_that_start_at_the_same_instant_on_a_new_store_do_not_collide(place: Bench) -> None:
    home = place.home.parent / "new"
    commands = [[sys.executable, "-c", STARTER, str(home), place.url, place.base, str(n)] for n in range(20)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with ExitStack() as stack:
        starters = [stack.enter_context(subprocess.Popen(command, text=True, **pipes)) for command in commands]
        assert {starter.stdout.readline() for starter in starters if starter.stdout} == {"ready\n"}
        for starter in starters:
            assert starter.stdin
            starter.stdin.write("go\n")
            starter.stdin.flush()
        trees = [starter.stdout.readline() for starter in starters if starter.stdout]
        rest = [starter.communicate("go\n", timeout=100)[0] for starter in starters]
    assert [starter.returncode for starter in starters] == [0] * 20, (trees, rest)
    assert len(set(trees)) == 20
    store = ObjectStore(home, 7)
    assert list_workspaces(home, 7) == ()
    assert store.refs("refs/") == {"remotes/origin/trunk": place.base}
    assert store.tampered() == ()


def test_a_plan_has_one_job_at_a_time(place: Bench, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.worktree.PATIENCE", 0.1)
    with pytest.raises(StoreError, match="Another job"):
        place.open()
    assert not remove_workspace(place.home, 42, UID)
    workspace.remove()
    assert list_workspaces(place.home, 42) == ()
    assert place.open().is_clean_against(place.base)


def test_unfinished_work_of_an_earlier_job_is_salvaged_before_the_next(place: Bench, workspace: Workspace) -> None:
    sh(workspace.tree, "echo 1 > committed; git add .; git commit -qm agent; echo 2 > uncommitted; mkfifo pipe")
    workspace.close()
    again = place.open()
    assert again.is_clean_against(place.base)
    saved = place.store.salvaged()[f"{UID}/work"]
    assert {b"committed", b"uncommitted"} < set(place.store.files(saved))
    assert place.store.is_ancestor(place.base, saved)


def test_pushed_work_needs_no_salvage(place: Bench, workspace: Workspace) -> None:
    assert workspace.salvage() is None
    sh(workspace.tree, "echo 1 > f")
    head = workspace.commit("one", BOT)
    assert head
    saved = workspace.salvage()
    assert saved
    assert place.store.is_ancestor(head, saved)
    assert place.store.tree(saved) == place.store.tree(head)
    place.store.push(place.url, head, "plan/7", expect=None)
    assert workspace.salvage() is None


def test_a_killed_runner_leaves_nothing_that_hinders_the_next(place: Bench, tmp_path: Path) -> None:
    script = tmp_path / "die.py"
    script.write_text(
        textwrap.dedent("""
        import os, pathlib, signal, subprocess, sys
        from runner.store import ObjectStore
        from runner.worktree import Workspace
        store = ObjectStore(pathlib.Path(sys.argv[1]), 42)
        workspace = Workspace.open(store, plan_uid=sys.argv[2], branch="plan/7", base=sys.argv[3])
        (workspace.tree / "half").write_text("work")
        (workspace.folder / "index.lock").touch()
        (workspace.folder / "repository.git/worktrees/tree/index.lock").touch()
        os.kill(os.getpid(), signal.SIGKILL)
        """)
    )
    command = [sys.executable, str(script), str(place.home), UID, place.base]
    assert subprocess.run(command, check=False, cwd=tmp_path).returncode == -9
    (sentence,) = clean_leftovers(place.home)
    assert "interrupted" in sentence
    assert place.store.salvaged()[f"{UID}/work"][:10] in sentence
    assert place.store.read(place.store.salvaged()[f"{UID}/work"], b"half") == b"work"
    assert list_workspaces(place.home, 42) == ()
    assert place.open().is_clean_against(place.base)


@pytest.mark.parametrize("step", ["folder", "state", "tree", "repository"])
def test_a_half_made_workspace_is_made_anew(place: Bench, step: str) -> None:
    workspace = place.open()
    state = workspace.folder / "state.json"
    state.write_text(state.read_text().replace('"open"', '"making"'))
    workspace._lock.close()
    if step == "folder":
        shutil.rmtree(workspace.folder)
        workspace.folder.mkdir()
    elif step == "state":
        state.write_text('{"step": "ma')
    elif step == "tree":
        (workspace.tree / "src/m.py").unlink()
    else:
        shutil.rmtree(workspace.folder / "repository.git")
        (workspace.folder / "attach/tree").mkdir(parents=True)
    again = place.open()
    assert again.inspect().finding is None
    assert again.is_clean_against(place.base)
    assert place.store.salvaged() == {}


def test_a_closed_workspace_is_no_leftover(place: Bench, workspace: Workspace) -> None:
    workspace.close()
    assert clean_leftovers(place.home) == ()
    assert list_workspaces(place.home, 42) == (UID,)
    assert remove_workspace(place.home, 42, UID)
    assert list_workspaces(place.home, 42) == ()
    assert place.store.refs("refs/twogate/") == {}


def test_a_name_that_leads_elsewhere_is_refused(place: Bench) -> None:
    with pytest.raises(StoreError, match="identifier"):
        place.open(uid="../../x")


def test_a_commit_that_was_not_fetched_is_told(place: Bench) -> None:
    with pytest.raises(StoreError, match="has to be fetched first"):
        place.open(head="1" * 40)


def test_the_tree_belongs_to_the_agent_and_the_rest_does_not(place: Bench) -> None:
    if os.geteuid() != 0:
        pytest.skip("not root: giving files to another user was not tested")
    workspace = Workspace.open(place.store, plan_uid=UID, branch="plan/7", base=place.base, owner=(65534, 65534))
    mounts = workspace.mounts()
    assert {path.stat().st_uid for path in (*mounts.writable, workspace.tree / "src/m.py")} == {65534}
    assert (workspace.tree / "link").lstat().st_uid == 65534
    assert {path.stat().st_uid for path in (workspace.folder, workspace.folder / "state.json", *mounts.readonly)} == {0}


def test_twenty_thousand_files_are_handled(place: Bench) -> None:
    rows = "".join(f"M 100644 inline d{n % 200}/f{n}\ndata 2\n{n % 10}\n" for n in range(20_000))
    stream = f"commit refs/heads/big\ncommitter A <a@b> 1 +0000\ndata 1\nx\nfrom refs/heads/trunk\n{rows}"
    git = ["git", "fast-import", "--quiet"]
    subprocess.run(git, cwd=place.origin, env=ENVIRONMENT, input=stream.encode(), check=True)
    base = place.store.fetch(place.url, ["big"])["big"]
    workspace = Workspace.open(place.store, plan_uid=UID, branch="plan/7", base=base)
    sh(workspace.tree, "echo x > d7/f7; rm -r d8; : > d9/new")
    assert workspace.inspect().finding is None
    workspace.commit("some", BOT)
    assert len(workspace.changes()) == 102
    assert workspace.is_clean_against(workspace.head)


def test_git_of_the_agent_needs_nothing_in_its_environment(workspace: Workspace) -> None:
    sh(
        workspace.tree,
        "env -i PATH=$PATH HOME=/nonexistent git -c user.name=a -c user.email=b commit -q --allow-empty -m x",
    )
    sh(
        workspace.tree,
        "mkdir ../tmp/other && cd ../tmp/other && git init -q && : > f && git add f && git commit -qm other",
    )
    sh(workspace.tree, "git clone -q ../tmp/other ../tmp/clone")
    assert workspace.inspect().finding is None
    assert ENVIRONMENT["HOME"] == "/nonexistent"
