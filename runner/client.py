"""HTTP to the bot, and to GitHub's OIDC endpoint: five requests, each with a time-out and one meaning a status.

Errors::

    ClientError             str() is a sentence for a person
    ├── RefusedError             the bot answered no: final, its own sentence
    │   └── NotYetError          409 with Retry-After: ask again after ``retry_after`` seconds
    └── UnreachableError         nothing usable came back: network, 5xx, 429; a later try may do
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import httpx
from pydantic import ValidationError
from tenacity import Retrying, retry_if_exception_type, stop_before_delay, wait_exponential_jitter

from runner.contract import Claim, EndedPlans, Progress, ProgressAnswer, PushToken, PushTokenRequest
from runner.results import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenacity import RetryCallState

    from runner.settings import Settings

REQUEST_TIMEOUT = 15.0
"""Seconds for one request, from connecting to the last byte waited for."""
CLAIM_DEADLINE = 120.0
"""Seconds that a claim is asked again while the bot does not know the run id yet, or can't be reached."""
REPORT_DEADLINE = 60.0
"""Seconds that a report is sent again; after that it stays on disk for the next start."""
PUSH_TOKEN_DEADLINE = 60.0
"""Seconds that a push token is asked for again; each request carries an OIDC token of its own."""
LONGEST_WAIT = 15.0
"""Seconds between two tries at most, whatever a Retry-After says."""
SERVER_ERROR = 500
"""Statuses from here on, and 429, say that a later try may do."""
TOO_MANY = 429
MAX_SENTENCE = 600
"""Characters of the bot's own words that are shown."""

BACKOFF = wait_exponential_jitter(multiplier=0.5, max=LONGEST_WAIT)

M = TypeVar("M", bound=Message)
T = TypeVar("T")


class ClientError(Exception):
    """Base of what can go wrong; ``str()`` is a sentence."""


class RefusedError(ClientError):
    """The bot answered, and the answer is no."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class NotYetError(RefusedError):
    """The bot asks to come back in ``retry_after`` seconds."""

    def __init__(self, status: int, sentence: str, retry_after: float) -> None:
        super().__init__(status, sentence)
        self.retry_after = retry_after


class UnreachableError(ClientError):
    """No usable answer came; nothing is known about what the other side did."""


class Bot(Protocol):
    """What a claimed job asks of the bot while it runs."""

    def progress(self, job: str, key: str, progress: Progress, /) -> ProgressAnswer:
        """Tell where the job is; returns whether it must end."""

    def push_token(self, job: str, request: PushTokenRequest, /) -> PushToken:
        """Ask for the right to push one commit."""

    def ended_plans(self, key: str, /) -> EndedPlans:
        """Ask which plans' worktrees may go."""


class Client:
    """Speaks for one runner process; usable from several threads, as ``httpx.Client`` is."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._http = httpx.Client(timeout=REQUEST_TIMEOUT, follow_redirects=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._http.close()

    def claim(self, job: str, *, deadline: float = CLAIM_DEADLINE) -> Claim:
        """Claim the job, asking again while the bot says "not yet"; raises :class:`ClientError`."""
        return _again(
            lambda: self._send("POST", f"/runner/jobs/{job}/claim", self.identity_token(), None, Claim), deadline
        )

    def progress(self, job: str, key: str, progress: Progress) -> ProgressAnswer:
        """Send one heartbeat, once."""
        return self._send("POST", f"/runner/jobs/{job}/progress", key, _json(progress), ProgressAnswer)

    def push_token(self, job: str, request: PushTokenRequest, *, deadline: float = PUSH_TOKEN_DEADLINE) -> PushToken:
        """Ask for the right to push one commit; the OIDC token is new at each try, since each is taken once."""
        path, body = f"/runner/jobs/{job}/push-token", _json(request)
        return _again(lambda: self._send("POST", path, self.identity_token(), body, PushToken), deadline)

    def report(self, job: str, key: str, body: bytes, *, deadline: float = REPORT_DEADLINE) -> None:
        """Send a report until it is accepted or ``deadline`` seconds are over."""
        timeout = min(REQUEST_TIMEOUT, deadline)
        _again(lambda: self._exchange("PUT", f"/runner/jobs/{job}/report", key, body, timeout), deadline)

    def ended_plans(self, key: str) -> EndedPlans:
        """Ask which plans' worktrees may go."""
        return self._send("GET", "/runner/plans/ended", key, None, EndedPlans)

    def is_ready(self) -> bool:
        """Whether the bot answers at all."""
        try:
            return self._http.get(f"{self._settings.url}/healthz").is_success
        except httpx.HTTPError:
            return False

    def identity_token(self) -> str:
        """Ask GitHub for a fresh OIDC token whose audience is the bot."""
        identity = self._settings.identity
        if identity is None:
            raise RefusedError(
                0, "This run may not prove who it is: the workflow needs the permission `id-token: write`."
            )
        try:
            response = self._http.get(
                httpx.URL(identity.url).copy_merge_params({"audience": self._settings.url}),
                headers={"Authorization": f"bearer {identity.token}", "Accept": "application/json"},
            )
            value = response.raise_for_status().json()["value"]
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
            raise UnreachableError(f"GitHub gave no OIDC token: {_name(error)}.") from error
        return str(value)

    def _send(self, method: str, path: str, bearer: str, body: bytes | None, answer: type[M]) -> M:
        content = self._exchange(method, path, bearer, body)
        try:
            return answer.model_validate_json(content)
        except ValidationError as error:
            raise RefusedError(
                200, f"The bot's answer to {path} is not one this runner understands: install the bot's version of it."
            ) from error

    def _exchange(
        self, method: str, path: str, bearer: str, body: bytes | None, timeout: float = REQUEST_TIMEOUT
    ) -> bytes:
        headers = {"Authorization": f"Bearer {bearer}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            address = self._settings.url + path
            response = self._http.request(method, address, headers=headers, content=body, timeout=timeout)
        except httpx.HTTPError as error:
            raise UnreachableError(f"The bot at {self._settings.url} can't be reached: {_name(error)}.") from error
        if response.is_success:
            return response.content
        raise _fault(response)


def _again(attempt: Callable[[], T], deadline: float) -> T:
    """Run ``attempt`` until it answers, is refused, or ``deadline`` seconds are over."""
    retrying = Retrying(
        retry=retry_if_exception_type((NotYetError, UnreachableError)),
        wait=_wait,
        stop=stop_before_delay(deadline),
        reraise=True,
    )
    return retrying(attempt)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return min(error.retry_after, LONGEST_WAIT) if isinstance(error, NotYetError) else BACKOFF(state)


def _fault(response: httpx.Response) -> ClientError:
    status, sentence = response.status_code, _sentence(response)
    if status == TOO_MANY or status >= SERVER_ERROR:
        return UnreachableError(f"The bot answered {status}: {sentence}")
    try:
        return NotYetError(status, sentence, max(0.0, float(response.headers["Retry-After"])))
    except (KeyError, ValueError):
        return RefusedError(status, sentence)


def _sentence(response: httpx.Response) -> str:
    """Return the bot's own words: ``{"error": "…"}``, else what came as text."""
    try:
        words = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        words = response.text
    return " ".join(str(words).split())[:MAX_SENTENCE] or response.reason_phrase


def _json(message: Message) -> bytes:
    return message.model_dump_json().encode()


def _name(error: Exception) -> str:
    return f"{type(error).__name__} {error}".strip()[:200]
