"""Does the stand-in behave like GitHub? Every request, answer, webhook and GraphQL document against GitHub's own descriptions.

The REST description is that of version 2022-11-28; what 2026-03-10 and a few facts of life do differently is named in
EXPLAINED, each with its reason. Everything else is a problem.
"""

from __future__ import annotations

import functools
import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.standin.conformance_graphql import check_document
from tests.standin.conformance_hooks import HookChecker
from tests.standin.conformance_rest import RestChecker
from tests.standin.versions import NEW_VERSION

if TYPE_CHECKING:
    from tests.standin.entities import Delivery
    from tests.standin.front import Exchange

HERE = Path(__file__).parent / "descriptions"
BROKEN = 500


@dataclass(frozen=True)
class Explained:
    """A difference that is none: where (method, path, status) and what, as patterns, and why.

    With ``version`` it counts only for requests of that API version.
    """

    where: str
    what: str
    reason: str
    version: str | None = None


EXPLAINED = (
    Explained(
        ".*",
        r"'(assignee|merge_commit_sha|has_downloads|rate)' is a required property",
        "2026-03-10 has removed the field",
        NEW_VERSION,
    ),
    Explained(
        "GET /api/v3/app/installations 200",
        r"/account: '(name|slug|created_at|updated_at)' is a required property",
        "here the description says allOf(user, enterprise) where it says anyOf for a single installation",
    ),
)


@functools.cache
def description(name: str) -> Any:
    """One of the trimmed descriptions, loaded once."""
    with gzip.open(HERE / name, "rt", encoding="utf-8") as file:
        return json.load(file) if name.endswith(".json.gz") else file.read()


@functools.cache
def _checkers() -> tuple[RestChecker, HookChecker]:
    return RestChecker(description("rest.json.gz")), HookChecker(description("webhooks.json.gz"))


class Recorder:
    """Collects problems, one line each, and which operations and events were seen."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        self.seen: set[str] = set()
        self._rest, self._hooks = _checkers()

    def exchange(self, exchange: Exchange) -> None:
        """Check one API request and its answer."""
        where = f"{exchange.method} {exchange.path} {exchange.status}"
        if exchange.path.endswith("/graphql"):
            found = self._graphql(exchange)
        elif exchange.status >= BROKEN:
            found = [exchange.answer.decode(errors="replace")]
        else:
            operation, found = self._rest.check(exchange)
            self.seen.add(operation)
        version = exchange.headers.get("x-github-api-version")
        self._add(where, [problem for problem in found if not explained(where, problem, version)])

    def _graphql(self, exchange: Exchange) -> list[str]:
        self.seen.add("graphql")
        try:
            document = json.loads(exchange.body)["query"]
        except (ValueError, KeyError, TypeError):
            return ["no GraphQL document"]
        return check_document(description("schema.graphql.gz"), document)

    def webhook(self, delivery: Delivery) -> None:
        """Check one webhook payload."""
        action = delivery.payload.get("action")
        where = f"webhook {delivery.event}{'.' + action if action else ''}"
        self.seen.add(where)
        self._add(where, self._hooks.check(delivery.event, json.loads(delivery.raw)))

    def _add(self, where: str, found: list[str]) -> None:
        for problem in found:
            line = f"{where}: {problem}"
            if line not in self.problems:
                self.problems.append(line)


def explained(where: str, problem: str, version: str | None) -> bool:
    """Whether EXPLAINED has a reason for a problem."""
    return any(
        re.fullmatch(known.where, where) and re.search(known.what, problem) and known.version in {None, version}
        for known in EXPLAINED
    )
