"""Branches mistaken for others, histories cut short, and pushes that only seemed to arrive.

gh-aw#9654, gh-aw#28955, gh-aw#34108, CCA#306, CCA#1143, CCA#1166, CCA#1647, prathamdby/pr-agent PR#41, OpenHands#7519,
srtab/daiv PR#1349, sreerevanth/repopilot PR#111, AO#3220, AO#3848, Tendril#2042, ccmanager#305, crystal#36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.store import PushRejectedError
from tests.runner.workbench import BOT, Bench, bench, sh

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Bench:
    return bench(tmp_path)


def test_a_push_that_the_server_undoes_is_no_success(place: Bench) -> None:
    hook = place.origin / ".git/hooks/post-receive"
    hook.write_text("#!/bin/sh\nread old new ref\ngit update-ref -d $ref\n")
    hook.chmod(0o755)
    with pytest.raises(PushRejectedError, match="reads absent afterwards"):
        place.store.push(place.url, place.base, "plan/7", expect=None)


def test_a_leftover_branch_with_other_content_is_not_overwritten_unseen(place: Bench) -> None:
    sh(
        place.origin,
        "git checkout -q -b plan/7; echo other > other.txt; git add .; git commit -qm other; git checkout -q trunk",
    )
    workspace = place.open()
    sh(workspace.tree, "echo mine > mine.txt")
    head = workspace.commit("mine", BOT)
    assert head
    with pytest.raises(PushRejectedError):
        place.store.push(place.url, head, "plan/7", expect=None)
    assert sh(place.origin, "git log -1 --format=%s plan/7") == "other"


def test_a_fetched_branch_is_never_a_stale_one(place: Bench) -> None:
    sh(place.origin, "git branch plan/7")
    place.store.fetch(place.url, ["plan/7"])
    sh(place.origin, "git branch -D plan/7; git checkout -q -b aside; git commit -q --allow-empty -m aside")
    assert place.store.fetch(place.url, ["plan/7", "trunk"]) == {"trunk": place.base}
    sh(place.origin, "git checkout -q --orphan fresh; git commit -qm rewritten; git branch -f trunk")
    assert place.fetch() == sh(place.origin, "git rev-parse trunk")


def test_a_name_that_is_a_branch_and_a_file_and_a_tag_is_read_as_what_is_meant(place: Bench) -> None:
    sh(
        place.origin,
        "mkdir plan; echo x > plan/7; git add .; git commit -qm file; git tag trunk HEAD~; git tag plan/7 HEAD~",
    )
    tip = sh(place.origin, "git rev-parse refs/heads/trunk")
    assert place.fetch() == tip
    place.store.push(place.url, tip, "plan/7", expect=None)
    assert place.store.remote_tip(place.url, "plan/7") == tip


@pytest.mark.parametrize("name", ["a_b", "a@b", "a,b", "a+b", "a#b", "ü/ö", "$(touch${IFS}pwned)", "a;b", "feat/x/y"])
def test_branches_with_unusual_names_are_fetched(place: Bench, name: str) -> None:
    sh(place.origin, 'git branch "$NAME"', env={"NAME": name})
    assert place.store.fetch(place.url, [name]) == {name: place.base}
    assert not (place.home / "repos/pwned").exists()


def test_a_history_of_two_hundred_commits_is_fetched_whole(place: Bench) -> None:
    rows = "".join(f"commit refs/heads/trunk\ncommitter A <a@b> {n} +0000\ndata 1\n{n % 10}\n" for n in range(1, 201))
    first = f"from {place.base}\n"
    head, _, rest = rows.partition("1\n1\n")
    (place.home.parent / "stream").write_text(f"{head}1\n1\n{first}{rest}")
    workspace = place.open()
    sh(workspace.tree, "echo mine > mine.txt")
    mine = workspace.commit("mine", BOT)
    sh(place.origin, "git fast-import --quiet --force < ../stream")
    tip = place.fetch()
    assert mine
    assert place.store.merge_conflicts(tip, mine) == ()
    assert place.store.count_commits(place.base, tip) == 200
    assert not (place.store.path / "shallow").exists()


def test_a_private_submodule_asks_nobody_for_a_password(place: Bench) -> None:
    sh(place.origin, "printf '[submodule \"s\"]\\n\\tpath = s\\n\\turl = https://127.0.0.1:1/private\\n' > .gitmodules")
    sh(place.origin, f"git add .; git update-index --add --cacheinfo 160000,{place.base},s; git commit -qm sub")
    tip = place.fetch()
    checkout = place.store.fresh_checkout(tip, place.home / "check")
    assert list((checkout.tree / "s").iterdir()) == []
