"""Foreign text made safe to stand in Markdown, and still readable.

Issues, comments, plans, paths and output come from outside. Shown to people they must not mention anybody, refer to or
close an issue, hide anything, run as a command, pass for one of our own markers, or leave the place they are put in.
So the words are shown as they were written: only code, lists, headings and bold keep their form, since those are taken
apart here and written anew. What can't be seen (control, direction and zero-width characters) is shown by its number.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from bot.lifecycle.prose import normalised

if TYPE_CHECKING:
    from collections.abc import Callable

GAP = "\u200b"
"""A zero-width space: put into a mention or reference it keeps it from being one, and nobody sees it."""

_UNSEEN = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u2800\u3164\uffa0")
"""Characters that show as nothing though Unicode counts them as letters or marks."""
_NEVER = re.compile(r"[\ufdd0-\ufdef]|[\ufffe\uffff\U0001fffe-\U0001ffff\U0010fffe-\U0010ffff]")
"""Code points that are no character and never will be; others without a name yet may be the emoji of next year."""
_JOINERS = frozenset("\u200c\u200d")
"""They belong to emoji and to scripts that need them."""
_UNUSUAL = re.compile(r"[^\x20-\x7e\n\t]")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_MARKER = re.compile(r"<!--(?=\s*twogate)", re.IGNORECASE)
_RUN = re.compile(r"`+")
_ENDLESS = re.compile("`{64}")
"""A run that would make its fence longer than what it holds."""
_SPAN = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)")
_BOLD = re.compile(r"(?<![\w*/])\*\*(?=[^\s*/])(?P<bold>[^*\n]{1,300})(?<=[^\s*/])\*\*(?![\w*/])")
_REFERENCE = re.compile(
    r"@(?=[A-Za-z0-9_-])|#(?=[0-9])|\b[Gg][Hh]-(?=[0-9])"
    r"|(?i:https?://)(?=\S{0,300}/(?:issues|pull|pulls|discussions|commit)/)"
)
_SKIP = re.compile(
    r"\[(?=(?:skip[ -](?:ci|actions)|(?:ci|actions)[ -]skip|no ci)\])|^skip-checks(?=:)", re.IGNORECASE | re.MULTILINE
)
"""What keeps GitHub from running workflows for a commit, in whose message a pull request's title and text may end."""
_ADDRESS = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9._~:/?#&=%+,;-]{1,200}")
"""A plain address of the web: nothing in it can end a link or begin anything else."""
_SPECIAL = re.compile(rf"[&<>\\`*\[\]~|$]|_(?![A-Za-z0-9])|(?<![A-Za-z0-9])_|{_REFERENCE.pattern}")
SHRINKS = 4
"""Characters of text from which more than one of result is expected; what lies behind is not even looked at."""
NESTED_FROM = 2
"""Columns of indentation from which an item belongs to the one above it."""
CHARACTERS_KEPT = 4_096
"""Unusual characters of which is remembered how they are shown: more than any text of people has."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LIST = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+]|[0-9]{1,9}[.)])[ \t]+(?P<text>\S.*)")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+(?P<text>[^#\s](?:.*[^#\s])?)[ \t#]*")
_START = re.compile(r"^(?P<number>(?=[#+=/-])|[0-9]{1,9}(?=[.)](?:\s|$)))")
"""What begins a heading, a list, a rule or a command where it begins a line."""
_WIDE_SLASH = "\uff0f"
"""Begins a command as well (:mod:`bot.lifecycle.commands`), and no backslash takes that from it."""
_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[^`]*")


def visible(text: str) -> str:
    """Return the text with plain newlines and with everything unseen shown by its number."""
    return _UNUSUAL.sub(lambda match: _shown(match[0]), normalised(text))


@lru_cache(maxsize=CHARACTERS_KEPT)
def _shown(character: str) -> str:
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} or character in _UNSEEN
    hidden = hidden or _NEVER.match(character) is not None
    return f"⟨U+{ord(character):04X}⟩" if hidden and character not in _JOINERS else character


def title(text: str) -> str:
    """Return one line for a place that knows no Markdown, such as a pull request's title."""
    return _REFERENCE.sub(rf"\g<0>{GAP}", " ".join(visible(text).split()))


def unskipped(text: str) -> str:
    """Return text of ours which keeps no workflow from running where it becomes the message of a merge."""
    return _SKIP.sub(rf"\g<0>{GAP}", text)


def html(text: str) -> str:
    """Return one line for the inside of an HTML element."""
    return re.sub(r"[&<>\[\]`*_|\\]", lambda match: f"&#x{ord(match[0]):x};", title(text))


def code(text: str) -> str:
    """Return one line as a code span; line breaks are shown as a sign."""
    shown = _unmarked(visible(text).strip().replace("\n", " ⏎ ")) or " "
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if "`" in {shown[0], shown[-1]} else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def cell_code(text: str) -> str:
    """Return code for a table's cell. A backslash before a bar can't be written in a span there."""
    return f"<code>{html(text)}</code>" if "\\|" in text else code(text).replace("|", "\\|")


