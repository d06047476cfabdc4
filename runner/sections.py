"""Instructions by sections: what stands below a line ``## Name``, and what a repository makes of another's sections.

A section of the same name takes the other's place, one of a new name comes after the rest, an empty one takes the other
out. What stands below ``## Rules`` is kept: a repository's own rules are added to them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from runner.untrusted import HEADING as ANY_HEADING
from runner.untrusted import UNDERLINE, letters

RULES = "rules"
"""The section that a repository may add to and not take from."""
RESERVED = frozenset(
    {"your tools", "your result", "what you may change", "whom to obey", "the policy of this repository", "the plan"}
)
"""Sections that the runner writes below the instructions: no unit may have one that passes for them, of whatever level
and in whatever letters."""
OURS = frozenset(map(letters, RESERVED))
HEADING = re.compile(r"##[ \t]+(?P<name>.*?)[ \t#]*")
TITLE = re.compile(r"#[ \t]+.*")
PLACED = re.compile(r"\A(?:[ \t]*>[ \t]?|[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)+")
"""What puts a line into a quotation or a list, where a heading is one as well."""
MARKUP = re.compile(r"<[^>]*>|!?\[(?P<words>[^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?")
"""What surrounds words in a heading and is not seen: tags, links, pictures."""
AS_HTML = re.compile(r"<[ \t]*/?[ \t]*h[1-6]\b|\brole[ \t]*=[ \t]*[\"']?heading", re.IGNORECASE)
"""A heading as HTML writes it, which may go over lines."""
CODE = re.compile(r"[ ]{0,3}(?P<fence>`{3,}(?!.*`)|~{3,})(?P<info>.*)")


class SectionError(Exception):
    """The sections can't be used; ``line`` says where, counted from 1 in the text."""

    def __init__(self, line: int, sentence: str) -> None:
        """Keep the line beside the sentence."""
        super().__init__(sentence)
        self.line = line


@dataclass(frozen=True, slots=True)
class Section:
    """One heading, and what stands below it up to the next."""

    name: str
    line: int
    body: str

    @property
    def key(self) -> str:
        """The name as names are compared."""
        return " ".join(self.name.casefold().split())

    def __str__(self) -> str:
        """Return the section as it is written."""
        return f"## {self.name}\n\n{self.body}"


def split(text: str) -> tuple[str, tuple[Section, ...]]:
    """Return what stands before the first section, and the sections; a heading within a block of code is none.

    Raises :class:`SectionError` where a section has no name, a name that is taken, or one of the runner's own, and
    where a block of code is left open, which would swallow what the runner writes below.
    """
    headings = [(number, match["name"]) for number, match in _headings(text)]
    lines = text.split("\n")
    ends = [*(number for number, _ in headings), len(lines) + 1][1:]
    found = tuple(
        Section(name, number, "\n".join(lines[number : end - 1]).strip())
        for (number, name), end in zip(headings, ends, strict=True)
    )
    _require_names(found)
    before = lines[: headings[0][0] - 1] if headings else lines
    return "\n".join(before).strip(), found


def _headings(text: str) -> list[tuple[int, re.Match[str]]]:
    found, code, opened, above = [], "", 0, ""
    for number, line in enumerate(text.split("\n"), start=1):
        fence = CODE.fullmatch(line)
        if code:
            ends = fence and fence["fence"].startswith(code) and not fence["info"].strip()
            code = "" if ends else code
        elif fence:
            code, opened = fence["fence"], number
        else:
            _require_own(line, above, number)
            if heading := HEADING.fullmatch(line):
                found.append((number, heading))
        above = "" if code else line
    if code:
        raise SectionError(opened, f"the block of code that begins here is never closed; close it with '{code}'.")
    return found


def _require_own(line: str, above: str, number: int) -> None:
    """Refuse a heading of any form that passes for one of the runner's; ``above`` is the line before.

    One of HTML is refused whatever it says: instructions need none, and it may be written over several lines.
    """
    if AS_HTML.search(line):
        raise SectionError(number, "a heading is written in HTML; write it as '## Name'.")
    line, above = PLACED.sub("", line, count=1), PLACED.sub("", above, count=1)
    heading = ANY_HEADING.fullmatch(line)
    name = above if UNDERLINE.fullmatch(line) else (heading["words"] or "") if heading else ""
    if letters(unescape(MARKUP.sub(lambda found: found["words"] or "", name))) in OURS:
        raise SectionError(number, f"'## {name.strip()}' is written by the runner; name yours otherwise.")


def _require_names(sections: tuple[Section, ...]) -> None:
    seen: set[str] = set()
    for section in sections:
        if not section.key:
            raise SectionError(section.line, "a section has no name; write one after '##'.")
        if section.key in seen:
            raise SectionError(section.line, f"there is a section '## {section.name}' above; make them one.")
        seen.add(section.key)


def overlay(base: str, own: str) -> str:
    """Return instructions ``base`` with the sections of ``own``.

    Raises :class:`SectionError`, its line in ``own``, where they don't fit.
    """
    before, theirs = split(base)
    loose, ours = split(own)
    if loose and not TITLE.fullmatch(loose):
        line = 1 + next(number for number, line in enumerate(own.split("\n")) if line.strip())
        raise SectionError(line, "words stand before the first section; put them below a line '## Name'.")
    kept = {section.key: section for section in theirs}
    for section in ours:
        _lay(kept, section)
    return "\n\n".join([before, *map(str, kept.values())])


def _lay(kept: dict[str, Section], own: Section) -> None:
    there = kept.get(own.key)
    if not own.body and there is None:
        names = ", ".join(f"'{section.name}'" for section in kept.values())
        raise SectionError(own.line, f"'## {own.name}' is empty, and there is no such section to take out: {names}.")
    if own.key == RULES and there is not None:
        if not own.body:
            raise SectionError(own.line, "the rules can't be taken out, only added to.")
        kept[own.key] = Section(there.name, there.line, f"{there.body}\n{own.body}")
    elif own.body:
        kept[own.key] = own
    else:
        del kept[own.key]
