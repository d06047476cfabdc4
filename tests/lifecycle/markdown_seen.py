"""What GitHub would make of a text: mentions, references, raw HTML and markers outside of code."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^( *(?:(?:-|[0-9]+\.) +)?)(`{3,})[a-z]*\n.*?^ *\2 *$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_OURS = re.compile(r"</?(?:details|summary|code)>")


def outside_code(text: str) -> str:
    """Return the text without fenced blocks and code spans."""
    return _SPAN.sub("`CODE`", _FENCE.sub("FENCE", text))


def mentions(text: str) -> set[str]:
    """Return who is mentioned."""
    return set(re.findall(r"(?<![\w/])@[A-Za-z0-9][A-Za-z0-9/-]*", outside_code(text)))


def references(text: str) -> set[str]:
    """Return the issues that are referred to, by number or address."""
    seen = outside_code(text)
    return set(
        re.findall(r"#[0-9]+(?!\d*\))|GH-[0-9]+|https?://(?!\u200b)\S+/(?:issues|pull|commit)/\S+", seen, re.IGNORECASE)
    )


def tags(text: str) -> set[str]:
    """Return raw HTML that is not ours."""
    return set(re.findall(r"<[!/A-Za-z][^>]*>?", _OURS.sub("", outside_code(text))))


def links(text: str) -> set[str]:
    """Return the targets of links and images."""
    return set(re.findall(r"(?<!\\)\]\(([^)]*)\)", outside_code(text)))
