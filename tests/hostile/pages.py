"""A text as GitHub's Markdown reads it, and what in it is not ours though it would act."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from bot.lifecycle.commands import parse
from bot.lifecycle.wording import render
from runner.steps.history import SKIPS
from runner.untrusted import VARIATION_SELECTORS
from tests.hostile.prompts import HARMLESS, unseen
from tests.lifecycle.markdown_seen import mentions, outside_code, references, tags
from tests.lifecycle.test_wording_hostile import OUR_LINKS, OURS, everywhere

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

MARKDOWN = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable(["table", "strikethrough"])
SHOWN = {"\u200b", "\u200c", "\u200d", *map(chr, VARIATION_SELECTORS)}
"""What of the unseen is ours, which keeps mentions from being any, or belongs to emoji and scripts."""
OWN_HTML = re.compile(r"</?(?:details|summary|code)>")
MERGED = {"title", "pull-request"}
"""What a squashed merge may take for its message."""
LAST = {
    "plan-plan": "is asked for again.",
    "review": "it no longer counts.",
    "status": "lists what can be said here.",
    "check": "for issue #12.",
    "superseded": "</details>",
}
"""Our own last words of messages that hold much of others: they stand outside of any code, cell or folded part."""


Shape = tuple[list[str], list[list[int]], list[int]]
"""The headings of a message, the columns of each row of its tables, and its folded parts."""


@cache
def harmless() -> dict[str, Shape]:
    """Return the shape of every message with a text that harms nobody."""
    return {name: _shape(shown, MARKDOWN.parse(shown)) for name, shown in everywhere(HARMLESS).items()}


def faults(name: str, shown: str) -> Iterator[str]:
    """Yield what is wrong with the message ``name`` of :func:`everywhere`."""
    if called := mentions(shown):
        yield f"{name} mentions {called}"
    if named := {one for one in references(shown) if not one.startswith(OUR_LINKS)} - OURS:
        yield f"{name} refers to {named}"
    if hidden := unseen(shown) - SHOWN:
        yield f"{name} holds {sorted(map(ord, hidden))}"
    if name in MERGED and SKIPS.search(shown):
        yield f"{name} keeps checks from running where it becomes the message of a merge"
    if not name.startswith("title"):  # titles know no Markdown, and nobody looks for marks there
        yield from _acting(name, shown)


def _acting(name: str, shown: str) -> Iterator[str]:
    if said := parse(shown):
        yield f"{name} says {said}"
    if re.search(r"<!--\s*twogate", shown, re.IGNORECASE):
        yield f"{name} bears a mark"
    if foreign := tags(shown) - (set(render.RECORD) if name == "pull-request" else set()):
        yield f"{name} has the elements {foreign}"
    tokens = MARKDOWN.parse(shown)
    yield from (f"{name} {fault}" for fault in _reading(tokens))
    if (shape := _shape(shown, tokens)) != harmless()[name]:
        yield f"{name} has another shape: headings, columns and folds are {shape}"
    if LAST.get(name, "") not in outside_code(shown):
        yield f"{name} does not end in our own words"


def _reading(tokens: list[Token]) -> Iterator[str]:
    """Yield the links and images that are not ours, and raw HTML but for ours."""
    for token in (each for block in tokens for each in (block, *(block.children or ()))):
        target = str(token.attrGet("href") or token.attrGet("src") or "")
        if token.type == "image" or (target and not target.startswith(OUR_LINKS)):
            yield f"leads to {target}"
        if token.type.startswith("html_") and (rest := _foreign(token.content)):
            yield f"holds the HTML {rest!r}"


def _foreign(html: str) -> str:
    found = re.findall(r"<[^>]*>", OWN_HTML.sub("", html))
    return " ".join(one for one in found if one not in render.RECORD)


def _shape(shown: str, tokens: list[Token]) -> Shape:
    headings = [token.tag for token in tokens if token.type == "heading_open"]
    tables: list[list[int]] = []
    for token in tokens:
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append(0)
        elif token.type in {"th_open", "td_open"}:
            tables[-1][-1] += 1
    seen = outside_code(shown)
    return headings, tables, [seen.count(tag) for tag in ("<details>", "</details>", "<summary>", "</summary>")]
