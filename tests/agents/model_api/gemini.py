"""Gemini ``generateContent``, v1beta."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.model_api.script import Reply, Tokens

STATUS = {401: "UNAUTHENTICATED", 402: "FAILED_PRECONDITION", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}


def offered(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    functions = [f for tool in body.get("tools") or () for f in tool.get("functionDeclarations") or ()]
    return {f["name"]: f.get("parametersJsonSchema") or f.get("parameters") or {} for f in functions}


def streams(path: str, body: dict[str, Any]) -> bool:
    return ":streamGenerateContent" in path


def error(status: int, message: str) -> dict[str, Any]:
    return {"error": {"code": status, "message": message, "status": STATUS.get(status, "INVALID_ARGUMENT")}}


def overflow() -> dict[str, Any]:
    said = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    return error(400, said)


def _usage(tokens: Tokens) -> dict[str, int]:
    """Return the usage; the format has no place for cache writes: they are input."""
    return {
        "promptTokenCount": tokens.all_input,
        "cachedContentTokenCount": tokens.cache_read,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "thoughtsTokenCount": tokens.reasoning,
        "totalTokenCount": tokens.all_input + tokens.output,
    }


def _parts(reply: Reply) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": reply.reasoning, "thought": True}] if reply.reasoning else []
    parts += [{"text": reply.text}] if reply.text else []
    return parts + [{"functionCall": {"name": call.name, "args": call.arguments}} for call in reply.calls]


def _answer(reply: Reply, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    answer = {"candidates": [candidate], "modelVersion": reply.model, "responseId": f"r{reply.number}"}
    if not last:
        return answer
    candidate["finishReason"] = "STOP"
    return {**answer, "usageMetadata": _usage(reply.tokens)}


def whole(reply: Reply) -> dict[str, Any]:
    return _answer(reply, _parts(reply), last=True)


def events(reply: Reply) -> Iterator[tuple[str, str]]:
    *first, last = [[part] for part in _parts(reply)] or [[{"text": ""}]]
    for parts in first:
        yield "", json.dumps(_answer(reply, parts, last=False))
    if not first:
        yield "", json.dumps(_answer(reply, [{"text": ""}], last=False))
    yield "", json.dumps(_answer(reply, last, last=True))
