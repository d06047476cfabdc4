"""Markdown as GitHub shows it, near enough to judge a comment by: tables, task lists, alerts, diffs, folded details.

Raw HTML is escaped except a few harmless tags; comments are hidden, as on GitHub.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

ALLOWED = re.compile(r"&lt;(/?(?:details|summary|sub|sup|kbd|br|b|i|em|strong|code)(?: open)?\s*/?)&gt;")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
ALERT = re.compile(
    r"<blockquote>\s*<p>\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\](?:<br />)?\s*(.*?)</blockquote>", re.DOTALL
)
HEADS = {"+++ ", "--- "}
"""How the lines that name a patch's files begin."""
NUMBER = re.compile(r"(?<![\w&/])#(\d{1,6})\b")
MENTION = re.compile(r"(?<![\w/@])@[A-Za-z0-9][A-Za-z0-9-]{0,38}\b")
TASK = re.compile(r"<li>(\s*<p>)?\[([ xX])\] ")


def render(text: str) -> str:
    """Safe HTML of a comment's Markdown."""
    made = str(_parser().render(text))
    made = ALERT.sub(
        lambda m: f'<div class="alert {m[1].lower()}"><strong>{m[1].title()}</strong><p>{m[2]}</div>', made
    )
    return TASK.sub(_task, made)


def _task(found: re.Match[str]) -> str:
    checked = " checked" if found[2] in "xX" else ""
    return f'<li class="task">{found[1] or ""}<input type="checkbox" disabled{checked}> '


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable(["table", "strikethrough"])
    rules: dict[str, Any] = parser.renderer.rules  # type: ignore[attr-defined]
    rules |= {"html_block": _raw, "html_inline": _raw, "fence": _fence, "text": _text}
    return parser


def _text(tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    """Plain words, in which GitHub makes a link of an issue's number and sets the names of people apart."""
    shown = html.escape(tokens[index].content, quote=False)
    inside = sum({"link_open": 1, "link_close": -1}.get(token.type, 0) for token in tokens[:index])
    return shown if inside else MENTION.sub(r"<b>\g<0></b>", NUMBER.sub(r'<a href="../issues/\1">\g<0></a>', shown))


def _raw(tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    shown = html.escape(COMMENT.sub("", tokens[index].content), quote=False)
    return ALLOWED.sub(r"<\1>", shown)


def _fence(tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    token = tokens[index]
    if token.info.strip() == "diff":
        return diff(token.content)
    return f"<pre><code>{html.escape(token.content, quote=False)}</code></pre>\n"


def diff(text: str) -> str:
    """A patch with coloured lines."""
    kinds = {"+": "add", "-": "del", "@": "hunk"}
    lines = (
        f'<span class="{"hunk" if line[:4] in HEADS else kinds.get(line[:1], "ctx")}">{html.escape(line, quote=False)}\n</span>'
        for line in text.splitlines()
    )
    return f'<pre class="diff"><code>{"".join(lines)}</code></pre>\n'
