"""Texts and their identity."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from bot.github.ensure import marked
from bot.lifecycle import wording

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan, Revision


def sha256(text: str) -> str:
    """Return the hash that approvals of a text bind to: of its bytes, nothing normalised."""
    return hashlib.sha256(text.encode()).hexdigest()


def plan_key(plan: Plan, revision: Revision) -> str:
    """Return the mark of a revision's comment."""
    return f"{plan.uid}:plan:{revision.number}"


def plan_text_sha256(plan: Plan, revision: Revision) -> str:
    """Return the hash that a revision's comment has, made again from what is stored."""
    return sha256(marked(plan_key(plan, revision), wording.plan_comment(plan, revision)))
