"""The four wire formats as a test sees them: a request, an answer in a stream and whole, and the tokens in both.

Each answer uses 1,000 tokens of input, 200 from a cache, 60 of output with 10 of reasoning in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runner.terms import Api
from tests.runner.upstream_on_loopback import Answer, plain, sse


@dataclass(frozen=True)
class Format:
    api: Api
    path: str
    stream_path: str
    request: dict[str, Any]
    model: str
    headers: dict[str, str]
    key_header: str

    def stream(self, text: str = "Hello") -> Answer:
        return Answer(STREAMS[self.api](self.model, text))

    def plain(self, text: str = "Hello") -> Answer:
        return plain(PLAIN[self.api](self.model, text))


def _anthropic_usage(output: int) -> dict[str, Any]:
    return {
        "input_tokens": 1000,
        "cache_read_input_tokens": 200,
        "cache_creation_input_tokens": 0,
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": 10},
    }


def _anthropic_stream(model: str, text: str) -> tuple[bytes, ...]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []}
    return sse(
        {"type": "message_start", "message": {**message, "usage": _anthropic_usage(1)}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": _anthropic_usage(60)},
        {"type": "message_stop"},
        named=True,
    )


def _anthropic_plain(model: str, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"id": "m", "type": "message", "model": model, "content": content, "usage": _anthropic_usage(60)}


RESPONSES_USAGE = {
    "input_tokens": 1200,
    "input_tokens_details": {"cached_tokens": 200},
    "output_tokens": 60,
    "output_tokens_details": {"reasoning_tokens": 10},
}


def _response(model: str, text: str) -> dict[str, Any]:
    item = {"type": "message", "content": [{"type": "output_text", "text": text}]}
    done = {"object": "response", "id": "resp_1", "model": model, "status": "completed", "output": [item]}
    return {**done, "usage": RESPONSES_USAGE, "service_tier": "default"}


def _responses_stream(model: str, text: str) -> tuple[bytes, ...]:
    whole = _response(model, text)
    return sse(
        {"type": "response.created", "response": {"id": "resp_1", "model": model, "status": "in_progress"}},
        {"type": "response.output_text.delta", "delta": text},
        {"type": "response.output_item.done", "item": whole["output"][0]},
        {"type": "response.completed", "response": whole},
        named=True,
    )


CHAT_USAGE = {
    "prompt_tokens": 1200,
    "completion_tokens": 60,
    "prompt_tokens_details": {"cached_tokens": 200},
    "completion_tokens_details": {"reasoning_tokens": 10},
}


def _chat_stream(model: str, text: str) -> tuple[bytes, ...]:
    head = {"id": "c1", "object": "chat.completion.chunk", "model": model}
    return sse(
        {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}], "usage": None},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None},
        {**head, "choices": [], "usage": CHAT_USAGE},
        "[DONE]",
    )


def _chat_plain(model: str, text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "c1", "object": "chat.completion", "model": model, "choices": [choice], "usage": CHAT_USAGE}


GEMINI_USAGE = {
    "promptTokenCount": 1200,
    "cachedContentTokenCount": 200,
    "candidatesTokenCount": 50,
    "thoughtsTokenCount": 10,
    "totalTokenCount": 1260,
}


def _gemini(model: str, text: str, **last: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, **last}], "modelVersion": model}


def _gemini_stream(model: str, text: str) -> tuple[bytes, ...]:
    early = {"promptTokenCount": 1200, "totalTokenCount": 1200}
    return sse(
        {**_gemini(model, text[:2]), "usageMetadata": early},
        {**_gemini(model, text[2:], finishReason="STOP"), "usageMetadata": GEMINI_USAGE},
    )


def _gemini_plain(model: str, text: str) -> dict[str, Any]:
    return {**_gemini(model, text, finishReason="STOP"), "usageMetadata": GEMINI_USAGE}


STREAMS = {
    Api.ANTHROPIC: _anthropic_stream,
    Api.RESPONSES: _responses_stream,
    Api.CHAT: _chat_stream,
    Api.GEMINI: _gemini_stream,
}
PLAIN = {
    Api.ANTHROPIC: _anthropic_plain,
    Api.RESPONSES: _response,
    Api.CHAT: _chat_plain,
    Api.GEMINI: _gemini_plain,
}
SONNET, GPT, FLASH = "claude-sonnet-4-5", "gpt-5.5", "gemini-2.5-pro"
GENERATE = f"/v1beta/models/{FLASH}"
FORMATS = (
    Format(
        Api.ANTHROPIC,
        *("/v1/messages", "/v1/messages"),
        {"model": SONNET, "max_tokens": 1000, "messages": [{"role": "user", "content": "Hi"}]},
        SONNET,
        {"anthropic-version": "2023-06-01"},
        "x-api-key",
    ),
    Format(
        Api.RESPONSES,
        *("/v1/responses", "/v1/responses"),
        {"model": GPT, "input": "Hi", "max_output_tokens": 1000},
        GPT,
        {},
        "authorization",
    ),
    Format(
        Api.CHAT,
        *("/v1/chat/completions", "/v1/chat/completions"),
        {"model": GPT, "messages": [{"role": "user", "content": "Hi"}], "max_completion_tokens": 1000},
        GPT,
        {},
        "authorization",
    ),
    Format(
        Api.GEMINI,
        *(f"{GENERATE}:generateContent", f"{GENERATE}:streamGenerateContent?alt=sse"),
        {"contents": [{"parts": [{"text": "Hi"}]}], "generationConfig": {"maxOutputTokens": 1000}},
        FLASH,
        {},
        "x-goog-api-key",
    ),
)
DOLLARS = {
    Api.ANTHROPIC: "0.003960",  # 1000 x 3 + 200 x 0.30 + 60 x 15
    Api.RESPONSES: "0.006900",  # 1000 x 5 + 200 x 0.50 + 60 x 30
    Api.CHAT: "0.006900",
    Api.GEMINI: "0.001875",  # 1000 x 1.25 + 200 x 0.125 + 60 x 10
}
"""What each answer costs."""
