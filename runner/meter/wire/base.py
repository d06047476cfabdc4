"""What the four wire formats have in common: what a request asks for, what an answer says, how a refusal is worded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from runner.agents.base import Call, count, table

if TYPE_CHECKING:
    from runner.terms import Api

MOST_OUTPUT = 128_000
"""Tokens of output that a call may bring whose request names no limit: more than any model gives at once."""
PICTURES = frozenset({"image", "image_url", "input_image", "computer_screenshot"})
"""Types of parts of a request that show one."""
FILES = frozenset({"document", "container_upload", "file", "input_file", "input_audio", "audio_url", "video_url"})
"""Types of parts of a request that are neither text nor a picture."""
STORED_FILES = frozenset({"fileData", "file_data"})
"""Gemini's names for a file that lies elsewhere."""
MAX_NAME = 300
"""Characters of a model's name that are looked at."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What a request for one call asks for: enough to say what it can cost at most."""

    model: str | None
    output: int = MOST_OUTPUT
    """Tokens of output at most, all answers together."""
    answers: int = 1
    """How many answers are written side by side."""
    hidden: bool = False
    """Whether input may come from where the request does not show it: tools of the provider."""
    stored: bool = False
    """Whether input does come from elsewhere: earlier answers, files and addresses; or is no text, and so more than its
    bytes tell."""
    pictures: int = 0
    """How many it shows; their tokens go by their size on the screen, not by their bytes."""
    long_cache: bool = False
    """Whether it asks for a cache that lives an hour."""
    variant: tuple[str, str] | None = None
    """As in :class:`~runner.agents.base.Call`."""
    extras: bool = False
    """As in :class:`~runner.agents.base.Call`."""
    refusal: str | None = None
    """A sentence where the request asks for what can't be metered."""


class Reader:
    """Understands an answer, event by event; what it never saw stays None. Raises nothing, whatever it is given."""

    def __init__(self) -> None:
        self.model: str | None = None
        self.counts: dict[str, int] = {}
        """Counts by their names in :class:`~runner.agents.base.Call`."""
        self.variant: tuple[str, str] | None = None
        """As in :class:`~runner.agents.base.Call`, as far as the answer names it."""
        self.named_variant = False
        """Whether it does; else what was asked for counts."""
        self.extras = False
        self.complete = False
        """Whether the usage of the whole answer has been seen."""
        self.failed = False
        """Whether the answer says by itself that it failed."""
        self._content = hashlib.sha256()
        self._kind = ""

    def take(self, event: dict[str, Any]) -> None:
        """Take in one event of a stream, or a plain answer whole."""
        raise NotImplementedError

    def call(self, ask: Ask) -> Call | None:
        """Return the tokens seen so far, None where none were told."""
        if not self.counts:
            return None
        counts: dict[str, Any] = {"input_tokens": 0, "output_tokens": 0, **self.counts}
        served = self.variant if self.named_variant else ask.variant
        return Call(model=self.model or ask.model, variant=served, extras=self.extras or ask.extras, **counts)

    def digest(self) -> str | None:
        """Return what the answer said in text and tool calls, apart from its ids; None where it said nothing."""
        return self._content.hexdigest() if self._kind else None

    def learn(self, **counts: int | None) -> None:
        """Note counts; those that are None were not told."""
        self.counts |= {name: value for name, value in counts.items() if value is not None}

    def say(self, kind: str, text: object) -> None:
        """Note content: pieces of one kind in a row are one text, however it was cut."""
        if not isinstance(text, str) or not text:
            return
        if kind != self._kind:
            self._kind = kind
            self._content.update(f"\0{kind}\0".encode("utf-8", "replace"))
        self._content.update(text.encode("utf-8", "replace"))

    def served(self, variant: tuple[str, str] | None) -> None:
        """Note the tier or the speed that the answer names, None for the usual one."""
        self.variant, self.named_variant = variant, True

    def named(self, model: object) -> None:
        """Note the name of the model that answered."""
        self.model = name(model) or self.model


class Wire(Protocol):
    """One wire format."""

    api: Api
    first: str
    """How its paths begin: ``/v1`` or ``/v1beta``."""
    headers: tuple[str, ...]
    """Headers of a request that it needs, in lower case, besides the common ones."""

    def is_call(self, method: str, path: str) -> bool:
        """Return whether this is a call to a model, which costs."""

    def is_free(self, method: str, path: str) -> bool:
        """Return whether this is one of the questions around it that cost nothing."""

    def ask(self, path: str, body: dict[str, Any]) -> Ask:
        """Return what a call asks for."""

    def prepare(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """Return the request as it must be for the usage to be told, None where it is right as it is."""

    def reader(self) -> Reader:
        """Return a reader for one answer."""

    def error(self, status: int, sentence: str) -> dict[str, Any]:
        """Return a refusal in the provider's own shape."""


def name(value: object) -> str | None:
    """Return the name of a model as a request or an answer gives it, in letters that can be written down."""
    return value[:MAX_NAME].encode("utf-8", "replace").decode() if isinstance(value, str) and value else None


def limit(body: dict[str, Any], *names: str) -> int:
    """Return the limit of output of a request: the highest among ``names``; one that is no count, or zero, is none."""
    given = [count(body, each) or MOST_OUTPUT for each in names if body.get(each) is not None]
    return max(given, default=MOST_OUTPUT)


def choices(body: dict[str, Any], name: str, most: int) -> int:
    """Return how many answers a request asks for under ``name``; ``most`` where an API may read it otherwise."""
    asked, found = body.get(name), count(body, name)
    if asked is None:
        return 1
    return most if found is None else min(max(1, found), most)


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list, or the one that stands there without it; none where it is something else."""
    listed = value if isinstance(value, list) else [value]
    return [item for item in listed if isinstance(item, dict)]


def shown(body: dict[str, Any]) -> tuple[int, bool]:
    """Return how many pictures a request shows, and whether it has files, sound or film, of which no one can tell."""
    pictures, files, waiting = 0, False, list[object]([body])
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            picture, file = _medium(value)
            pictures, files = pictures + picture, files or file
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return pictures, files


def _medium(part: dict[str, Any]) -> tuple[bool, bool]:
    """Return whether a part of a request is a picture, and whether it is something else that is no text."""
    data = table(part, "inlineData") or table(part, "inline_data")
    kind = str(data.get("mimeType") or data.get("mime_type")).partition("/")[0] if data else part.get("type")
    if not isinstance(kind, str):
        return False, not STORED_FILES.isdisjoint(part)
    plain = kind == "document" and table(part, "source").get("type") in {"text", "content"}
    other = bool(data) and kind not in {"image", "text"}
    return kind in PICTURES, other or (kind in FILES and not plain) or not STORED_FILES.isdisjoint(part)


def uncached(record: dict[str, Any], total: str, read: int | None, write: int | None = None) -> int | None:
    """Return the input without what the caches gave and took, where the format counts them in."""
    whole = count(record, total)
    return None if whole is None else max(0, whole - (read or 0) - (write or 0))


__all__ = [
    "MOST_OUTPUT",
    "Ask",
    "Reader",
    "Wire",
    "choices",
    "count",
    "limit",
    "name",
    "objects",
    "shown",
    "table",
    "uncached",
]
