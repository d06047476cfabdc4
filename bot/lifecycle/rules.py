"""What the table of transitions is made of: a cell says which states make which move, or why nothing happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.lifecycle.states import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bot.lifecycle.moves.common import Step
    from bot.lifecycle.plan import Plan


@dataclass(frozen=True, slots=True)
class Rule:
    """One cell: the move and where it can lead, or the reason why there is none."""

    move: Callable[[Plan, Any], Step] | None
    to: frozenset[State]
    why: str
    answered: bool = False
    may_stay: bool = False

    def leads_to(self, state: State) -> frozenset[State]:
        """Return every state that the plan can be in afterwards."""
        stays = self.may_stay or self.move is None
        return self.to | {state} if stays else self.to


@dataclass(frozen=True, slots=True)
class Cells:
    """One rule and the states it holds in."""

    states: frozenset[State]
    rule: Rule


def _set(states: State | Iterable[State]) -> frozenset[State]:
    return frozenset({states}) if isinstance(states, State) else frozenset(states)


def go(states: State | Iterable[State], move: Callable[[Plan, Any], Step], to: State | Iterable[State]) -> Cells:
    """Make the move in these states."""
    return Cells(_set(states), Rule(move, _set(to), move.__name__))


def at(states: State | Iterable[State], move: Callable[[Plan, Any], Step], to: State | Iterable[State] = ()) -> Cells:
    """Make the move in these states; it may leave the state as it is."""
    return Cells(_set(states), Rule(move, _set(to), move.__name__, may_stay=True))


def refuse(states: State | Iterable[State], why: str) -> Cells:
    """Change nothing and say why."""
    return Cells(_set(states), Rule(None, frozenset(), why, answered=True))


def stay(states: State | Iterable[State], why: str) -> Cells:
    """Change nothing and journal why."""
    return Cells(_set(states), Rule(None, frozenset(), why))


def complete(rows: Mapping[type, tuple[Cells, ...]], events: tuple[type, ...]) -> dict[tuple[State, type], Rule]:
    """Return every pair's rule, events and states in their order.

    Raises :class:`ValueError` for a pair that is missing or listed twice.
    """
    table: dict[tuple[State, type], Rule] = {}
    for event, cells in rows.items():
        for cell in cells:
            for state in cell.states:
                if (state, event) in table:
                    raise ValueError(f"{event.__name__} in {state} is listed twice")
                table[state, event] = cell.rule
    missing = [f"{e.__name__} in {s}" for e in events for s in State if (s, e) not in table]
    if missing:
        raise ValueError(f"not in the table: {', '.join(missing)}")
    return {(state, event): table[state, event] for event in events for state in State}
