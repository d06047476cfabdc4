"""One look at the moment of a decision: issue, comments with their reactions, and branches in one GraphQL query.

What was seen answers the verbs of the thread that looked, until its block ends, and no longer: each decision asks
anew. It is read when the first question comes; a decision that asks none of these sends nothing. Only what the answer
holds whole counts as seen; for all else the verbs ask by themselves, and so find out what is missing and why.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.github import reactions
from bot.github.connection import Verbs
from bot.github.gateway import Comment, IssueInfo
from bot.github.tokens import seconds
from bot.lifecycle.plan import IssueSnapshot, Person

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bot.github.connection import Connection
    from bot.github.gateway import Glance, ReactedComment
    from bot.lifecycle.plan import Repo
    from bot.lifecycle.policy import Permission

KEPT = 1_000
"""Files and ids that are kept."""
KEPT_CHARACTERS = 32_768
"""Longer files are read each time."""
AUTHOR = "author { __typename login ... on User { databaseId } ... on Bot { databaseId } }"
ISSUE = (
    f"issue(number: $issue) {{ id number title body state locked {AUTHOR} labels(first: 100) {{ nodes {{ name }} }} }}"
)
FILE = "... on Commit { file(path: $file) { mode object { ... on Blob { text isTruncated } } } }"
PLAIN_MODES = frozenset({0o100644, 0o100755})
"""Of a file in git; a link's text is the name of another."""
COMMENT = f"""
  comments: nodes(ids: $comments) {{
    ... on IssueComment {{
      id fullDatabaseId body createdAt updatedAt viewerDidAuthor {AUTHOR}
      {reactions.CONTENT_PAGES}
    }}
  }}"""


@dataclass
class Seen:
    """What one look showed of a repository."""

    repository: int
    issues: dict[int, IssueInfo] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    reactions: dict[str, ReactedComment] = field(default_factory=dict)
    branches: dict[str, str | None] = field(default_factory=dict)


class Look:
    """One look of one thread, taken when the first question comes that it answers."""

    def __init__(self, repo: Repo, take: Callable[[], Seen]) -> None:
        self.repo = repo
        self.permissions: dict[int, Permission] = {}
        """What people may do, by their numbers."""
        self._take = take
        self._seen: Seen | None = None

    @property
    def seen(self) -> Seen:
        """What the look showed."""
        if self._seen is None:
            self._seen = self._take()
        return self._seen


_LOOK: ContextVar[Look | None] = ContextVar("look", default=None)


def look(repo: Repo) -> Look | None:
    """Return the look of this thread at a repository, if it is deciding something there."""
    found = _LOOK.get()
    return found if found is not None and found.repo.id == repo.id else None


def seen(repo: Repo) -> Seen:
    """Return what this thread looks at in a repository; nothing outside of a look."""
    found = look(repo)
    return found.seen if found is not None else Seen(repo.id)


class Glances(Verbs):
    """Looking once for a whole decision. What never changes is kept: files of commits, ids of issues in GraphQL."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._files: dict[tuple[int, str, str], str | None] = {}
        self._issues: dict[tuple[int, int], str] = {}

    @contextmanager
    def glance(self, repo: Repo, wanted: Glance) -> Iterator[None]:
        """Read what a decision is going to ask, in one request; within the block this thread is answered from it."""
        token = _LOOK.set(Look(repo, lambda: self._look(repo, wanted)))
        try:
            yield
        finally:
            _LOOK.reset(token)

    def _look(self, repo: Repo, wanted: Glance) -> Seen:
        refs = {f"b{number}": branch for number, branch in enumerate(wanted.branches)}
        asked: dict[str, Any] = {name: f"refs/heads/{branch}" for name, branch in refs.items()}
        asked |= {"repo": self._connection.node_id(repo), "issue": wanted.issue, "file": wanted.file}
        asked["comments"] = list(wanted.comments)
        asked = {name: value for name, value in asked.items() if value}
        answer = self._connection.rest(repo).query(_text(refs, wanted), asked)
        found, home = Seen(repo.id), answer.get("node")
        if home:
            self._see(found, home, refs, wanted.file)
        for node in filter(None, answer.get("comments") or ()):
            comment = _comment(node)
            found.comments[comment.id] = comment
            if (whole := reactions.whole(node)) is not None:
                found.reactions[comment.node_id] = whole
        return found

    def _see(self, found: Seen, home: Any, refs: dict[str, str], path: str | None) -> None:
        for name, branch in refs.items():
            target = (home.get(name) or {}).get("target") or {}
            found.branches[branch] = target.get("oid")
            if path is not None and "file" in target and _is_plain(target["file"]):
                text = target["file"]["object"]["text"] if target["file"] else None
                keep(self._files, (found.repository, path, target["oid"]), text)
        if issue := home.get("issue"):
            found.issues[issue["number"]] = _issue(issue)
            keep(self._issues, (found.repository, issue["number"]), issue["id"])


def keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    """Remember what never changes, and forget all rather than grow for ever."""
    if len(kept) >= KEPT:
        kept.clear()
    kept[key] = value


def _is_plain(file: Any) -> bool:
    """Whether a file was read as it is, or is known not to be there; all else is asked for by itself."""
    if file is None:
        return True
    blob = file["object"] or {}
    text = blob.get("text")
    if file["mode"] not in PLAIN_MODES or text is None or blob["isTruncated"]:
        return False
    return "\ufffd" not in text and len(text) <= KEPT_CHARACTERS


def _text(refs: dict[str, str], wanted: Glance) -> str:
    inputs = ["$repo: ID!", *(f"${name}: String!" for name in refs)]
    file = f" {FILE}" if wanted.file else ""
    fields = [f"{name}: ref(qualifiedName: ${name}) {{ target {{ oid{file} }} }}" for name in refs]
    if wanted.file:
        inputs.append("$file: String!")
    if wanted.issue is not None:
        inputs.append("$issue: Int!")
        fields.append(ISSUE)
    comments = ""
    if wanted.comments:
        inputs.append("$comments: [ID!]!")
        comments = COMMENT
    home = f"node(id: $repo) {{ ... on Repository {{ id {' '.join(fields)} }} }}"
    return f"query Glance({', '.join(inputs)}) {{ {home}{comments} }}" + (reactions.PAGE if comments else "")


def _person(json: Any) -> Person | None:
    """Return an account; GraphQL writes the logins of bots without what marks them elsewhere."""
    if not json or not json.get("databaseId"):
        return None
    login = f"{json['login']}[bot]" if json["__typename"] == "Bot" else json["login"]
    return Person(id=json["databaseId"], login=login)


def _issue(json: Any) -> IssueInfo:
    return IssueInfo(
        snapshot=IssueSnapshot(title=json["title"], body=json["body"] or "", author=_person(json["author"])),
        state="open" if json["state"] == "OPEN" else "closed",
        locked=json["locked"],
        labels=tuple(label["name"] for label in json["labels"]["nodes"]),
    )


def _comment(json: Any) -> Comment:
    return Comment(
        id=int(json["fullDatabaseId"]),
        node_id=json["id"],
        body=json["body"],
        author=_person(json["author"]),
        created_at=seconds(json["createdAt"]),
        updated_at=seconds(json["updatedAt"]),
        by_app=json["viewerDidAuthor"],
    )
