"""What the check run says of a changed policy file."""

from __future__ import annotations

from bot.lifecycle.wording import escape, limits
from bot.lifecycle.wording.engine import fill


def policy_check(line: int, reason: str) -> tuple[str, str]:
    """Return title and summary; without a reason the file can be used."""
    title = f"Line {line}: {reason}" if reason else "The policy file can be used"
    shown = escape.title(title[: escape.SHRINKS * limits.TITLE])
    cut = shown if len(shown) <= limits.TITLE else f"{shown[: limits.TITLE - 1].rstrip()}…"
    return cut, fill("policy_check", line=line, reason=reason)
