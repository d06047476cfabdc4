"""GraphQL: reactions of many comments at once, deleted ones among them, and hiding comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from githubkit.exception import GraphQLFailed

if TYPE_CHECKING:
    from tests.standin.conftest import World

QUERY = """
query($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on IssueComment {
      id fullDatabaseId body lastEditedAt isMinimized
      reactions(first: 100, content: THUMBS_UP) {
        nodes { content createdAt databaseId user { login databaseId } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
"""
MINIMIZE = """
mutation($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized minimizedReason } }
}
"""


def comments(world: World, count: int) -> list[dict[str, Any]]:
    with world.client("rob") as rob:
        rob.post("/issues", json={"title": "a"})
        return [rob.post("/issues/1/comments", json={"body": str(n)}).json() for n in range(count)]


def test_reactions_and_a_deleted_comment(world: World) -> None:
    first, second = comments(world, 2)
    app: Any = world.installation()
    with world.client("wes") as wes:
        wes.post(f"/issues/comments/{first['id']}/reactions", json={"content": "+1"})
        wes.post(f"/issues/comments/{first['id']}/reactions", json={"content": "-1"})
    app.rest.reactions.create_for_issue_comment("acme", "shop", first["id"], content="+1")
    found = app.graphql(QUERY, {"ids": [first["node_id"]]})["nodes"][0]
    assert found["fullDatabaseId"] == str(first["id"])
    assert found["lastEditedAt"] is None
    likes = found["reactions"]["nodes"]
    assert [(like["content"], like["user"] and like["user"]["login"]) for like in likes] == [
        ("THUMBS_UP", "wes"),
        ("THUMBS_UP", None),  # a bot is no User
    ]
    app.rest.issues.delete_comment("acme", "shop", second["id"])
    with pytest.raises(GraphQLFailed) as partly:
        app.graphql(QUERY, {"ids": [second["node_id"], first["node_id"]]})
    answer = partly.value.response
    data: Any = answer.data
    assert [node and node["id"] for node in data["nodes"]] == [None, first["node_id"]]
    assert answer.errors
    assert answer.errors[0].type == "NOT_FOUND"
    assert list(answer.errors[0].path or []) == ["nodes", 0]


def test_more_than_100_ids(world: World) -> None:
    with pytest.raises(GraphQLFailed) as refused:
        world.installation().graphql(QUERY, {"ids": ["x"] * 101})
    assert "ARGUMENT_LIMIT" in str(refused.value.response.errors)


def test_minimize(world: World) -> None:
    (comment,) = comments(world, 1)
    app: Any = world.installation()
    answer: Any = app.graphql(MINIMIZE, {"id": comment["node_id"]})
    hidden = answer["minimizeComment"]["minimizedComment"]
    assert hidden == {"isMinimized": True, "minimizedReason": "outdated"}
    shown = app.rest.issues.get_comment("acme", "shop", comment["id"]).json()
    assert shown["minimized"] == {"reason": "outdated"}
    entry = world.standin.control.log()[-2]
    assert (entry["operation"], entry["write"], entry["actor"]) == ("graphql", True, "twogate[bot]")


def test_a_wrong_document_is_refused_and_noticed(world: World) -> None:
    with pytest.raises(GraphQLFailed):
        world.installation().graphql("{ nodes(ids: []) { colour } }")
    assert world.standin.problems.pop().endswith("Cannot query field 'colour' on type 'Node'.")
