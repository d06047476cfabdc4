"""Reports that are hardly readable: what can't be read of one costs that part alone."""

from __future__ import annotations

from typing import Any

from bot.lifecycle.hooks import Tracker
from bot.web.hook_payloads import read


def test_what_is_nested_too_deep_costs_its_own_line_alone() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    lines = [{"level": "error", "message": deep}, {"level": "error", "message": "it broke"}]
    found = read(Tracker.JAM, {"title": "Slow", "consoleLogs": lines})
    assert found is not None
    assert found[1].console == ("error", "error it broke")
