"""The control API over HTTP: ``POST /_control/<method>`` with JSON arguments, ``GET`` for what only looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, jsonify, request

from tests.standin.control import READS

if TYPE_CHECKING:
    from tests.standin.control import Control


def blueprint(control: Control) -> Blueprint:
    """The routes; 422 with a sentence when a method does not exist or refuses."""
    made = Blueprint("control", __name__, url_prefix="/_control")

    @made.get("/<method>")
    def look(method: str) -> tuple[Response, int]:
        if method not in READS:
            return jsonify({"message": f"{method} is not one of {', '.join(sorted(READS))}."}), 404
        return _call(control, method, dict(request.args))

    @made.post("/<method>")
    def act(method: str) -> tuple[Response, int]:
        if method.startswith("_") or not hasattr(control, method):
            return jsonify({"message": f"there is no control method {method}."}), 404
        return _call(control, method, request.get_json(silent=True) or {})

    return made


def _call(control: Control, method: str, arguments: dict[str, object]) -> tuple[Response, int]:
    try:
        return jsonify(getattr(control, method)(**arguments)), 200
    except (KeyError, ValueError, TypeError, StopIteration) as error:
        return jsonify({"message": f"{method}: {type(error).__name__}: {error}"}), 422
