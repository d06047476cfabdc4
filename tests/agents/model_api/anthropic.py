"""Anthropic Messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.model_api.script import Reply, Tokens

TYPES = {
    401: "authentication_error",
    402: "billing_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


def offered(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool.get("input_schema") or {} for tool in body.get("tools") or () if "name" in tool}


def streams(path: str, body: dict[str, Any]) -> bool:
    return bool(body.get("stream"))


def error(status: int, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": TYPES.get(status, "invalid_request_error"), "message": message}}


def overflow() -> dict[str, Any]:
    return error(400, "prompt is too long: 215000 tokens > 200000 maximum")


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
    }


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.reasoning:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": "c2ln"})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    return blocks + [
        {"type": "tool_use", "id": f"toolu_{reply.number}_{i}", "name": call.name, "input": call.arguments}
        for i, call in enumerate(reply.calls)
    ]


def _message(reply: Reply) -> dict[str, Any]:
    return {"id": f"msg_{reply.number}", "type": "message", "role": "assistant", "model": reply.model}


def whole(reply: Reply) -> dict[str, Any]:
    stop = {"stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None}
    return {**_message(reply), **stop, "content": _blocks(reply), "usage": _usage(reply.tokens)}


def events(reply: Reply) -> Iterator[tuple[str, str]]:
    for event in _events(reply):
        yield event["type"], json.dumps(event)


def _events(reply: Reply) -> Iterator[dict[str, Any]]:
    whole_ = whole(reply)
    start = {**whole_, "content": [], "stop_reason": None, "usage": {**whole_["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(whole_["content"]):
        empty, deltas = _parts(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": whole_["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": whole_["usage"]}
    yield {"type": "message_stop"}


def _parts(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a content block as it begins, and what comes after."""
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "thinking":
        thought = {"type": "thinking_delta", "thinking": block["thinking"]}
        return {**block, "thinking": "", "signature": ""}, [
            thought,
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
