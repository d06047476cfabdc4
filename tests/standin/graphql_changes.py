"""GraphQL: the mutations that show things: comments, labels, reactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError

from tests.standin import gitstore
from tests.standin.entities import Comment, Issue, Label, Reaction, Repo, User
from tests.standin.errors import ApiError, check_text
from tests.standin.gitstore import ZERO
from tests.standin.rest_checks import make as make_check
from tests.standin.rest_comments import add_comment, edit_comment
from tests.standin.rest_labels import add_labels, make_label, remove_label
from tests.standin.rest_labels import find as find_label
from tests.standin.rest_repos import move

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.standin.http import Call

REACTIONS = {"EYES": "eyes", "THUMBS_UP": "+1", "THUMBS_DOWN": "-1"}


def refused(kind: str, message: str) -> GraphQLError:
    """An error with GitHub's ``type``."""
    return GraphQLError(message, extensions={"type": kind})


@dataclass
class Changes:
    """Fields of Mutation; ``visible`` finds a node that the caller may see."""

    call: Call

    def visible(self, wanted: str) -> Any:
        """A node the caller may see, else a NOT_FOUND error."""
        raise NotImplementedError

    def addComment(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """Comment on an issue or a pull request."""
        subject = self._subject(input["subjectId"])
        made = self._tried(lambda: add_comment(self.call, subject, input["body"]))
        return {"commentEdge": {"node": made}, "subject": subject}

    def updateIssueComment(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """Change a comment's text."""
        found = self.visible(input["id"])
        if not isinstance(found, Comment):
            raise refused("NOT_FOUND", f"Could not resolve to an IssueComment with the id of '{input['id']}'")
        self._writable(found.repo, found.user)
        self._tried(lambda: edit_comment(self.call, found, check_text("IssueComment", input["body"])))
        return {"issueComment": found}

    def addReaction(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """React, once."""
        subject, content = self.visible(input["subjectId"]), REACTIONS[input["content"]]
        self._writable(subject.repo, self.call.actor)
        known = next((r for r in subject.reactions if r.user is self.call.actor and r.content == content), None)
        made = known or Reaction(self.call.hub.next_id("reaction"), content, self.call.actor, self.call.hub.clock())
        if known is None:
            subject.reactions.append(made)
        return {"reaction": made, "subject": subject}

    def createLabel(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """Make a label of a repository."""
        repo = self.visible(input["repositoryId"])
        if not isinstance(repo, Repo):
            raise refused("NOT_FOUND", "Could not resolve to a Repository")
        self._writable(repo, None)
        if find_label(repo, input["name"]):
            raise refused("UNPROCESSABLE", "Name has already been taken")
        return {"label": self._tried(lambda: make_label(self.call, input["name"], input))}

    def createCheckRun(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """Make a check run of the App that asks."""
        repo, token = self.visible(input["repositoryId"]), self.call.token
        if token is None or token.app is None or not self.call.hub.token_allows(token, repo, "checks", "write"):
            raise refused("FORBIDDEN", "Resource not accessible by integration")
        self.call.target = repo
        names = {"headSha": "head_sha", "externalId": "external_id", "detailsUrl": "details_url"}
        body = {names.get(name, name): value for name, value in input.items() if name != "repositoryId"}
        body |= {name: body[name].lower() for name in ("status", "conclusion") if name in body}
        app = token.app
        return {"checkRun": self._tried(lambda: make_check(self.call, app, body))}

    def updateRefs(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """Move refs that are where they are said to be: all of them or none."""
        repo, token = self.visible(input["repositoryId"]), self.call.token
        if token is None or not self.call.hub.token_allows(token, repo, "contents", "write") or repo.archived:
            raise refused("FORBIDDEN", "Resource not accessible by integration")
        self.call.target, git = repo, self.call.hub.git_dir(repo)
        for wanted in input["refUpdates"]:
            at, before, after = gitstore.ref(git, wanted["name"]) or ZERO, wanted.get("beforeOid"), wanted["afterOid"]
            if before not in {None, at} or wanted["name"] == f"refs/heads/{repo.default_branch}":
                raise refused("UNPROCESSABLE", f"{wanted['name']} is at {at}, not at {before}")
            if ZERO not in {at, after} and not wanted["force"] and not gitstore.is_ancestor(git, at, after):
                raise refused("UNPROCESSABLE", "Update is not a fast forward")
        for wanted in input["refUpdates"]:
            self._tried(lambda moved=wanted: move(self.call, moved["name"], moved["afterOid"]))
        return {}

    def addLabelsToLabelable(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """Put labels on an issue or a pull request."""
        subject, labels = self._labelled(input)
        self._tried(lambda: add_labels(self.call, subject, labels))
        return {"labelable": subject}

    def removeLabelsFromLabelable(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        """Take labels off; one that is not on it is passed over, or refused where a test wants it so."""
        subject, labels = self._labelled(input)
        if (kind := self.call.hub.absent_labels) and not all(label in subject.labels for label in labels):
            raise refused(kind, "The label is not on it")
        for label in labels:
            if label in subject.labels:
                remove_label(self.call, subject, label)
        return {"labelable": subject}

    def _labelled(self, wanted: dict[str, Any]) -> tuple[Issue, list[Label]]:
        subject = self._subject(wanted["labelableId"], role="triage")
        labels = [self.visible(number) for number in wanted["labelIds"]]
        if not all(isinstance(label, Label) and label in subject.repo.labels for label in labels):
            raise refused("NOT_FOUND", "Could not resolve to a Label")
        return subject, labels

    def _subject(self, wanted: str, role: str = "read") -> Issue:
        """An issue or pull request that the caller may write to."""
        found = self.visible(wanted)
        if not isinstance(found, Issue):
            raise refused("NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'")
        self._writable(found.repo, None if role != "read" else self.call.actor)
        return found

    def _writable(self, repo: Repo, author: User | None) -> None:
        """Refuse who may not write; somebody's own is theirs with read."""
        self.call.target = repo
        token, own = self.call.token, self.call.token_actor is author
        role = "read" if own else "write"
        allowed = token and any(
            self.call.hub.token_allows(token, repo, name, "write", role) for name in ("issues", "pull_requests")
        )
        if not allowed or repo.archived:
            raise refused("FORBIDDEN", "Resource not accessible by integration")

    @staticmethod
    def _tried(change: Callable[[], Any]) -> Any:
        """A change as the REST API makes it, its refusal as GraphQL words it."""
        try:
            return change()
        except ApiError as error:
            kind = {403: "FORBIDDEN", 404: "NOT_FOUND"}.get(error.status, "UNPROCESSABLE")
            raise refused(kind, str(error)) from error
