"""GraphQL: the few queries and mutations a bot uses, executed by graphql-core against a schema with GitHub's names."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import request
from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    OperationType,
    build_schema,
    execute_sync,
    get_operation_ast,
    parse,
    validate,
)

from tests.standin import gitstore
from tests.standin.entities import Comment, Issue, Reaction, Repo, User, iso
from tests.standin.graphql_changes import Changes, refused
from tests.standin.graphql_git import CommitNode
from tests.standin.http import NOTE
from tests.standin.rest_labels import find as find_label
from tests.standin.threads import announce

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.standin.http import Call, Result
    from tests.standin.model import Hub

NODES_LIMIT = 100
PAGE_LIMIT = 100
CONTENTS = {
    "+1": "THUMBS_UP",
    "-1": "THUMBS_DOWN",
    "laugh": "LAUGH",
    "confused": "CONFUSED",
    "heart": "HEART",
    "hooray": "HOORAY",
    "rocket": "ROCKET",
    "eyes": "EYES",
}
SDL = Path(__file__).parent / "descriptions" / "standin.graphql"


@functools.cache
def load_schema() -> GraphQLSchema:
    """The stand-in's schema; field values are found by ``resolve``."""
    return build_schema(SDL.read_text())


def answer(call: Call, schema: GraphQLSchema) -> Result:
    """Execute the request's document: 200 with data and errors, as GitHub does also for mistakes."""
    body = call.json()
    try:
        document = _read(schema, str(body.get("query") or ""))
    except GraphQLError as error:
        return {"errors": [error.formatted]}
    except ExceptionGroup as several:
        return {"errors": [error.formatted for error in several.exceptions if isinstance(error, GraphQLError)]}
    note = request.environ.setdefault(NOTE, {})
    note["write"], note["operation"] = _is_mutation(document), _named(document)
    result = execute_sync(
        schema,
        document,
        root_value=Root(call),
        variable_values=body.get("variables"),
        field_resolver=resolve,
        type_resolver=lambda value, _info, _type: type_name(value),
    )
    shown: dict[str, Any] = {"data": result.data}
    if result.errors:
        shown["errors"] = [_error(error) for error in result.errors]
    return shown


@functools.lru_cache
def _read(schema: GraphQLSchema, query: str) -> DocumentNode:
    """Parse and validate, once for each text: that takes longer than most answers. Raises what is wrong with it."""
    document = parse(query)
    if problems := validate(schema, document):
        raise ExceptionGroup("the document does not fit the schema", problems)
    return document


def _named(document: DocumentNode) -> str:
    """The request in the log: by the name of its operation, where it has one."""
    operation = get_operation_ast(document)
    return f"graphql/{operation.name.value}" if operation is not None and operation.name else "graphql"


def _is_mutation(document: DocumentNode) -> bool:
    operation = get_operation_ast(document)
    return operation is not None and operation.operation is OperationType.MUTATION


def _error(error: GraphQLError) -> dict[str, Any]:
    shown = dict(error.formatted)
    kind = (error.extensions or {}).get("type")
    return {"type": kind, **{k: v for k, v in shown.items() if k != "extensions"}} if kind else shown


def find(hub: Hub, wanted: str) -> Any:
    """The issue, comment, repository or user with this global id, or None."""
    for comment in hub.comments.values():
        if comment.node_id == wanted and not comment.repo.issues[comment.number].deleted:
            return comment
    for repo in hub.repos.values():
        if repo.node_id == wanted:
            return repo
        for issue in hub.threads(repo):
            if issue.node_id == wanted:
                return issue
        for label in repo.labels:
            if label.node_id == wanted:
                return label
    return next((user for user in hub.users.values() if user.node_id == wanted), None)


