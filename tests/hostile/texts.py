"""The table of hostile texts."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict

TABLE = Path(__file__).with_name("texts.toml")
LEAST = 60
"""Texts that there must be."""
PLACES = frozenset(
    {
        *("issue title", "issue body", "comment", "quoted reply", "commit comment"),
        *("file content", "file name", "branch name", "commit message", "memory file", "program overlay"),
        *("policy text", "tool output", "gate output", "CI log"),
        *("agent's result", "agent's progress", "lesson", "recommendation"),
    }
)
"""Where text comes in."""


class Hostile(BaseModel):
    """A row of the table; what its fields mean stands above the rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    enters: str
    tries: str
    text: str
    says: tuple[str, ...] = ()
    kept: bool = False


TEXTS = tuple(map(Hostile.model_validate, tomllib.loads(TABLE.read_text(encoding="utf-8"))["text"]))


def named(name: str) -> Hostile:
    """Return the row of that name."""
    return next(row for row in TEXTS if row.name == name)
