"""What the doctor asks of GitHub besides: its clock, where it sends webhooks, what guards a branch."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from bot.errors import Transient
from bot.github.connection import Verbs
from bot.github.quote import segments

if TYPE_CHECKING:
    from bot.lifecycle.plan import Repo

GUARDS = frozenset({"pull_request", "update", "merge_queue", "required_status_checks"})
"""Rules each of which keeps a plain push from a branch."""


class Checkup(Verbs):
    """See the module's docstring."""

    def clock(self) -> float:
        """Return the time on GitHub, to the second."""
        answer = self._connection.clients.app.send("GET", "/app")
        try:
            return parsedate_to_datetime(answer.headers.get("date", "")).timestamp()
        except ValueError as error:
            raise Transient("GitHub's answer bears no time.") from error

    def client_id(self) -> str:
        """Return the App's OAuth client."""
        return str(self._connection.clients.app.call("GET", "/app").get("client_id", ""))

    def webhook_url(self) -> str:
        """Return where GitHub sends the App's deliveries; empty where nowhere."""
        return str(self._connection.clients.app.call("GET", "/app/hook/config").get("url") or "")

    def is_guarded(self, repo: Repo, branch: str) -> bool:
        """Return whether a ruleset or a protection keeps plain pushes from a branch."""
        rules = self._at(repo).call("GET", f"/rules/branches/{segments(branch)}")
        if GUARDS & {str(rule.get("type")) for rule in rules}:
            return True
        return bool(self._at(repo).call("GET", f"/branches/{segments(branch)}").get("protected"))
