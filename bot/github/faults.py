"""What went wrong with a request -> what the worker does about it.

The one place where failures of githubkit and httpx become those of :mod:`bot.errors`. Facts: "Rate limits for the REST
API" and "Rate limits and query limits for the GraphQL API" in GitHub's documentation: obey ``retry-after``, else wait
for ``x-ratelimit-reset`` where nothing remains, else a minute; a secondary limit can come as a bare 403 whose text
alone tells, and GraphQL reports limits in an answer of 200.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from githubkit.exception import GitHubException, GraphQLFailed, RateLimitExceeded, RequestError, RequestFailed
from httpx import codes

from bot.errors import Permanent, RetryAt, Transient, TwogateError
from bot.github.gateway import Missing
from bot.github.tokens import WANTS_PERMISSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from githubkit import Response

LIMIT_PAUSE_SECONDS = 60.0
"""How long to wait for a limit that names no time; GitHub asks for at least a minute."""
LONGEST_PAUSE_SECONDS = 3900.0
"""No limit closes a gate for longer: windows are an hour, and a wrong header must not stop the bot for ever."""
CREDENTIALS_PAUSE_SECONDS = 60.0
"""How long to wait where the App is not accepted or suspended: people mend that, and then all goes on."""
SUSPENDED_WORD = "suspended"
"""In GitHub's words where it makes no token for a suspended installation."""
GONE = frozenset({codes.NOT_FOUND, codes.GONE})
"""A deleted issue answers 410, everything else that is absent 404."""
LIMIT_WORDS = ("secondary rate limit", "abuse detection")


class Refused(Permanent):
    """A status of 4xx for good; ``status`` and GitHub's own words for the few verbs to which it means success."""

    def __init__(self, status: int, said: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.said = said


class Suspended(RetryAt):
    """The installation is suspended: nothing works until somebody undoes that, and then all goes on."""


class Unaccepted(RetryAt):
    """GitHub does not accept the credentials themselves (401)."""


class Moved(Missing):
    """The address names a repository or issue that lies elsewhere now. Nothing was done, and nothing is followed."""


@contextmanager
def translated(now: Callable[[], float], gate: str) -> Iterator[None]:
    """Turn githubkit's failures into ours; ``gate`` is what a rate limit closes."""
    try:
        yield
    except GitHubException as error:
        raise fault(error, now(), gate) from error
    except ValueError as error:
        raise Transient(f"GitHub's answer can't be read: {error}") from error


def fault(error: BaseException, now: float, gate: str) -> TwogateError:
    """Return what a failure amounts to."""
    match error:
        case TwogateError():
            found: TwogateError = error
        case RateLimitExceeded():
            found = _limited(error.response, now, gate)
        case RequestFailed():
            found = _refused(error.response, now, gate)
        case RequestError(exc=GitHubException() | TwogateError() as cause):
            found = fault(cause, now, gate)
        case RequestError(exc=cause):
            found = Transient(f"GitHub can't be reached: {type(cause).__name__}: {cause}")
        case GraphQLFailed():
            found = _graphql(error, now, gate)
        case _:
            found = Permanent(f"GitHub can't be asked: {error!r}")
    return found


def _refused(response: Response[Any, Any], now: float, gate: str) -> TwogateError:
    """Sort an error status that githubkit did not take for a rate limit."""
    status, said = response.status_code, message(response)
    request = response.raw_request
    sentence = f"GitHub answered {status} to {request.method} {request.url.path}: {said}"
    if status == codes.TOO_MANY_REQUESTS or (status == codes.FORBIDDEN and speaks_of_limit(said)):
        return _limited(response, now, gate)
    if status == codes.UNAUTHORIZED:
        advice = "Check TWOGATE_APP_ID, the private key and this machine's clock."
        return Unaccepted(now + CREDENTIALS_PAUSE_SECONDS, f"{sentence}. {advice}")
    if status == codes.FORBIDDEN and SUSPENDED_WORD in said.lower():
        return Suspended(now + CREDENTIALS_PAUSE_SECONDS, sentence)
    if status in GONE:
        return Missing(sentence)
    passing = status == codes.FORBIDDEN and request.method == "GET" and WANTS_PERMISSION not in said
    if passing or codes.is_server_error(status) or status == codes.REQUEST_TIMEOUT:
        return Transient(sentence)
    return Refused(status, said, sentence)


def _limited(response: Response[Any, Any], now: float, gate: str) -> RetryAt:
    at = min(max(_reopens(response, now), now + 1), now + LONGEST_PAUSE_SECONDS)
    return RetryAt(at, f"GitHub's rate limit for {gate} is reached: {message(response)}", gate=gate)


def _reopens(response: Response[Any, Any], now: float) -> float:
    """Return when requests are welcome again, in epoch seconds."""
    headers = response.headers
    if (after := headers.get("retry-after", "")).isdecimal():
        return now + int(after)
    spent = headers.get("x-ratelimit-remaining") == "0"
    if spent and (reset := headers.get("x-ratelimit-reset", "")).isdecimal():
        return float(reset)
    return now + LIMIT_PAUSE_SECONDS


def _graphql(error: GraphQLFailed, now: float, gate: str) -> TwogateError:
    said = "; ".join(e.message for e in error.response.errors or ())
    if speaks_of_limit(said):
        return RetryAt(now + LIMIT_PAUSE_SECONDS, f"GitHub's rate limit for {gate} is reached: {said}", gate=gate)
    return Transient(f"GitHub could not answer a query: {said}")


def speaks_of_limit(said: str) -> bool:
    """Whether GitHub's words mean a limit that no header or status tells of."""
    return any(words in said.lower() for words in LIMIT_WORDS)


def message(response: Response[Any, Any]) -> str:
    """Return GitHub's own words about a refusal, with the fields it names."""
    try:
        body = response.json()
    except ValueError:
        return "no readable explanation"
    if not isinstance(body, dict):
        return "no readable explanation"
    errors = body.get("errors")
    details = [_detail(e) for e in errors] if isinstance(errors, list) else []
    said = str(body.get("message") or "no explanation")
    return f"{said} ({'; '.join(details)})" if details else said


def _detail(error: Any) -> str:
    """One entry of ``errors``: an object with a message, one with a field and code, or a bare string."""
    if not isinstance(error, dict):
        return str(error)
    return str(error.get("message") or f"{error.get('field')}: {error.get('code')}")
