"""Who somebody is to a repository: asked by number, since logins change hands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.github import shapes
from bot.github.connection import Verbs
from bot.github.gateway import Missing
from bot.github.glance import look
from bot.github.quote import segment
from bot.lifecycle.policy import Permission

if TYPE_CHECKING:
    from bot.lifecycle.plan import Person, Repo


class People(Verbs):
    """What the bot asks about people. Nothing of it is kept beyond one decision."""

    def permission(self, repo: Repo, person: Person) -> Permission:
        """Return what the person with this number may do; their login is looked up anew where it is another's now."""
        looking = look(repo)
        if looking is None:
            return self._permission(repo, person)
        if person.id not in looking.permissions:
            looking.permissions[person.id] = self._permission(repo, person)
        return looking.permissions[person.id]

    def _permission(self, repo: Repo, person: Person) -> Permission:
        answer = self._permission_of(repo, person.login)
        if answer is None or (answer.get("user") or {}).get("id") != person.id:
            login = self._login(repo, person.id)
            answer = self._permission_of(repo, login) if login else None
        if answer is None or (answer.get("user") or {}).get("id") != person.id:
            return Permission.NONE
        return shapes.permission(answer)

    def _permission_of(self, repo: Repo, login: str) -> Any:
        try:
            return self._at(repo).call("GET", f"/collaborators/{segment(login)}/permission")
        except Missing:
            self._must_be_there(repo)
            return None

    def _login(self, repo: Repo, user_id: int) -> str | None:
        try:
            return str(self._connection.rest(repo).call("GET", f"/user/{user_id}")["login"])
        except Missing:
            return None

    def public_email(self, repo: Repo, person: Person) -> str | None:
        """Return the e-mail address that the person shows on their profile; None without one."""
        try:
            email = self._connection.rest(repo).call("GET", f"/user/{person.id}").get("email")
        except Missing:
            return None
        return str(email) if email else None

    def team_member(self, repo: Repo, org: str, team: str, person: Person) -> bool:
        """Whether the person is in a team (by its slug) or one below it; a team that is not there has no members."""
        login = self._login(repo, person.id)
        if login is None:
            return False
        path = f"/orgs/{segment(org)}/teams/{segment(team)}/memberships/{segment(login)}"
        try:
            return bool(self._connection.rest(repo).call("GET", path)["state"] == "active")
        except Missing:
            return False
