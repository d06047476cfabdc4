"""The runner's disk: what is packed, capped and removed, and that nobody is robbed of what he borrows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runner import housekeeping
from runner.housekeeping import tidy
from runner.leftovers import Leftovers, alone
from runner.place import Place
from tests.runner.workbench import BOT, UID, Bench, bench, sh

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_800_000_000.0
"""Epoch seconds; what is kept by its age is older or younger than this."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(housekeeping, "MAX_PACKS", 1)
    return bench(tmp_path)


def crowd(place: Bench) -> int:
    """Fetch until there are more packs than there should be; return how many."""
    for number in range(2):
        sh(place.origin, f"seq {number} 500 > big{number}; git add -A; git commit -qm {number}")
        sh(place.origin, "for n in $(seq 120); do git commit -q --allow-empty -m $n; done")
        place.fetch()
    return len(packs(place))


def packs(place: Bench) -> list[Path]:
    return list((place.store.objects / "pack").glob("*.pack"))


def test_a_store_is_packed_when_nobody_borrows_from_it_and_keeps_all_that_has_a_ref(place: Bench) -> None:
    workspace = place.open()
    sh(workspace.tree, "echo kept > kept.txt")
    saved = workspace.salvage()
    assert crowd(place) > 1
    assert tidy(place.home, NOW) == ()
    assert len(packs(place)) > 1, "a work tree borrows from it"
    workspace.remove()
    (place.store.objects / "pack" / "tmp_pack_Killed").write_bytes(b"half")
    with alone(place.home, "abcdefgh-1"):
        assert tidy(place.home, NOW) == ()
        assert tidy(place.home, NOW, apart_from="abcdefgh-1") == ("store 42.git was packed",)
    assert len(packs(place)) == 1
    assert list(place.store.objects.rglob("tmp_*")) == []
    assert saved
    assert place.store.read(saved, b"kept.txt") == b"kept\n"
    assert place.store.tampered() == ()
    again = place.open()
    sh(again.tree, "echo more > more.txt")
    assert again.inspect().finding is None
    assert again.commit("more", BOT)


def test_logs_beyond_the_cap_go_oldest_first_but_not_those_that_are_owed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        folder = tmp_path / "jobs" / f"abcdefgh-{number}"
        folder.mkdir(parents=True)
        (folder / "stdout").write_bytes(b"x" * 100_000)
        os.utime(folder, (number, number))
    (tmp_path / "jobs" / "abcdefgh-0" / "key").write_text("secret")
    os.utime(tmp_path / "jobs" / "abcdefgh-0", (0, 0))
    monkeypatch.setattr(housekeeping, "LOG_CAP", 250_000)
    said = tidy(tmp_path, NOW)
    assert sorted(path.name for path in (tmp_path / "jobs").iterdir()) == ["abcdefgh-0", "abcdefgh-3"]
    assert "job abcdefgh-1 was removed" in said[0]


def test_a_lock_that_is_held_is_not_forgotten(place: Bench) -> None:
    workspace = place.open()
    held = place.home / "locks" / f"42-{UID}.lock"
    tidy(place.home, NOW)
    assert held.exists()
    workspace.remove()
    tidy(place.home, NOW)
    assert not held.exists()
    lock = Place(place.home, 42, UID).hold()
    assert lock
    assert held.exists()
    assert Place(place.home, 42, UID).hold() is None


def test_locks_of_a_git_that_was_killed_with_its_runner_are_removed(place: Bench) -> None:
    for name in ("refs/twogate/x.lock", "packed-refs.lock"):
        (place.store.path / name).parent.mkdir(parents=True, exist_ok=True)
        (place.store.path / name).touch()
    (place.home / "locks" / "42.refs").unlink()
    place.store.set_ref("refs/twogate/x", place.base)
    assert place.store.ref("refs/twogate/x") == place.base
    place.store.drop_refs("refs/twogate/x")
    assert place.store.tampered() == ()


def test_logs_stay_as_many_days_as_their_job_says_and_longer_where_the_report_is_unsent(tmp_path: Path) -> None:
    for name, days in (("abcdefgh-1", 2), ("abcdefgh-2", 90)):
        folder = tmp_path / "jobs" / name
        folder.mkdir(parents=True)
        (folder / "spec.json").write_text(f'{{"logs": {{"keep_days": {days}}}}}')
    owed = tmp_path / "jobs" / "abcdefgh-3"
    owed.mkdir()
    for name in ("report.json", "key"):
        (owed / name).write_text("{}")
    now = (tmp_path / "jobs").stat().st_mtime + 40 * 24 * 3600
    Leftovers(tmp_path, "lab", lambda: now, lambda _: None).clean()
    assert sorted(path.name for path in (tmp_path / "jobs").iterdir()) == ["abcdefgh-2", "abcdefgh-3"]
