"""Operations of the API, declared beside the code that answers them, and the OpenAPI document that follows from that.

    @operation("GET", "/plans/{uid}", "Show a plan", answer=wire.PlanDetail)
    def plan(self, ask: Ask) -> wire.PlanDetail: ...

What is declared is what is served: the pages make their addresses from the same declarations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic.json_schema import models_json_schema

from bot.wire import LONGEST_KEY, Problem
from bot.wire.asking import Nothing
from bot.wire.base import UID

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

    from bot.wire.base import Asked

JSON, PROBLEM, CSV = "application/json", "application/problem+json", "text/csv"
PREFIX = "/api/v1"
VERSION = "1.0.0"
"""Of the API: raised by a release that adds to it; what would break a client comes under another prefix."""
SEGMENTS: dict[str, dict[str, Any]] = {
    "uid": {"type": "string", "pattern": UID},
    "job": {"type": "string", "pattern": r"^[a-z0-9]{8,32}-[0-9]{1,6}$"},
    "deed": {"type": "integer", "minimum": 1, "maximum": 2**53},
}
"""What can stand in an address."""
REFUSALS = {
    400: "The address or the body can't be read.",
    401: "Nobody proved who they are.",
    403: "The person may not do this, or their token may not do it for them.",
    404: "There is no such thing, or GitHub does not show it to the person.",
    409: "It was asked for before, and its end is not known.",
    413: "The body is too large.",
    415: "The body is no JSON.",
    422: "The body says something that can't be done.",
    429: "The person asks too often: `Retry-After` says when to come back.",
    502: "GitHub did not answer to something that it may have done.",
    503: "GitHub or the database can't be asked now: `Retry-After` says when to come back.",
}
ALWAYS = (400, 401, 403, 429, 503)
"""Refusals of every operation that asks who it is."""
PARAMETER = re.compile(r"\{(\w+)\}")

F = TypeVar("F", bound="Callable[..., Any]")


@dataclass(frozen=True, slots=True)
class Operation:
    """What can be asked of the API."""

    method: str
    path: str
    """Below :data:`PREFIX`, with names of :data:`SEGMENTS` in braces."""
    summary: str
    answer: type[BaseModel]
    status: int
    query: type[Asked]
    body: type[Asked] | None
    refusals: tuple[int, ...]
    media: str
    name: str = ""

    @property
    def changes(self) -> bool:
        """Whether something is done by it."""
        return self.method != "GET"

    @property
    def names(self) -> tuple[str, ...]:
        """What stands in its address."""
        return tuple(PARAMETER.findall(self.path))


def operation(
    method: str,
    path: str,
    summary: str,
    *,
    answer: type[BaseModel],
    status: int = 200,
    query: type[Asked] = Nothing,
    body: type[Asked] | None = None,
    refusals: tuple[int, ...] = (),
    media: str = JSON,
) -> Callable[[F], F]:
    """Declare what a method answers."""

    def declare(answering: F) -> F:
        declared = Operation(method, path, summary, answer, status, query, body, refusals, media, answering.__name__)
        answering.operation = declared  # type: ignore[attr-defined]
        return answering

    return declare


def operations(api: type) -> tuple[Operation, ...]:
    """Return what a class declares, in the order in which it stands there."""
    return tuple(member.operation for member in vars(api).values() if hasattr(member, "operation"))


def document(found: tuple[Operation, ...]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of these operations."""
    asked = [(each.body, "validation") for each in found if each.body is not None]
    told = [(each.answer, "serialization") for each in found if each.media == JSON]
    wanted: Any = list(dict.fromkeys([*asked, *told, (Problem, "serialization")]))
    refs, defined = models_json_schema(wanted, ref_template="#/components/schemas/{model}")
    paths: dict[str, dict[str, Any]] = {}
    for each in found:
        paths.setdefault(f"{PREFIX}{each.path}", {})[each.method.lower()] = _described(each, refs)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Twogate",
            "version": VERSION,
            "description": "Plans, decisions, jobs, costs and the audit log, as far as GitHub shows them to who asks.",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "schemas": defined["$defs"],
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A user token of GitHub: of the App for a person, or a personal one.",
                },
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "__Host-twogate",
                    "description": "The dashboard's; what changes something needs its `X-CSRF-Token` as well.",
                },
            },
            "responses": {str(status): _refusal(status, text) for status, text in REFUSALS.items()},
        },
    }


def _described(each: Operation, refs: Any) -> dict[str, Any]:
    schema = refs[each.answer, "serialization"] if each.media == JSON else {"type": "string"}
    done = {"description": "Done." if each.changes else "As it is now.", "content": {each.media: {"schema": schema}}}
    refusals = sorted({*ALWAYS, *each.refusals, *((404,) if each.names else ())})
    answers: dict[str, Any] = {str(each.status): done}
    if not each.changes:
        answers["304"] = {"description": "It is as `If-None-Match` has it."}
    answers |= {str(status): {"$ref": f"#/components/responses/{status}"} for status in refusals}
    described: dict[str, Any] = {
        "operationId": each.name,
        "summary": each.summary,
        "parameters": [*_segments(each), *_queries(each), *(_KEY if each.changes else ())],
        "responses": answers,
    }
    if each.body is not None:
        content = {JSON: {"schema": refs[each.body, "validation"]}}
        described["requestBody"] = {"required": True, "content": content}
    return described


_KEY = (
    {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Makes it one deed however often it is sent; good for thirty days.",
        "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": r"^[\x21-\x7e]+$"},
    },
)


def _segments(each: Operation) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": SEGMENTS[name]} for name in each.names]


def _queries(each: Operation) -> list[dict[str, Any]]:
    schema = each.query.model_json_schema(ref_template="#/components/schemas/{model}")
    return [
        {"name": name, "in": "query", "description": told.pop("description", ""), "schema": _alone(told, schema)}
        for name, told in schema.get("properties", {}).items()
    ]


def _alone(told: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter's schema without what JSON alone can say: in an address nothing is null, but left out."""
    choices = [choice for choice in told.get("anyOf", [told]) if choice.get("type") != "null"]
    alone = {name: value for name, value in choices[0].items() if name not in {"title", "default"}}
    if "$ref" in alone:
        return dict(schema["$defs"][alone["$ref"].rpartition("/")[2]])
    if "items" in alone:
        alone["items"] = _alone(alone["items"], schema)
    return alone


def _refusal(status: int, text: str) -> dict[str, Any]:
    headers = {"Retry-After": {"schema": {"type": "integer"}}} if status in {429, 503} else {}
    return {
        "description": text,
        "headers": headers,
        "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
