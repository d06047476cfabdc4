"""What is asked of GitHub as a person: with a token of theirs, of whatever kind, and never as the App.

A site on which somebody signs in with GitHub gets a token that names them, and could show it here. So a token speaks
for its person where it could comment on GitHub as well: a classic or OAuth token by its scopes, a GitHub App's if it is
this App's. Facts: docs.github.com, "Scopes for OAuth apps" (other kinds of tokens have no ``X-OAuth-Scopes``) and "List
app installations accessible to the user access token" (they are all of the App that the token is of).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from httpx import codes

from bot.github.faults import Refused, Unaccepted
from bot.github.gateway import Holder, Missing, OpenedIssue, PeoplesGateway, Unproved
from bot.github.quote import segment
from bot.lifecycle.permission import Permission
from bot.lifecycle.plan import Person

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from httpx import Headers

    from bot.github.clients import Clients
    from bot.github.rest import Rest
    from bot.lifecycle.plan import Repo

ALIASES = 100
"""Repositories asked for in one query."""
SCOPES = "x-oauth-scopes"
SPEAKING = frozenset({"repo", "public_repo"})
"""Scopes with which a token can comment."""
OF_AN_APP = "ghu_"
"""How a token of a GitHub App for a person begins."""


class Holders(PeoplesGateway):
    """The people's gateway of one GitHub host. Safe to share between threads."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def holder(self, token: str) -> Holder:
        """Return whose token it is. Raises ``Unproved`` for a bot's, too."""
        with self._as(token) as rest:
            response = _self_described(rest)
            speaks = self._is_ours(rest) if token.startswith(OF_AN_APP) else _in_scope(response.headers)
        json = response.json()
        if json["type"] == "Bot":
            raise Unproved("This token is a bot's, and bots decide nothing here.")
        return Holder(Person(id=json["id"], login=json["login"]), speaks)

    def visible(self, token: str, repos: Collection[Repo]) -> dict[int, Permission]:
        """Return by number those of the repositories that GitHub shows to the token, and what its person may do."""
        asked, found = list(repos), dict[int, Permission]()
        with self._as(token) as rest:
            for start in range(0, len(asked), ALIASES):
                found |= _shown(rest, asked[start : start + ALIASES])
        return found

    def open_issue(self, token: str, repo: Repo, title: str, body: str, labels: Sequence[str]) -> OpenedIssue:
        """Open an issue as the person, where the repository lies now."""
        wanted = {"title": title, "body": body, "labels": list(labels)}
        with self._as(token) as rest:
            place = rest.call("GET", f"/repositories/{repo.id}")
            path = f"/repos/{segment(place['owner']['login'])}/{segment(place['name'])}/issues"
            made = rest.call("POST", path, json=wanted)
        named = frozenset(label["name"] for label in made["labels"])
        return OpenedIssue(number=made["number"], url=made["html_url"], labels=named)

    def _is_ours(self, rest: Rest) -> bool:
        """Whether a token is of this App; of one that reaches nothing, or may not say so, it can't be told."""
        try:
            found = rest.call("GET", "/user/installations", params={"per_page": 1})["installations"]
        except (Missing, Refused):
            return False
        return bool(found) and found[0]["app_id"] == self._clients.app_id

    @contextmanager
    def _as(self, token: str) -> Iterator[Rest]:
        with self._clients.bearing(token, "this token") as rest:
            try:
                yield rest
            except Unaccepted as refusal:
                raise Unproved("GitHub does not accept this token (any more).") from refusal


def _self_described(rest: Rest) -> Any:
    try:
        return rest.send("GET", "/user")
    except Refused as refusal:
        if refusal.status != codes.FORBIDDEN:
            raise
        raise Unproved("GitHub says that this token is no person's.") from refusal


def _in_scope(headers: Headers) -> bool:
    scopes = headers.get(SCOPES)
    return scopes is None or not SPEAKING.isdisjoint(scope.strip() for scope in scopes.split(","))


def _shown(rest: Rest, repos: Sequence[Repo]) -> dict[int, Permission]:
    names = [part for n in range(len(repos)) for part in (f"$o{n}:String!", f"$n{n}:String!")]
    parts = [f"r{n}:repository(owner:$o{n},name:$n{n}){{databaseId viewerPermission}}" for n in range(len(repos))]
    values = {f"{key}{n}": name for n, repo in enumerate(repos) for key, name in (("o", repo.owner), ("n", repo.name))}
    data = rest.query(f"query Visible({','.join(names)}){{{' '.join(parts)}}}", values)
    found = {}
    for n, repo in enumerate(repos):
        permission = _permission(rest, repo, data[f"r{n}"])
        if permission is not None:
            found[repo.id] = permission
    return found


def _permission(rest: Rest, repo: Repo, answer: Any) -> Permission | None:
    """Return what the person may do; None where they see nothing. A namesake is told apart by its number.

    Whether GraphQL tells a permission to every kind of token is not documented; REST tells it with the repository.
    """
    if answer is None:
        return None
    if answer["databaseId"] == repo.id and answer["viewerPermission"]:
        return Permission[answer["viewerPermission"]]
    try:
        rights = rest.call("GET", f"/repositories/{repo.id}").get("permissions") or {}
    except Missing:
        return None
    named = {"admin": Permission.ADMIN, "maintain": Permission.MAINTAIN, "push": Permission.WRITE}
    named |= {"triage": Permission.TRIAGE, "pull": Permission.READ}
    return max((named[right] for right, held in rights.items() if held and right in named), default=Permission.READ)
