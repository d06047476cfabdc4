"""REST requests and answers against GitHub's OpenAPI description, with openapi-core in process.

What openapi-core lacks is added: path parameters that hold slashes, unknown names in query and body, and the general
shape of an error whose status the operation does not list.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

from openapi_core import Config, OpenAPI
from openapi_core.testing import MockRequest, MockResponse

from tests.standin.http import API

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.standin.front import Exchange

HOST = "http://github.test"
SLASHY = {"ref", "path", "basehead", "branch"}
"""Path parameters whose value may hold a slash."""
MESSAGE_LIMIT = 200
"""Characters of a problem."""
FIRST_ERROR = 300
"""From here on an answer is no success: a redirect or an error."""
EMPTY = {202, 204, 304}


class RestChecker:
    """Checks exchanges against ``rest.json.gz``."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._spec = {**description, "servers": [{"url": HOST}]}
        self._api = OpenAPI.from_dict(self._spec, config=Config(spec_validator_cls=None))
        routes = [(_pattern(path), path, item) for path, item in self._spec["paths"].items()]
        self._routes = sorted(routes, key=lambda route: (route[1].count("{"), -len(route[1])))

    def check(self, exchange: Exchange) -> tuple[str, list[str]]:
        """The operation's id (or "unknown") and where request or answer are not as described."""
        path = exchange.path.removeprefix(API)
        template, operation, values = self._route(exchange.method, path)
        if operation is None:
            known = exchange.status in {404, 405}
            return "unknown", [] if known else ["GitHub describes no such operation"]
        for name, value in values.items():
            template = template.replace(f"{{{name}}}", quote(value, safe=":%"))
        found = self._names(exchange, operation) + self._shapes(exchange, operation, template)
        return str(operation["operationId"]), found

    def _route(self, method: str, path: str) -> tuple[str, Any, dict[str, str]]:
        for pattern, template, item in self._routes:
            match = pattern.fullmatch(path)
            if match and method.lower() in item:
                return template, item[method.lower()], match.groupdict()
        return "", None, {}

    def _names(self, exchange: Exchange, operation: dict[str, Any]) -> list[str]:
        if exchange.status >= FIRST_ERROR:
            return []
        parameters = [self._follow(p) for p in operation.get("parameters", [])]
        known = {p["name"] for p in parameters if p["in"] == "query"}
        query = dict(parse_qsl(exchange.query, keep_blank_values=True))
        found = [f"request: unknown query parameter {name}" for name in query if name not in known]
        fields = self._fields(operation)
        body = _json(exchange.body)
        if fields and isinstance(body, dict):
            found += [f"request: unknown body field {name}" for name in body if name not in fields]
        return found

    def _fields(self, operation: dict[str, Any]) -> set[str]:
        media = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        schema = self._follow(media.get("schema", {}))
        choices = [schema, *(self._follow(s) for key in ("oneOf", "anyOf") for s in schema.get(key, []))]
        return {name for choice in choices for name in choice.get("properties", {})}

    def _follow(self, value: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in value:
            _, _, kind, name = value["$ref"].split("/", 3)
            value = self._spec["components"][kind][name]
        return value

    def _shapes(self, exchange: Exchange, operation: dict[str, Any], path: str) -> list[str]:
        request = MockRequest(
            HOST,
            exchange.method.lower(),
            path,
            args=dict(parse_qsl(exchange.query, keep_blank_values=True)),
            headers=exchange.headers,
            data=exchange.body or None,
            content_type=exchange.headers.get("content-type") or "application/json",
        )
        found: list[str] = []
        if exchange.status < FIRST_ERROR:
            found += _problems("request", lambda: self._api.validate_request(request))
        return found + self._answer(exchange, operation, request)

    def _answer(self, exchange: Exchange, operation: dict[str, Any], request: MockRequest) -> list[str]:
        if exchange.status >= FIRST_ERROR and str(exchange.status) not in operation["responses"]:
            body = _json(exchange.answer)
            good = isinstance(body, dict) and isinstance(body.get("message"), str)
            return [] if good else ["answer: an error without a message"]
        kind = exchange.answer_headers.get("content-type", "application/json").partition(";")[0]
        if (exchange.status in EMPTY and not exchange.answer) or kind != "application/json":
            return []
        response = MockResponse(
            exchange.answer, status_code=exchange.status, headers=exchange.answer_headers, content_type=kind
        )
        return _problems("answer", lambda: self._api.validate_response(request, response))


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{([^}]+)\}", template)
    names = (f"(?P<{part}>{'.*' if part in SLASHY else '[^/]+'})" for part in parts[1::2])
    literals = [re.escape(part) for part in parts[::2]]
    return re.compile(literals[0] + "".join(f"{name}{text}" for name, text in zip(names, literals[1:], strict=True)))


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _problems(side: str, check: Callable[[], None]) -> list[str]:
    try:
        check()
    except Exception as error:  # noqa: BLE001 - openapi-core raises many kinds; each is a finding, not a crash
        cause = error.__cause__
        inner = getattr(cause, "schema_errors", None)
        if inner:
            return [f"{side}: {line}" for one in inner for line in _lines(one)]
        return [f"{side}: {type(error).__name__}: {str(cause or error)[:MESSAGE_LIMIT]}"]
    return []


def _lines(error: Any) -> list[str]:
    """A finding; for a choice of schemas, the findings of the one that came nearest."""
    by_choice: dict[int, list[Any]] = {}
    for inner in error.context or ():
        by_choice.setdefault(inner.schema_path[0], []).append(inner)
    if by_choice:
        depth = max(len(one.absolute_path) for rows in by_choice.values() for one in rows)
        nearest = min(by_choice.values(), key=lambda rows: (all(len(r.absolute_path) < depth for r in rows), len(rows)))
        return [line for one in nearest for line in _lines(one)]
    return [f"/{'/'.join(map(str, error.absolute_path))}: {error.message[-MESSAGE_LIMIT:]}"]
