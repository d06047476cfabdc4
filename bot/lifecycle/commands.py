"""Comment text -> commands.

A command stands at the start of a line, behind a slash, with at most three spaces before it: ``/approve``, or with the
name of a bot before it: ``/twogate approve``. Whose name counts is judged with the policy (:mod:`.requests`). How
people's keyboards write that does not matter: capitals, full-width letters, unusual spaces, a full stop behind it.
Letters that only look alike do not count. Several act in the order in which they are written. What is code, quoted,
struck out or hidden is never a command (:mod:`.prose`). docs/reference/commands.md has the rules.
"""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from bot.lifecycle import prose
from bot.lifecycle.states import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT = 65_536
"""Characters that GitHub accepts in a comment; what lies behind them is not looked at."""
MOST_COMMANDS = 5
"""Commands of one comment that count, the first ones: each may cost an answer, and anybody may write a comment."""
SHORTEST_SLIP = 5
"""Letters of a command from which a slip of one letter is recognised: shorter ones are too close to other words."""


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
    REMEMBER = "remember"
    RETRY = "retry"
    CANCEL = "cancel"
    ICEBOX = "icebox"
    THAW = "thaw"
    START = "start"
    DEPENDS = "depends"
    PRIORITY = "priority"
    AGENT = "agent"
    BUDGET = "budget"
    COSTS = "costs"
    STATUS = "status"
    HELP = "help"


DOES_SOMETHING = tuple(verb for verb in Verb if verb not in {Verb.COSTS, Verb.STATUS, Verb.HELP})
"""Verbs that do something to a plan; the others ask for words alone."""
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
_MARK = "\ufeff"
"""What Windows puts before the text of a file."""
_VERBS = {verb.value: verb for verb in Verb}
_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(
    [0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], 0x20
)
"""Full-width letters and signs, as East Asian keyboards write them, and spaces of every width."""
_DIRECTION = "\u200e\u200f"
_BEHIND = rf"[{_DIRECTION}\u200b-\u200d\u2060\ufeff.,:;!…。]*(?=[ \t]|\Z)"
_COMMAND = re.compile(
    rf"[{_DIRECTION}]?[ ]{{0,3}}[{_DIRECTION}]?/(?P<name>[A-Za-z][A-Za-z0-9_-]*)(?:{_BEHIND}|:)[ \t]*+(?!\|)"
)
"""Behind it may stand what is not seen, or what ends a sentence; a bar would make it a cell of a table that tells of
commands, and gives none."""
_WORD = re.compile(rf"/?(?P<word>[A-Za-z]+)(?:{_BEHIND}|:)[ \t]*")
_END = " \t.,;!…。"


def parse(text: str) -> tuple[Command, ...]:
    """Return the commands of a comment in order, those that name another bot included.

    ``/twogate`` with a word that is no verb asks for help, with that word as the argument: it is clearly meant for us.
    So does a slip of one letter such as ``/aprove``: hardly another bot's command.
    """
    return tuple(islice((piece for piece in pieces(text) if isinstance(piece, Command)), MOST_COMMANDS))


def pieces(text: str) -> Iterator[prose.Line | Command]:
    """Yield a comment piece by piece: its commands with their words, and the lines that belong to none."""
    speaker: Command | None = None
    words: list[str] = []
    for line in prose.lines(text[:MAX_TEXT].removeprefix(_MARK)):
        read = _read(line.text) if line.own else []
        if speaker is not None and not read:
            words.append(line.text)
            continue
        if speaker is not None:
            yield _with(speaker, words)
            speaker = None
        if read and read[-1].verb in SPEAKS_ON:
            speaker = read.pop()
            words = [speaker.argument]
        yield from read
        if not read and speaker is None:
            yield line
    if speaker is not None:
        yield _with(speaker, words)


def given(verb: Verb, text: str) -> Command:
    """Return a command that was given without a comment, as if its words had stood behind it in one."""
    words = text.replace("\r\n", "\n").strip()
    return Command(verb=verb, argument=words if verb in SPEAKS_ON else words.translate(_PLAIN).rstrip(_END))


def _with(command: Command, words: list[str]) -> Command:
    return command.model_copy(update={"argument": "\n".join(words).strip()})


def meant(word: str) -> Verb | None:
    """Return the verb that a word is a slip of: one letter more, less or other, or two that changed places."""
    return next((verb for verb in Verb if len(verb) >= SHORTEST_SLIP and _is_slip(word.lower(), verb)), None)


def _is_slip(word: str, verb: str) -> bool:
    same = next((at for at, (a, b) in enumerate(zip(word, verb, strict=False)) if a != b), min(len(word), len(verb)))
    wrong, right = word[same:], verb[same:]
    swapped = wrong[:2] == right[:2][::-1] and wrong[2:] == right[2:]
    return word != verb and (swapped or wrong[1:] in {right, right[1:]} or wrong == right[1:])


def _read(line: str) -> list[Command]:
    """Return the commands that a line is, with the words on it: one, or several that follow each other directly."""
    plain = line.translate(_PLAIN)
    found: list[Command] = []
    at = 0
    while (match := _COMMAND.match(plain, at)) is not None:
        name, prefix, end = match["name"].lower(), "", match.end()
        word = _WORD.match(plain, end) if name not in _VERBS else None
        if word is not None and word["word"].lower() in _VERBS:
            name, prefix, end = word["word"].lower(), name, word.end()
        if name not in _VERBS:
            if not found:
                return _unknown(name, plain[end:])
            break
        found.append(Command(verb=_VERBS[name], prefix=prefix))
        at = end
        if found[-1].verb in SPEAKS_ON:
            break
    if found:
        words = line[at:].strip() if found[-1].verb in SPEAKS_ON else plain[at:].strip().rstrip(_END)
        found[-1] = found[-1].model_copy(update={"argument": words})
    return found


def _unknown(name: str, rest: str) -> list[Command]:
    """Return what a word behind a slash asks for that is no verb: help, or nothing of ours."""
    if name == NAME:
        return [Command(verb=Verb.HELP, argument=rest.partition(" ")[0].strip("/"), prefix=name)]
    return [Command(verb=Verb.HELP, argument=name)] if meant(name) else []
