"""OpenAI Chat Completions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.agents.model_api.responses import error, overflow, streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.model_api.script import Reply, Tokens

__all__ = ["error", "events", "offered", "overflow", "streams", "whole"]


def offered(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    functions = [tool.get("function") or tool.get("custom") or {} for tool in body.get("tools") or ()]
    return {function["name"]: function.get("parameters") or {} for function in functions if "name" in function}


def _usage(tokens: Tokens) -> dict[str, Any]:
    """Return the usage; the format has no place for cache writes: they are input."""
    return {
        "prompt_tokens": tokens.all_input,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
        "completion_tokens": tokens.output,
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.all_input + tokens.output,
    }


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "index": index,
            "id": f"call_{reply.number}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(reply.calls)
    ]


def _head(reply: Reply, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{reply.number}", "object": kind, "created": 1, "model": reply.model}


def whole(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.calls else "stop"}
    return {**_head(reply, "chat.completion"), "choices": [choice], "usage": _usage(reply.tokens)}


def events(reply: Reply) -> Iterator[tuple[str, str]]:
    head = _head(reply, "chat.completion.chunk")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": reply.reasoning}] if reply.reasoning else []
    deltas += [{"content": reply.text}] if reply.text else []
    deltas += [{"tool_calls": [call]} for call in _calls(reply)]
    for delta in deltas:
        yield "", json.dumps({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if reply.calls else "stop"}
    yield "", json.dumps({**head, "choices": [end]})
    yield "", json.dumps({**head, "choices": [], "usage": _usage(reply.tokens)})
    yield "", "[DONE]"
