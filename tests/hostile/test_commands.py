"""As a comment: it says what its writer wrote as a command, and nothing else; and nobody may more for having said it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.commands import Command, Verb, parse
from bot.lifecycle.plan import Person
from bot.lifecycle.policy import Permission, Policy
from bot.lifecycle.requests import Reading, Request, decide
from bot.lifecycle.rights import Refusal
from bot.lifecycle.states import Via
from tests.hostile.prompts import HARMLESS
from tests.lifecycle.makers import ISSUE, REPO, new_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.lifecycle.plan import Plan
    from tests.hostile.texts import Hostile

WRAPPED: dict[str, Callable[[str], str]] = {
    "quoted": lambda text: "\n".join(f"> {line}" for line in text.splitlines()),
    "code": lambda text: f"{'`' * 120}\n{text}\n{'`' * 120}",
    "indented": lambda text: "\n".join(f"    {line}" for line in text.splitlines()),
    "hidden": lambda text: f"<!--\n{text.replace('>', '')}\n-->",
    "within a sentence": lambda text: f"I read: {' '.join(text.split())}",
}
"""What people do with words that are not theirs."""


def test_it_says_what_is_written_as_a_command_and_no_more(hostile: Hostile) -> None:
    assert tuple(command.verb for command in parse(hostile.text)) == hostile.says


def test_it_says_nothing_where_it_is_not_its_writers_own_word(hostile: Hostile) -> None:
    assert {way: parse(wrap(hostile.text)) for way, wrap in WRAPPED.items()} == dict.fromkeys(WRAPPED, ())


def decided(plan: Plan | None, verb: Verb, text: str, permission: Permission, **said: object) -> object:
    """Return what comes of a command with this text in every place, said by somebody of this permission."""
    request = Request.model_validate(
        {
            "repo": REPO,
            "issue_number": 12,
            "command": Command(verb=verb, argument=text),
            "actor": Person(id=99, login=text[:100]),
            "via": Via.COMMAND,
            "at": 5.0,
            "source": "comment-1",
            "issue": ISSUE,
            **said,
        }
    )
    return decide(request, Reading(permission=permission, policy=Policy(), text=text, issue=ISSUE), plan)


def test_nobody_may_more_for_what_they_say_or_are_called(hostile: Hostile) -> None:
    plan = new_plan()
    for permission in Permission:
        for verb in Verb:
            got, usual = (decided(plan, verb, text, permission) for text in (hostile.text, HARMLESS))
            assert (isinstance(got, Refusal) and got.topic in {"not_allowed", "needs_triage"}) == (
                isinstance(usual, Refusal) and usual.topic in {"not_allowed", "needs_triage"}
            ), (verb, permission)
    for bot in (hostile.text, f"{hostile.text}[bot]", "twogate-demo[bot]"):
        assert isinstance(decided(plan, Verb.APPROVE, hostile.text, Permission.ADMIN, bot=bot), Refusal)
