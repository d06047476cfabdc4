"""What pages are made of: axes, diffs and changes as rows, foreign text as text."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lifecycle.commands import DOES_SOMETHING, Verb
from bot.lifecycle.periods import DAY, WEEK
from bot.lifecycle.plan import Revision
from bot.lifecycle.reckoning import reckon
from bot.web.dashboard import axis, changes, charts, costs, decisions, diff, text, times
from bot.web.dashboard.charts import Kind, Series, Value, chart
from runner.results import PlanDocument, Verdict

PATCH = """\
diff --git a/a.py b/a.py
old mode 100644
new mode 100755
--- a/a.py
+++ b/a.py
@@ -3,4 +3,4 @@ class A:
     \"\"\"Two
     lines.\"\"\"
-    x = 1
+    x = "<b>"
     y = 2
diff --git a/b.bin b/b.bin
Binary files a/b.bin and b/b.bin differ
"""


def test_every_command_that_does_something_has_its_form() -> None:
    forms = [Verb.APPROVE, Verb.REJECT, *decisions.ASKS, *decisions.PICKS, *decisions.DOES, *decisions.SETS]
    assert sorted(forms) == sorted(DOES_SOMETHING)


@given(st.floats(min_value=1e-9, max_value=1e15))
def test_an_axis_has_few_even_ticks_and_holds_every_value(highest: float) -> None:
    ticks = charts.nice(highest)
    steps = {round((two - one) / ticks[1], 6) for one, two in itertools.pairwise(ticks)}
    assert (ticks[0], steps, 2 <= len(ticks) <= charts.MOST_TICKS + 1) == (0, {1.0}, True)
    assert ticks[-1] >= highest * (1 - 1e-7)
    assert ticks[-2] <= highest


@given(st.floats(min_value=1e-3, max_value=1e6))
def test_a_tick_of_dollars_is_called_what_it_is(highest: float) -> None:
    for tick in charts.nice(highest):
        assert float(costs.axis_money(tick)[1:].replace(",", "")) == pytest.approx(tick)


@pytest.mark.parametrize("highest", [0.0, -1.0, float("inf"), float("nan")])
def test_an_axis_without_a_value_is_drawn_all_the_same(highest: float) -> None:
    assert charts.nice(highest) == (0.0, 1.0)


def test_what_is_unknown_is_a_gap_and_no_zero() -> None:
    values = tuple(Value(number, str(number)) for number in (1.0, 2.0, None, 4.0, 5.0))
    drawn = chart("Title", "Says.", Kind.LINES, list("abcde"), [Series("s", values)], str)
    assert [mark.x for mark in drawn.marks] == [10.0, 30.0, 70.0, 90.0]
    assert [(line.x1, line.x2) for line in drawn.segments] == [(10.0, 30.0), (70.0, 90.0)]
    assert (drawn.marks[-1].y, drawn.ticks[-1].label, drawn.ticks[0].y) == (0.0, "5.0", charts.HEIGHT)
    assert chart("T", "S", Kind.BARS, ["a"], [Series("s", (Value(None, "unknown"),))], str).empty


NOON = 1_796_212_800.0
"""Wednesday, 2 December 2026, at noon."""


@pytest.mark.parametrize(
    ("days", "step", "named"),
    [
        (6, DAY, "26 Nov, 27 Nov, 28 Nov, 29 Nov, 30 Nov, 1 Dec, 2 Dec"),
        (12, DAY, "20 Nov, 22 Nov, 24 Nov, 26 Nov, 28 Nov, 30 Nov, 2 Dec"),
        (30, DAY, "2 Nov, 9 Nov, 16 Nov, 23 Nov, 30 Nov"),
        (45, DAY, "19 Oct, 26 Oct, 2 Nov, 9 Nov, 16 Nov, 23 Nov, 30 Nov"),
        (30, WEEK, "2 Nov, 9 Nov, 16 Nov, 23 Nov, 30 Nov"),
        (90, WEEK, "7 Sep, 21 Sep, 5 Oct, 19 Oct, 2 Nov, 16 Nov, 30 Nov"),
        (180, WEEK, "Jul, Aug, Sep, Oct, Nov, Dec"),
        (366, WEEK, "Jan 2026, Mar, May, Jul, Sep, Nov"),
    ],
)
def test_dates_along_an_axis_are_evenly_apart(days: int, step: float, named: str) -> None:
    trend = reckon([], NOON - days * DAY, NOON, step).trend(step)
    found = axis.labels([point.since for point in trend], step)
    assert ", ".join(label.text for label in found) == named
    apart = [two.x - one.x for one, two in itertools.pairwise(found)]
    assert max(apart) <= min(apart) * 31 * 1.05 / 30 + 0.01, "months alone differ, by their days"
    assert [label.minor for label in found][::-1] == [bool(n % 2) for n in range(len(found))]
    assert axis.labels([], step) == ()


def test_two_series_of_bars_stand_side_by_side_within_their_period() -> None:
    series = [Series(name, (Value(1.0, "1"), Value(2.0, "2"))) for name in ("one", "two")]
    drawn = chart("T", "S", Kind.BARS, ["a", "b"], series, str)
    places = sorted((mark.x, round(mark.x + mark.width, 3)) for mark in drawn.marks)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(places))
    assert (places[0][0] >= 0, places[-1][1] <= 100) == (True, True)


def test_a_patch_as_rows() -> None:
    found = diff.read(PATCH)
    assert [(file.path, file.notes, file.added, file.removed) for file in found.files] == [
        ("a.py", ("old mode 100644", "new mode 100755"), 1, 1),
        ("a file whose name the patch does not tell", ("Binary files a/b.bin and b/b.bin differ",), 0, 0),
    ]
    lines = found.files[0].hunks[0].lines
    assert [(line.sign, line.old, line.new) for line in lines] == [
        (" ", 3, 3), (" ", 4, 4), ("-", 5, None), ("+", None, 5), (" ", 6, 6)
    ]  # fmt: skip
    assert str(lines[1].text) == '<span class="s-sd">    lines.&#34;&#34;&#34;</span>'
    assert "&lt;b&gt;" in lines[3].text


@given(st.text(alphabet=st.sampled_from("+- @\\adifgt/\n\r\t\u202e\x00<&\"'{"), max_size=300))
def test_any_text_is_a_patch(body: str) -> None:
    found = diff.read(f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,9 +1,9 @@\n{body}")
    lines = [line for file in found.files for hunk in file.hunks for line in hunk.lines]
    shown = [line for line in body.split("\n") if line[:1] in {"+", "-", " "}]
    if "@@" not in body and "diff --git" not in body:
        assert [line.sign for line in lines] == [line[0] for line in shown]
    assert not any("<script" in line.text or "\n" in line.text or "\u202e" in line.text for line in lines)


def test_a_huge_patch_is_shown_in_part_and_soon() -> None:
    head = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n"
    nested = "".join(f"@@ -0,0 +{n},1 @@\n+{'(' * 200}{'[' * 90}\n" for n in range(500))
    long = head + "@@ -0,0 +1,9000 @@\n" + f"+{'x' * 5_000}\n" * 9_000
    started = time.monotonic()
    assert diff.read(head + nested).left_out == 0
    found = diff.read(long)
    assert time.monotonic() - started < 20
    assert found.left_out == 9_000 - diff.MOST_LINES
    assert len(found.files[0].hunks[0].lines[0].text) < diff.LONGEST_LINE + 5


def test_what_changed_between_two_revisions() -> None:
    old = _revision(steps=("Round half up.", "Test it."), files=("a.py",))
    new = _revision(steps=("Round half to even.", "Test it.", "Say so."), files=("a.py",), risks=("None <known>.",))
    parts = {part.name: part for part in changes.between(old, new)}
    steps = [(entry.kind, str(entry.text)) for entry in parts["Steps"].entries]
    assert steps == [
        ("changed", "Round half <del>up.</del><ins>to even.</ins>"),
        ("same", "Test it."),
        ("added", "<ins>Say so.</ins>"),
    ]
    assert [str(entry.text) for entry in parts["Risks"].entries] == ["<ins>None &lt;known&gt;.</ins>"]
    assert {name for name, part in parts.items() if not part.differs} == {"Title", "Summary", "Files"}
    gone = {part.name: part for part in changes.between(new, _revision())}
    assert [entry.kind for entry in gone["Steps"].entries] == ["removed"] * 3


def test_large_plans_are_compared_soon() -> None:
    before, after = ("a b " * 700, "x y " * 700), ("b a " * 700, "y x " * 700)
    started = time.monotonic()
    changes.between(_revision(steps=before * 90), _revision(steps=after * 90))
    assert time.monotonic() - started < 20


def _revision(**parts: tuple[str, ...]) -> Revision:
    document = PlanDocument.model_validate({"verdict": Verdict.PLAN, "title": "T", "summary": "S", **parts})
    return Revision(number=1, document=document)


@pytest.mark.parametrize(
    ("written", "html"),
    [
        ("One `<b>`\ntwo\n\nthree", "<p>One <code>&lt;b&gt;</code><br>two</p>\n<p>three</p>"),
        ("- a\n- b\n  more\n1. c", "<ul><li>a</li><li>b more</li></ul>\n<ol><li>c</li></ol>"),
        ("```py\n<x>\n```\nafter", "<pre><code>&lt;x&gt;</code></pre>\n<p>after</p>"),
        ("```\nnever closed", "<pre><code>never closed</code></pre>"),
        ("<script>\u202e", "<p>&lt;script&gt;⟨U+202E⟩</p>"),
    ],
)
def test_prose_keeps_a_little_form(written: str, html: str) -> None:
    assert str(text.prose(written)) == html


def test_issues_in_a_sentence_are_links() -> None:
    shown = str(text.linked("Waits for #12, `#13` and a#14 <i>.", "https://github.com/a/b"))
    assert shown == (
        'Waits for <a href="https://github.com/a/b/issues/12">#12</a>, <code>#13</code> and a#14 &lt;i&gt;.'
    )


@pytest.mark.parametrize(
    ("seconds", "says"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3_600, "1 h"), (3_720, "1 h 2 min"), (40_000, "11 h"), (90_000, "1 day"), (200_000, "2 days")],
)  # fmt: skip
def test_lengths_of_time(seconds: float, says: str) -> None:
    assert times.length(seconds) == says


@pytest.mark.parametrize(("seconds", "says"), [(0.04, "0.0 s"), (4.25, "4.2 s"), (10, "10 s"), (700, "11 min")])
def test_what_a_check_took(seconds: float, says: str) -> None:
    assert times.took(seconds) == says


def test_a_time_holds_the_exact_one() -> None:
    assert str(times.ago(1_796_000_000.0, 1_796_000_600.0)) == (
        '<time datetime="2026-11-30T00:53:20Z" title="2026-11-30 00:53:20 UTC">10 min ago</time>'
    )
    assert "30 Nov 2026" in times.ago(1_796_000_000.0, 1_799_000_000.0)


def test_code_that_takes_a_lexer_long_is_shown_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "COLOURING_SECONDS", 0.05)
    lines = ["a " * 149] * 60
    patch = "\n".join(
        [
            "diff --git a/x.java b/x.java",
            "--- a/x.java",
            "+++ b/x.java",
            "@@ -0,0 +1,60 @@",
            *(f"+{line}" for line in lines),
            "",
        ]
    )
    started = time.thread_time()
    (file,) = diff.read.__wrapped__(patch).files
    assert time.thread_time() - started < 2
    assert [str(line.text) for hunk in file.hunks for line in hunk.lines] == lines
