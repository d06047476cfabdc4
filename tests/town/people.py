"""People of the town: everything they do is an HTTP request with a token of their own."""

from __future__ import annotations

from typing import Any

import httpx

TIMEOUT = 30.0
"""Seconds that one request of a person may take."""


class Person:
    """A GitHub user. Methods raise :class:`httpx.HTTPStatusError` where GitHub refuses."""

    def __init__(self, login: str, token: str, api_url: str, repository: str) -> None:
        self.login = login
        self.token = token
        self._repository = repository
        self._pages = f"{api_url.removesuffix('/api/v3')}/_control"
        self._client = httpx.Client(
            base_url=f"{api_url}/repos/{repository}",
            headers={"Authorization": f"token {token}", "Accept": "application/vnd.github+json"},
            timeout=TIMEOUT,
            verify=False,  # loopback without TLS: reading the machine's certificates would only take time
        )

    def call(self, method: str, path: str, /, **json: Any) -> Any:
        """Send one request and return its JSON."""
        answer = self._client.request(method, path, json=json or None)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    # what people do

    def open_issue(self, title: str, body: str = "") -> int:
        """Open an issue and return its number."""
        return self.call("POST", "/issues", title=title, body=body)["number"]

    def label(self, issue: int, name: str) -> None:
        """Put a label on an issue."""
        self.call("POST", f"/issues/{issue}/labels", labels=[name])

    def unlabel(self, issue: int, name: str) -> None:
        """Take a label off."""
        self.call("DELETE", f"/issues/{issue}/labels/{name}")

    def comment(self, issue: int, body: str) -> int:
        """Write a comment and return its id."""
        return self.call("POST", f"/issues/{issue}/comments", body=body)["id"]

    def edit_comment(self, comment: int, body: str) -> None:
        """Edit a comment, one's own or (as a maintainer) anybody's."""
        self.call("PATCH", f"/issues/comments/{comment}", body=body)

    def react(self, comment: int, content: str = "+1") -> int:
        """React to a comment and return the reaction's id."""
        return self.call("POST", f"/issues/comments/{comment}/reactions", content=content)["id"]

    def edit_issue(self, issue: int, **changed: str) -> None:
        """Change the title or the body of an issue."""
        self.call("PATCH", f"/issues/{issue}", **changed)

    def close_issue(self, issue: int, reason: str = "completed") -> None:
        """Close an issue as ``completed``, ``not_planned`` or ``duplicate``."""
        self.call("PATCH", f"/issues/{issue}", state="closed", state_reason=reason)

    def reopen(self, issue: int) -> None:
        """Open an issue or a pull request again."""
        self.call("PATCH", f"/issues/{issue}", state="open")

    def lock(self, issue: int) -> None:
        """Lock a conversation."""
        self.call("PUT", f"/issues/{issue}/lock")

    def unlock(self, issue: int) -> None:
        """Open a conversation again."""
        self.call("DELETE", f"/issues/{issue}/lock")

    def comment_commit(self, sha: str, body: str, path: str | None = None, line: int | None = None) -> int:
        """Write a comment on a commit, or beside a line of a file of it, and return its id."""
        place = {"path": path, "line": line} if path else {}
        return self.call("POST", f"/commits/{sha}/comments", body=body, **place)["id"]

    def review(self, pull: int, event: str, body: str = "", comments: list[dict[str, Any]] | None = None) -> int:
        """Hand in a review (APPROVE, REQUEST_CHANGES or COMMENT) with comments of ``path``, ``line``, ``body``."""
        return self.call("POST", f"/pulls/{pull}/reviews", event=event, body=body, comments=comments or [])["id"]

    def comment_line(self, pull: int, path: str, line: int, body: str) -> int:
        """Write a single comment beside a line of a pull request and return its id."""
        place = {"path": path, "line": line, "commit_id": self.pull(pull)["head"]["sha"]}
        return self.call("POST", f"/pulls/{pull}/comments", body=body, **place)["id"]

    def reply(self, pull: int, comment: int, body: str) -> int:
        """Answer a comment beside a line of a pull request and return the answer's id."""
        return self.call("POST", f"/pulls/{pull}/comments/{comment}/replies", body=body)["id"]

    def transfer(self, issue: int, to: str) -> int:
        """Move an issue to another repository of the owner and return its number there."""
        return self._on_a_page("transfer_issue", number=issue, to=to)["number"]

    def delete_issue(self, issue: int) -> None:
        """Delete an issue."""
        self._on_a_page("delete_issue", number=issue)

    def convert(self, issue: int) -> None:
        """Convert an issue to a discussion."""
        self._on_a_page("convert_issue", number=issue)

    def press(self, check_run: int, button: str) -> None:
        """Press a button of a check run."""
        named = {"repo": self._repository, "login": self.login}
        self._post("press", **named, check_run=check_run, identifier=button)

    def enqueue(self, pull: int) -> str:
        """Put a pull request into the merge queue and return the commit that is to be checked."""
        return self._on_a_page("enqueue", pull=pull)["head"]

    def dequeue(self, pull: int, reason: str = "MANUAL") -> None:
        """Take a pull request out of the merge queue."""
        self._on_a_page("dequeue", pull=pull, reason=reason)

    def merge_queued(self, pull: int) -> None:
        """Let the merge queue merge a pull request."""
        self._on_a_page("merge_queued", pull=pull)

    def _on_a_page(self, deed: str, **json: Any) -> Any:
        """Do what people do on GitHub's pages and Apps can't by its REST API."""
        return self._post(deed, repo=self._repository, sender=self.login, **json)

    def _post(self, deed: str, **json: Any) -> Any:
        answer = self._client.post(f"{self._pages}/{deed}", json=json)
        answer.raise_for_status()
        return answer.json()

    def merge(self, pull: int) -> None:
        """Merge a pull request."""
        self.call("PUT", f"/pulls/{pull}/merge", merge_method="merge")

    def close_pull(self, pull: int) -> None:
        """Close a pull request unmerged."""
        self.call("PATCH", f"/pulls/{pull}", state="closed")

    # what people see

    def comments(self, issue: int) -> list[dict[str, Any]]:
        """The whole thread of an issue."""
        return self.pages(f"/issues/{issue}/comments")

    def labels(self, issue: int) -> list[str]:
        """An issue's labels."""
        return [label["name"] for label in self.pages(f"/issues/{issue}/labels")]

    def pull(self, number: int) -> dict[str, Any]:
        """A pull request."""
        return self.call("GET", f"/pulls/{number}")

    def pages(self, path: str) -> list[dict[str, Any]]:
        """All pages of a list."""
        found: list[dict[str, Any]] = []
        url: str | None = f"{path}?per_page=100"
        while url is not None:
            answer = self._client.get(url)
            answer.raise_for_status()
            found += answer.json()
            url = answer.links.get("next", {}).get("url")
        return found
