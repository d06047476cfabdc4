"""The decision reactions of many comments at once, each to its last page.

GitHub sends no webhook for a reaction, so plans and reviews are polled. One GraphQL request reads a hundred comments
for two points of the hourly five thousand; a deleted comment is null in it and harms no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from bot.errors import Permanent
from bot.github.gateway import ReactedComment, Reaction
from bot.github.tokens import seconds
from bot.lifecycle.plan import Person

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.github.rest import Rest

BATCH = 100
"""The most ids ``nodes`` takes."""
MOST_PAGES = 50
"""A comment with more than 5,000 thumbs in one direction is refused rather than read for minutes."""

Content = Literal["+1", "-1"]
CONTENTS: dict[str, Content] = {"THUMBS_UP": "+1", "THUMBS_DOWN": "-1"}

PAGE = """
fragment Page on ReactionConnection {
  nodes { databaseId createdAt user { databaseId login } }
  pageInfo { hasNextPage endCursor }
}
"""
CONTENT_PAGES = """
      THUMBS_UP: reactions(first: 100, content: THUMBS_UP) { ...Page }
      THUMBS_DOWN: reactions(first: 100, content: THUMBS_DOWN) { ...Page }
"""
"""The first pages of a comment's decision reactions."""
FIRST_PAGES = (
    f"query Reactions($ids: [ID!]!) {{ nodes(ids: $ids) {{ ... on IssueComment {{ {CONTENT_PAGES} }} }} }}" + PAGE
)
NEXT_PAGE = (
    """
query MoreReactions($id: ID!, $content: ReactionContent!, $after: String!) {
  node(id: $id) { ... on IssueComment { reactions(first: 100, content: $content, after: $after) { ...Page } } }
}
"""
    + PAGE
)


def read(rest: Rest, node_ids: Sequence[str]) -> list[ReactedComment | None]:
    """Return the 👍 and 👎 of each comment in order; None where a comment is gone."""
    answers: list[ReactedComment | None] = []
    for start in range(0, len(node_ids), BATCH):
        ids = list(node_ids[start : start + BATCH])
        nodes = rest.query(FIRST_PAGES, {"ids": ids})["nodes"]
        answers += [_comment(rest, *pair) for pair in zip(ids, nodes, strict=True)]
    return answers


def whole(node: Any) -> ReactedComment | None:
    """Return the reactions of a comment that was read with :data:`CONTENT_PAGES`; None where there are more pages."""
    if any(node[name]["pageInfo"]["hasNextPage"] for name in CONTENTS):
        return None
    found = (_reaction(CONTENTS[name], row) for name in CONTENTS for row in node[name]["nodes"])
    return ReactedComment(node_id=node["id"], reactions=tuple(found))


def _comment(rest: Rest, node_id: str, node: Any) -> ReactedComment | None:
    if not node:
        return None
    found = [r for name in CONTENTS for r in _all(rest, node_id, name, node[name])]
    return ReactedComment(node_id=node_id, reactions=tuple(found))


def _all(rest: Rest, node_id: str, name: str, page: Any) -> Iterator[Reaction]:
    """Yield the reactions of one kind, asking for the pages after the first."""
    for _ in range(MOST_PAGES):
        for node in page["nodes"]:
            yield _reaction(CONTENTS[name], node)
        if not page["pageInfo"]["hasNextPage"]:
            return
        asked = {"id": node_id, "content": name, "after": page["pageInfo"]["endCursor"]}
        following = rest.query(NEXT_PAGE, asked)["node"]
        if not following:
            return
        page = following["reactions"]
    raise Permanent(f"Comment {node_id} has more reactions than are read: decide by a command instead.")


def _reaction(content: Content, node: Any) -> Reaction:
    user = node.get("user")
    who = Person(id=user["databaseId"], login=user["login"]) if user and user.get("databaseId") else None
    return Reaction(id=node["databaseId"], content=content, user=who, created_at=seconds(node["createdAt"]))
