"""Why a plan stands where it stands, in a sentence: what waits on whom. The same on pages and in the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.states import Limit, State, WaitingOn
from bot.lifecycle.wording.words import HOLDS, WAITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.lifecycle.brief import Brief

NAMED = 5
"""Issues or paths that a sentence names; the others are counted."""
TURNS = frozenset(
    {WaitingOn.PLAN_DECISION, WaitingOn.ANSWERS, WaitingOn.DIFF_DECISION, WaitingOn.PERSON, WaitingOn.MERGE}
)
"""Waits that a person ends."""
STANDS = {
    State.MERGED: "Nothing more is to be done.",
    State.REJECTED: "It can be reopened.",
    State.CANCELLED: "It can be reopened.",
    State.SPLIT: "Each of its parts has a plan of its own.",
    State.ICEBOX: "It is put aside until a person takes it up again.",
}
"""States in which nothing is waited for, which is said beside their names."""
RUNNING = {
    State.DRAFT: "An agent is writing the plan.",
    State.EXECUTING: "An agent is carrying it out.",
    State.VERIFYING: "Its checks are running.",
    State.IN_REVIEW: "A runner is looking whether it still merges.",
    State.PR_OPEN: "An agent is at work on the pull request.",
}
"""What a runner does in each state."""
SAID = {
    WaitingOn.PLAN_DECISION: "A person decides on the plan.",
    WaitingOn.DIFF_DECISION: "A person decides on the diff.",
    WaitingOn.PERSON: "A person says how it goes on.",
    WaitingOn.BOT: "A step of the bot's own, which takes seconds.",
}


def turn(brief: Brief) -> bool:
    """Whether it is a person's turn."""
    return bool(brief.held) or brief.waiting_on in TURNS


def reason(brief: Brief) -> str:
    """Return the sentence."""
    if brief.held:
        return HOLDS[brief.held[0]]
    if brief.state is State.FAILED and brief.failure:
        return brief.failure
    if brief.waiting_on is None or brief.state in STANDS:
        return STANDS.get(brief.state, "")
    return _sentence(brief, brief.waiting_on)


def _sentence(brief: Brief, on: WaitingOn) -> str:  # noqa: PLR0911 - a sentence a wait
    names = _named(brief.waits_for)
    match on:
        case WaitingOn.RUNNER:
            return RUNNING.get(brief.state, "A runner is at work.")
        case WaitingOn.ANSWERS:
            return f"Waits for {_counted(brief.questions, 'answer')} by people."
        case WaitingOn.MERGE:
            return f"Pull request #{brief.pull_request} waits to be merged."
        case WaitingOn.DEPENDENCY if brief.in_vain:
            return f"Starts once {names} is merged; {_named(brief.in_vain)} ended unmerged."
        case WaitingOn.DEPENDENCY:
            return f"Starts once {names} is merged."
        case WaitingOn.OVERLAP:
            return f"{names} may change the same files: it starts once that is merged or has ended."
        case WaitingOn.REVIEWERS:
            return f"Waits for room in review{_taken(brief, 'diffs that wait for a decision')}."
        case WaitingOn.SLOT if brief.limit is Limit.HOST:
            return "Waits for a free slot; all those of this bot are taken, over all its repositories."
        case WaitingOn.SLOT:
            return f"Waits for a free slot{_taken(brief, 'at work now')}."
        case _:
            return SAID.get(on) or f"Waits for {WAITS[on]}."


def _taken(brief: Brief, what: str) -> str:
    at_work = f"; {what}: {_named(brief.waits_for)}" if brief.waits_for else ""
    return f"{at_work}; the policy allows {brief.most}" if brief.most else at_work


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}" if count else f"{thing}s"


def _named(names: Sequence[str]) -> str:
    shown = list(names[:NAMED])
    if len(names) > NAMED:
        shown.append(f"{len(names) - NAMED} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
