"""The web application: its parts on one address, and JSON for what none of them answers."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from flask import Flask, abort, request
from werkzeug.exceptions import HTTPException

from bot import trail
from bot.web.problems import to_program

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from flask import Blueprint

log = logging.getLogger(__name__)

UNREMARKABLE = frozenset({"/healthz", "/readyz", "/metrics"})
"""What machines ask for every few seconds, and the log tells of only where it fails."""
LARGEST_BODY = 1024 * 1024
"""Bytes of a request, where nothing else is said: a form as long as any that a page sends."""
FAULTY = 500
"""The lowest status that is a fault of ours."""


def create_app(*parts: Blueprint) -> Flask:
    """Return the application of these parts. What they raise unforeseen is logged and answered without details."""
    app = Flask("twogate", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    for part in parts:
        app.register_blueprint(part)

    app.before_request(_refuse_unstorable)
    app.register_error_handler(HTTPException, to_program)
    app.wsgi_app = Requests(app.wsgi_app)  # type: ignore[method-assign]  # as Flask's documentation has it
    return app


def _refuse_unstorable() -> None:
    """Refuse an address with a zero byte: nothing is called so, and PostgreSQL can't even be asked."""
    if "\0" in request.path or any("\0" in text for texts in request.args.listvalues() for text in texts):
        abort(400, "There is a zero byte in this address, which is in no name here.")


class Requests:
    """Each request as the log and traces have it: method, path, status, time; no query, no header, no body."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one."""
        method, path, began = environ["REQUEST_METHOD"], environ.get("PATH_INFO", ""), time.monotonic()
        status = 0

        def started(line: str, *rest: Any) -> Any:
            nonlocal status
            status = int(line[:3])
            return start_response(line, *rest)

        with trail.working("request", method=method, path=path):
            answer = self._app(environ, started)
            trail.note(status=status, ms=round((time.monotonic() - began) * 1_000))
            if path not in UNREMARKABLE or status >= FAULTY:
                log.info("%s %s: %d", method, path, status)
        return answer
