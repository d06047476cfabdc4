"""Cut GitHub's published descriptions down to what the stand-in answers and sends.

Usage, with the three packages unpacked (``npm pack`` and ``tar``) into one folder each::

    python tests/standin/descriptions/trim.py OPENAPI/package WEBHOOKS/package GRAPHQL/package

reads ``generated/api.github.com.json`` of @octokit/openapi and of @octokit/openapi-webhooks and ``schema.graphql`` of
@octokit/graphql-schema, and writes ``rest.json.gz``, ``webhooks.json.gz`` and ``schema.graphql.gz`` beside this file.
Prose and examples go; nullable enums and choices get the null that GitHub sends and the description forgets.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
EVENTS = [
    "issues",
    "issue-comment",
    "pull-request",
    "pull-request-review",
    "pull-request-review-comment",
    "commit-comment",
    "status",
    "merge-group",
    "sub-issues",
    "push",
    "check-run",
    "workflow-run",
    "workflow-job",
    "installation",
    "installation-repositories",
    "repository",
    "label",
    "github-app-authorization",
]
PROSE = {"description", "summary", "example", "examples", "externalDocs", "x-octokit", "title", "tags", "discriminator"}
"""Keys that carry text for people, or a hint for generators that is wrong for lists; where one is the name of a property, its value is a schema and stays."""


def references(value: Any) -> Iterator[str]:
    """Every ``$ref`` in a description."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def tidy(value: Any, *, names: bool = False, modern: bool = False) -> Any:
    """Without prose, with null where a nullable enum needs it; ``modern`` also turns ``nullable`` into a type."""
    if isinstance(value, list):
        return [tidy(part, modern=modern) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {
        key: tidy(part, names=key in {"properties", "schemas", "patternProperties"} and not names, modern=modern)
        for key, part in value.items()
        if names or key not in PROSE
    }
    return kept if names else _nullable(kept, modern=modern)


def _nullable(schema: dict[str, Any], *, modern: bool) -> dict[str, Any]:
    if schema.get("nullable") is not True:
        return schema
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"].append(None)
    for choices in (schema[key] for key in ("anyOf", "oneOf") if key in schema):
        choices.append({"type": "null"} if modern else {"nullable": True, "enum": [None]})
    if modern:
        del schema["nullable"]
        if isinstance(schema.get("type"), str):
            schema["type"] = [schema["type"], "null"]
    return schema


def closure(components: dict[str, Any], start: Any) -> dict[str, Any]:
    """The components that a description reaches."""
    kept: dict[str, Any] = {}
    todo = list(references(start))
    while todo:
        _, _, kind, name = todo.pop().split("/", 3)
        if name in kept.get(kind, {}) or kind == "examples":
            continue
        kept.setdefault(kind, {})[name] = components[kind][name]
        todo += references(kept[kind][name])
    return kept


def rest(package: Path) -> dict[str, Any]:
    """The REST description of the operations in ``operations.txt``; raises SystemExit for an unknown one."""
    spec = json.loads((package / "generated/api.github.com.json").read_text())
    lines = (HERE / "operations.txt").read_text().split("\n")
    wanted = {line for line in lines if line and not line.startswith("#")}
    paths: dict[str, Any] = {}
    for path, item in spec["paths"].items():
        for method, operation in item.items():
            if isinstance(operation, dict) and operation.get("operationId") in wanted:
                paths.setdefault(path, {})[method] = tidy(operation)
                wanted.discard(operation["operationId"])
    if wanted:
        sys.exit(f"not in the description: {', '.join(sorted(wanted))}")
    parts = {kind: {name: tidy(v) for name, v in items.items()} for kind, items in spec["components"].items()}
    info = {"title": "GitHub", "version": spec["info"]["version"]}
    return {"openapi": spec["openapi"], "info": info, "paths": paths, "components": closure(parts, paths)}


def webhooks(package: Path) -> dict[str, Any]:
    """JSON Schemas (2020-12) of the events in EVENTS, by names like ``issues-labeled``."""
    spec = json.loads((package / "generated/api.github.com.json").read_text())
    hooks = {
        name: tidy(item["post"]["requestBody"]["content"]["application/json"]["schema"], modern=True)
        for name, item in spec["webhooks"].items()
        if any(name == event or name.startswith(f"{event}-") for event in EVENTS)
    }
    parts = {"schemas": {name: tidy(v, modern=True) for name, v in spec["components"]["schemas"].items()}}
    return {"hooks": hooks, "components": closure(parts, hooks)}


def graphql(package: Path) -> str:
    """The GraphQL schema without its descriptions."""
    text = (package / "schema.graphql").read_text()
    return re.sub(r'^\s*"""[\s\S]*?"""\n', "", text, flags=re.MULTILINE)


def write(name: str, text: str) -> None:
    """Compress, the same bytes for the same text."""
    (HERE / name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main(openapi: str, hooks: str, schema: str) -> None:
    """Write the three files."""
    write("rest.json.gz", json.dumps(rest(Path(openapi)), separators=(",", ":")))
    write("webhooks.json.gz", json.dumps(webhooks(Path(hooks)), separators=(",", ":")))
    write("schema.graphql.gz", graphql(Path(schema)))


if __name__ == "__main__":
    main(*sys.argv[1:])
