"""From a unit of promptware (:mod:`runner.program`) to a prompt: one function, one order, one budget.

First the unit, with the repository's overlay, and the terms of the run; then, in :data:`ORDER`, what it works with:
what is trusted (:mod:`runner.trusted`) as it stands, what others wrote (:mod:`runner.material`) fenced, the issue last.
A unit is given the materials that its head names, and no others. Nothing is cut in silence; the unit, the schema and
the plan are never cut.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING

from runner import material, trusted
from runner.head import PromptwareError
from runner.material import FailedGate, Part, share, size
from runner.program import Access, FrontMatter, Input, Program, load, reader
from runner.trusted import Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.contract import Feedback, Issue, KnownPlan, Ledger
    from runner.memory import LessonFile
    from runner.results import PlanDocument, Recommendation

__all__ = [
    "Access",
    "FailedGate",
    "FrontMatter",
    "Program",
    "PromptInput",
    "PromptwareError",
    "Terms",
    "compose",
    "digest",
    "load",
    "reader",
]

MAX_PROMPT = 120_000
"""Bytes of a prompt, so that it fits one argument of a command (Linux: 131,071 bytes)."""
MIN_SHOWN = 2_000
"""Bytes of each material that must have room, where it has so many; else the prompt is refused."""


@dataclass(frozen=True, slots=True)
class PromptInput:
    """Everything a prompt is made of."""

    program: Program
    result_file: Path
    issue: Issue
    policy: Terms | None = None
    lessons: tuple[LessonFile, ...] = ()
    plan: PlanDocument | None = None
    ledger: Ledger | None = None
    """Where the work stands that is gone on with."""
    known: tuple[KnownPlan, ...] = ()
    """Plans of other issues, for the question whether this one is a duplicate."""
    recommendation: Recommendation | None = None
    """What unit CreateIssue writes of."""
    feedback: tuple[Feedback, ...] = ()
    """What people said, why they denied earlier attempts included."""
    fault: str = ""
    """Why the agent's last result could not be used."""
    failed_gates: tuple[FailedGate, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Paths with conflict markers that the agent must settle."""
    facts: tuple[str, ...] = ()
    """Sentences of the runner: where the work begins, the diffstat for unit CreatePr, files that moved."""
    resumed: bool = False
    """The agent still has the first prompt in its session: only what is new is said."""


ORDER: tuple[tuple[Input | None, Callable[[PromptInput, str], Sequence[str | Part]]], ...] = (
    (Input.POLICY, lambda p, marker: trusted.policy(p.policy, p.program.front, marker)),
    (Input.PLAN, lambda p, marker: trusted.plan(p.plan, marker)),
    (Input.FEEDBACK, lambda p, marker: material.feedback(p.feedback, marker)),
    (Input.LESSONS, lambda p, marker: trusted.lessons(p.lessons, marker)),
    (Input.REJECTIONS, lambda p, marker: material.rejections(p.feedback, marker)),
    (Input.RECOMMENDATION, lambda p, marker: material.recommendation(p.recommendation, marker)),
    (Input.PLANS, lambda p, marker: material.known(p.known, marker)),
    (Input.LEDGER, lambda p, marker: material.ledger(p.ledger, marker)),
    (None, lambda p, marker: material.fault(p.fault, marker)),
    (Input.FACTS, lambda p, marker: material.facts(p.facts, marker)),
    (Input.CONFLICTS, lambda p, marker: material.conflicts(p.conflicts, marker)),
    (Input.CHECKS, lambda p, marker: material.gates(p.failed_gates, marker)),
    (Input.ISSUE, lambda p, marker: material.issue(p.issue, marker)),
)
"""What follows the unit and its terms, in this order; None: what every unit is told."""
NEWS = frozenset({None, Input.FACTS, Input.CONFLICTS, Input.CHECKS})
"""What differs from run to run: all that a resumed session is told."""


def compose(parts: PromptInput, marker: str) -> str:
    """Return the prompt; ``marker`` is random, of this run alone (:func:`secrets.token_hex`).

    Raises :class:`PromptwareError` where what can't be cut leaves no room for the rest.
    """
    said: list[str | Part] = [*(_again(parts, marker) if parts.resumed else _first(parts, marker))]
    for name, make in ORDER:
        if (name is None or name in parts.program.front.inputs) and not (parts.resumed and name not in NEWS):
            said += make(parts, marker)
    said.append(f"(Here the prompt of run {marker[:8]} ends. Begin.)")
    room = _room(said, marker)
    return "\n\n".join(one if isinstance(one, str) else one.shown(marker, room) for one in said) + "\n"


def digest(prompt: str, parts: PromptInput, marker: str) -> str:
    """Return the SHA-256 of a prompt without what is of its run alone: the marker, and where its files lie.

    The same instructions and the same material hash alike, on any machine.
    """
    for own in (marker, marker[:8], str(parts.result_file), *(str(gate.output) for gate in parts.failed_gates)):
        prompt = prompt.replace(own, "")
    return hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()


def _first(parts: PromptInput, marker: str) -> list[str]:
    """Return what an agent is told once: its unit, and the terms of its run."""
    files = parts.plan.files if parts.plan else ()
    return [
        parts.program.text,
        *trusted.tools(parts.program.front),
        *trusted.contract(parts.program.front, parts.result_file, files, marker),
        trusted.trust(marker),
    ]


def _again(parts: PromptInput, marker: str) -> list[str]:
    """Return how a session is gone on with."""
    again = "Go on with your task. All you were told holds; what follows is new. Write the result again when done, to:"
    return [f"{again}\n\n`{parts.result_file}`", trusted.trust(marker)]


def _room(said: Sequence[str | Part], marker: str) -> int:
    """Return how many bytes of each material fit, so that none is cut for the sake of a longer one."""
    shown = [one for one in said if isinstance(one, Part)]
    fixed = sum(2 + size(one if isinstance(one, str) else one.shown(marker, 0)) for one in said)
    longest = share((part.wanted for part in shown), MAX_PROMPT - fixed)
    if any(part.wanted > longest for part in shown) and longest < MIN_SHOWN:
        raise PromptwareError(
            "The prompt has no room for the issue and what people said: the instructions and the plan fill it. "
            "Shorten Program.md, or split the plan."
        )
    return longest