def fence(text: str, info: str = "") -> str:
    """Return a fenced block that nothing inside can close. ``info`` is ours."""
    shown = _ENDLESS.sub(rf"\g<0>{GAP}", _unmarked(visible(text)).strip("\n"))
    ticks = "`" * max(3, _longest_run(shown) + 1)
    return f"{ticks}{info}\n{shown}\n{ticks}"


def output(text: str) -> str:
    """Return a program's output as a fenced block, without the codes that colour a terminal."""
    return fence(_ANSI.sub("", text), "text")


def inline(text: str) -> str:
    """Return prose on one line."""
    return _line(" ".join(visible(text).split()))


def cell(text: str) -> str:
    """Return prose on one line for a table's cell."""
    return re.sub(r"(?<!\\)\|", r"\|", inline(text))


def prose(text: str) -> str:
    """Return prose of any number of lines. Code, lists, headings and bold keep their form."""
    writer = _Prose()
    for line in visible(text).strip().split("\n"):
        writer.add(line)
    return writer.finished()


class _Prose:
    """Takes lines of foreign Markdown apart and writes them anew."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._listed = False
        self._mark = ""
        self._fenced: list[str] = []

    def add(self, line: str) -> None:
        if self._mark:
            self._inside_fence(line)
        elif (opening := _FENCE.fullmatch(line)) is not None:
            self._mark, self._listed = opening["fence"], False
        elif (item := _LIST.fullmatch(line)) is not None:
            nested = self._listed and len(item["indent"].expandtabs(4)) >= NESTED_FROM
            sign = f"{item['mark'][:-1]}." if item["mark"][0].isdigit() else "-"
            self._blocks.append(f"{'    ' if nested else ''}{sign} {_line(item['text'])}")
            self._listed = True
        elif (heading := _HEADING.fullmatch(line)) is not None:
            self._blocks.append(f"**{_escaped(heading['text'])}**")
        elif line.strip():
            self._blocks.append(_line(line.strip()))
        elif self._blocks and self._blocks[-1]:
            self._blocks.append("")

    def _inside_fence(self, line: str) -> None:
        stripped = line.strip()
        if stripped.startswith(self._mark) and not stripped.strip(self._mark[0]):
            self._close_fence()
        else:
            self._fenced.append(line)

    def _close_fence(self) -> None:
        self._blocks.append(fence("\n".join(self._fenced)))
        self._mark, self._fenced = "", []

    def finished(self) -> str:
        if self._mark:
            self._close_fence()
        return "\n".join(self._blocks)


def address(text: str) -> str:
    """Return an address that can stand in a link; nothing where it refers to an issue or commit, which GitHub lists."""
    return text if _ADDRESS.fullmatch(text) and not _REFERENCE.match(text) else ""


def _line(text: str) -> str:
    """Return one line, harmless also where it begins a line of the comment."""
    shown = _START.sub(r"\g<number>\\", _escaped(text), count=1)
    return f"{_WIDE_SLASH}{GAP}{shown[1:]}" if shown.startswith(_WIDE_SLASH) else shown


def _escaped(text: str) -> str:
    """Return one line with its code spans and bold words, all else as it was written."""
    parts: list[str] = []
    at = 0
    for span in _SPAN.finditer(text):
        parts += [_emphasised(text[at : span.start()]), code(span["code"])]
        at = span.end()
    return "".join([*parts, _emphasised(text[at:])])


def _emphasised(text: str) -> str:
    parts: list[str] = []
    at = 0
    for span in _BOLD.finditer(text):
        parts += [_plain(text[at : span.start()]), f"**{_plain(span['bold'])}**"]
        at = span.end()
    return "".join([*parts, _plain(text[at:])])


def _plain(text: str) -> str:
    """Return words as they are, with every character that could be more than itself made no more than itself."""
    return _SPECIAL.sub(_harmless, text)


def _harmless(match: re.Match[str]) -> str:
    found = match[0]
    if found in _ENTITIES:
        return _ENTITIES[found]
    return f"{found}{GAP}" if found[0] in "@#GgHh" else f"\\{found}"


def _unmarked(text: str) -> str:
    return _MARKER.sub(f"<!{GAP}--", text)


def _longest_run(text: str) -> int:
    return max((len(run[0]) for run in _RUN.finditer(text)), default=0)


def clipped(text: str, limit: int, escape: Callable[[str], str]) -> str:
    """Return the escaped text, cut visibly at its end to ``limit`` characters of result."""
    return _cut(text, limit, lambda kept, whole: escape(kept if whole else f"{kept} … (cut)"), keep_end=False)


def clipped_tail(text: str, limit: int, escape: Callable[[str], str]) -> str:
    """Return the escaped text, cut visibly at its beginning to ``limit`` characters of result."""
    return _cut(text, limit, lambda kept, whole: escape(kept if whole else f"(cut) …\n{kept}"), keep_end=True)


def _cut(text: str, limit: int, show: Callable[[str, bool], str], *, keep_end: bool) -> str:
    keep = min(len(text), SHRINKS * limit)
    shown = show(text, True) if keep == len(text) else ""
    while keep and not (shown and len(shown) <= limit):
        shown = show(text[len(text) - keep :] if keep_end else text[:keep], False)
        keep = min(keep - 1, keep * limit // max(limit + 1, len(shown)))
    return shown
