"""The transition table as a diagram and as a list, for the documentation; a test keeps the two the same."""

from __future__ import annotations

import re
from collections import defaultdict

from bot.lifecycle.rework import REWORK
from bot.lifecycle.states import ENDED, State
from bot.lifecycle.transitions import EVENTS, TABLE


def mermaid() -> str:
    """Return the moves that change the state, as a Mermaid state diagram."""
    arrows: dict[tuple[State, State], list[str]] = defaultdict(list)
    for event in EVENTS:
        for state in State:
            rule = TABLE[state, event]
            if rule.move is None:
                continue
            for target in sorted(rule.to - {state}):
                arrows[state, target].append(_words(event.__name__))
    lines = ["stateDiagram-v2", f"    [*] --> {State.DRAFT}: plan requested"]
    lines += [f"    {a} --> {b}: {', '.join(dict.fromkeys(names))}" for (a, b), names in sorted(arrows.items())]
    lines += [f"    {state} --> [*]" for state in sorted(ENDED)]
    return "\n".join(lines)


def table() -> str:
    """Return every event with what it does in each state, as a Markdown table."""
    lines = ["| event | makes a move in | changes nothing in |", "|---|---|---|"]
    for event in EVENTS:
        moves: dict[str, list[State]] = defaultdict(list)
        stays: dict[str, list[State]] = defaultdict(list)
        for state in State:
            rule = TABLE[state, event]
            (moves if rule.move else stays)[rule.why].append(state)
        lines.append(f"| {_words(event.__name__)} | {_cells(moves)} | {_cells(stays)} |")
    return "\n".join(lines)


def rework_table() -> str:
    """Return what is different of it while a plan works on for its open pull request."""
    lines = ["| event | makes a move in | changes nothing in |", "|---|---|---|"]
    for event in dict.fromkeys(event for _, event in REWORK):
        moves: dict[str, list[State]] = defaultdict(list)
        stays: dict[str, list[State]] = defaultdict(list)
        for state in State:
            if (rule := REWORK.get((state, event))) is not None:
                (moves if rule.move else stays)[rule.why].append(state)
        lines.append(f"| {_words(event.__name__)} | {_cells(moves)} | {_cells(stays)} |")
    return "\n".join(lines)


def _cells(found: dict[str, list[State]]) -> str:
    return "<br>".join(f"{_states(states)}: {why.replace('_', ' ')}" for why, states in found.items())


def _states(states: list[State]) -> str:
    return "every state" if len(states) == len(State) else ", ".join(states)


def _words(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()
