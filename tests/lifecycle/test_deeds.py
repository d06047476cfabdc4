"""What people do without a comment is asked about as a comment's command is."""

from __future__ import annotations

import pytest

from bot.lifecycle.commands import Command, Verb, given, parse
from bot.lifecycle.deeds import Deed, request_of
from bot.lifecycle.events import Approved
from bot.lifecycle.permission import Permission
from bot.lifecycle.plan import Plan, Revision
from bot.lifecycle.policy import Policy
from bot.lifecycle.requests import Reading, decide
from bot.lifecycle.rights import Refusal
from bot.lifecycle.states import DIRECT, Via, WaitingOn
from tests.lifecycle.makers import ALICE, UID, document, new_plan

SAW = "f" * 64
READING = Reading(permission=Permission.WRITE, policy=Policy(), plan_sha256=SAW)


def up() -> Plan:
    """A plan that is up for decision since second 150."""
    shown = Revision(number=1, document=document(), sha256=SAW, comment_id=5, posted_at=150.0)
    return new_plan().model_copy(update={"revisions": (shown,), "waiting_on": WaitingOn.PLAN_DECISION})


def deed(**fields: object) -> Deed:
    return Deed.model_validate({"plan": UID, "by": ALICE, "via": Via.API, "verb": Verb.APPROVE, "saw": SAW, **fields})


@pytest.mark.parametrize("via", sorted(DIRECT))
def test_who_says_what_they_saw_approves_that_whichever_clock_is_ahead(via: Via) -> None:
    for at, then in ((200.0, 200.0), (149.0, 150.0)):
        request = request_of(deed(via=via), up(), at=at, guid="g")
        event = decide(request, READING, up())
        assert isinstance(event, Approved)
        assert (event.at, event.via, event.source, event.by) == (then, via, "deed:g", ALICE)


def test_an_approval_of_something_else_than_what_is_up_is_void() -> None:
    for saw in ("e" * 64, None):
        request = request_of(deed(saw=saw), up(), at=149.0, guid="g")
        assert request.at == 149.0
        refusal = decide(request, READING, up())
        assert isinstance(refusal, Refusal)
        assert refusal.topic == "saw_another"


def test_where_nothing_is_up_the_plan_itself_says_so() -> None:
    plan = new_plan()
    assert isinstance(decide(request_of(deed(), plan, at=1.0, guid="g"), READING, plan), Approved)
    assert isinstance(decide(request_of(deed(), plan, at=1.0, guid="g"), READING, None), Approved)


@pytest.mark.parametrize(
    ("verb", "text"),
    [(Verb.REJECT, "Not  now.\r\n\r\nPlease."), (Verb.PRIORITY, "high."), (Verb.DEPENDS, "\uff0312 #13")],
)
def test_words_are_as_a_comments_would_be(verb: Verb, text: str) -> None:
    assert (given(verb, f" {text} "),) == parse(f"/{verb} {text}".replace("\r\n", "\n"))
    assert given(Verb.REJECT, "/approve\n/cancel") == Command(verb=Verb.REJECT, argument="/approve\n/cancel")
