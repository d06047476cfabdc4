"""The template engine: packaged templates, filters that make foreign text safe, and tidy blank lines."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined

from bot.lifecycle import costs
from bot.lifecycle.queue import NAMED_PLACES
from bot.lifecycle.wording import escape, limits, words
from bot.lifecycle.wording.prefixed import Prefixing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FENCE = re.compile(r" *(?:(?:-|[0-9]+\.) +)?(?P<ticks>`{3,})[a-z]*")
_REFERENCE = re.compile(r"#[0-9]{1,12}")
_SHORT = 10
"""Seconds below which a tenth of one tells something."""
_INSTANT = 0.05
_MINUTE, _HOUR = 60, 3_600


def _within(function: Callable[[str], str]) -> Callable[..., str]:
    def applied(text: object, limit: int | None = None) -> str:
        return function(str(text)) if limit is None else escape.clipped(str(text), limit, function)

    return applied


def _figure(function: Callable[[Any], str]) -> Callable[[Any], str]:
    def applied(value: Any) -> str:
        return escape.clipped(function(value), limits.FIGURE, str)

    return applied


def duration(seconds: float) -> str:
    """Return a time as people read it: ``0.4 s``, ``45 s``, ``15 min``, ``1 h 30 min``."""
    if _INSTANT < seconds < _SHORT and seconds != int(seconds):
        return f"{seconds:.1f} s"
    if seconds < _MINUTE or (seconds < 2 * _MINUTE and seconds % _MINUTE):
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    hours, rest = divmod(round(seconds / _MINUTE), 60)
    return f"{hours:,} h {rest} min" if rest else f"{hours:,} h"


def moment(at: float) -> str:
    """Return a time in the world's zone: ``2026-11-29 10:00 UTC``."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def spelled(names: Sequence[str]) -> str:
    """Return names in a sentence: ``#1, #2 and #3``. Issues are linked, all else is code."""
    shown = [n if _REFERENCE.fullmatch(n) else escape.clipped(n, limits.NAME, escape.code) for n in names]
    if len(shown) > limits.WAITED_FOR:
        shown = [*shown[: limits.WAITED_FOR], f"{len(shown) - limits.WAITED_FOR} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def source(job: costs.JobCost) -> str:
    """Return where a job's dollars come from."""
    dates = ", ".join(job.price_dates)
    prices = f"price table of {escape.cell(dates)}" if dates else "price table"
    named = [words.SOURCES[source].format(prices=prices) for source in job.usd_sources]
    return escape.clipped(" and ".join(named), limits.NAME, str)


def _environment() -> Environment:
    made = Environment(
        loader=Prefixing("bot.lifecycle.wording"),
        autoescape=False,  # noqa: S701 - Markdown, not HTML: the filters below escape for it
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        name: _within(getattr(escape, name)) for name in ("prose", "inline", "cell", "code", "cell_code", "html")
    }
    made.filters |= {name: _figure(getattr(costs, name)) for name in ("dollars", "count", "minutes", "percent")}
    made.filters |= {
        "tail": lambda text, limit: escape.clipped_tail(text, limit, escape.output),
        "part": lambda position: f"part {position}",
        "address": escape.address,
        "words": lambda text: str(text).replace("_", " "),
        "duration": duration,
        "moment": moment,
        "spelled": spelled,
        "oneline": lambda text: re.sub(r"\s*\n\s*", " ", text).rstrip(),
        "sentence": lambda text: text[:1].upper() + text[1:],
        "source": source,
    }
    made.globals |= {
        "limits": limits,
        "named_places": NAMED_PLACES,
        "states": words.STATES,
        "waits": words.WAITS,
        "holds": words.HOLDS,
        "ways": words.WAYS,
        "outcomes": words.OUTCOMES,
        "results": words.RESULTS,
        "ci_states": words.CI_STATES,
        "severities": words.SEVERITIES,
        "networks": words.NETWORKS,
        "trackers": words.TRACKERS,
    }
    return made


_TEMPLATES = _environment()


def fill(template: str, **values: Any) -> str:
    """Return a template's text with these values; commands are named as the policy among them wants them."""
    policy = values.get("policy") or getattr(values.get("plan"), "policy", None)
    values["spoken"] = f"{policy.prefix} " if policy and policy.prefix else ""
    return tidy(_TEMPLATES.get_template(f"{template}.md.j2").render(values))


def tidy(text: str) -> str:
    """Return the text with single blank lines and no trailing blanks, except within fences."""
    kept: list[str] = []
    ticks = ""
    for line in text.strip().split("\n"):
        fence = _FENCE.fullmatch(line)
        if ticks:
            kept.append(line)
            ticks = "" if line.strip() == ticks else ticks
        elif line.strip() or (kept and kept[-1]):
            kept.append(line.rstrip())
            ticks = fence["ticks"] if fence else ""
    return "\n".join(kept)


def open_fence(text: str) -> str:
    """Return the line that closes the fence which a cut text leaves open, or nothing."""
    ticks = ""
    for line in text.split("\n"):
        if ticks:
            ticks = "" if line.strip() == ticks else ticks
        elif (fence := _FENCE.fullmatch(line)) is not None:
            ticks = fence["ticks"]
    return f"\n{ticks}" if ticks else ""
