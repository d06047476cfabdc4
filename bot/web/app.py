"""The web application: its parts on one address, and JSON for what none of them answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Flask, jsonify
from werkzeug.exceptions import HTTPException

if TYPE_CHECKING:
    from flask import Blueprint, Response


def create_app(*parts: Blueprint) -> Flask:
    """Return the application of these parts. What they raise unforeseen is logged and answered without details."""
    app = Flask("twogate", static_folder=None)
    for part in parts:
        app.register_blueprint(part)

    @app.errorhandler(HTTPException)
    def refused(error: HTTPException) -> tuple[Response, int]:
        return jsonify({"error": error.description or error.name}), error.code or 500

    return app
