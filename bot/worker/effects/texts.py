"""Texts and their identity."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan, Revision


def sha256(text: str) -> str:
    """Return the hash that approvals of a text bind to: of its bytes, nothing normalised."""
    return hashlib.sha256(text.encode()).hexdigest()


def plan_key(plan: Plan, revision: Revision) -> str:
    """Return the mark of a revision's comment."""
    return f"{plan.uid}:plan:{revision.number}"
