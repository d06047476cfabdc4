"""Secrets that a program was given, kept out of everything that is shown or kept of what it printed.

Known values go, in the spellings of JSON and of addresses too, and where line breaks were put into them; so does what
is a credential by its form alone, whoever wrote it (:func:`runner.gates.secrets.without_credentials`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from runner.contract import Report
from runner.gates.secrets import without_credentials

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from runner.contract import JobSpec
    from runner.settings import Settings

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
"""Variables whose values are never shown."""
SHORTEST_SECRET = 6
"""Characters from which on a value is taken for a secret; shorter ones would blot out ordinary text."""
NO_WORD = 20
"""Characters from which on a value is none that stands in a plan by chance."""
SETTING = re.compile(r"^[ \t]*(?:export[ \t]+)?\w+[ \t]*=[ \t]*[\"']?([^\s\"']{16,})", re.MULTILINE)
"""A setting whose value is long enough to be a secret."""
MAX_SETTINGS = 64_000
"""Bytes of a file of settings that is looked at for secrets."""
LONGEST_SECRET = 8_000
"""Characters of a value that are looked for; a longer one is known by its beginning."""
BREAK = re.compile(r"\\+[nr]|[\r\n]")
"""A line's end, as it is or as JSON writes it."""
LAST = re.compile(rf"(?:{BREAK.pattern})\Z")
NAMES = frozenset({"job", "base", "head", "tree", "salvaged"})
"""Fields of a report that hold a name of the runner's own making."""


def told(settings: Settings) -> dict[str, str]:
    """Return the variables that an agent may have been told, or that are too long to be a word of its own."""
    known = settings.environment
    return {n: value for n, value in known.items() if n in settings.agent_env or len(value) >= NO_WORD}


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


def _spellings(value: str) -> set[str]:
    """Return a secret as programs write it: as it is, within JSON, within JSON within JSON, in an address."""
    begun = value[:LONGEST_SECRET]
    once = {json.dumps(begun)[1:-1], json.dumps(begun, ensure_ascii=False)[1:-1]}
    return {begun, *once, *(json.dumps(form)[1:-1] for form in once), quote(begun, safe="")}


def _broken(secret: str) -> re.Pattern[str]:
    """Return what finds a secret with line ends anywhere in it."""
    return re.compile(rf"(?:{BREAK.pattern})*".join(map(re.escape, secret)))


class Redactor:
    """Replaces secrets in a text: those values of environments whose names say so, and ``carried`` ones."""

    def __init__(self, *environments: Mapping[str, str], carried: Iterable[str] = ()) -> None:
        values = {value.strip() for env in environments for name, value in env.items() if SECRET_NAME.search(name)}
        values.update(carried)
        known = {form for value in values if len(value) >= SHORTEST_SECRET for form in _spellings(value)}
        self._secrets = sorted(known, key=len, reverse=True)
        self._flat = {flat for secret in known if len(flat := BREAK.sub("", secret)) >= SHORTEST_SECRET}
        self._longest = max(map(len, self._flat), default=0)

    def __call__(self, text: str, *, cut: bool = False) -> str:
        """Return ``text`` with each secret replaced by three asterisks; of one that was ``cut``, also parts of them."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
            text = _trimmed(text, secret) if cut else text
        joined = BREAK.sub("", text) if self._flat else ""
        for secret in self._flat:
            text = _broken(secret).sub("***", text) if secret in joined else text
        return without_credentials(text)

    def begun(self, text: str) -> int:
        """Return where at the end of ``text`` the beginning of a secret stands, its length where none does."""
        joined, longest = BREAK.sub("", text[-2 * self._longest :]), 0
        for secret in self._flat:
            start = len(joined) - len(secret)
            while (start := joined.find(secret[0], max(0, start + 1))) >= 0:
                if secret.startswith(joined[start:]):
                    longest = max(longest, len(joined) - start)
                    break
        place = len(text)
        while longest and place:
            ended = LAST.search(text, max(0, place - 9), place)
            place, longest = (ended.start(), longest) if ended else (place - 1, longest - 1)
        return place

    def report(self, report: Report) -> Report:
        """Return ``report`` with each secret replaced, wherever a check or an agent told of it."""
        return Report.model_validate(self.cleaned(report.model_dump()))

    def cleaned(self, value: Any) -> Any:
        """Return a plain structure with each secret replaced in its texts; names of the runner's making stay."""
        match value:
            case str():
                return self(value, cut=True)
            case dict():
                return {key: inner if key in NAMES else self.cleaned(inner) for key, inner in value.items()}
            case list() | tuple():
                return type(value)(map(self.cleaned, value))
        return value
