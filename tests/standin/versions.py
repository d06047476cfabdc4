"""What the two versions of GitHub's REST API answer differently, as far as the stand-in shows it."""

from __future__ import annotations

from typing import Any

DEFAULT_VERSION = "2022-11-28"
"""What a request without the version header gets."""
NEW_VERSION = "2026-03-10"
VERSIONS = {DEFAULT_VERSION, NEW_VERSION}
REMOVED = {"assignee", "merge_commit_sha", "has_downloads", "use_squash_pr_title_as_default", "rate"}
"""Fields that 2026-03-10 no longer has; handlers answer the older, larger shape."""


def shape(body: Any, version: str) -> Any:
    """An answer as the asked version has it."""
    return _without(body) if version == NEW_VERSION else body


def _without(body: Any) -> Any:
    if isinstance(body, dict):
        return {key: _without(value) for key, value in body.items() if key not in REMOVED}
    if isinstance(body, list):
        return [_without(value) for value in body]
    return body
