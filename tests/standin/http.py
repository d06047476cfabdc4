"""One REST request of the stand-in: authentication, the repository it is about, permission, paging, the answer."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from flask import Blueprint, Response, jsonify, request

from tests.standin import auth
from tests.standin.errors import ApiError, not_found, unprocessable
from tests.standin.versions import DEFAULT_VERSION, VERSIONS, shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.standin.entities import Issue, Repo, Token, User
    from tests.standin.model import Hub

API = "/api/v3"
NOTE = "standin.note"
"""The key of the WSGI environment under which a handler notes operation, template and write."""
PER_PAGE = 30
MAX_PER_PAGE = 100
NOT_ACCESSIBLE = "Resource not accessible by integration"
Result = Any
"""What a handler returns: a JSON value, or (value, status), or (value, status, headers); None is 204."""


@dataclass
class Call:
    """What a handler knows of its request."""

    hub: Hub
    token: Token | None
    version: str = DEFAULT_VERSION
    target: Repo | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def repo(self) -> Repo:
        """The repository the path names."""
        if self.target is None:
            raise not_found()
        return self.target

    @property
    def actor(self) -> User:
        """Who acts; 401 for nobody."""
        if self.token is None or self.token.actor is None:
            raise ApiError(401, "Requires authentication")
        return self.token.actor

    @property
    def token_actor(self) -> User | None:
        """Who acts, or None."""
        return self.token.actor if self.token else None

    def need(self, permission: str, level: str = "read", role: str | None = None) -> None:
        """Refuse unless the caller may: by App permission, or as a user by role (default: the level)."""
        if self.token is None:
            if self.repo.private or level != "read":
                raise not_found() if self.repo.private else ApiError(401, "Requires authentication")
            return
        hub, repo = self.hub, self.repo
        if not hub.token_allows(self.token, repo, "metadata", "read"):
            raise not_found()
        if repo.archived and level == "write":
            raise ApiError(403, "Repository was archived so is read-only.")
        if not any(hub.token_allows(self.token, repo, name, level, role) for name in permission.split("|")):
            raise self._refusal(permission, level)

    def _refusal(self, permission: str, level: str) -> ApiError:
        if self.token is not None and self.token.kind == "user":
            return ApiError(403, "Must have admin rights to Repository.") if level == "write" else not_found()
        accepted = "; ".join(f"{name}={level}" for name in permission.split("|"))
        return ApiError(403, NOT_ACCESSIBLE, headers={"X-Accepted-GitHub-Permissions": accepted})

    def may(self, permission: str, level: str, role: str | None = None) -> bool:
        """Like ``need``, as a question."""
        token = self.token
        return token is not None and any(
            self.hub.token_allows(token, self.repo, name, level, role) for name in permission.split("|")
        )

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; 400 when it is no JSON, 422 when it is none of the described."""
        if not request.get_data():
            return {}
        body = request.get_json(silent=True, force=True)
        if body is None:
            raise ApiError(400, "Problems parsing JSON")
        if not isinstance(body, dict):
            raise unprocessable("body", "is not an object.")
        return body

    def arg(self, name: str, default: str = "") -> str:
        """A query parameter."""
        return request.args.get(name, default)

    def number(self, name: str, default: int) -> int:
        """A query parameter as a number of at least 1; nonsense is the default."""
        value = request.args.get(name, "")
        return max(1, int(value)) if value.isdecimal() else default

    def page(self, rows: list[Any]) -> list[Any]:
        """The asked page of a list; sets the Link header."""
        size = min(self.number("per_page", PER_PAGE), MAX_PER_PAGE)
        page = self.number("page", 1)
        last = max(1, -(-len(rows) // size))
        near = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
        wanted = [r for r in near if (r in {"prev", "first"} and page > 1) or (r in {"next", "last"} and page < last)]
        links = [f'<{self.link(page=str(near[rel]))}>; rel="{rel}"' for rel in wanted]
        if links:
            self.headers["Link"] = ", ".join(links)
        return rows[(page - 1) * size : page * size]

    def link(self, **changed: str) -> str:
        """This request's URL with changed query parameters."""
        query = {**request.args.to_dict(), **changed}
        return f"{self.hub.base_url}{request.path}?{urlencode(query)}"

    def issue(self, number: int) -> Issue:
        """The issue or pull request; 404, or 410 when it was deleted."""
        found = self.repo.issues.get(number)
        if found is None:
            raise not_found()
        if found.deleted:
            raise ApiError(410, "This issue was deleted")
        return found


class Api:
    """Routes under ``/api/v3`` of one Flask blueprint."""

    def __init__(self, name: str, hub: Hub, prefix: str = API) -> None:
        self.hub = hub
        self.prefix = prefix
        self.blueprint = Blueprint(name, __name__, url_prefix=prefix)

    def route(self, method: str, rule: str, operation: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
        """Register a handler ``f(call, **path)``; ``<owner>/<name>`` in the rule become ``call.repo``."""

        def register(handler: Callable[..., Result]) -> Callable[..., Result]:
            @functools.wraps(handler)
            def view(**values: Any) -> Response:
                request.environ.setdefault(NOTE, {})["operation"] = operation
                request.environ.setdefault(NOTE, {})["template"] = self.prefix + rule
                with self.hub.lock:
                    return self._answer(handler, values)

            self.blueprint.add_url_rule(rule, f"{method} {rule}".replace(".", "_"), view, methods=[method])
            return handler

        return register

    def _answer(self, handler: Callable[..., Result], values: dict[str, Any]) -> Response:
        version = request.headers.get("X-GitHub-Api-Version", DEFAULT_VERSION)
        call = Call(self.hub, None, version)
        try:
            _check_version(version)
            call.token = auth.authenticate(self.hub, request.headers.get("Authorization"))
            if "owner" in values:
                call.target = self._repository(values.pop("owner"), values.pop("name"))
            result = handler(call, **values)
        except ApiError as error:
            result = error.body, error.status, error.headers
        return _respond(call, result)

    def _repository(self, owner: str, name: str) -> Repo:
        found = self.hub.repo(owner, name)
        if found is None:
            raise self._moved(owner, name)
        return found

    def _moved(self, owner: str, name: str) -> ApiError:
        new = self.hub.moved.get(f"{owner}/{name}".lower())
        if new is None:
            return not_found()
        rest = request.full_path.rstrip("?").split(f"/repos/{owner}/{name}", 1)[-1]
        url = f"{self.hub.base_url}{API}/repositories/{new}{rest}"
        return ApiError(301, "Moved Permanently", headers={"Location": url}, extra={"url": url})


def _check_version(version: str) -> None:
    if version not in VERSIONS:
        raise ApiError(400, f"{version} is not a supported version of the GitHub API.")


def name_of(token: Token | None) -> str:
    """How a caller is named in the log: a login, or the App's slug for a JWT."""
    if token is None:
        return "anonymous"
    if token.actor is not None:
        return token.actor.login
    return f"app:{token.app.slug}" if token.app else "unknown"


def _respond(call: Call, result: Result) -> Response:
    body, status, headers = _unpack(result)
    if body is None:
        response = Response(status=204 if status == 200 else status)
    elif isinstance(body, str):
        response = Response(body, status, mimetype="text/plain")
    else:
        response = jsonify(shape(body, call.version))
        response.status_code = status
    response.headers.update({**call.headers, **headers})
    response.headers["X-GitHub-Api-Version-Selected"] = call.version
    return response


def _unpack(result: Result) -> tuple[Any, int, dict[str, str]]:
    if not isinstance(result, tuple):
        return result, 200, {}
    body, status, *rest = result
    return body, status, rest[0] if rest else {}
