"""How jobs ended, in short: kept beside their reports, of which one can have megabytes, for lists of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.store.documents import dump

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONGEST_ENDING = 64 * 1024
"""Characters of an end in short as it is stored: what the checks printed gives way first, then the checks do."""
LONGEST_SENTENCE = 2_000
"""Characters of the sentence of an end in short."""
SHORT = ("outcome", "sentence", "attempts", "gates", "output_tail", "salvaged")


def short(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a list shows of a report, whatever that holds."""
    end = {name: report[name] for name in SHORT if name in report}
    end["sentence"] = end.get("sentence", "")[:LONGEST_SENTENCE]
    fitting = (end | {"gates": gates} for gates in _less_and_less(end.get("gates", [])))
    return next((found for found in fitting if len(dump(found)) <= LONGEST_ENDING), {"outcome": end["outcome"]})


def _less_and_less(gates: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    yield gates
    yield [gate if gate["status"] != "passed" else gate | {"tail": ""} for gate in gates]
    yield [gate | {"tail": ""} for gate in gates]
    yield []
