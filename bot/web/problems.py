"""How programs are told no: below the API by a problem document (RFC 9457), elsewhere by an error with a sentence."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from flask import Response, jsonify, request

from bot.web.openapi import PREFIX, PROBLEM
from bot.wire import Problem

if TYPE_CHECKING:
    from werkzeug.exceptions import HTTPException


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


def to_program(error: HTTPException) -> Response:
    """Return what no part of the web answers, for a program."""
    code, sentence = error.code or 500, error.description or error.name
    answer = problem(code, sentence) if request.path.startswith(PREFIX) else jsonify({"error": sentence})
    answer.status_code = code
    answer.headers.extend((name, value) for name, value in error.get_headers() if name == "Allow")
    return answer
