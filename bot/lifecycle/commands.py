"""Comment text -> commands. (Parser follows.)"""

from __future__ import annotations

from enum import StrEnum

from bot.lifecycle.states import Frozen


class Verb(StrEnum):
    """What a person can say in a comment, each behind a slash at the start of a line."""

    PLAN = "plan"
    APPROVE = "approve"
    REJECT = "reject"
    REOPEN = "reopen"
    UPDATE = "update"
    RETRY = "retry"
    CANCEL = "cancel"
    STATUS = "status"
    HELP = "help"


class Command(Frozen):
    """One command and the words that came with it."""

    verb: Verb
    argument: str = ""


def parse(text: str) -> tuple[Command, ...]:
    """Return the commands of a comment in order."""
    raise NotImplementedError
