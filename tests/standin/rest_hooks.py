"""REST: the App's webhook deliveries and its rate limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import request

from tests.standin.errors import ApiError, not_found
from tests.standin.http import Api, Call, Result
from tests.standin.render import Render
from tests.standin.rest_apps import the_app
from tests.standin.webhooks import headers

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Blueprint

    from tests.standin.entities import Delivery
    from tests.standin.limits import Limits
    from tests.standin.model import Hub

REDELIVERY_SECONDS = 3 * 24 * 3600
"""Only deliveries of the last three days can be sent again."""
OK_BELOW = 400


def blueprint(hub: Hub, redeliver: Callable[[Delivery], Delivery], limits: Limits) -> Blueprint:
    """The routes of this module."""
    api, render = Api("hooks", hub), Render(hub)

    @api.route("GET", "/app/hook/deliveries", "apps/list-webhook-deliveries")
    def deliveries(call: Call) -> Result:
        return [render.delivery(d) for d in _page(call, _recent(call))]

    @api.route("GET", "/app/hook/deliveries/<int:number>", "apps/get-webhook-delivery")
    def delivery(call: Call, number: int) -> Result:
        return _whole(render, _find(call, number))

    @api.route("POST", "/app/hook/deliveries/<int:number>/attempts", "apps/redeliver-webhook-delivery")
    def attempt(call: Call, number: int) -> Result:
        found = _find(call, number)
        if call.hub.clock() - (found.delivered_at or 0) > REDELIVERY_SECONDS:
            raise ApiError(422, "Deliveries older than three days cannot be redelivered.")
        redeliver(found)
        return {}, 202

    @api.route("GET", "/app/hook/config", "apps/get-webhook-config-for-app")
    def config(call: Call) -> Result:
        app = the_app(call)
        return {"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": app.webhook_url or ""}

    @api.route("GET", "/rate_limit", "rate-limit/get")
    def rate_limit(call: Call) -> Result:
        core = limits.state(call.token)
        return {"resources": {"core": core, "search": core, "graphql": core}, "rate": core}

    return api.blueprint


def _recent(call: Call) -> list[Delivery]:
    app, wanted = the_app(call), call.arg("status")
    mine = [d for d in reversed(call.hub.deliveries) if d.app is app and d.delivered_at is not None]
    if not wanted:
        return mine
    return [d for d in mine if (200 <= d.status_code < OK_BELOW) == (wanted == "success")]


def _page(call: Call, rows: list[Delivery]) -> list[Delivery]:
    size = min(call.number("per_page", 30), 100)
    cursor = request.args.get("cursor", "")
    start = next((i for i, d in enumerate(rows) if f"v1_{d.id}" == cursor), 0)
    if len(rows) > start + size:
        call.headers["Link"] = f'<{call.link(cursor=f"v1_{rows[start + size].id}")}>; rel="next"'
    return rows[start : start + size]


def _find(call: Call, number: int) -> Delivery:
    app = the_app(call)
    found = next((d for d in call.hub.deliveries if d.id == number and d.app is app), None)
    if found is None:
        raise not_found()
    return found


def _whole(render: Render, found: Delivery) -> dict[str, Any]:
    sent = {"headers": headers(found), "payload": found.payload}
    answer = {"headers": {}, "payload": found.response}
    return {**render.delivery(found), "url": found.app.webhook_url or "", "request": sent, "response": answer}
