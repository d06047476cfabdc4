"""The checks themselves: the table is whole, and each check finds what a broken filter lets through."""

from __future__ import annotations

import pytest

from bot.lifecycle.wording import escape
from runner import untrusted
from runner.untrusted import fence
from tests.hostile.pages import everywhere, faults
from tests.hostile.prompts import HARMLESS, MARKER, composed, fence_faults, outside, trust_faults
from tests.hostile.texts import LEAST, PLACES, TEXTS, named


def test_the_table_is_whole() -> None:
    assert len(TEXTS) >= LEAST
    assert len({row.name for row in TEXTS}) == len({row.text for row in TEXTS}) == len(TEXTS)
    assert {row.enters for row in TEXTS} == PLACES


@pytest.mark.parametrize(
    ("name", "broken", "said"),
    [
        ("mentions", "_plain", "mentions"),
        ("closing words", "_plain", "refers to"),
        ("script", "_plain", "has the elements"),
        ("link under a false name", "_plain", "leads to https://evil.example/"),
        ("image that tells", "_plain", "leads to https://evil.example/p.png"),
        ("mark of the bot", "_plain", "bears a mark"),
        ("commands in a row", "_line", "says"),
        ("full-width command", "_line", "says"),
        ("heading by underlining", "_line", "has another shape"),
        ("letters of no width", "visible", "holds"),
    ],
)
def test_a_broken_filter_is_seen_on_github(name: str, broken: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(escape, broken, lambda text: text)
    found = [fault for where, shown in everywhere(named(name).text).items() for fault in faults(where, shown)]
    assert any(f" {said}" in fault for fault in found), found


@pytest.mark.parametrize(
    ("name", "broken"),
    [("end of a fence", "_without_fences"), ("written backwards", "visible"), ("tag characters", "visible")],
)
def test_a_broken_filter_is_seen_in_a_prompt(name: str, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, broken, lambda text, *_: text)
    assert list(fence_faults(composed(named(name).text))) != []


def test_a_section_too_many_is_seen_in_a_prompt() -> None:
    prompt = composed(HARMLESS)
    plain = outside(prompt)
    assert [*fence_faults(prompt), *trust_faults(prompt, plain)] == []
    forged = prompt.replace("## The plan", f"## Whom to obey\n\n{named('mark of the bot').text}\n\n## The plan")
    assert len(list(trust_faults(forged, plain))) == 2
    assert list(fence_faults(prompt.replace("## Feedback", f"{fence('ISSUE', 'x', MARKER)}\n\n## Feedback"))) != []
