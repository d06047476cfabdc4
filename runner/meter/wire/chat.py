"""OpenAI Chat Completions, and whoever speaks like it: ``POST /v1/chat/completions``.

A stream tells its usage only where ``stream_options.include_usage`` asks for it: the one thing that the meter adds.
"""

from __future__ import annotations

from typing import Any

from runner.meter.wire import openai
from runner.meter.wire.base import Ask, Reader, choices, limit, name, objects, shown, table
from runner.terms import Api

MAX_CHOICES = 128
"""Answers to one request at most, as the API has it."""

SPOKEN = "An answer in sound is not passed on, since what it costs could not be counted. Ask for text."


class Chat:
    """The format of ``/v1/chat/completions``."""

    api: Api = Api.CHAT
    first = "/v1"
    headers: tuple[str, ...] = openai.HEADERS

    def is_call(self, method: str, path: str) -> bool:
        """Return whether this is a call to a model."""
        return (method, path) == ("POST", "/v1/chat/completions")

    def is_free(self, method: str, path: str) -> bool:
        """Return whether this is the list of models."""
        return openai.is_models(method, path)

    def ask(self, path: str, body: dict[str, Any]) -> Ask:  # noqa: ARG002 - the model is in the body
        """Return what a call asks for."""
        pictures, files = shown(body)
        answers = choices(body, "n", MAX_CHOICES)
        return Ask(
            model=name(body.get("model")),
            output=limit(body, "max_completion_tokens", "max_tokens") * answers,
            answers=answers,
            hidden=bool(body.get("web_search_options")),
            stored=files,
            pictures=pictures,
            variant=openai.asked_tier(body.get("service_tier")),
            extras=bool(body.get("web_search_options")),
            refusal=SPOKEN if body.get("audio") or body.get("modalities") not in (None, [], ["text"]) else None,
        )

    def prepare(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """Return the request with usage asked for, where it asks for a stream without it."""
        options = table(body, "stream_options")
        if not body.get("stream") or options.get("include_usage") is True:
            return None
        return {**body, "stream_options": {**options, "include_usage": True}}

    def reader(self) -> Reader:
        """Return a reader for one answer."""
        return _Reader()

    def error(self, status: int, sentence: str) -> dict[str, Any]:
        """Return a refusal."""
        return openai.error(status, sentence)


class _Reader(Reader):
    def __init__(self) -> None:
        super().__init__()
        self._finished = False

    def take(self, event: dict[str, Any]) -> None:
        self.named(event.get("model"))
        openai.learn_tier(self, event.get("service_tier"))
        self.failed |= isinstance(event.get("error"), dict)
        for choice in objects(event.get("choices")):
            self._finished |= bool(choice.get("finish_reason"))
            self._said(table(choice, "delta") or table(choice, "message"))
        if event.get("usage"):
            openai.learn(self, table(event, "usage"), "prompt_tokens", "completion_tokens")
        self.complete = self._finished and {"input_tokens", "output_tokens"} <= self.counts.keys()

    def _said(self, message: dict[str, Any]) -> None:
        self.say("text", message.get("content"))
        for call in objects(message.get("tool_calls")):
            function = table(call, "function")
            self.say(f"tool {call.get('index')}", function.get("name"))
            self.say("arguments", function.get("arguments"))
