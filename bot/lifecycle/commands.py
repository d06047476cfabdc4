"""Comment text -> commands.

A command stands at the start of a line, behind a slash, with at most three spaces before it: ``/approve``, or with the
name of a bot before it: ``/twogate approve``. Whose name counts is judged with the policy (:mod:`.requests`). Case does
not matter, Unicode look-alikes do not count. Several act in the order in which they are written. What is code, quoted
or hidden is never a command (:mod:`.prose`).
"""

from __future__ import annotations

import re
from enum import StrEnum

from bot.lifecycle import prose
from bot.lifecycle.states import Frozen

MAX_TEXT = 65_536
"""Characters that GitHub accepts in a comment; what lies behind them is not looked at."""
MOST_COMMANDS = 5
"""Commands of one comment that count, the first ones: each may cost an answer, and anybody may write a comment."""


class Verb(StrEnum):
    """What a person can say in a comment, each behind a slash at the start of a line."""

    PLAN = "plan"
    APPROVE = "approve"
    REJECT = "reject"
    REOPEN = "reopen"
    UPDATE = "update"
    EXPAND = "expand"
    SPLIT = "split"
    ANSWER = "answer"
    REVISE = "revise"
    FIX = "fix"
    ACCEPT = "accept"
    RETRY = "retry"
    CANCEL = "cancel"
    ICEBOX = "icebox"
    THAW = "thaw"
    START = "start"
    DEPENDS = "depends"
    PRIORITY = "priority"
    AGENT = "agent"
    BUDGET = "budget"
    STATUS = "status"
    HELP = "help"


SPEAKS_ON = frozenset(
    {Verb.REJECT, Verb.UPDATE, Verb.EXPAND, Verb.SPLIT, Verb.ANSWER, Verb.REVISE, Verb.FIX, Verb.RETRY}
)
"""Verbs whose words go on over the following lines, up to the next command."""


class Command(Frozen):
    """One command and the words that came with it."""

    verb: Verb
    argument: str = ""
    prefix: str = ""
    """The word between the slash and the verb, in lower case: the name of the bot that is meant; empty without one."""


NAME = "twogate"
"""Our own name before a verb."""
_COMMAND = re.compile(r" {0,3}/(?P<name>[A-Za-z][A-Za-z0-9_-]*)(?:[ \t]+(?P<rest>.*))?", re.DOTALL)
_VERBS = {verb.value: verb for verb in Verb}


def parse(text: str) -> tuple[Command, ...]:
    """Return the commands of a comment in order, those that name another bot included.

    ``/twogate`` with a word that is no verb asks for help, with that word as the argument: it is clearly meant for us.
    """
    found: list[tuple[Command, list[str]]] = []
    for line in prose.lines(text[:MAX_TEXT]):
        command = _read(line.text) if line.own else None
        if command is not None and len(found) == MOST_COMMANDS:
            break
        if command is not None:
            found.append((command, [command.argument]))
        elif found and found[-1][0].verb in SPEAKS_ON:
            found[-1][1].append(line.text)
    return tuple(command.model_copy(update={"argument": "\n".join(words).strip()}) for command, words in found)


def _read(line: str) -> Command | None:
    """Return the command that a line is, with the words on it."""
    match = _COMMAND.fullmatch(line)
    if match is None:
        return None
    name, rest = match["name"].lower(), (match["rest"] or "").strip(" \t")
    if name in _VERBS:
        return Command(verb=_VERBS[name], argument=rest)
    word, _, rest = rest.replace("\t", " ").partition(" ")
    verb = _VERBS.get(word.removeprefix("/").lower())
    if verb is not None:
        return Command(verb=verb, argument=rest.strip(), prefix=name)
    return Command(verb=Verb.HELP, argument=word, prefix=name) if name == NAME else None
