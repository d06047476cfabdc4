"""Text from outside on its way into a prompt: stripped of what people don't see, and fenced.

The fence bears a marker that is random and of one run, so nobody outside can write it beforehand; lines that look like
a fence are taken out all the same, since a model reads likeness and not equality.
"""

from __future__ import annotations

import re
import unicodedata

VARIATION_SELECTORS = frozenset([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
"""Marks that change how a character looks, and can carry any number of hidden bytes."""
BLANKS = frozenset("\U0001d159\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f")
"""Characters that count as letters or symbols and show nothing."""
REMOVED = "[comment removed]"
COMMENT = re.compile(
    r"<!--.*?(?:--!?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?(?!php|=|xml).*?(?:\?>|\Z)|<![A-Z][^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""What HTML shows nobody: comments, CDATA, instructions, declarations; in code as well, since where code begins is a
matter of the renderer. An open one hides the rest."""
LINK_COMMENT = re.compile(r"^[ ]{0,3}\[[^\]\n]*\]:[ \t]*(?:#|<>)?[ \t]*(?:[\"'(][^\n]*)?$", re.MULTILINE)
"""A link definition that leads nowhere, whose title is a comment that Markdown doesn't show."""
LIKE = {
    "a": "\u0430\u03b1",
    "b": "\u0432\u03b2\u0299",
    "c": "\u0441\u03f2",
    "d": "\u0501\u1d05\u13a0",
    "e": "\u0435\u03b5\u1d07\u13ac3",
    "f": "\u0493",
    "g": "\u050d\u0262",
    "h": "\u04bb\u043d\u0570",
    "i": "\u0456\u03b9\u026a1",
    "l": "\u04cf",
    "m": "\u043c\u1d0d",
    "n": "\u03bd\u0578\u0274",
    "o": "\u043e\u03bf0",
    "p": "\u0440\u03c1",
    "r": "\u0280\u13a1\u0433",
    "s": "\u0455\ua731\u13da5",
    "t": "\u0442\u03c4\u1d1b\u13a2",
    "u": "\u03c5\u057d\u1d1c",
    "w": "\u051d\u0461\u1d21",
    "y": "\u0443\u04af\u03b3\u028f",
}
"""Letters of other scripts, small capitals and digits, by the Latin letter that each passes for."""
LIKENESS = str.maketrans({like: letter for letter, likes in LIKE.items() for like in likes})


def _spaced(*words: str) -> str:
    """Return a pattern of ``words`` that finds them with signs between their letters as well."""
    return "|".join(r"[\W_]{0,3}".join(word) for word in words)


UNTRUSTED = re.compile(_spaced("untrusted"))
LOOK_ALIKE = re.compile(
    rf"(?<![a-z])(?:{_spaced('begin', 'end', 'start', 'stop', 'close')})[\W_]{{0,40}}"
    rf"(?:of[\W_]{{0,6}})?(?:the[\W_]{{0,6}})?{UNTRUSTED.pattern}|here the prompt of run"
)
"""What a fence says, by whichever signs it is surrounded, and what ends a prompt."""
RULE = re.compile(r"[\W_]{3}")
"""What a fence begins and ends with, in whatever signs."""
FENCE = re.compile(r"(?:[-*+>]|[0-9]{1,9}[.)]|\s)*(?P<mark>`{3,}|~{3,})[^`]*")
"""The first line of a block of code, in a list or a quotation as well."""
HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+(?P<words>.*?))?[ \t#]*")
UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
"""What makes a heading of the line above it."""
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?", re.DOTALL)
"""Sequences that drive a terminal (ECMA-48): colours, titles, links."""


def fence(label: str, text: str, marker: str) -> str:
    """Return ``text``, cleaned by the caller, between lines that bear ``marker``."""
    return f"-----BEGIN UNTRUSTED {label} {marker}-----\n{text}\n-----END UNTRUSTED {label} {marker}-----"


def clean_markdown(text: str, marker: str) -> str:
    """Return Markdown of a person as it is seen on the page: without comments and without what is invisible."""
    seen = visible(text)
    seen = COMMENT.sub(REMOVED, seen)
    seen = LINK_COMMENT.sub(REMOVED, seen)
    return _without_fences(seen, marker)


def clean_output(text: str, marker: str) -> str:
    """Return the output of a program without colours and without what is invisible."""
    return _without_fences(visible(ESCAPES.sub("", text)), marker)


def one_line(text: str, marker: str) -> str:
    """Return a name, a path or a command of others on one line."""
    return clean_output(text, marker).replace("\n", " ")


def code(text: str, marker: str, limit: int | None = None) -> str:
    """Return the same in a code span that it can't close, cut to ``limit`` bytes."""
    line = one_line(text, marker).strip() or " "
    line = line if limit is None else cut(line, limit).replace("\n", " ")
    ticks = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{room}{line}{room}{ticks}"


def without_sections(text: str) -> str:
    """Return cleaned Markdown that begins no section of what it is put into and leaves no code block open.

    Its headings become bold lines, as they are shown to people; what stands in code blocks stays as it is.
    """
    told, mark = [], ""
    for line in text.split("\n"):
        fence = FENCE.fullmatch(line)
        told.append(line if mark or fence else _without_heading(line))
        if not mark:
            mark = fence["mark"] if fence else ""
        elif line.strip().startswith(mark) and not line.strip().strip(mark[0]):
            mark = ""
    return "\n".join([*told, mark] if mark else told)


def _without_heading(line: str) -> str:
    if UNDERLINE.fullmatch(line):
        return ""
    heading = HEADING.fullmatch(line)
    words = heading["words"] if heading else None
    return line if heading is None else f"**{words}**" if words else ""


def plain(text: str) -> str:
    """Return ``text`` on one line that drives no terminal, for a sentence that quotes others."""
    return " ".join(visible(ESCAPES.sub("", text)).split())


def visible(text: str) -> str:
    r"""Return ``text`` without control, format, private, unassigned and surrogate characters (Unicode category C).

    Line ends become ``\n``; line and paragraph separators of Unicode as well. Bidirectional overrides, zero-width
    characters and tag characters are of category Cf.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    return "".join(c for c in lines if c in "\n\t" or not _is_hidden(c))


def _is_hidden(character: str) -> bool:
    return (
        unicodedata.category(character).startswith("C") or ord(character) in VARIATION_SELECTORS or character in BLANKS
    )


def _without_fences(text: str, marker: str) -> str:
    return "\n".join("[line removed]" if _is_look_alike(line, marker) else line for line in text.split("\n"))


def letters(text: str) -> str:
    """Return the Latin letters that ``text`` passes for, and nothing between them."""
    return "".join(c for c in _bare(text).translate(LIKENESS) if c.isalpha())


def _bare(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in plain if not unicodedata.category(c).startswith("M"))


def _is_look_alike(line: str, marker: str) -> bool:
    bare = _bare(line.replace(REMOVED, ""))
    said = bare.translate(LIKENESS).strip()
    ruled = RULE.fullmatch(said[:3]) or RULE.fullmatch(said[-3:])
    return marker.casefold() in bare or bool(LOOK_ALIKE.search(said) or (ruled and UNTRUSTED.search(said)))


def cut(text: str, limit: int, *, end: bool = False) -> str:
    """Return ``text`` in at most ``limit`` bytes of UTF-8, its start or its end, with a line where it is cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    note = f"[cut here: {limit} of {len(data)} bytes are shown]"
    room = max(0, limit - len(note) - 1)
    part = (data[len(data) - room :] if end else data[:room]).decode("utf-8", "ignore")
    return f"{note}\n{part}" if end else f"{part}\n{note}"
