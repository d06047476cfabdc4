"""The refusals of the stand-in, in the shapes of GitHub's REST API."""

from __future__ import annotations

from typing import Any

DOCS = "https://docs.github.com/rest"
BODY_LIMIT = 65_536
"""Characters of an issue's, comment's or pull request's body."""
TITLE_LIMIT = 256
"""Characters of a title."""


class ApiError(Exception):
    """An answer that is not a success: status, message, optional ``errors`` list and headers."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: list[dict[str, Any]] | list[str] | None = None,
        headers: dict[str, str] | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}
        self.body: dict[str, Any] = {"message": message, "documentation_url": DOCS, "status": str(status)}
        if errors is not None:
            self.body["errors"] = errors
        self.body |= extra or {}


def not_found() -> ApiError:
    """What is not there, or is not the caller's business."""
    return ApiError(404, "Not Found")


def invalid(resource: str, field: str, code: str = "invalid", message: str | None = None) -> ApiError:
    """422 Validation Failed about one field."""
    detail = {"resource": resource, "field": field, "code": code}
    if message is not None:
        detail["message"] = message
    return ApiError(422, "Validation Failed", [detail])


def unprocessable(field: str, message: str) -> ApiError:
    """422 as for a body that is not of the described shape."""
    return ApiError(422, f"Invalid request.\n\n{field}: {message}")


def check_text(resource: str, value: Any, field: str = "body", limit: int = BODY_LIMIT) -> str:
    """A text within its limit, or 422 as GitHub words it."""
    if not isinstance(value, str):
        raise unprocessable(field, f"{value!r} is not a string.")
    if not value.strip() and field != "description":
        raise invalid(resource, "data" if field == "body" else field, "missing_field")
    if len(value) > limit:
        message = f"{field} is too long (maximum is {limit} characters)"
        raise invalid(resource, field, "custom", message)
    return value
