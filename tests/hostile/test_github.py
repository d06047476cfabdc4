"""On GitHub: whatever the bot shows of others' words neither acts nor passes for its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hostile.pages import everywhere, faults

if TYPE_CHECKING:
    from tests.hostile.texts import Hostile


def test_what_the_bot_shows_of_it_is_text_in_its_place(hostile: Hostile) -> None:
    assert [fault for name, shown in everywhere(hostile.text).items() for fault in faults(name, shown)] == []
