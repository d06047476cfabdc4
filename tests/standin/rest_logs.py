"""REST: the log of an Actions job: a redirect to a text elsewhere, which anybody may read for a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response

from tests.standin.errors import not_found
from tests.standin.http import Api, Call, Result

if TYPE_CHECKING:
    from tests.standin.model import Hub

URL_SECONDS = 60.0


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module; the text lies outside of the API."""
    api, elsewhere = Api("logs", hub), Blueprint("logs_elsewhere", __name__)
    given: dict[str, tuple[str, float]] = {}

    @api.route("GET", "/repos/<owner>/<name>/actions/jobs/<int:job>/logs", "actions/download-job-logs-for-workflow-run")
    def log(call: Call, job: int) -> Result:
        call.need("actions")
        text = hub.job_logs.get((call.repo.id, job))
        if text is None:
            raise not_found()
        key = f"{hub.random.getrandbits(96):024x}"
        given[key] = (text, hub.clock() + URL_SECONDS)
        return "", 302, {"Location": f"{hub.base_url}/_logs/{key}"}

    @elsewhere.get("/_logs/<key>")
    def text(key: str) -> Response:
        found, until = given.get(key, ("", 0.0))
        gone = hub.clock() >= until
        return Response(status=404) if gone else Response(found, mimetype="text/plain")

    both = Blueprint("job_logs", __name__)
    both.register_blueprint(api.blueprint)
    both.register_blueprint(elsewhere)
    return both
