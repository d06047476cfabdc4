"""Several changes in one GraphQL request: each of them is done or refused by itself, and told by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.errors import Permanent, Transient, TwogateError
from bot.github.gateway import Missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

REFUSALS = frozenset({"FORBIDDEN", "UNPROCESSABLE", "INSUFFICIENT_SCOPES"})
"""Types of GraphQL errors that no other try mends."""


@dataclass(frozen=True, slots=True)
class Change:
    """One mutation of a request."""

    name: str
    mutation: str
    """Its field, ``addComment``; its input is of the type ``AddCommentInput``."""
    wanted: Mapping[str, Any]
    answer: str = "clientMutationId"
    """What is read of its result, as GraphQL writes it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a request."""

    done: Mapping[str, Any]
    """The answers by the names of their changes."""
    faults: Mapping[str, TwogateError]
    """What was not done, and why."""


def document(changes: Sequence[Change]) -> str:
    """Return the GraphQL text of a request."""
    inputs = ", ".join(f"${c.name}: {c.mutation[0].upper()}{c.mutation[1:]}Input!" for c in changes)
    fields = "\n".join(f"  {c.name}: {c.mutation}(input: ${c.name}) {{ {c.answer} }}" for c in changes)
    return f"mutation Change({inputs}) {{\n{fields}\n}}"


def outcome(changes: Sequence[Change], data: Mapping[str, Any], errors: Iterable[Any]) -> Outcome:
    """Sort an answer. Raises ``Transient`` where an error belongs to no change."""
    faults: dict[str, TwogateError] = {}
    for error in errors:
        name = error.path[0] if error.path else None
        if name not in {change.name for change in changes}:
            raise Transient(f"GitHub could not make a change: {error.message}")
        faults[str(name)] = _fault(error)
    done = {c.name: data[c.name] for c in changes if data.get(c.name) is not None and c.name not in faults}
    silent = {c.name: Transient(f"GitHub does not say what came of {c.mutation}.") for c in changes}
    return Outcome(done, faults | {name: fault for name, fault in silent.items() if name not in done | faults})


def _fault(error: Any) -> TwogateError:
    sentence = f"GitHub did not make a change: {error.message}"
    if error.type == "NOT_FOUND":
        return Missing(sentence)
    return Permanent(sentence) if error.type in REFUSALS else Transient(sentence)
