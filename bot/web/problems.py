"""How the API says no: a problem document (RFC 9457) with a sentence."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response

from bot.web.openapi import PROBLEM
from bot.wire import Problem


def problem(status: int, sentence: str, retry_after: int | None = None) -> Response:
    """Return a refusal."""
    said = Problem(title=HTTPStatus(status).phrase, status=status, detail=sentence)
    answer = Response(said.model_dump_json(), status, content_type=PROBLEM)
    answer.headers["Cache-Control"] = "no-store"
    if status == HTTPStatus.UNAUTHORIZED:
        answer.headers["WWW-Authenticate"] = "Bearer"
    if retry_after is not None:
        answer.headers["Retry-After"] = str(retry_after)
    return answer
