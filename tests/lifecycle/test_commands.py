"""Which words of a comment are commands."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lifecycle.commands import MOST_COMMANDS, Command, Verb, meant, parse


@pytest.mark.parametrize("verb", list(Verb))
def test_every_verb_is_understood(verb):
    assert parse(f"/{verb}") == (Command(verb=verb),)
    assert parse(f"/twogate {verb}") == (Command(verb=verb, prefix="twogate"),)
    assert parse(f"/Other-Bot2 {verb}") == (Command(verb=verb, prefix="other-bot2"),)


RULES = tomllib.loads((Path(__file__).parent / "said.toml").read_text())["rule"]
SAID = [case for rule in RULES for case in rule["cases"]]


def plainly(command: Command) -> str:
    """A command as somebody would write it who knows the rules."""
    return " ".join(filter(None, (f"/{command.prefix}" if command.prefix else "", command.verb, command.argument)))


@pytest.mark.parametrize("case", SAID, ids=lambda case: ascii(case["text"]))
def test_what_people_write_does_what_the_rules_say(case):
    found = [plainly(command) for command in parse(case["text"])]
    assert [said if said.startswith("/") else f"/{said}" for said in found] == case["does"]


def test_there_are_enough_of_them_and_each_of_its_own():
    texts = [case["text"] for case in SAID]
    assert len(texts) == len(set(texts)) >= 100
    acting = sum(bool(case["does"]) for case in SAID)
    assert acting >= 50
    assert len(SAID) - acting >= 50


WRAPPED = {
    "quoted": lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
    "fenced": lambda text: f"``````\n{text}\n``````",
    "tilde fenced": lambda text: f"~~~~~~\n{text}\n~~~~~~",
    "folded": lambda text: f"See <details><summary>what he said</summary>\n\n{text}\n\n</details>",
    "a block quoted": lambda text: f"<blockquote>\n\n{text}\n\n</blockquote>",
    "struck out": lambda text: f"<del>\n\n{text}\n\n</del>",
}


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
def test_whatever_acts_does_not_where_it_is_only_quoted(wrap):
    for case in SAID:
        assert parse(wrap(case["text"])) == (), case["text"]
    shown = "```html\n\n</details></blockquote></del>\n```\n\nand `</details></blockquote></del>`\n\n/approve"
    assert parse(wrap(shown)) == ()
    assert parse(shown) == (Command(verb=Verb.APPROVE),)


@pytest.mark.parametrize(
    ("word", "verb"),
    [
        ("aprove", Verb.APPROVE),
        ("approove", Verb.APPROVE),
        ("aprpove", Verb.APPROVE),
        ("Upfate", Verb.UPDATE),
        ("statu", Verb.STATUS),
        ("approve", None),
        ("prove", None),
        ("pplan", None),
        ("", None),
    ],
)
def test_a_slip_of_one_letter_is_recognised_in_longer_words(word, verb):
    assert meant(word) is verb


@given(st.text(alphabet="/aprovetws `~<>!-\n\r\t*1.)", max_size=200))
def test_any_text_is_read(text):
    for command in parse(text):
        assert command.verb in Verb


@given(st.text(max_size=80).map(lambda t: t.replace("\n", " ").replace("\r", " ")))
def test_quoting_a_text_takes_its_commands_away(text):
    assert parse(f"> {text}\n> /approve") == ()


@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "` ",
        "<!--",
        "<pre>",
        "<a ",
        "> ",
        "- ",
        "```\n",
        "`` ` ",
        "<code>x\n\n",
        "\n/approve",
        "</a ",
        "<a \n",
        "x <code>\n",
        "x <!--\n",
        "~",
        "~a ",
        "~~a\n",
        "<details>",
        "<details>`",
        "<details>\n```\n",
        "<details>\n``` `x\n~~~\n",
        "x <details> ",
        "/help ",
        "/help /",
        "/twogate ",
        "/update\n",
        "/aprove\n",
    ],
)
def test_reading_takes_no_long_time_whatever_the_text(piece):
    text = piece * (65_536 // len(piece))
    before = time.process_time()
    parse(text)
    assert time.process_time() - before < 3


def test_of_a_comment_full_of_commands_the_first_few_count():
    said = [f"/retry {number}" for number in range(MOST_COMMANDS + 3)]
    assert [command.argument for command in parse("\n".join(said))] == [str(n) for n in range(MOST_COMMANDS)]
