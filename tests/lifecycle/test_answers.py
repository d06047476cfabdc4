"""Answers by number: which words of a comment answer which question."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lifecycle.answers import answers_beside, read_answers
from bot.lifecycle.choices import NotUnderstoodError

ASKED = (
    "Should Canadian French greet with *Bonjour hi*?",
    "Which file holds the languages, `app.py` or `greet.py`?",
    "Is Latin needed?",
)


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        ("1: yes", {1: "yes"}),
        ("1. yes", {1: "yes"}),
        ("1) yes", {1: "yes"}),
        ("(1) yes", {1: "yes"}),
        ("1.) yes", {1: "yes"}),
        ("1 - yes", {1: "yes"}),
        ("1 – yes", {1: "yes"}),  # noqa: RUF001
        ("1:yes", {1: "yes"}),
        ("1 : yes", {}),
        ("Q1: yes", {1: "yes"}),
        ("Question 1: yes", {1: "yes"}),
        ("#1: yes", {1: "yes"}),
        ("**1.** yes", {1: "yes"}),
        ("**1:** yes", {1: "yes"}),
        ("- 1: yes", {1: "yes"}),
        ("   1: yes", {1: "yes"}),
        ("1：是的", {1: "是的"}),  # noqa: RUF001
        ("１：はい", {1: "はい"}),  # noqa: RUF001
        ("1、是", {1: "是"}),
        ("1: yes\r\n2: no\r\n", {1: "yes", 2: "no"}),
        (
            "Thanks for the plan!\n\n1: yes\n2) no, because\nit is slow\n\n3. Latin\n",
            {1: "yes", 2: "no, because\nit is slow", 3: "Latin"},
        ),
        ("3: no\n1: yes", {3: "no", 1: "yes"}),
        ("1, 3: yes", {1: "yes", 3: "yes"}),
        ("1 and 2: yes", {1: "yes", 2: "yes"}),
        ("1: yes, 2: no; 3: maybe", {1: "yes", 2: "no", 3: "maybe"}),
        ("1: yes 3: no", {1: "yes 3: no"}),
        ("1: at 2:30 we switch", {1: "at 2:30 we switch"}),
        ("1: this one:\n```py\n2: x\n```", {1: "this one:\n```py\n2: x\n```"}),
        ("2: no, since\n1. it is slow\n2. it is dear", {2: "no, since", 1: "it is slow\n2. it is dear"}),
        (
            "1: yes\n2: no, since\n1. it is slow\n2. it is dear",
            {1: "yes", 2: "no, since\n1. it is slow\n2. it is dear"},
        ),
        ("1: yes\n/approve\nThank you.", {1: "yes"}),
        ("/approve\n1: yes", {1: "yes"}),
        ("1: yes\n<!--\n2: no\n-->\nreally", {1: "yes\nreally"}),
        ("1:\n\nyes", {1: "yes"}),
    ],
)
def test_numbered_answers_are_found_as_people_write_them(said, answers):
    assert answers_beside(said, ASKED) == answers


@pytest.mark.parametrize(
    "said",
    [
        "",
        "yes",
        "Is 1: yes meant?",
        "> 1: yes",
        "> 1: yes\n2: no",
        "```\n1: yes\n```",
        "`1: yes`",
        "<!--\n1: yes\n-->",
        "    1: yes",
        "0: no",
        "4: no",
        "1, 4: no",
        "1000: no",
        "1:30 pm is fine",
        "1.5 seconds is too slow",
        "1 - 2 days",
        "1 file is enough",
        "2.0 is out",
        "1:",
        "/update\n1: yes",
    ],
)
def test_what_answers_nothing_is_left_alone(said):
    assert answers_beside(said, ASKED) == {}


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        ("> 1. Should Canadian French greet with *Bonjour hi*?\n\nYes, please.", {1: "Yes, please."}),
        ("> Should Canadian French greet …\n\nYes.\n\n> 3. Is Latin needed?\n\nNo.", {1: "Yes.", 3: "No."}),
        (
            "> 1. Should Canadian French greet with Bonjour hi?\n> 3. Is Latin needed?\n\nNo to both.",
            {1: "No to both.", 3: "No to both."},
        ),
        (
            "> 1. Should Canadian French greet with Bonjour hi?\n> 3. Is Latin needed?\n\n1: yes\n3: no",
            {1: "yes", 3: "no"},
        ),
        ("> Questions\n> 3. Is Latin needed?\n\nThe plan is too long.", {}),
        ("> 1. Add bonjour() to src/greet.py\n\nNo.", {}),
        ("> 3. Is Latin needed?\n", {}),
        ("1: yes\n> 3. Is Latin needed?\n\nNo.", {1: "yes", 3: "No."}),
    ],
)
def test_words_below_a_quoted_question_answer_it(said, answers):
    assert answers_beside(said, ASKED) == answers


def test_the_words_of_the_command_are_read_the_same_way():
    assert read_answers("1: yes\n2: no", ASKED) == {1: "yes", 2: "no"}
    assert read_answers("yes, of course", ASKED[:1]) == {1: "yes, of course"}
    assert read_answers("1: yes", ASKED[:1]) == {1: "yes"}


@pytest.mark.parametrize(
    ("said", "asked", "told"),
    [("yes", ASKED, "from 1 to 3"), ("", ASKED[:1], "`/answer 1: yes`"), ("1: yes", (), "nothing to answer")],
)
def test_words_that_answer_nothing_are_met_with_what_would(said, asked, told):
    with pytest.raises(NotUnderstoodError, match=told):
        read_answers(said, asked)


@given(st.text(alphabet="12:.) \n>-*yes`", max_size=200))
def test_only_what_is_asked_is_answered(text):
    for number, words in answers_beside(text, ASKED).items():
        assert number in {1, 2, 3}
        assert words.strip() == words != ""


@pytest.mark.parametrize("piece", ["1: ", "1: x 2: ", "> Is Latin needed?\n\n", "1, ", "> > ", "(*_", "1: x\n", "#"])
def test_reading_answers_takes_no_long_time(piece):
    before = time.process_time()
    answers_beside(piece * (65_536 // len(piece)), ASKED)
    assert time.process_time() - before < 3
