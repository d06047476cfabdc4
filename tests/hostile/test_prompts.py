"""In a prompt: what others wrote lies within the fences of the run, and all else is as it always is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from runner.head import PromptwareError
from tests.hostile.prompts import HARMLESS, MARKER, composed, fence_faults, outside, parts, trust_faults, unseen

if TYPE_CHECKING:
    from tests.hostile.texts import Hostile

PLAIN = outside(composed(HARMLESS))
AGAIN = outside(composed(HARMLESS, resumed=True))
OURS = ("## Your tools", "## Your result", "## What you may change", "## Whom to obey")
"""Sections that the runner writes."""
NEW = ("FAULT", "FACTS", "PATHS", "OUTPUT")
"""The fences of what a session is told that is gone on with."""


def test_what_others_wrote_lies_within_the_fences(hostile: Hostile) -> None:
    prompt = composed(hostile.text)
    assert list(fence_faults(prompt)) == []
    assert outside(prompt) == PLAIN
    again = composed(hostile.text, resumed=True)
    assert list(fence_faults(again, labels=NEW)) == []
    assert outside(again) == AGAIN


def test_what_a_person_agreed_to_adds_no_section_and_hides_nothing(hostile: Hostile) -> None:
    prompt = composed(HARMLESS, trusted=hostile.text)
    assert [*fence_faults(prompt), *trust_faults(prompt, PLAIN)] == []


def test_instructions_of_the_repository_write_no_section_of_the_runner(hostile: Hostile) -> None:
    """Its words stand above the fences by right, since people review them; what the runner says is not theirs."""
    own = hostile.text.replace(MARKER[:8], "0" * 8)  # no file knows the marker of a run
    overlay = f"---\nextends: built-in\n---\n## House style\n\n{own}\n"
    try:
        prompt = composed(HARMLESS, overlay=overlay)
    except PromptwareError:
        return  # what it says is looked at below
    assert list(fence_faults(prompt)) == []
    assert [prompt.count(f"\n{heading}\n") for heading in OURS] == [1] * len(OURS)


def test_a_head_that_is_refused_drives_no_terminal(hostile: Hostile) -> None:
    said, mine = json.dumps(hostile.text), "extends: built-in\n"
    for head in (f"extends: {said}", f"{mine}{said}: 1", f"{mine}memory: {{{said}: 1}}", hostile.text):
        with pytest.raises(PromptwareError) as refusal:
            parts(HARMLESS, overlay=f"---\n{head}\n---\n## House style\n\nShort.\n")
        assert unseen(str(refusal.value)) == set()
        assert "\n" not in str(refusal.value)
