"""The JSON Schema of the policy file, for editors: anybody may read it, from any page."""

from __future__ import annotations

import json
from functools import cache

from flask import Blueprint, Response

from bot.lifecycle.policy_file import json_schema

KEPT_SECONDS = 3_600
"""That an editor need not ask again; the schema changes with a release alone."""


def blueprint() -> Blueprint:
    """Return the one address."""
    pages = Blueprint("schema", __name__, url_prefix="/schema")

    @pages.get("/twogate.json")
    def schema() -> Response:
        answer = Response(_text(), mimetype="application/schema+json")
        answer.cache_control.public = True
        answer.cache_control.max_age = KEPT_SECONDS
        answer.access_control_allow_origin = "*"
        return answer

    return pages


@cache
def _text() -> str:
    return json.dumps(json_schema(), indent=2)
