"""Gemini: ``POST /v1beta/models/<model>:generateContent`` and ``:streamGenerateContent``.

``promptTokenCount`` counts the cached tokens in, ``candidatesTokenCount`` leaves the thoughts out. Each piece of a
stream repeats the usage so far; the last one is the whole.
"""

from __future__ import annotations

import re
from typing import Any

from runner.meter.wire.base import Ask, Reader, choices, count, limit, name, objects, shown, table, uncached
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
MAPS = frozenset({"googleMaps", "google_maps"})
"""A tool that costs by the prompt, which the answer does not count."""
TIERS = frozenset({"flex", "priority"})
"""Tiers of service with prices of their own."""

MAX_CANDIDATES = 8
"""Answers to one request at most, as the API has it."""
SPOKEN = "An answer that is no text is not passed on, since what it costs could not be counted. Ask for text."
TWICE = "The request gives one field under two names, as camelCase and as snake_case. Give it once."


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
        answers = max(choices(config, field, MAX_CANDIDATES) for field in ("candidateCount", "candidate_count"))
        modalities = config.get("responseModalities") or config.get("response_modalities") or ["TEXT"]
        pictures, files = shown(body)
        return Ask(
            model=name(found[1]) if found else None,
            output=limit(config, "maxOutputTokens", "max_output_tokens") * answers,
            answers=answers,
            hidden=foreign,
            stored=files or bool(body.get("cachedContent") or body.get("cached_content")),
            pictures=pictures,
            extras=any(not MAPS.isdisjoint(tool) for tool in tools),
            variant=_dearer(_tier(body.get("serviceTier") or body.get("service_tier"))),
            refusal=_refusal(body, config, modalities),
        )

    def prepare(self, body: dict[str, Any]) -> None:
        """Return None: the usage is always told."""

    def reader(self) -> Reader:
        """Return a reader for one answer."""
        return _Reader()

    def error(self, status: int, sentence: str) -> dict[str, Any]:
        """Return a refusal."""
        return {"error": {"code": status, "message": sentence, "status": STATES.get(status, "INTERNAL")}}


def _refusal(body: dict[str, Any], config: dict[str, Any], modalities: object) -> str | None:
    """Return why a request can't be metered, None where it can."""
    if any(_camel(name) != name and _camel(name) in record for record in (body, config) for name in record):
        return TWICE
    return None if modalities == ["TEXT"] else SPOKEN


def _camel(name: str) -> str:
    head, *others = name.split("_")
    return head + "".join(map(str.capitalize, others))


def _dearer(tier: tuple[str, str] | None) -> tuple[str, str] | None:
    """Return a tier that is asked for: the cheaper one counts only where the answer names it."""
    return None if tier == ("service_tier", "flex") else tier


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
        if isinstance(usage.get("serviceTier"), str):
            self.served(_tier(usage["serviceTier"]))
        told = objects(usage.get("promptTokensDetails"))
        self.extras |= any(part.get("modality") == "AUDIO" for part in told)  # dearer, and not counted by itself
