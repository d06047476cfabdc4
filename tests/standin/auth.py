"""Who is asking: the Authorization header of an API request as a ``Token``, or GitHub's words of refusal."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

import jwt

from tests.standin.entities import Token
from tests.standin.errors import ApiError

if TYPE_CHECKING:
    from tests.standin.entities import App
    from tests.standin.model import Hub

JWT_SECONDS = 600
"""An App's JWT may live ten minutes."""
JWT_DRIFT = 60
"""Seconds by which the App's clock may run ahead."""


def credential(header: str | None) -> str | None:
    """The secret in an Authorization header: ``token X``, ``Bearer X`` or the password of Basic."""
    if not header:
        return None
    scheme, _, value = header.partition(" ")
    if scheme.lower() in {"token", "bearer"}:
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return ""


def authenticate(hub: Hub, header: str | None) -> Token | None:
    """The token of a request; None without a header; ApiError 401 when it is not (or no longer) good."""
    raw = credential(header)
    if raw is None:
        return None
    if raw.startswith("eyJ"):
        return _app_token(hub, raw)
    found = hub.resolve_token(raw) or _client(hub, raw)
    if found is None:
        raise ApiError(401, "Bad credentials")
    return found


def _client(hub: Hub, raw: str) -> Token | None:
    """An App by its client secret, which is good for little."""
    found = next((app for app in hub.apps.values() if app.client_secret == raw), None)
    return None if found is None else Token(raw, "client", None, app=found)


def _app_token(hub: Hub, raw: str) -> Token:
    app = _issuer(hub, raw)
    claims = _verified(raw, app)
    now = hub.clock()
    if not isinstance(claims.get("iat"), int) or claims["iat"] > now + JWT_DRIFT:
        raise ApiError(
            401,
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
        )
    if not isinstance(claims.get("exp"), int) or claims["exp"] <= now:
        raise ApiError(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
        )
    if claims["exp"] > now + JWT_SECONDS:
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")
    return Token(raw, "app", None, app=app)


def _issuer(hub: Hub, raw: str) -> App:
    try:
        issuer = str(jwt.decode(raw, options={"verify_signature": False}).get("iss", ""))
    except jwt.InvalidTokenError as error:
        raise ApiError(401, "A JSON web token could not be decoded") from error
    found = next((app for app in hub.apps.values() if issuer in {str(app.id), app.client_id}), None)
    if found is None:
        raise ApiError(404, "Integration not found")
    return found


def _verified(raw: str, app: App) -> dict[str, Any]:
    loose = {"verify_exp": False, "verify_iat": False, "verify_nbf": False, "verify_aud": False}
    try:
        claims: dict[str, Any] = jwt.decode(raw, app.public_key, algorithms=["RS256"], options=loose)  # type: ignore[arg-type]
    except jwt.InvalidTokenError as error:
        raise ApiError(401, "A JSON web token could not be decoded") from error
    return claims
