"""What trackers send, read tolerantly: what is missing, too long or of another shape costs that part alone.

jam.dev sends ``jam.created`` as one flat object (``jamId``, ``jamUrl``, ``title``, ``description``, ``originalUrl``,
``systemInfo``, ``consoleLogs``, ``networkRequests``, ``userEvents``, ``recordingLink``; its ``type`` is ``video``,
``screenshot`` or ``sessionReplay``), other events also in an envelope's ``data``. Events and signature are documented
at jam.dev/docs/webhooks; the fields are those that receivers in public use check for. Nothing is taken of what people
typed, of headers and of the queries of addresses: secrets lie there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot.lifecycle.hooks import Reported, Tracker
from bot.web.hook_trackers import ours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LONGEST_TITLE = 250
"""Characters kept of a report's title."""
LONGEST_TEXT = 10_000
"""Characters kept of what a report says in prose."""
LONGEST_LINE = 300
"""Characters kept of a step, a line of the console, a request, a fact."""
LONGEST_ID = 200
"""Characters of a report's own id that tell it from others."""
MOST_STEPS = 30
"""Steps kept of a report, the last."""
MOST_LINES = 20
"""Lines kept of the console, and of the requests: of those that tell of trouble the last."""
LEAST_FAILURE = 400
"""HTTP status from which a request has failed; 0 is one without an answer."""
TROUBLE = frozenset({"error", "warn", "warning", "assert", "fatal", "critical"})
"""Levels of the console that tell of trouble."""
JAM_CREATED = "jam.created"
NO_REPORT = frozenset({"conversationId", "recordingLinkId"})
"""Fields of jam.dev's other events: a talk that asked for a recording, a link under which one can be made."""


class UnreadableError(ValueError):
    """A message that should bring a report and does not, with why."""


def read(tracker: Tracker, body: Any) -> tuple[str, Reported] | None:
    """Return the id that the tracker gave a report (empty without one) and the report; None where it tells of none.

    Raises :class:`UnreadableError`.
    """
    if not isinstance(body, dict):
        raise UnreadableError("the body is no JSON object")
    if tracker is Tracker.JAM:
        within, kind = body.get("data"), body.get("type")
        said = within if isinstance(within, dict) else body
        if (isinstance(kind, str) and "." in kind and kind != JAM_CREATED) or NO_REPORT & said.keys():
            return None
        name, reported = _jam(said)
    else:
        own = ours(body)
        if own is None:
            return None
        name, reported = _issue(own)
    if not (reported.title or reported.text or reported.steps or reported.link):
        raise UnreadableError("it has neither title nor text, steps or link")
    return name, reported


def _jam(said: Mapping[str, Any]) -> tuple[str, Reported]:
    recording = said.get("recordingLink")
    comment = _text(recording.get("submitterComment"), LONGEST_TEXT) if isinstance(recording, dict) else ""
    text = _text(said.get("description"), LONGEST_TEXT)
    reported = Reported(
        tracker=Tracker.JAM,
        title=_line(said.get("title"), LONGEST_TITLE),
        text="\n\n".join(filter(None, (text, comment if comment != text else ""))),
        steps=_steps(said.get("steps")) or _last(map(_deed, _objects(said.get("userEvents"))), MOST_STEPS),
        console=_console(said.get("consoleLogs")),
        network=_network(said.get("networkRequests")),
        facts=_facts({"Page": _address(said.get("originalUrl")), **_system(said.get("systemInfo"))}),
        link=_link(said.get("jamUrl")),
    )
    return _text(said.get("jamId"), LONGEST_ID), reported


def _issue(body: Mapping[str, Any]) -> tuple[str, Reported]:
    reported = Reported(
        tracker=Tracker.ISSUE,
        title=_line(body.get("title"), LONGEST_TITLE),
        text=_text(body.get("body") or body.get("description"), LONGEST_TEXT),
        steps=_steps(body.get("steps")),
        console=_console(body.get("console")),
        network=_network(body.get("network")),
        facts=_facts({"Page": _address(body.get("page")), "Environment": _line(body.get("environment"), LONGEST_LINE)}),
        link=_link(body.get("url")),
    )
    return _text(body.get("id"), LONGEST_ID), reported


