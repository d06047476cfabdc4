"""A measure, and how measures are printed."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure. ``baseline`` was measured in the same run and in the same unit; ``ratio`` is value ÷ baseline."""

    name: str
    value: float
    unit: str
    baseline: float | None = None
    baseline_is: str = ""

    @property
    def ratio(self) -> float | None:
        """Value ÷ baseline."""
        return round(self.value / self.baseline, 3) if self.baseline else None


def best_of(rounds: int, work: Callable[[], object]) -> float:
    """Return how many milliseconds the fastest of so many turns took."""
    took = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        took.append(time.perf_counter() - started)
    return min(took) * 1_000


def show(measures: Sequence[Measure]) -> str:
    """Return a table, a row a measure."""
    lines = [f"{'name':44} {'value':>10} {'unit':12} {'baseline':>10} {'ratio':>7}  baseline is"]
    for m in measures:
        baseline = "" if m.baseline is None else f"{m.baseline:.2f}"
        ratio = "" if m.ratio is None else f"{m.ratio:.2f}"
        lines.append(f"{m.name:44} {m.value:10.2f} {m.unit:12} {baseline:>10} {ratio:>7}  {m.baseline_is}")
    return "\n".join(lines)


def write(measures: Sequence[Measure], file: Path) -> None:
    """Write the same as a JSON list."""
    file.write_text(json.dumps([{**asdict(m), "ratio": m.ratio} for m in measures], indent=1) + "\n")
