"""Whose model a name means, for the agents that can speak to several providers."""

from __future__ import annotations

import re

from runner.terms import Api

FAMILIES = (
    (re.compile(r"claude"), Api.ANTHROPIC),
    (re.compile(r"gpt|o[0-9]|codex"), Api.RESPONSES),
    (re.compile(r"gemini"), Api.GEMINI),
)
"""How the names of the models begin that are served in a wire format of their own."""


def api_of(model: str) -> Api:
    """Return the wire format of ``model``'s maker; of every other maker's models that is Chat Completions."""
    return next((api for family, api in FAMILIES if family.match(model)), Api.CHAT)
