"""Which words of a comment are commands."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lifecycle.commands import MOST_COMMANDS, Command, Verb, parse


def verbs(text: str) -> list[Verb]:
    return [command.verb for command in parse(text)]


@pytest.mark.parametrize("verb", list(Verb))
def test_every_verb_is_understood(verb):
    assert parse(f"/{verb}") == (Command(verb=verb),)
    assert parse(f"/twogate {verb}") == (Command(verb=verb, prefix="twogate"),)
    assert parse(f"/Other-Bot2 {verb}") == (Command(verb=verb, prefix="other-bot2"),)


@pytest.mark.parametrize(
    "text",
    [
        "/approve\r\n",
        "/approve\r",
        "/Approve",
        "/APPROVE",
        "/approve  \t ",
        "   /approve",
        "Looks good.\n/approve\nThank you.",
        "> quoted\n\n/approve",
        "> quoted\r\n\r\n/approve\r\n",
        "```\ncode\n```\n/approve",
        "~~~sh\ncode\n~~~\n/approve",
        "````\n```\n````\n/approve",
        "<!-- hidden -->\n/approve",
        "A stray ` tick\n/approve",
        "See <!-- in the code\n/approve",
        "`<!--` opens one\n/approve",
        "`a` and\n/approve",
        "/twogate approve",
        "/TwoGate   /Approve",
        "- a list\n/approve",
        "- ```\n  code\n  ```\n/approve",
        "a < b and c\n/approve",
        "<b>bold</b>\n/approve",
        "a <code>x</code> b\n/approve",
        "an unclosed <code> tag\n/approve",
    ],
)
def test_a_line_of_its_own_is_a_command(text):
    assert verbs(text) == [Verb.APPROVE]


@pytest.mark.parametrize(
    "text",
    [
        "/approved",
        "/approve-all",
        "/approve.",
        "see path/approve",
        "https://example.com/approve",
        "please /approve",
        "- /approve",
        "    /approve",
        "\t/approve",
        "`/approve`",
        "> /approve",
        ">/approve",
        "  > /approve",
        "> quoted\n/approve",
        "- > quoted\n/approve",
        "```\n/approve\n```",
        "```\n/approve",
        "~~~\n```\n/approve\n~~~",
        "````\n```\n/approve\n````",
        "```\n/approve\n    ```\n/approve",
        "- ```\n  /approve\n  ```",
        "1. ```\n   /approve\n   ```",
        "<!--\n/approve\n-->",
        "<!--\n\n/approve\n\n-->",
        "<!--\n/approve",
        "- <!--\n\n  /approve\n\n  -->",
        "words <!--\n/approve\n--> words",
        "<!-- a -->b<!--\n/approve\n-->",
        "`code\n/approve\n`",
        "``a ` b\n/approve\n``",
        "<pre>\n/approve\n</pre>",
        "<blockquote>\n\n/approve\n\n</blockquote>",
        "<PRE>\n/approve\n</PRE>",
        "<code>\n/approve\n</code>",
        'words <a title="\n/approve\n">x</a>',
        "/\u0430pprove",
        "\uff0fapprove",
        "/approve\u200b",
        "\u200b/approve",
        "\u00a0/approve",
        "/approve\u00a0now",
        "/\u017ftatus",
        "words\u2028/approve",
        "words\x0b/approve",
        "// approve",
        "/",
        "",
    ],
)
def test_what_only_looks_like_one_is_not(text):
    assert parse(text) == ()


def test_words_go_on_until_the_next_command():
    text = "/update Use the old name.\n\n```py\n/approve\n```\n> quoted\n\nmore\r\n/retry\nnow\n/status"
    assert parse(text) == (
        Command(verb=Verb.UPDATE, argument="Use the old name.\n\n```py\n/approve\n```\n> quoted\n\nmore"),
        Command(verb=Verb.RETRY, argument="now"),
        Command(verb=Verb.STATUS),
    )


def test_words_on_the_lines_below_alone_are_taken():
    assert parse("/reject\r\nToo risky.\r\n") == (Command(verb=Verb.REJECT, argument="Too risky."),)


def test_other_verbs_take_the_rest_of_their_line_alone():
    assert parse("/approve ship it\nThanks, all.") == (Command(verb=Verb.APPROVE, argument="ship it"),)


def test_several_act_in_order():
    assert verbs("/reopen\n/approve\n/status") == [Verb.REOPEN, Verb.APPROVE, Verb.STATUS]


@pytest.mark.parametrize(("text", "word"), [("/twogate", ""), ("/twogate frobnicate now", "frobnicate")])
def test_our_name_with_no_verb_asks_for_help(text, word):
    assert parse(text) == (Command(verb=Verb.HELP, argument=word, prefix="twogate"),)


def test_a_verb_of_ours_with_an_argument_keeps_it():
    said = Command(verb=Verb.UPDATE, argument="shorter, please", prefix="twogate")
    assert parse("/twogate update\tshorter, please") == (said,)


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
