"""The addresses under ``/api/v1``: HTTP in and out, around :class:`bot.web.rest_api.RestApi`."""

from __future__ import annotations

import json
import logging
import re
from functools import cache
from typing import TYPE_CHECKING, Any, get_origin

from flask import Blueprint, Response, request
from pydantic import BaseModel, ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from bot.errors import RetryAt, TwogateError
from bot.web.openapi import JSON, PREFIX, SEGMENTS, document, operations
from bot.web.people import TROUBLE_SECONDS
from bot.web.problems import problem
from bot.web.refusal import Refused
from bot.web.rest_api import Ask, RestApi

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.web.limits import Limiter
    from bot.web.login import Login
    from bot.web.openapi import Operation
    from bot.web.people import Onlooker, People
    from bot.wire.base import Asked

log = logging.getLogger(__name__)

LARGEST_BODY = 512 * 1024
"""Bytes of a request: the longest text that GitHub takes, each of its characters escaped."""
MOST_FAULTS = 5
"""Faults of a request that are named."""
KEPT_SECONDS = 300
"""That a program need not ask again for the document, which changes with a release alone."""
PROVE = (
    "Who asks? Send `Authorization: Bearer` and a GitHub user token, such as `gh auth token` prints, or sign in to the "
    "dashboard."
)
UNREADABLE = "GitHub or the database can't be used just now: ask again in a moment."


def blueprint(api: RestApi, login: Login | None, asking: Limiter) -> Blueprint:
    """Return every address of the API; ``login`` is how the dashboard's sessions are known, where it is open."""
    pages = Blueprint("api", __name__, url_prefix=PREFIX)
    for each in operations(RestApi):
        path = each.path.replace("{", "<").replace("}", ">")
        pages.add_url_rule(path, each.name, _answering(api, each, login, asking), methods=[each.method])

    @pages.get("/openapi.json")
    def openapi() -> Response:
        answer = Response(_document(), mimetype=JSON)
        answer.cache_control.public = True
        answer.cache_control.max_age = KEPT_SECONDS
        return _matched(answer)

    _refuse(pages)
    return pages


@cache
def _document() -> str:
    return json.dumps(document(operations(RestApi)), indent=1)


def _answering(api: RestApi, each: Operation, login: Login | None, asking: Limiter) -> Callable[..., Response]:
    """Return what answers an operation at its address."""
    carry_out = getattr(api, each.name)

    def answer(**names: str) -> Response:
        who = _onlooker(api.people, login)
        asking.count(who.person.id)
        key = request.headers.get("Idempotency-Key") if each.changes else None
        body = _body(each.body) if each.body is not None else None
        told = carry_out(Ask(who, _names(names), _query(each.query), body, key))
        text = told.model_dump_json() if isinstance(told, BaseModel) else told
        done = Response(text, each.status, content_type=f"{each.media}; charset=utf-8" if each.media != JSON else JSON)
        if each.changes:
            done.headers["Cache-Control"] = "no-store"
            return done
        done.headers["Cache-Control"] = "private, no-cache"
        done.headers["Vary"] = "Authorization, Cookie"
        return _matched(done)

    return answer


def _matched(answer: Response) -> Response:
    """Return an answer, or that it is as the client has it."""
    answer.add_etag()
    answer.make_conditional(request.environ)
    return answer


def _onlooker(people: People, login: Login | None) -> Onlooker:
    """Return who asks: by a token, else by the dashboard's session, whose pages alone may change something."""
    given = request.headers.get("Authorization")
    if given is not None:
        kind, _, token = given.partition(" ")
        if kind.lower() != "bearer" or not token.strip():
            raise Refused(401, PROVE)
        return people.of_token(token.strip())
    if login is None or not login.secret:
        raise Refused(401, PROVE)
    if request.method not in {"GET", "HEAD"}:
        login.check_csrf()
    return login.onlooker()


def _names(given: dict[str, str]) -> dict[str, Any]:
    """Return what stands in the address; what can't be the name of anything is the name of nothing."""
    return {name: _name(SEGMENTS[name], text) for name, text in given.items()}


def _name(schema: dict[str, Any], text: str) -> str | int:
    if schema["type"] == "integer":
        if not re.fullmatch(r"[1-9][0-9]{0,15}", text) or int(text) > schema["maximum"]:
            raise Refused(404, "There is nothing of that number.")
        return int(text)
    if re.fullmatch(schema["pattern"].strip("^$"), text) is None:
        raise Refused(404, "There is nothing of that name.")
    return text


def _query(kind: type[Asked]) -> Asked:
    """Return what stands behind the address. Raises ``Refused`` 400."""
    given: dict[str, Any] = {}
    for name, values in request.args.lists():
        field = kind.model_fields.get(name)
        many = field is not None and get_origin(field.annotation) is tuple
        if len(values) > 1 and not many:
            raise Refused(400, f"`{name[:40]}` was given {len(values)} times: give it once.")
        given[name] = values if many else values[0]
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise Refused(400, f"That can't be asked ({_faults(error)}).") from error


def _body(kind: type[Asked]) -> Asked:
    """Return the request's body. Raises ``Refused``: 413, 415, 400 where it is no JSON, 422 where it can't be done."""
    if request.mimetype != JSON:
        raise Refused(415, "Send JSON, with `Content-Type: application/json`.")
    request.max_content_length = LARGEST_BODY
    try:
        return kind.model_validate_json(request.get_data())
    except RequestEntityTooLarge as error:
        raise Refused(413, f"That is more than {LARGEST_BODY} bytes, which no request needs.") from error
    except ValidationError as error:
        broken = any(fault["type"] == "json_invalid" for fault in error.errors(include_input=False))
        raise Refused(400 if broken else 422, f"That can't be done ({_faults(error)}).") from error


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_input=False, include_url=False)
    named = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}".removeprefix(": ") for each in faults]
    return "; ".join(named[:MOST_FAULTS])


def _refuse(pages: Blueprint) -> None:
    """Say what each failure is; what is no failure of ours to name is the application's."""

    @pages.errorhandler(Refused)
    def refused(refusal: Refused) -> Response:
        log.info("%s %s: %d %s", request.method, request.path, refusal.status, refusal.sentence)
        return problem(refusal.status, refusal.sentence, refusal.retry_after)

    @pages.errorhandler(TwogateError)
    def later(error: TwogateError) -> Response:
        log.warning("%s %s: %s", request.method, request.path, error)
        return problem(503, str(error) if isinstance(error, RetryAt) else UNREADABLE, TROUBLE_SECONDS)
