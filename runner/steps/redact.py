"""Secrets that a program was given, kept out of everything that is shown of what it printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runner.contract import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from runner.contract import JobSpec

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
"""Variables whose values are never shown."""
SHORTEST_SECRET = 6
"""Characters from which on a value is taken for a secret; shorter ones would blot out ordinary text."""
SETTING = re.compile(r"^[ \t]*(?:export[ \t]+)?\w+[ \t]*=[ \t]*[\"']?([^\s\"']{16,})", re.MULTILINE)
"""A setting whose value is long enough to be a secret."""
MAX_SETTINGS = 64_000
"""Bytes of a file of settings that is looked at for secrets."""
NAMES = frozenset({"job", "base", "head", "tree", "salvaged"})
"""Fields of a report that hold a name of the runner's own making."""


def carried_values(home: Path, spec: JobSpec) -> tuple[str, ...]:
    """Return what looks like a secret among the values of the operator's files under ``carry`` (``NAME=value``)."""
    places = (home / "carry" / str(spec.repository.id) / path.rstrip("/") for path in spec.carry)
    found = {value for place in places for value in SETTING.findall(_settings(place))}
    return tuple(sorted(v for v in found if any(c.isdigit() for c in v) and any(c.isalpha() for c in v)))


def _settings(place: Path) -> str:
    """Return a small file's text, nothing of what is none or can't be read: carrying it fails in its own words."""
    try:
        small = place.is_file() and not place.is_symlink() and place.stat().st_size <= MAX_SETTINGS
        return place.read_text("utf-8", "replace") if small else ""
    except OSError:
        return ""


def _trimmed(text: str, secret: str) -> str:
    """Return ``text`` without a part of ``secret`` at an end, or where its second line begins: there output is cut."""
    head, line, rest = text.partition("\n")
    parts = [secret[-length:] for length in range(len(secret) - 1, SHORTEST_SECRET - 1, -1)]
    if cut := next((part for part in parts if rest.startswith(part)), None):
        text = f"{head}{line}***{rest.removeprefix(cut)}"
    if cut := next((part for part in parts if text.startswith(part)), None):
        text = f"***{text.removeprefix(cut)}"
    begun = (secret[:length] for length in range(len(secret) - 1, SHORTEST_SECRET - 1, -1))
    cut = next((part for part in begun if text.endswith(part)), None)
    return f"{text.removesuffix(cut)}***" if cut else text


class Redactor:
    """Replaces secrets in a text: those values of environments whose names say so, and ``carried`` ones."""

    def __init__(self, *environments: Mapping[str, str], carried: Iterable[str] = ()) -> None:
        values = {value.strip() for env in environments for name, value in env.items() if SECRET_NAME.search(name)}
        values.update(carried)
        self._secrets = sorted((v for v in values if len(v) >= SHORTEST_SECRET), key=len, reverse=True)

    def __call__(self, text: str, *, cut: bool = False) -> str:
        """Return ``text`` with each secret replaced by three asterisks; of one that was ``cut``, also parts of them."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
            text = _trimmed(text, secret) if cut else text
        return text

    def report(self, report: Report) -> Report:
        """Return ``report`` with each secret replaced, wherever a check or an agent told of it."""
        return Report.model_validate(self._cleaned(report.model_dump())) if self._secrets else report

    def _cleaned(self, value: Any) -> Any:
        match value:
            case str():
                return self(value, cut=True)
            case dict():
                return {key: inner if key in NAMES else self._cleaned(inner) for key, inner in value.items()}
            case list() | tuple():
                return type(value)(map(self._cleaned, value))
        return value
