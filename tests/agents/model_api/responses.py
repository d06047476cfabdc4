"""OpenAI Responses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.model_api.script import Call, Reply, Tokens

MCP, JOINT = "mcp__", "__"
"""How a name space of MCP tools begins, and what stands between it and the name of a tool."""
CODES = {401: "invalid_api_key", 402: "insufficient_quota", 429: "rate_limit_exceeded"}


def offered(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the tools; Codex gives those of its newer models in an item of the input, in name spaces.

    Those of an MCP server have a name space of its own, and get it as the first part of their names.
    """
    given = body.get("input")
    items = [item for item in given if item.get("type") == "additional_tools"] if isinstance(given, list) else []
    tools = [*(body.get("tools") or ()), *(tool for item in items for tool in item.get("tools") or ())]
    flat = [(_space(tool), inner) for tool in tools for inner in (tool.get("tools") or [tool])]
    return {space + tool["name"]: tool.get("parameters") or {} for space, tool in flat if "name" in tool}


def _space(tool: dict[str, Any]) -> str:
    name = str(tool.get("name") or "")
    return name + JOINT if tool.get("type") == "namespace" and name.startswith(MCP) else ""


def streams(path: str, body: dict[str, Any]) -> bool:
    return bool(body.get("stream"))


def error(status: int, message: str) -> dict[str, Any]:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "code": CODES.get(status), "param": None}}


def overflow() -> dict[str, Any]:
    said = error(400, "Your input exceeds the context window of this model. Please adjust your input and try again.")
    return {"error": {**said["error"], "code": "context_length_exceeded", "param": "input"}}


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.all_input,
        "input_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.all_input + tokens.output,
    }


def _items(reply: Reply) -> list[dict[str, Any]]:
    number = reply.number
    items: list[dict[str, Any]] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        items.append({"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": "ZW5j"})
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        message = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        items.append({**message, "content": content})
    return items + [_call(call, f"{number}_{i}") for i, call in enumerate(reply.calls)]


def _call(call: Call, name: str) -> dict[str, Any]:
    space, _, called = call.name.rpartition(JOINT) if call.name.startswith(MCP) else ("", "", call.name)
    ids = {"call_id": f"call_{name}", "name": called, "status": "completed"}
    ids |= {"namespace": space} if space else {}
    if isinstance(call.arguments, str):
        return {"type": "custom_tool_call", "id": f"ctc_{name}", **ids, "input": call.arguments}
    return {"type": "function_call", "id": f"fc_{name}", **ids, "arguments": json.dumps(call.arguments)}


def whole(reply: Reply) -> dict[str, Any]:
    head = {"id": f"resp_{reply.number}", "object": "response", "created_at": 1, "model": reply.model}
    rest = {"error": None, "incomplete_details": None, "output": _items(reply), "usage": _usage(reply.tokens)}
    return {**head, "status": "completed", **rest}


def events(reply: Reply) -> Iterator[tuple[str, str]]:
    for number, event in enumerate(_events(reply)):
        yield event["type"], json.dumps({**event, "sequence_number": number})


def _events(reply: Reply) -> Iterator[dict[str, Any]]:
    done = whole(reply)
    yield {"type": "response.created", "response": {**done, "status": "in_progress", "output": [], "usage": None}}
    for index, item in enumerate(done["output"]):
        yield from ({**event, "output_index": index} for event in _item_events(item))
    yield {"type": "response.completed", "response": done}


def _item_events(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if item["type"] == "message":
        part, name = item["content"][0], {"item_id": item["id"], "content_index": 0}
        empty = {**part, "text": ""}
        yield {"type": "response.output_item.added", "item": {**item, "status": "in_progress", "content": []}}
        yield {"type": "response.content_part.added", **name, "part": empty}
        yield {"type": "response.output_text.delta", **name, "delta": part["text"]}
        yield {"type": "response.output_text.done", **name, "text": part["text"]}
        yield {"type": "response.content_part.done", **name, "part": part}
    elif item["type"] == "function_call":
        name = {"item_id": item["id"]}
        yield {"type": "response.output_item.added", "item": {**item, "status": "in_progress", "arguments": ""}}
        yield {"type": "response.function_call_arguments.delta", **name, "delta": item["arguments"]}
        yield {"type": "response.function_call_arguments.done", **name, "arguments": item["arguments"]}
    else:
        yield {"type": "response.output_item.added", "item": item}
    yield {"type": "response.output_item.done", "item": item}
