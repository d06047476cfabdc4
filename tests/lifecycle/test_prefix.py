"""Where the policy sets a prefix, every command that a text names carries it; what others wrote is left as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bot.lifecycle.commands import Verb
from bot.lifecycle.effects import Topic
from bot.lifecycle.policy import Policy
from bot.lifecycle.wording import render
from tests.lifecycle import stories
from tests.lifecycle.makers import ALICE
from tests.lifecycle.test_wording import DETAILS, revision

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan

BARE = re.compile(rf"`/({'|'.join(Verb)})\b")


def prefixed(plan: Plan) -> Plan:
    return plan.model_copy(update={"policy": plan.policy.model_copy(update={"prefix": "tg"})})


PLANS = {name: prefixed(plan) for name, plan in (stories.STATUS | stories.HALFWAY).items()}


@pytest.mark.parametrize("name", PLANS)
def test_the_status_names_commands_with_their_prefix(name):
    text = render.status_comment(PLANS[name], stories.COST)
    assert BARE.findall(text) == []
    assert "`/tg help`" in text


@pytest.mark.parametrize("topic", list(Topic))
def test_an_answer_names_commands_with_their_prefix(topic):
    text = render.say(topic, DETAILS.get(topic, {}), PLANS["in_review"], ALICE)
    assert BARE.findall(text) == []


def test_the_sentence_of_a_refusal_and_a_slip_are_told_with_the_prefix():
    why = {"why": "it failed; /retry, /update or /reject it"}
    assert "it failed; /tg retry, /tg update or /tg reject it" in render.say(Topic.NOT_NOW, why, PLANS["failed"], None)
    assert "Did you mean `/tg approve`?" in render.say(Topic.HELP, {"word": "aprove"}, PLANS["failed"], None)
    told = render.say(Topic.NEEDS_TRIAGE, {}, None, None, Policy(prefix="tg", label="robot"))
    assert "comment `/tg plan`" in told
    assert "`robot`" in told
    assert "`/tg approve` needs write" in render.say(
        Topic.NOT_ALLOWED, DETAILS[Topic.NOT_ALLOWED], PLANS["failed"], None
    )


def test_the_plan_and_the_review_name_commands_with_their_prefix_and_quote_others_as_they_wrote():
    document = stories.DOCUMENT.model_copy(update={"summary": "Say `/approve` and /reject."})
    plan = PLANS["in_review"]
    text = render.plan_comment(plan, revision("plan").model_copy(update={"document": document}))
    assert BARE.findall(text) == ["approve"]
    assert "comment `/tg approve`" in text
    review = render.review_comment(plan, stories.COST, stories.COMPARE)
    assert BARE.findall(review) == []
