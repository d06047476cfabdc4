"""What a person does without a comment: on the dashboard, by the API, or by an agent of theirs over MCP.

It is judged as their comment would be. They are told what came of it where they did it, so that nobody is told on the
issue; whatever it changes is seen there as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.commands import Verb, given
from bot.lifecycle.records import Person
from bot.lifecycle.requests import Request
from bot.lifecycle.states import Frozen, Via

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan


class Deed(Frozen):
    """What somebody wants done with a plan."""

    plan: str
    """The plan's name."""
    by: Person
    via: Via
    verb: Verb
    text: str = ""
    saw: str | None = None
    """What they were shown: the plan text's hash, or the head commit."""


def source_of(guid: str) -> str:
    """Return how the journal names a deed, of the delivery that brought it."""
    return f"deed:{guid}"


def request_of(deed: Deed, plan: Plan, *, at: float, guid: str) -> Request:
    """Return a deed as a request.

    Who names what is up for decision has seen it, whichever of two machines' clocks is ahead.
    """
    asked = plan.asked
    seen = asked[2] if asked is not None and asked[1] == deed.saw else at
    return Request(
        repo=plan.repo,
        issue_number=plan.issue_number,
        command=given(deed.verb, deed.text),
        actor=deed.by,
        via=deed.via,
        at=max(at, seen),
        source=source_of(guid),
        saw=deed.saw,
    )
