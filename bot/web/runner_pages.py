"""The addresses under ``/runner``: HTTP in and out, around :class:`bot.web.runner_api.RunnerApi`."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, TypeVar

from flask import Blueprint, Response, request
from pydantic import ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from bot.errors import Permanent, RetryAt, Transient
from bot.web.refusal import Refused
from runner.contract import CONTRACT_VERSION, Progress, PushTokenRequest, Report
from runner.results import Message

if TYPE_CHECKING:
    from bot.web.runner_api import RunnerApi

log = logging.getLogger(__name__)

LARGEST_PROGRESS = 512 * 1024
"""Bytes of a heartbeat: twenty lines and a row for each run of an agent."""
LARGEST_PUSH_REQUEST = 1024 * 1024
"""Bytes of a request to push: a row for each gate, with the end of its output."""
LARGEST_REPORT = 8 * 1024 * 1024
"""Bytes of a report: the patch, cut at 200,000 characters, and everything else that the contract bounds."""
TROUBLE_SECONDS = 5
"""When to come back after passing trouble with GitHub or the database."""
MOST_FAULTS = 5
"""Faults of a message that are named."""

M = TypeVar("M", bound=Message)


def blueprint(api: RunnerApi) -> Blueprint:
    """Return the five addresses."""
    pages = Blueprint("runner", __name__, url_prefix="/runner")

    @pages.post("/jobs/<job>/claim")
    def claim(job: str) -> Response:
        return _answer(api.claim(job, api.identify(_bearer())))

    @pages.post("/jobs/<job>/progress")
    def progress(job: str) -> Response:
        key = _bearer()
        api.check_key(job, key)
        return _answer(api.progress(job, key, _read(Progress, LARGEST_PROGRESS)))

    @pages.post("/jobs/<job>/push-token")
    def push_token(job: str) -> Response:
        claims = api.identify(_bearer())
        return _answer(api.push_token(job, claims, _read(PushTokenRequest, LARGEST_PUSH_REQUEST)))

    @pages.put("/jobs/<job>/report")
    def report(job: str) -> Response:
        key = _bearer()
        api.check_key(job, key)
        api.report(job, key, _read(Report, LARGEST_REPORT))
        return Response("{}", mimetype="application/json")

    @pages.get("/plans/ended")
    def ended() -> Response:
        return _answer(api.ended_plans(_bearer()))

    _refuse(pages)
    return pages


def _refuse(pages: Blueprint) -> None:
    """Say what each failure is to a runner; what is no failure of ours to name is the application's."""

    @pages.errorhandler(Refused)
    def refused(refusal: Refused) -> Response:
        log.info("%s %s: %d %s", request.method, request.path, refusal.status, refusal.sentence)
        return _error(refusal.status, refusal.sentence, refusal.retry_after)

    @pages.errorhandler(Transient)
    @pages.errorhandler(RetryAt)
    def later(error: Exception) -> Response:
        log.warning("%s %s: %s", request.method, request.path, error)
        return _error(503, "GitHub or the database can't be used just now: ask again in a moment.", TROUBLE_SECONDS)

    @pages.errorhandler(Permanent)
    def never(error: Exception) -> Response:
        log.error("%s %s: %s", request.method, request.path, error)
        return _error(403, str(error), None)


def _bearer() -> str:
    """Return the request's token or key."""
    kind, _, word = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not word.strip():
        raise Refused(401, "This address is for runners: it asks for `Authorization: Bearer` and a token or key.")
    return word.strip()


def _read(kind: type[M], largest: int) -> M:
    """Return the request's body as a message, at most ``largest`` bytes of it."""
    request.max_content_length = largest
    try:
        body = request.get_data()
    except RequestEntityTooLarge as error:
        raise Refused(413, f"A {kind.__name__} has at most {largest} bytes: update the runner.") from error
    _check_version(kind, body)
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False)]
        named = "; ".join(faults[:MOST_FAULTS])
        raise Refused(
            422, f"This is no {kind.__name__} that the bot understands ({named}): update the runner."
        ) from error


def _check_version(kind: type[Message], body: bytes) -> None:
    """Tell a message of another version of the contract before its fields are judged."""
    if "version" not in kind.model_fields:
        return
    try:
        version = json.loads(body).get("version", CONTRACT_VERSION)
    except (ValueError, AttributeError, RecursionError):
        return
    if version != CONTRACT_VERSION:
        older = "runner" if not isinstance(version, int) or version < CONTRACT_VERSION else "bot"
        raise Refused(
            422,
            f"This {kind.__name__} is of version {version!r} of the contract, the bot speaks {CONTRACT_VERSION}: "
            f"update the {older}.",
        )


def _answer(message: Message) -> Response:
    return _kept_nowhere(Response(message.model_dump_json(), mimetype="application/json"))


def _error(status: int, sentence: str, retry_after: int | None) -> Response:
    answer = Response(json.dumps({"error": sentence}), status, mimetype="application/json")
    if retry_after is not None:
        answer.headers["Retry-After"] = str(retry_after)
    return _kept_nowhere(answer)


def _kept_nowhere(answer: Response) -> Response:
    """Forbid every cache to keep an answer that may hold a secret."""
    answer.headers["Cache-Control"] = "no-store"
    return answer
