"""Which branches of other plans a commit will not merge with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.contract import Branch
from runner.forecast import bring, forecast
from tests.runner.workbench import Bench, bench, sh

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Bench:
    return bench(tmp_path)


def branch(place: Bench, number: int, script: str) -> Branch:
    """Make a branch of another plan at the origin."""
    sh(place.origin, f"git checkout -q -b plan/{number} trunk; {script}; git add -A; git commit -qm {number}")
    head = sh(place.origin, "git rev-parse HEAD; git checkout -q trunk").split()[0]
    return Branch(issue=number, name=f"plan/{number}", head=head)


def clock(*times: float) -> Iterator[float]:
    yield from times


def test_branches_that_conflict_are_told_with_their_paths(place: Bench) -> None:
    ours = branch(place, 1, "echo ours > a.txt; echo x > src/new.py")
    others = (
        branch(place, 2, "echo theirs > a.txt"),
        branch(place, 3, "echo elsewhere > b.txt"),
        branch(place, 4, "echo ours > a.txt"),
        branch(place, 5, "rm -r src; echo file > src"),
    )
    gone = Branch(issue=6, name="plan/6", head="6" * 40)
    place.store.fetch(place.url, [ours.name])
    assert bring(place.store, place.url, (*others, gone), None) is None
    found = forecast(place.store, place.base, ours.head, (*others, gone), lambda: 0.0)
    assert [(c.issue, c.branch, c.head) for c in found.collisions] == [
        (2, "plan/2", others[0].head),
        (5, "plan/5", others[3].head),
    ]
    assert found.collisions[0].paths == ("a.txt",)
    assert found.collisions[1].paths_total >= 1
    assert found.notes == ("Merges with plan/6 were not tried: their commits are not to be had any more.",)


def test_branches_without_a_common_path_are_not_merged(place: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, other = branch(place, 1, "echo ours > a.txt"), branch(place, 2, "echo theirs > b.txt")
    place.store.fetch(place.url, [ours.name, other.name])
    monkeypatch.setattr(place.store, "merge_conflicts", lambda *_: pytest.fail("merged without need"))
    assert forecast(place.store, place.base, ours.head, [other], lambda: 0.0).collisions == ()


def test_a_forecast_has_a_deadline(place: Bench) -> None:
    ours, other = branch(place, 1, "echo ours > a.txt"), branch(place, 2, "echo theirs > a.txt")
    place.store.fetch(place.url, [ours.name, other.name])
    times = clock(0, 1, 61)
    found = forecast(place.store, place.base, ours.head, [other, other, other], lambda: next(times))
    assert len(found.collisions) == 1
    assert "2 more branches" in found.notes[0]


def test_a_server_that_is_away_fails_nothing(place: Bench, tmp_path: Path) -> None:
    other = Branch(issue=2, name="plan/2", head="2" * 40)
    fault = bring(place.store, f"file://{tmp_path}/nowhere", [other], None)
    assert fault is not None
    assert "could not be fetched" in fault
