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
        self._client = httpx.Client(
            base_url=f"{api_url}/repos/{repository}",
            headers={"Authorization": f"token {token}", "Accept": "application/vnd.github+json"},
            timeout=TIMEOUT,
            verify=False,  # loopback without TLS: reading the machine's certificates would only take time
        )

    def call(self, method: str, path: str, **json: Any) -> Any:
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