@dataclass
class Root(Changes):
    """The fields of Query and Mutation."""

    def visible(self, wanted: str) -> Any:
        """A node the caller may see, else a NOT_FOUND error."""
        found = find(self.call.hub, wanted)
        repo = found if isinstance(found, Repo) else getattr(found, "repo", None)
        token = self.call.token
        hidden = repo is not None and (
            token is None or not any(self.call.hub.token_allows(token, repo, p, "read") for p in _readable(found))
        )
        if found is None or hidden:
            raise refused("NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'")
        return found

    def nodes(self, info: Any, ids: list[str]) -> list[Any]:
        """Up to 100 nodes; what is gone is null with an error of its own."""
        if len(ids) > NODES_LIMIT:
            raise refused(
                "ARGUMENT_LIMIT", f"You may not provide more than {NODES_LIMIT} node ids; you provided {len(ids)}."
            )
        return [self._or_error(wanted) for wanted in ids]

    def _or_error(self, wanted: str) -> Any:
        try:
            return self.visible(wanted)
        except GraphQLError as error:
            return error

    def node(self, info: Any, id: str) -> Any:  # noqa: A002
        """One node."""
        return self.visible(id)

    def repository(self, info: Any, owner: str, name: str, followRenames: bool = True) -> Repo:  # noqa: N803
        """A repository by its name, now or (as GitHub does unasked) before it was renamed."""
        hub = self.call.hub
        found = hub.repo(owner, name)
        if found is None and followRenames:
            found = hub.repo_by_id(hub.moved.get(f"{owner}/{name}".lower(), 0))
        if found is None or self.call.token is None or not hub.token_allows(self.call.token, found, "metadata", "read"):
            raise refused("NOT_FOUND", f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return found

    def viewer(self, info: Any) -> User:
        """Who asks."""
        return self.call.actor

    def rateLimit(self, info: Any) -> dict[str, Any]:  # noqa: N802
        """What the query cost, by GitHub's rule for a single connection."""
        return {"cost": 1, "limit": 5000, "remaining": 4999, "resetAt": iso(self.call.hub.clock() + 3600)}

    def minimizeComment(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """Hide a comment under a reason."""
        return {"minimizedComment": self._minimize(input["subjectId"], input["classifier"])}

    def unminimizeComment(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """Show it again."""
        return {"unminimizedComment": self._minimize(input["subjectId"], None)}

    def _minimize(self, wanted: str, reason: str | None) -> Comment:
        found = self.visible(wanted)
        if not isinstance(found, Comment):
            raise refused("NOT_FOUND", f"Could not resolve to a minimizable with the global id of '{wanted}'")
        self._writable(found.repo, found.user)
        found.minimized_reason = reason
        return found

    def markPullRequestReadyForReview(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """End a draft."""
        found = self.visible(input["pullRequestId"])
        if not isinstance(found, Issue) or found.pull is None:
            raise refused("NOT_FOUND", "Could not resolve to a pull request")
        self._writable(found.repo, found.user)
        found.pull.draft = False
        announce(self.call, found, "ready_for_review")
        return {"pullRequest": found}


def _readable(found: Any) -> tuple[str, ...]:
    return ("metadata",) if isinstance(found, Repo) else ("issues", "pull_requests")


def resolve(source: Any, info: Any, **args: Any) -> Any:
    """A field's value: of Root by method, of a dict by key, of a record by ``fields``."""
    if isinstance(source, Root):
        if info.field_name in source.call.hub.refused:
            raise refused("FORBIDDEN", "Resource not accessible by integration")
        return getattr(source, info.field_name)(info, **args)
    if isinstance(source, CommitNode):
        return source.file(args["path"]) if info.field_name == "file" else source.oid
    if isinstance(source, dict):
        return source.get(info.field_name)
    call = info.root_value.call
    return fields(call.hub, call.actor, source, info.field_name, args)


def type_name(record: Any) -> str:
    """The GraphQL type of a record."""
    if isinstance(record, (CommitNode, dict)):
        return record["type"] if isinstance(record, dict) else "Commit"
    if isinstance(record, Comment):
        return "IssueComment"
    if isinstance(record, Issue):
        return "PullRequest" if record.pull else "Issue"
    if isinstance(record, User):
        return record.type
    return "Repository" if isinstance(record, Repo) else type(record).__name__


def fields(hub: Hub, viewer: User, record: Any, name: str, args: dict[str, Any]) -> Any:
    """One field of a record under its GraphQL name."""
    if name in hub.refused:
        raise refused("FORBIDDEN", "Resource not accessible by integration")
    if isinstance(record, Repo) and name == "viewerPermission":
        return hub.role(record, viewer).upper() if viewer.type == "User" else None
    if isinstance(record, Repo) and name in {"issue", "issueOrPullRequest", "label", "ref"}:
        return _part(hub, record, name, args)
    if isinstance(record, Issue) and name == "labels":
        return {"nodes": record.labels[: args["first"]], "totalCount": len(record.labels)}
    if name == "reactions":
        return _connection(record.reactions, args)
    if name in {"user", "author"}:
        return record.user if record.user.type == "User" or name == "author" else None
    simple: dict[str, Callable[[], Any]] = {
        "id": lambda: record.node_id,
        "login": lambda: record.login.removesuffix("[bot]"),
        "viewerDidAuthor": lambda: record.user is viewer,
        "databaseId": lambda: record.pull.id if getattr(record, "pull", None) else record.id,
        "fullDatabaseId": lambda: str(record.id),
        "body": lambda: record.body or "",
        "content": lambda: CONTENTS[record.content],
        "createdAt": lambda: iso(record.created_at),
        "updatedAt": lambda: iso(record.updated_at),
        "lastEditedAt": lambda: iso(record.edited_at),
        "isMinimized": lambda: record.minimized_reason is not None,
        "minimizedReason": lambda: (record.minimized_reason or "").lower() or None,
        "resourcePath": lambda: f"/{record.repo.full_name}/runs/{record.id}",
        "nameWithOwner": lambda: record.full_name,
        "state": lambda: "MERGED" if record.pull and record.pull.merged_at else record.state.upper(),
        "isDraft": lambda: record.pull.draft,
    }
    return simple[name]() if name in simple else getattr(record, name)


def _part(hub: Hub, repo: Repo, name: str, args: dict[str, Any]) -> Any:
    """An issue of a repository by number, a label or branch by name; a NOT_FOUND error for no such issue."""
    if name == "ref":
        sha = gitstore.ref(hub.git_dir(repo), args["qualifiedName"])
        return {"name": args["qualifiedName"].split("/", 2)[-1], "target": CommitNode(hub, repo, sha)} if sha else None
    if name == "label":
        return find_label(repo, args["name"])
    found = repo.issues.get(args["number"])
    if found is None or found.deleted or (found.pull and name == "issue"):
        raise refused("NOT_FOUND", f"Could not resolve to an Issue with the number of {args['number']}.")
    return found


def _connection(rows: list[Reaction], args: dict[str, Any]) -> dict[str, Any]:
    wanted = args.get("content")
    rows = [r for r in rows if wanted in {None, CONTENTS[r.content]}]
    size = args.get("first") or args.get("last")
    if not size or not 1 <= size <= PAGE_LIMIT:
        raise refused("MISSING_PAGINATION_BOUNDARIES", "You must provide a `first` or `last` value of at most 100.")
    start = next((i + 1 for i, r in enumerate(rows) if r.node_id == args.get("after")), 0)
    page = rows[start : start + size] if args.get("first") else rows[-size:]
    info = {
        "hasNextPage": bool(args.get("first")) and len(rows) > start + size,
        "hasPreviousPage": start > 0,
        "startCursor": page[0].node_id if page else None,
        "endCursor": page[-1].node_id if page else None,
    }
    return {"nodes": page, "totalCount": len(rows), "pageInfo": info}
