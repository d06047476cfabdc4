"""Requests as one identity (the App or an installation): the version asked for, JSON, pages, and no redirects.

Answers are read as plain JSON: githubkit's models refuse what GitHub adds over time.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
from githubkit.exception import GraphQLFailed

from bot import trail
from bot.errors import Permanent
from bot.github.changes import document, outcome
from bot.github.faults import Moved, speaks_of_limit, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from githubkit import GitHub

    from bot.github.changes import Change, Outcome

PAGE_SIZE = 100
"""The most GitHub gives at once."""
MOST_PAGES = 100
"""A list of more than 10,000 entries is refused rather than read for minutes."""
GRAPHQL = "/graphql"
ABSENT_TYPES = frozenset({"NOT_FOUND", "FORBIDDEN"})
"""GraphQL errors that stand for a node that is gone or hidden; its place in the data is null."""


class Rest:
    """What one identity asks of GitHub. ``gate`` names what a rate limit closes."""

    def __init__(self, github: GitHub[Any], *, gate: str, version: str, now: Callable[[], float]) -> None:
        self._github = github
        self._gate = gate
        self._headers = {"X-GitHub-Api-Version": version}
        self._now = now

    @contextmanager
    def _asking(self, method: str, path: str) -> Iterator[None]:
        """Be one call to GitHub, for the log and for traces, and turn its failures into ours."""
        with trail.working(f"GitHub {method}", method=method, path=path), translated(self._now, self._gate):
            yield

    def send(
        self, method: str, path: str, *, params: Mapping[str, str | int] | None = None, json: Any = None
    ) -> httpx.Response:
        """Send one request, once. Raises the failures of :mod:`.faults`; a redirect is :class:`Moved`."""
        query = dict(params) if params else None
        with self._asking(method, path):
            answer = self._github.request(method, path, params=query, json=json, headers=self._headers)
        if answer.raw_response.is_redirect:
            raise Moved(f"{path} lies elsewhere now; {method} was not sent on.")
        return answer.raw_response

    def call(self, method: str, path: str, *, params: Mapping[str, str | int] | None = None, json: Any = None) -> Any:
        """Send one request and return its JSON, None where the answer is empty."""
        response = self.send(method, path, params=params, json=json)
        with translated(self._now, self._gate):
            return response.json() if response.content else None

    def pages(
        self, path: str, params: Mapping[str, str | int] | None = None, *, key: str | None = None
    ) -> Iterator[Any]:
        """Yield the entries of a list to its end; ``key`` names the list where the answer is an object.

        Of the link to the next page only the query is used: never its host.
        """
        query: dict[str, str | int] = {**(params or {}), "per_page": PAGE_SIZE}
        for _ in range(MOST_PAGES):
            response = self.send("GET", path, params=query)
            with translated(self._now, self._gate):
                body = response.json()
            yield from body if key is None else body[key]
            link = response.links.get("next")
            if link is None:
                return
            query.update(httpx.URL(link["url"]).params)
        raise Permanent(f"{path} lists more than {PAGE_SIZE * MOST_PAGES} entries: it is not read to its end.")

    def kept_elsewhere(self, path: str) -> str:
        """Return the address that GitHub names for what it keeps elsewhere (a log), for a minute and for anybody."""
        with self._asking("GET", path):
            answer = self._github.request("GET", path, headers=self._headers).raw_response
        if answer.status_code != httpx.codes.FOUND:
            raise Moved(f"{path} lies elsewhere now; it was not followed.")
        return str(answer.headers["location"])

    def change(self, changes: Sequence[Change]) -> Outcome:
        """Send several changes in one GraphQL request, once, and return what came of each."""
        variables = {change.name: dict(change.wanted) for change in changes}
        with self._asking("POST", GRAPHQL):
            try:
                return outcome(changes, self._github.graphql.request(document(changes), variables), ())
            except GraphQLFailed as partial:
                data, errors = partial.response.data, partial.response.errors or ()
                if data is None or any(speaks_of_limit(error.message) for error in errors):
                    raise
                return outcome(changes, data, errors)

    def query(self, text: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return a GraphQL query's data, in which null stands for what is gone or hidden."""
        with self._asking("POST", GRAPHQL):
            try:
                return self._github.graphql.request(text, dict(variables))
            except GraphQLFailed as partial:
                data, errors = partial.response.data, partial.response.errors or ()
                if data is None or any(error.type not in ABSENT_TYPES for error in errors):
                    raise
                return data
