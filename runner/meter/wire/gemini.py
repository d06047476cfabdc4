"""Gemini: ``POST /v1beta/models/<model>:generateContent`` and ``:streamGenerateContent``.

``promptTokenCount`` counts the cached tokens in, ``candidatesTokenCount`` leaves the thoughts out. Each piece of a
stream repeats the usage so far; the last one is the whole.
"""

from __future__ import annotations

import re
from typing import Any

from runner.meter.wire.base import Ask, Reader, count, limit, name, objects, table, uncached
from runner.terms import Api

CALL = re.compile(r"/v1(?:beta)?/models/(\w[\w.-]*):(?:generateContent|streamGenerateContent)")
FREE = re.compile(r"/v1(?:beta)?/models/\w[\w.-]*:countTokens")
MODELS = re.compile(r"/v1(?:beta)?/models(?:/\w[\w.-]*)?")
STATES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "RESOURCE_EXHAUSTED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
}
"""Names of a status; any other is ``INTERNAL``."""
BY_PROMPT = ("gemini-1", "gemini-2")
"""How models begin whose searches are billed by the prompt, not by the query."""
TIERS = frozenset({"flex", "priority"})
"""Tiers of service with prices of their own."""


class Gemini:
    """The format of Google's ``generativelanguage`` API."""

    api: Api = Api.GEMINI
    first = "/v1beta"
    headers: tuple[str, ...] = ("x-goog-api-client",)

    def is_call(self, method: str, path: str) -> bool:
        """Return whether this is a call to a model."""
        return method == "POST" and CALL.fullmatch(path) is not None

    def is_free(self, method: str, path: str) -> bool:
        """Return whether this is a count of tokens or the list of models."""
        return FREE.fullmatch(path) is not None if method == "POST" else MODELS.fullmatch(path) is not None

    def ask(self, path: str, body: dict[str, Any]) -> Ask:
        """Return what a call asks for."""
        found = CALL.fullmatch(path)
        config = table(body, "generationConfig") or table(body, "generation_config")
        tools = objects(body.get("tools"))
        foreign = any(not set(tool) <= {"functionDeclarations", "function_declarations"} for tool in tools)
        choices = max(1, count(config, "candidateCount") or 1)
        return Ask(
            model=name(found[1]) if found else None,
            output=limit(config, "maxOutputTokens", "max_output_tokens") * choices,
            hidden=foreign or bool(body.get("cachedContent") or body.get("cached_content")),
            variant=_tier(body.get("serviceTier") or body.get("service_tier")),
        )

    def prepare(self, body: dict[str, Any]) -> None:
        """Return None: the usage is always told."""

    def reader(self) -> Reader:
        """Return a reader for one answer."""
        return _Reader()

    def error(self, status: int, sentence: str) -> dict[str, Any]:
        """Return a refusal."""
        return {"error": {"code": status, "message": sentence, "status": STATES.get(status, "INTERNAL")}}


def _tier(value: object) -> tuple[str, str] | None:
    tier = value.lower().removeprefix("service_tier_") if isinstance(value, str) else ""
    return ("service_tier", tier) if tier in TIERS else None


class _Reader(Reader):
    def take(self, event: dict[str, Any]) -> None:
        self.named(event.get("modelVersion"))
        self.failed |= isinstance(event.get("error"), dict)
        ended = bool(table(event, "promptFeedback").get("blockReason"))
        for candidate in objects(event.get("candidates")):
            ended |= bool(candidate.get("finishReason"))
            for part in objects(table(candidate, "content").get("parts")):
                self._part(part)
            self._searched(table(candidate, "groundingMetadata").get("webSearchQueries"))
        if usage := table(event, "usageMetadata"):
            self._usage(usage)
            self.complete |= ended

    def _searched(self, queries: object) -> None:
        """Count the searches: each query that says something once, and of older models a prompt as one."""
        found = {query for query in queries if isinstance(query, str) and query} if isinstance(queries, list) else set()
        if found:
            self.learn(web_searches=1 if (self.model or "").startswith(BY_PROMPT) else len(found))

    def _part(self, part: dict[str, Any]) -> None:
        if part.get("thought"):
            return
        self.say("text", part.get("text"))
        call = table(part, "functionCall")
        self.say("tool", call.get("name"))
        self.say("arguments", str(call["args"]) if call.get("args") else None)

    def _usage(self, usage: dict[str, Any]) -> None:
        read, thoughts = count(usage, "cachedContentTokenCount"), count(usage, "thoughtsTokenCount")
        given, said = uncached(usage, "promptTokenCount", read), count(usage, "candidatesTokenCount")
        known = said is not None or thoughts is not None
        self.learn(
            input_tokens=None if given is None else given + (count(usage, "toolUsePromptTokenCount") or 0),
            output_tokens=(said or 0) + (thoughts or 0) if known else None,
            cache_read_tokens=read,
            reasoning_tokens=thoughts,
        )
        self.variant = _tier(usage.get("serviceTier")) or self.variant
