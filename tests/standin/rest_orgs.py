"""REST: members of organisations and of their teams, and users by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.standin.entities import LEVEL_RANK
from tests.standin.errors import ApiError, not_found
from tests.standin.http import NOT_ACCESSIBLE, Api, Call, Result
from tests.standin.render import Render

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.entities import User
    from tests.standin.model import Hub


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("orgs", hub), Render(hub)

    @api.route("GET", "/orgs/<org>/teams/<team>/memberships/<login>", "teams/get-membership-for-user-in-org")
    def in_team(call: Call, org: str, team: str, login: str) -> Result:
        found, person = _organisation(call, org), hub.find_user(login)
        if person is None or person.id not in found.teams.get(team, ()):
            raise not_found()
        url = render.api(f"/organizations/{found.id}/team/1/memberships/{person.login}")
        return {"url": url, "role": "member", "state": "active"}

    @api.route("GET", "/user/<int:number>", "users/get-by-id")
    def by_number(call: Call, number: int) -> Result:
        found = hub.users.get(number)
        if found is None:
            raise not_found()
        return render.full_user(found)

    return api.blueprint


def _organisation(call: Call, login: str) -> User:
    """An organisation whose members the caller may read."""
    found, token = call.hub.find_user(login), call.token
    if found is None or found.type != "Organization" or token is None:
        raise not_found()
    if token.kind == "user":
        if token.actor is None or token.actor.id not in found.members:
            raise not_found()
    elif token.installation is None or token.installation.account is not found:
        raise not_found()
    elif LEVEL_RANK[token.permissions.get("members", "none")] < LEVEL_RANK["read"]:
        raise ApiError(403, NOT_ACCESSIBLE, headers={"X-Accepted-GitHub-Permissions": "members=read"})
    return found
