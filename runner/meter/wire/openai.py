"""What OpenAI's two formats share: the shape of a refusal, the counts of a usage record, the tier of service."""

from __future__ import annotations

import re
from typing import Any

from runner.meter.wire.base import Reader, count, table, uncached

MODELS = re.compile(r"/v1/models(?:/\w[\w.:-]*)?")
KINDS = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("insufficient_quota", "insufficient_quota"),
    404: ("invalid_request_error", "not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
"""Type and code of an error by status; any other is a ``server_error``."""
DEARER_TIERS = frozenset({"priority", "fast"})
"""Tiers of service with prices of their own; where one is asked for and the answer names none, it counts."""
PRICED_TIERS = DEARER_TIERS | {"flex"}
"""The same with the cheaper one, which counts only where the answer names it."""
UNDECIDED = "auto"
HEADERS = ("openai-beta", "session_id", "conversation_id", "originator")
"""The last three are Codex's, by which the provider finds its cache again."""


def error(status: int, sentence: str) -> dict[str, Any]:
    """Return a refusal in OpenAI's shape."""
    kind, code = KINDS.get(status, ("server_error", None))
    return {"error": {"message": sentence, "type": kind, "code": code, "param": None}}


def is_models(method: str, path: str) -> bool:
    """Return whether this asks for the list of models, or for one of them."""
    return method == "GET" and MODELS.fullmatch(path) is not None


def asked_tier(value: object) -> tuple[str, str] | None:
    """Return the tier of service that a request asks for, where it is dearer."""
    return ("service_tier", value) if isinstance(value, str) and value in DEARER_TIERS else None


def learn_tier(reader: Reader, value: object) -> None:
    """Read the tier of service that an answer names."""
    if isinstance(value, str) and value != UNDECIDED:
        reader.served(("service_tier", value) if value in PRICED_TIERS else None)


def learn(reader: Reader, usage: dict[str, Any], given: str, brought: str) -> None:
    """Read a usage record, whose totals are named ``given`` and ``brought`` and count caches and reasoning in."""
    details = table(usage, f"{given}_details")
    read, write = count(details, "cached_tokens"), count(details, "cache_write_tokens")
    reader.learn(
        input_tokens=uncached(usage, given, read, write),
        output_tokens=count(usage, brought),
        cache_read_tokens=read,
        cache_write_tokens=write,
        reasoning_tokens=count(table(usage, f"{brought}_details"), "reasoning_tokens"),
    )
    sound = [count(table(usage, f"{side}_details"), "audio_tokens") for side in (given, brought)]
    reader.extras |= any(sound)  # dearer, and not counted by itself
    reader.complete = {"input_tokens", "output_tokens"} <= reader.counts.keys()
