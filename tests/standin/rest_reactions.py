"""REST: reactions on issues and on comments. They cause no webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.standin.entities import Reaction
from tests.standin.errors import not_found, unprocessable
from tests.standin.http import Api, Call, Result
from tests.standin.render import CONTENTS, Render
from tests.standin.rest_comments import the_comment

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Blueprint

    from tests.standin.model import Hub

REPO = "/repos/<owner>/<name>"


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("reactions", hub), Render(hub)
    issue, comment = f"{REPO}/issues/<int:number>", f"{REPO}/issues/comments/<int:number>"
    _routes(api, render, issue, "issue", lambda call, number: call.issue(number).reactions)
    _routes(api, render, comment, "issue-comment", lambda call, number: the_comment(call, number).reactions)
    return api.blueprint


def _routes(api: Api, render: Render, rule: str, noun: str, reactions: Callable[[Call, int], list[Reaction]]) -> None:
    @api.route("GET", f"{rule}/reactions", f"reactions/list-for-{noun}")
    def listing(call: Call, number: int) -> Result:
        call.need("issues")
        content = call.arg("content")
        rows = [r for r in reactions(call, number) if content in {"", r.content}]
        return [render.reaction(reaction) for reaction in call.page(rows)]

    @api.route("POST", f"{rule}/reactions", f"reactions/create-for-{noun}")
    def create(call: Call, number: int) -> Result:
        call.need("issues", "write", role="read")
        content = call.json().get("content")
        if content not in CONTENTS:
            raise unprocessable("content", f"{content!r} is not a member of {list(CONTENTS)}.")
        rows = reactions(call, number)
        found = next((r for r in rows if r.user is call.actor and r.content == content), None)
        if found is not None:
            return render.reaction(found)
        made = Reaction(call.hub.next_id("reaction"), content, call.actor, call.hub.clock())
        rows.append(made)
        return render.reaction(made), 201

    @api.route("DELETE", f"{rule}/reactions/<int:reaction>", f"reactions/delete-for-{noun}")
    def delete(call: Call, number: int, reaction: int) -> Result:
        call.need("issues", "write", role="read")
        rows = reactions(call, number)
        found = next((r for r in rows if r.id == reaction and r.user is call.actor), None)
        if found is None:
            raise not_found()
        rows.remove(found)
