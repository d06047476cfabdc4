"""People's sign-in with the App: codes and refresh tokens for tokens of theirs, and the end of those.

By hand, since githubkit sends no ``code_verifier``. Facts: docs.github.com, "Generating a user access token for a
GitHub App" and "Refreshing user access tokens": a fault comes as 200 with ``error``; a token lives eight hours, its
refresh token six months and one use, and using it ends the old pair. Where the App's owner opted out of that, there is
no end and no refresh token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import Permanent, RetryAt, Transient
from bot.github.faults import LIMIT_PAUSE_SECONDS
from bot.github.gateway import SignIn, Tokens, Unproved

if TYPE_CHECKING:
    from collections.abc import Callable

EXCHANGE_SECONDS = 10.0
"""For connecting, sending, and each wait for a part of GitHub's answer; a person waits meanwhile."""
SPENT = frozenset({"bad_verification_code", "bad_refresh_token"})
"""Errors that mean: this code or token is not good (any more). All others are the App's registration."""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    access_token: str = Field(min_length=1)
    expires_in: float | None = None
    refresh_token: str | None = None


class AppSignIn(SignIn):
    """Sign-in with one App on one host. Safe to share between threads."""

    def __init__(
        self, client_id: str, client_secret: str, *, github_url: str, api_url: str, now: Callable[[], float]
    ) -> None:
        self._client = (client_id, client_secret)
        self._github_url = github_url
        self._api_url = api_url
        self._now = now
        self._tls = httpx.create_ssl_context()

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> Tokens:
        """Return a person's tokens for the code that GitHub sent them back with."""
        return self._tokens({"code": code, "code_verifier": verifier, "redirect_uri": redirect_uri})

    def renew(self, refresh_token: str) -> Tokens:
        """Return a new pair of tokens; the old one is over."""
        return self._tokens({"grant_type": "refresh_token", "refresh_token": refresh_token})

    def end(self, token: str) -> None:
        """End a token; one that GitHub does not know any more is as wanted."""
        url = f"{self._api_url}/applications/{self._client[0]}/token"
        answer = self._send("DELETE", url, auth=self._client, json={"access_token": token})
        if answer.is_error and answer.status_code != httpx.codes.NOT_FOUND:
            raise Permanent(f"GitHub answered {answer.status_code} when a token was to be ended.")

    def _tokens(self, asked: dict[str, str]) -> Tokens:
        client_id, client_secret = self._client
        url = f"{self._github_url}/login/oauth/access_token"
        secret = {"client_id": client_id, "client_secret": client_secret, **asked}
        told = _json(self._send("POST", url, data=secret, headers={"Accept": "application/json"}))
        if error := told.get("error"):
            raise _refusal(str(error), str(told.get("error_description") or "no explanation"))
        try:
            found = _Answer.model_validate(told)
        except ValidationError as fault:
            raise Transient("GitHub's answer holds no token.") from fault
        ends_at = None if found.expires_in is None else self._now() + found.expires_in
        return Tokens(found.access_token, ends_at, found.refresh_token)

    def _send(self, method: str, url: str, **parts: Any) -> httpx.Response:
        try:
            with httpx.Client(verify=self._tls, timeout=EXCHANGE_SECONDS, follow_redirects=False) as client:
                answer = client.request(method, url, **parts)
        except httpx.HTTPError as error:
            raise Transient(f"GitHub can't be reached: {type(error).__name__}.") from error
        if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
            raise RetryAt(self._now() + LIMIT_PAUSE_SECONDS, "GitHub wants fewer sign-ins.")
        if answer.is_server_error:
            raise Transient(f"GitHub answered {answer.status_code}.")
        return answer


def _json(answer: httpx.Response) -> dict[str, Any]:
    try:
        told = answer.json()
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise Permanent(
            f"{answer.request.url.copy_with(query=None)} answered {answer.status_code} without JSON: "
            "TWOGATE_GITHUB_URL has to be GitHub's own address."
        )
    return told


def _refusal(error: str, said: str) -> Permanent:
    if error in SPENT:
        return Unproved("GitHub does not know this sign-in (any more).")
    return Permanent(
        f"GitHub refuses to sign anybody in: {error}: {said} Whoever runs Twogate has to check TWOGATE_CLIENT_ID, "
        "TWOGATE_CLIENT_SECRET, and the App's callback URL."
    )
