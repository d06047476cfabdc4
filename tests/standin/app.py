"""The Flask application of the stand-in: every blueprint, GraphQL, and the JSON of errors."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from flask import Blueprint, Flask, Response, jsonify

from tests.standin import (
    actions,
    git_remote,
    graphql,
    oauth,
    oidc,
    rest_apps,
    rest_checks,
    rest_comments,
    rest_family,
    rest_hooks,
    rest_issues,
    rest_labels,
    rest_logs,
    rest_orgs,
    rest_pulls,
    rest_reactions,
    rest_repos,
    rest_reviews,
    rest_statuses,
)
from tests.standin.errors import ApiError
from tests.standin.http import Api, Call, Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from werkzeug.exceptions import HTTPException

    from tests.standin.entities import Delivery
    from tests.standin.limits import Limits
    from tests.standin.model import Hub

MODULES = (
    rest_apps,
    rest_repos,
    rest_issues,
    rest_labels,
    rest_comments,
    rest_reactions,
    rest_checks,
    rest_pulls,
    rest_reviews,
    rest_statuses,
    rest_family,
    rest_orgs,
    rest_logs,
    git_remote,
    oauth,
    oidc,
    actions,
)


def create_app(hub: Hub, redeliver: Callable[[Delivery], Delivery], limits: Limits) -> Flask:
    """The application over one hub; control API and pages are registered by ``server``."""
    app = Flask(__name__, static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.url_map.merge_slashes = app.url_map.strict_slashes = False
    for module in MODULES:
        app.register_blueprint(module.blueprint(hub))
    app.register_blueprint(rest_hooks.blueprint(hub, redeliver, limits))
    app.register_blueprint(_graphql(hub))
    app.register_error_handler(404, _plain)
    app.register_error_handler(405, _plain)
    app.register_error_handler(500, _broken)
    return app


def _graphql(hub: Hub) -> Blueprint:
    api, schema = Api("graphql", hub, prefix="/api"), graphql.load_schema()

    @api.route("POST", "/graphql", "graphql")
    def query(call: Call) -> Result:
        if call.token is None or call.token.kind == "app":
            raise ApiError(401, "This endpoint requires you to be authenticated.")
        return graphql.answer(call, schema)

    return api.blueprint


def _plain(error: HTTPException) -> tuple[Response, int]:
    return jsonify({"message": "Not Found", "status": "404"}), 404


def _broken(error: HTTPException) -> tuple[Response, int]:
    cause = getattr(error, "original_exception", None) or error
    logging.getLogger(__name__).error("a bug of the stand-in", exc_info=cause)
    return jsonify({"message": f"the stand-in is broken: {type(cause).__name__}: {cause}", "status": "500"}), 500
