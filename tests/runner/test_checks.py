"""The gates of a job as they are run: once more where a failure may be chance, and neighbours side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.contract import GateStatus, Outcome
from runner.steps.checks import neighbours
from runner.terms import GateSpec
from tests.runner.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


def test_only_neighbours_that_both_may_run_side_by_side() -> None:
    gates = [GateSpec(name=name, run="true", parallel=name.isupper()) for name in "ABcDeFG"]
    assert [[gate.name for _, gate in group] for group in neighbours(gates)] == [
        ["A", "B"],
        ["c"],
        ["D"],
        ["e"],
        ["F", "G"],
    ]
    assert [number for group in neighbours(gates) for number, _ in group] == list(range(7))


def test_a_flaky_check_is_shown_and_holds_nothing_back(lab: Lab) -> None:
    marks = lab.folder / "marks"
    flaky = GateSpec(name="odd", run=f"echo run >> {marks}; test $(wc -l < {marks}) -ne 2")
    report = lab.run("good", gates=(flaky,))
    assert report.outcome is Outcome.VERIFIED, report
    assert report.gates[-1].status is GateStatus.FLAKY
    assert report.attempts == 1
    assert len(marks.read_text().split()) == 3, "base, and twice on the change"


def test_neighbours_run_at_the_same_time_and_are_told_in_order(lab: Lab) -> None:
    meet = lab.folder / "meet"
    meet.mkdir()
    wait = "n=0; until test -e {0}/{2}; do sleep 0.05; n=$((n+1)); test $n -lt 400 || exit 1; done"
    gates = tuple(
        GateSpec(
            name=mine, run=f"touch {meet}/{mine}; " + wait.format(meet, mine, other), parallel=True, blocking=False
        )
        for mine, other in (("one", "two"), ("two", "one"))
    )
    report = lab.run("good", gates=gates)
    assert report.outcome is Outcome.VERIFIED, report
    assert [(gate.name, gate.status) for gate in report.gates[-2:]] == [
        ("one", GateStatus.PASSED),
        ("two", GateStatus.PASSED),
    ]