def _text(value: Any, most: int) -> str:
    """Return a text within its limit; numbers are written, all else counts as absent. Every result can be stored."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)[:most].encode(errors="replace").decode().replace("\0", "").strip()


def _line(value: Any, most: int) -> str:
    return " ".join(_text(value, most).split())


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _last(lines: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple([line for line in lines if line][-most:])


def _steps(value: Any) -> tuple[str, ...]:
    """Return steps, given as a list or as lines of text."""
    lines = value if isinstance(value, list) else _text(value, LONGEST_TEXT).split("\n")
    return _last((_line(line, LONGEST_LINE) for line in lines), MOST_STEPS)


def _deed(event: Mapping[str, Any]) -> str:
    """Return what a person did in the page, without what they typed."""
    return _line(f"{_text(event.get('type'), 40)} {_text(event.get('target') or event.get('selector'), 200)}", 300)


def _console(value: Any) -> tuple[str, ...]:
    """Return lines of the console: objects with ``level`` and ``message``, or texts."""
    if not isinstance(value, list):
        return _last((_line(line, LONGEST_LINE) for line in _text(value, LONGEST_TEXT).split("\n")), MOST_LINES)
    return _excerpt(value, lambda entry: _text(entry.get("level"), 20).casefold() in TROUBLE, _console_line)


def _console_line(entry: Mapping[str, Any]) -> str:
    message = entry.get("message")
    words = message if isinstance(message, str) else _written(message)
    return _line(f"{_text(entry.get('level'), 20)} {words}", LONGEST_LINE)


def _written(value: Any) -> str:
    """Return a value as JSON; nothing of one that is nested deeper than can be written."""
    try:
        return json.dumps(value)[:LONGEST_LINE]
    except RecursionError:
        return ""


def _network(value: Any) -> tuple[str, ...]:
    """Return requests: objects with ``method``, ``url`` and ``status``, or texts."""
    return _excerpt(value if isinstance(value, list) else [], _failed, _network_line)


def _failed(entry: Mapping[str, Any]) -> bool:
    status = entry.get("status")
    return isinstance(status, int) and not 0 < status < LEAST_FAILURE


def _network_line(entry: Mapping[str, Any]) -> str:
    url = _address(entry.get("url"))
    return (
        _line(f"{_text(entry.get('method'), 10)} {url} {_text(entry.get('status'), 10)}", LONGEST_LINE) if url else ""
    )


def _excerpt(
    entries: list[Any], trouble: Callable[[dict[str, Any]], bool], line: Callable[[dict[str, Any]], str]
) -> tuple[str, ...]:
    telling = [each for each in _objects(entries) if trouble(each)]
    shown = telling or entries
    return _last((line(e) if isinstance(e, dict) else _line(e, LONGEST_LINE) for e in shown), MOST_LINES)


def _system(value: Any) -> dict[str, str]:
    """Return browser and system, each an object of ``name`` and ``version`` or a text."""
    said = value if isinstance(value, dict) else {}
    return {"Browser": _named(said.get("browser")), "System": _named(said.get("os"))}


def _named(value: Any) -> str:
    words = (value.get("name"), value.get("version")) if isinstance(value, dict) else (value,)
    return _line(" ".join(_text(word, 100) for word in words), LONGEST_LINE)


def _facts(found: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in found.items() if value)


def _address(value: Any) -> str:
    """Return an address without its query and fragment, where tokens like to lie."""
    text = _line(value, 2 * LONGEST_LINE)
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    whole = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    return f"{whole[:LONGEST_LINE]}{'?…' if parts.query else ''}"


def _link(value: Any) -> str:
    """Return an address of the web as it is, or nothing."""
    text = _text(value, LONGEST_LINE)
    return text if text.startswith(("https://", "http://")) else ""
