"""Proof that a report comes from somebody who was given the repository's secret: shown, or signed with.

Three ways, of which one is enough, since trackers can do different things:

- ``Authorization: Bearer <secret>``;
- one of :data:`BODY_SIGNATURES`: the body's HMAC-SHA-256 under the secret as it is written, in hexadecimal, with
  ``sha256=`` before it or without, as the sender writes it;
- Standard Webhooks (``webhook-id``, ``webhook-timestamp``, ``webhook-signature``, or ``svix-`` before each, as jam.dev
  sends them): ``v1,`` and the HMAC of id, time and body under the key within the secret, minutes old at most.

Every comparison takes as long for a wrong value as for a right one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from werkzeug.datastructures import Headers

TOLERANCE_SECONDS = 300.0
"""How far the time of a signed report may be from ours; a report caught on its way can't be sent again later."""
MOST_SIGNATURES = 5
"""Signatures of one report that are looked at: one, or two while a key is changed."""
STANDARD = "whsec_"
"""How secrets of Standard Webhooks begin; a key in base64 follows."""
TIME = re.compile(r"[0-9]{1,12}")
"""Seconds since the epoch."""
BODY_SIGNATURES = (
    "X-Hub-Signature-256",
    "X-Twogate-Signature",
    "X-Hub-Signature",  # Jira
    "Linear-Signature",
    "Sentry-Hook-Signature",
)
"""Headers with the signature of a body by itself."""


def proven(secret: str, headers: Headers, body: bytes, now: float) -> bool:
    """Whether any of the three ways shows that the sender knows the secret."""
    ways = (_bears(secret, headers), _signs_body(secret, headers, body), _signs_message(secret, headers, body, now))
    return any(ways)


def signed(secret: str, body: bytes) -> str:
    """Return the signature of a body by itself."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def stamped(secret: str, name: str, at: str, body: bytes) -> str:
    """Return the signature of Standard Webhooks, version 1."""
    key = base64.b64decode(secret.removeprefix(STANDARD)) if secret.startswith(STANDARD) else secret.encode()
    digest = hmac.new(key, f"{name}.{at}.".encode(errors="replace") + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def _bears(secret: str, headers: Headers) -> bool:
    return _same(headers.get("Authorization", ""), f"Bearer {secret}")


def _signs_body(secret: str, headers: Headers, body: bytes) -> bool:
    right = signed(secret, body)
    given = [headers.get(name, "") for name in BODY_SIGNATURES]
    return any(_same(each, right) or _same(each, right.removeprefix("sha256=")) for each in given)


def _signs_message(secret: str, headers: Headers, body: bytes, now: float) -> bool:
    kind = "svix" if "svix-signature" in headers else "webhook"
    name, at = headers.get(f"{kind}-id", ""), headers.get(f"{kind}-timestamp", "")
    given = headers.get(f"{kind}-signature", "").split(" ")[:MOST_SIGNATURES]
    right = stamped(secret, name, at, body)
    fresh = TIME.fullmatch(at) is not None and abs(now - int(at)) <= TOLERANCE_SECONDS
    return any(_same(each, right) for each in given) and fresh and bool(name)


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), right.encode())
