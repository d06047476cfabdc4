"""What every page for people says to browsers: what it may load, who may frame it, and that no cache keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Response

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""The content security policy: nothing of others, nothing inline."""


def private(answer: Response) -> Response:
    """Mark a page as one person's own."""
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    answer.headers["Referrer-Policy"] = "same-origin"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer
