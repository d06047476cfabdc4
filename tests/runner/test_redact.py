"""Secrets are kept out of what is shown, whole and where a cut went through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.gates.command import tail_of
from runner.steps.redact import SHORTEST_SECRET, Redactor

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-live-0123456789abcdef"
REDACT = Redactor({"MODEL_API_KEY": f"{KEY}\n", "PATH": "/usr/bin", "A_TOKEN": "abc"})


def test_values_whose_names_say_so_are_replaced_and_short_ones_are_no_secrets() -> None:
    assert REDACT(f"a {KEY} b {KEY}: /usr/bin abc") == "a *** b ***: /usr/bin abc"


@pytest.mark.parametrize("kept", range(SHORTEST_SECRET, len(KEY)))
def test_a_part_that_a_cut_left_is_replaced(kept: int, tmp_path: Path) -> None:
    output = tmp_path / "output"
    output.write_text(f"{KEY}{'x' * 500}\n")
    for limit in range(500, 560):
        assert KEY[-kept:] not in REDACT(tail_of(output, limit), cut=True)
    assert REDACT(KEY[-kept:] + " end", cut=True) == "*** end"
    assert REDACT("start " + KEY[:kept], cut=True) == "start ***"


def test_ordinary_text_is_left_alone() -> None:
    text = "[the end of 9 bytes]\ncdef is no key, nor is sk-li\nsk-"
    assert REDACT(text) == REDACT(text, cut=True) == text
