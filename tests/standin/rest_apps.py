"""REST: the App itself, its installations and tokens, and users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin.entities import LEVEL_RANK, iso
from tests.standin.errors import ApiError, not_found
from tests.standin.http import Api, Call, Result
from tests.standin.oauth import Authorisations
from tests.standin.render import Render

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.entities import App, Installation, Repo, User
    from tests.standin.model import Hub

JWT_NEEDED = "A JSON web token could not be decoded"


def the_app(call: Call) -> App:
    """The App whose JWT this is; 401 for any other credential."""
    if call.token is None or call.token.kind != "app" or call.token.app is None:
        raise ApiError(401, JWT_NEEDED)
    return call.token.app


def the_installation(call: Call) -> Installation:
    """The installation whose token this is; 403 for any other credential."""
    if call.token is None or call.token.installation is None:
        raise ApiError(403, "You must authenticate with an installation access token in order to use this endpoint.")
    return call.token.installation


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("apps", hub), Render(hub)
    _app_routes(api, render)
    _installation_routes(api, render)
    _people_routes(api, render)
    _user_routes(api, render)
    return api.blueprint


def _app_routes(api: Api, render: Render) -> None:
    @api.route("GET", "/app", "apps/get-authenticated")
    def show(call: Call) -> Result:
        app = the_app(call)
        count = sum(1 for i in call.hub.installations.values() if i.app is app)
        return {**render.app(app), "installations_count": count}

    @api.route("GET", "/app/installations", "apps/list-installations")
    def installations(call: Call) -> Result:
        app = the_app(call)
        mine = [i for i in call.hub.installations.values() if i.app is app]
        return [render.installation(made) for made in call.page(mine)]

    @api.route("GET", "/app/installations/<int:number>", "apps/get-installation")
    def installation(call: Call, number: int) -> Result:
        return render.installation(_own(call, number))

    @api.route("GET", "/repos/<owner>/<name>/installation", "apps/get-repo-installation")
    def for_repo(call: Call) -> Result:
        found = call.hub.installation_for(the_app(call), call.repo)
        if found is None:
            raise not_found()
        return render.installation(found)

    @api.route("POST", "/app/installations/<int:number>/access_tokens", "apps/create-installation-access-token")
    def token(call: Call, number: int) -> Result:
        return _mint(call, render, _own(call, number)), 201


def _own(call: Call, number: int) -> Installation:
    found = call.hub.installations.get(number)
    if found is None or found.app is not the_app(call):
        raise not_found()
    return found


def _mint(call: Call, render: Render, made: Installation) -> dict[str, Any]:
    if made.suspended_at is not None:
        raise ApiError(403, "This installation has been suspended")
    body = call.json()
    permissions = _narrowed(made, body.get("permissions"))
    chosen = _chosen(call.hub, made, body)
    ids = None if chosen is None else frozenset(repo.id for repo in chosen)
    token = call.hub.create_installation_token(made, permissions, ids)
    selected = chosen is not None or made.repository_ids is not None
    answer = {
        "token": token.raw,
        "expires_at": iso(token.expires_at),
        "permissions": permissions,
        "repository_selection": "selected" if selected else "all",
    }
    return answer if chosen is None else {**answer, "repositories": [render.repository(repo) for repo in chosen]}


def _narrowed(made: Installation, wanted: dict[str, str] | None) -> dict[str, str]:
    if not wanted:
        return dict(made.permissions)
    for name, level in wanted.items():
        if LEVEL_RANK[made.permissions.get(name, "none")] < LEVEL_RANK.get(level, 9):
            raise ApiError(422, "The permissions requested are not granted to this installation.")
    return {"metadata": "read", **wanted}


def _chosen(hub: Hub, made: Installation, body: dict[str, Any]) -> list[Repo] | None:
    ids, names = body.get("repository_ids"), body.get("repositories")
    if ids is None and names is None:
        return None
    known = hub.installed_repos(made)
    chosen = [r for r in known if r.id in (ids or ()) or r.name in (names or ())]
    if len(chosen) < len(ids or ()) + len(names or ()):
        raise ApiError(
            422, "There is at least one repository that does not exist or is not accessible to the parent installation."
        )
    return chosen


def _installation_routes(api: Api, render: Render) -> None:
    @api.route("GET", "/installation/repositories", "apps/list-repos-accessible-to-installation")
    def repositories(call: Call) -> Result:
        made, token = the_installation(call), call.token
        rows = [r for r in call.hub.installed_repos(made) if token and call.hub.token_covers(token, r)]
        shown = [render.repository(repo) for repo in call.page(rows)]
        selection = "all" if made.repository_ids is None else "selected"
        return {"total_count": len(rows), "repository_selection": selection, "repositories": shown}

    @api.route("DELETE", "/installation/token", "apps/revoke-installation-access-token")
    def revoke(call: Call) -> Result:
        the_installation(call)
        if call.token is not None:
            del call.hub.tokens[call.token.raw]


def _people_routes(api: Api, render: Render) -> None:
    @api.route("GET", "/user/installations", "apps/list-installations-for-authenticated-user")
    def mine(call: Call) -> Result:
        token, hub = call.token, call.hub
        if token is None or token.kind != "user" or token.app is None:
            raise ApiError(403, "You must authenticate with an access token authorized to a GitHub App.")
        if "installations" in hub.refused:
            raise ApiError(403, "Resource not accessible by integration")
        rows = [i for i in hub.installations.values() if i.app is token.app and _reached(hub, i, call.actor)]
        return {"total_count": len(rows), "installations": [render.installation(made) for made in call.page(rows)]}

    @api.route("DELETE", "/applications/<client_id>/token", "apps/delete-token")
    def end(call: Call, client_id: str) -> Result:
        asks = call.token.app if call.token is not None and call.token.kind == "client" else None
        token = call.hub.tokens.get(str(call.json().get("access_token")))
        if asks is None or asks.client_id != client_id or token is None or token.app is not asks:
            raise not_found()
        call.hub.service(Authorisations).end(token.raw)


def _reached(hub: Hub, made: Installation, person: User) -> bool:
    return any(hub.role(repo, person) != "none" for repo in hub.installed_repos(made))


def _user_routes(api: Api, render: Render) -> None:
    @api.route("GET", "/user", "users/get-authenticated")
    def me(call: Call) -> Result:
        if call.token is not None and call.token.kind != "user":
            raise ApiError(403, "Resource not accessible by integration")
        return render.full_user(call.actor)

    @api.route("GET", "/users/<login>", "users/get-by-username")
    def user(call: Call, login: str) -> Result:
        found = call.hub.find_user(login)
        if found is None:
            raise not_found()
        return render.full_user(found)
