"""Anthropic Messages: ``POST /v1/messages``.

``input_tokens`` is without caches, ``output_tokens`` with thinking. In a stream ``message_start`` tells the input, each
``message_delta`` the output so far. ``iterations`` names what a compaction used beside the message's own tokens.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runner.meter.wire.base import Ask, Reader, count, limit, name, objects, shown, table
from runner.terms import Api

if TYPE_CHECKING:
    from runner.agents.base import Call

MODELS = re.compile(r"/v1/models(?:/\w[\w.:-]*)?")
ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}
"""Kinds of error by status, as the provider names them; any other is an ``api_error``."""
SEARCHES = "web_search_requests"
FREE_TOOLS = frozenset({SEARCHES, "web_fetch_requests"})
"""Tools of the provider whose price is known: searches by number, fetches by their tokens alone."""
OWN = ("custom", "bash_", "text_editor_", "computer_", "memory_", "str_replace_")
"""How the types of tools begin that the client runs by itself."""


class Anthropic:
    """The format of Anthropic's own API."""

    api: Api = Api.ANTHROPIC
    first = "/v1"
    headers: tuple[str, ...] = ("anthropic-version", "anthropic-beta")

    def is_call(self, method: str, path: str) -> bool:
        """Return whether this is a call to a model."""
        return (method, path) == ("POST", "/v1/messages")

    def is_free(self, method: str, path: str) -> bool:
        """Return whether this is a count of tokens or the list of models."""
        counts = (method, path) == ("POST", "/v1/messages/count_tokens")
        return counts or (method == "GET" and MODELS.fullmatch(path) is not None)

    def ask(self, path: str, body: dict[str, Any]) -> Ask:  # noqa: ARG002 - the model is in the body
        """Return what a call asks for."""
        tools = [str(tool["type"]) for tool in objects(body.get("tools")) if isinstance(tool.get("type"), str)]
        pictures, files = shown(body)
        return Ask(
            model=name(body.get("model")),
            output=limit(body, "max_tokens"),
            hidden=bool(body.get("mcp_servers") or body.get("container"))
            or any(not tool.startswith(OWN) for tool in tools),
            stored=files,
            pictures=pictures,
            long_cache=_long(body),
            variant=("speed", "fast") if body.get("speed") == "fast" else None,
        )

    def prepare(self, body: dict[str, Any]) -> None:
        """Return None: the usage is always told."""

    def reader(self) -> Reader:
        """Return a reader for one answer."""
        return _Reader()

    def error(self, status: int, sentence: str) -> dict[str, Any]:
        """Return a refusal."""
        return {"type": "error", "error": {"type": ERRORS.get(status, "api_error"), "message": sentence}}


def _long(body: object) -> bool:
    """Return whether somewhere in the request a cache of an hour is asked for."""
    waiting = [body]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("cache_control"), dict) and value["cache_control"].get("ttl") == "1h":
                return True
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False


class _Reader(Reader):
    def __init__(self) -> None:
        super().__init__()
        self._compacted: dict[str, int] = {}

    def call(self, ask: Ask) -> Call | None:
        found = super().call(ask)
        if found is None:
            return None
        return replace(found, **{name: getattr(found, name) + more for name, more in self._compacted.items()})

    def take(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "message_start":
            message = table(event, "message")
            self.named(message.get("model"))
            self._usage(table(message, "usage"))
        elif kind == "message_delta":
            self._usage(table(event, "usage"))
            self.complete = count(table(event, "usage"), "output_tokens") is not None
        elif kind == "content_block_start":
            self._block(table(event, "content_block"))
        elif kind == "content_block_delta":
            delta = table(event, "delta")
            self.say("text", delta.get("text"))
            self.say("arguments", delta.get("partial_json"))
        elif kind == "message":
            self._whole(event)
        elif kind == "error":
            self.failed = True

    def _whole(self, message: dict[str, Any]) -> None:
        self.named(message.get("model"))
        for block in objects(message.get("content")):
            self._block(block)
            self.say("arguments", str(block["input"]) if block.get("input") else None)
        self._usage(table(message, "usage"))
        self.complete = {"input_tokens", "output_tokens"} <= self.counts.keys()

    def _block(self, block: dict[str, Any]) -> None:
        self.say("tool", block.get("name"))
        self.say("text", block.get("text"))

    def _usage(self, usage: dict[str, Any]) -> None:
        tools = table(usage, "server_tool_use")
        thought = count(table(usage, "output_tokens_details"), "thinking_tokens")
        self.learn(**_billed(usage), reasoning_tokens=thought, web_searches=count(tools, SEARCHES))
        if isinstance(usage.get("speed"), str):
            self.served(("speed", "fast") if usage["speed"] == "fast" else None)
        self.extras |= any(count(tools, tool) for tool in tools if tool not in FREE_TOOLS)
        self.extras |= usage.get("inference_geo") == "us"  # dearer, and not in the table
        self._iterations(objects(usage.get("iterations")))

    def _iterations(self, parts: list[dict[str, Any]]) -> None:
        """Add what the top of the record leaves out; parts of another kind are another model's."""
        compactions = [_billed(part) for part in parts if part.get("type") == "compaction"]
        if compactions:
            self._compacted = {name: sum(part[name] or 0 for part in compactions) for name in compactions[0]}
        self.extras |= any(part.get("type") not in {"compaction", "message"} for part in parts)


def _billed(usage: dict[str, Any]) -> dict[str, int | None]:
    """Return the counts that cost, by their names in :class:`~runner.agents.base.Call`."""
    return {
        "input_tokens": count(usage, "input_tokens"),
        "output_tokens": count(usage, "output_tokens"),
        "cache_read_tokens": count(usage, "cache_read_input_tokens"),
        "cache_write_tokens": count(usage, "cache_creation_input_tokens"),
        "cache_write_1h_tokens": count(table(usage, "cache_creation"), "ephemeral_1h_input_tokens"),
    }
