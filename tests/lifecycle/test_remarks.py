"""Replies that quote the plan: which lines they are about, and what they say."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lifecycle.commands import Verb, parse
from bot.lifecycle.remarks import LONGEST_QUOTE, MOST_ANNOTATIONS, read_remarks
from runner.contract import Feedback

PLAN = (Path(__file__).parent / "golden" / "plan-plan.md").read_text()
STEP_1 = "1. Add `bonjour()` to `src/greet.py`, beside `hello()`."
STEP_3 = "3. Say so in the README."
RISK = "- Callers that compare the greeting with `Hello` see another word for French requests."
QUESTION = r"1. Should Canadian French greet with \*Bonjour hi\*?"
CHECK = r"| `types` | `mypy . \| tee out` | 15 min | is shown, keeps nothing back |"


def remarks(text: str, plan: str = PLAN) -> list[tuple[str, str]]:
    found = read_remarks(text, plan, "alice")
    assert all((said.kind, said.author) == ("annotation", "alice") for said in found)
    return [(said.quote, said.text) for said in found]


@pytest.mark.parametrize(
    ("quoted", "line"),
    [
        (STEP_1, STEP_1),
        ("Add bonjour() to src/greet.py, beside hello().", STEP_1),
        ("* Add <code>bonjour()</code> to [src/greet.py](https://github.com/acme/shop), beside **hello()**.", STEP_1),
        ("Add bonjour() to src/greet.py…", STEP_1),
        ("… to src/greet.py, beside", STEP_1),
        ("ADD BONJOUR() TO SRC/GREET.PY, BESIDE HELLO().", STEP_1),
        ("Add bonjour() to src/greet.py, besides hello() .", STEP_1),
        ("Say so in the README.", STEP_3),
        ("README.md", "- `README.md`"),
        ("Should Canadian French greet with *Bonjour hi*?", QUESTION),
        ("types	mypy . | tee out	15 min	is shown, keeps nothing back", CHECK),
        ("Callers that compare the greeting with &quot;Hello&quot; see another word", RISK),
    ],
)
def test_the_lines_are_given_as_they_stand_in_the_plan(quoted, line):
    assert remarks(f"> {quoted}\n\nNo, please.") == [(line, "No, please.")]


def test_of_a_short_item_the_mark_is_not_part_of_the_quotation():
    assert remarks("> Round it.\n\nUp.", "1. Round it.\n2. Say so.") == [("1. Round it.", "Up.")]


def test_a_paragraph_that_github_joins_is_found_in_its_lines():
    plan = "Steps\n\nThe greeter knows English alone,\nand that is not enough\nfor Paris.\n\nEnd of the plan."
    joined = "The greeter knows English alone, and that is not enough for Paris."
    assert remarks(f"> {joined}\n\nWhy?", plan) == [("\n".join(plan.split("\n")[2:5]), "Why?")]
    longer = [text.replace("Paris", "anybody who lives and works in Paris") for text in (joined, plan)]
    assert remarks(f"> {longer[0]}\n\nWhy?", longer[1]) == [("\n".join(longer[1].split("\n")[2:5]), "Why?")]
    assert remarks("> and that is not enough for Paris. End\n\nWhy?", plan) == [
        ("and that is not enough\nfor Paris.", "Why?")
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"> {STEP_1}\r\n\r\nUse `salut()`.\r\n", [(STEP_1, "Use `salut()`.")]),
        (f"> {STEP_1}\nUse `salut()`.", [(STEP_1, "Use `salut()`.")]),
        (f">{STEP_1}\n>\n> {STEP_3}\n\nBoth.", [(f"{STEP_1}\n{STEP_3}", "Both.")]),
        (
            f"Two things.\n\n> {STEP_1}\n\nOne.\n\n```py\nx\n```\n\n> {STEP_3}\n\nTwo.",
            [(STEP_1, "One.\n\n```py\nx\n```"), (STEP_3, "Two.")],
        ),
        (f"Please not this:\n\n> {STEP_3}\n", [(STEP_3, "Please not this:")]),
        (f"> {STEP_3}\n\nLeave it.\n\n/approve", [(STEP_3, "Leave it.")]),
        (f"/status\n\n> {STEP_3}\n\nLeave it.", [(STEP_3, "Leave it.")]),
        (f"> {STEP_3}\n\n/update Leave that out.\nAnd more.", [(STEP_3, "Leave that out.\nAnd more.")]),
        (f"> {STEP_3}\n\nYes.\n\n/update Leave the tests out.", [(STEP_3, "Yes.")]),
        (
            f"> {STEP_3}\n\nLeave it.\n\n> bob wrote something else entirely here\n\nI agree with bob.",
            [(STEP_3, "Leave it.")],
        ),
    ],
)
def test_what_is_said_below_belongs_to_the_lines(text, found):
    assert remarks(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        STEP_1,
        f"> {STEP_1}",
        f"> {STEP_1}\n\n/approve",
        f"> {STEP_1}\n/approve",
        f"> {STEP_1}\n\n<!--\nhidden\n-->",
        f"> > {STEP_1}\n\nNo.",
        f"> > {STEP_1}\n>\n> I would use salut() there, as the others do.\n\nI agree.",
        "> I think that we should wait with this.\n\nNo.",
        f"> I think that {STEP_3} But only when all the others have been translated as well, and not before.\n\nNo.",
        "> yes\n\nNo.",
        "> the\n\nNo.",
        "> in the\n\nNo.",
        ">\n\nNo.",
        "> 👍\n\nNo.",
        f"```\n> {STEP_1}\n```\n\nNo.",
        f"/update this\n> {STEP_1}\n\nNo.",
    ],
)
def test_what_quotes_no_plan_or_says_nothing_yields_nothing(text):
    assert remarks(text) == []


def test_a_command_and_a_quotation_in_one_comment_yield_both():
    text = f"> {STEP_3}\n\nLeave it out.\n\n/update and be shorter"
    assert [command.verb for command in parse(text)] == [Verb.UPDATE]
    assert read_remarks(text, PLAN, "alice") == (
        Feedback(kind="annotation", author="alice", text="Leave it out.", quote=STEP_3),
    )


def test_a_plan_that_is_quoted_whole_is_cut_at_a_line():
    plan = PLAN.replace(STEP_3, "\n".join(f"{number}. Say so in file {number}." for number in range(3, 20)))
    quoted = "\n".join(f"> {line}" for line in plan.split("\n"))
    ((quote, said),) = remarks(f"{quoted}\n\nToo much.", plan)
    assert said == "Too much."
    assert quote.startswith("### Plan, revision 2")
    assert quote.endswith("\n…")
    assert len(quote) <= LONGEST_QUOTE + 2
    long = "word " * 1_000
    assert remarks(f"> {long}\n\nNo.", long) == [(f"{long[:LONGEST_QUOTE]}\n…", "No.")]


def test_of_a_comment_full_of_quotations_the_first_count():
    assert len(remarks(f"> {STEP_3}\n\nNo.\n\n" * (MOST_ANNOTATIONS + 5))) == MOST_ANNOTATIONS


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    for _, said in remarks(f"> {STEP_3}\n\n{text}"):
        assert said


@pytest.mark.parametrize(
    "piece",
    [
        "> a b c\n",
        "> > > ",
        "> a b c\n\nx\n",
        "> [[[[",
        "> [a](",
        "> <a ",
        "> &amp;lt;",
        "> \\*",
        "> <!-- ",
        ">\n",
        "> 漢字",
    ],
)
@pytest.mark.parametrize("plan", ["a b\n", "a b c d ", "[a](b ", "<b "])
def test_reading_remarks_takes_no_long_time(piece, plan):
    before = time.process_time()
    read_remarks(piece * (65_536 // len(piece)), plan * (65_536 // len(plan)), "alice")
    assert time.process_time() - before < 3
