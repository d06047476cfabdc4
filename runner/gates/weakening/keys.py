"""Which change of a setting makes a check weaker. What is not known here counts as weaker when it changes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.gates.weakening.facts import quoted

if TYPE_CHECKING:
    from runner.gates.weakening.settings import Value

MAX_WORDS = 5
"""Words of a list that are told one by one."""
LEAST = re.compile(r"(fail_?under|minimum\w*|min_?\w*|branches|functions|lines|statements|coverage|target|msi\w*)$")
"""Numbers of which less is weaker."""
MOST = re.compile(r"(max_?\w*|\w*_threshold|line_?length|tolerance|retries|reruns)$")
"""Numbers of which more is weaker."""
LETS_THROUGH = re.compile(
    r"(extend_?)?(\w*ignore\w*|\w*exclude\w*|omit|norecursedirs|disable[ds]?|disable_error_code|skips?|deselect"
    r"|allow\w*|unfixable|suppress\w*|\w*whitelist|passwithnotests|skiplibcheck)$"
)
"""Lists of what is let through, and switches that let something through: more is weaker."""
LOOKS_AT = re.compile(
    r"(extend_?)?(select|enabled?\w*|testpaths|source\w*|files|include\w*|packages|modules|plugins|roots|testmatch"
    r"|testregex|python_\w+|\w*required\w*|env_?list|extends|linters|strict\w*|disallow\w*|warn_?\w*|check_?\w*"
    r"|noimplicit\w*|nounused\w*|nounchecked\w*|nofallthrough\w*|no_implicit\w*|exactoptional\w*|alwaysstrict"
    r"|useunknownin\w*|forceconsistent\w*|branch|commands\w*|members|xfail_strict|error\w*|id|entry)$"
)
"""Lists of what is looked at, and switches that make it strict: less is weaker."""
NARROWS = re.compile(
    r"(testpaths|python_(files|classes|functions)|testmatch|testregex|files|include|packages|modules|source|roots|members)$"
)
"""Lists of what is looked at, which is everything where they are not set."""
HARMLESS = re.compile(
    r"(markers|target_?version|python_?version|src|known_first_party|deps|set_?env|pass_?env|description"
    r"|base_?python|package|skip_install|change_?dir|labels|output_format|(allow|white)list_externals|log_\w+|rev"
    r"|minversion|msrv|timeout|deadline|concurrency|cache_dir|junit_\w+|show_\w+|pretty|color\w*|verbos\w*"
    r"|required_plugins|asyncio_\w+|console_output_style|reporters?|plugin|cache|version|schema|\$schema"
    r"|default_language_version|target|module|moduleresolution|lib|jsx\w*|outdir|rootdir|paths|baseurl|types"
    r"|typeroots|fix|declaration\w*|sourcemap\w*|esmoduleinterop|incremental)$"
)
"""Settings that decide how something is done or shown, not what passes."""
LEVELS = {"off": 0, "allow": 0, "0": 0, "false": 0, "none": 0, "warn": 1, "warning": 1, "1": 1}
"""How severe a rule is; all else is as severe as it gets."""
LEAVES_OUT = re.compile(
    r"(--ignore\S*|--deselect\S*|-[kmpcoW]\S*|--no-cov\S*|--co|--collect-?only|no:\S+|--maxfail\S*|--lf|--last-failed"
    r"|--sw|--stepwise\S*|--reruns\S*|-x|--setup-(only|plan)|-h|--help|-V|--version|--fixtures\S*|--markers|--override-ini\S*"
    r"|--suppress\S*|--continue-on-collection-errors)"
)
"""Options of pytest that leave tests out or let failures through."""
HOLDS = re.compile(r"(--strict\S*|--cov\S*|-W\S*|error\S*|--doctest\S*|--runxfail|--fail\S*)")
"""Options of pytest whose loss lets more through."""


def weaker(key: str, was: Value | None, now: Value | None) -> str | None:
    """Return in words how ``now`` is weaker than ``was``, None where it is not; None as a value: not set."""
    name = re.split(r"[.\]]", key)[-1] or key
    name = name.replace("-", "_").casefold()
    parts = key.casefold().replace("-", "_")
    steers = name in {"set_env", "setenv"} and "ADDOPTS" in str(now) and "ADDOPTS" not in str(was)
    if steers or (name == "rootdir" and not parts.startswith("compileroptions.")):
        return _changed(was, now)
    if name == "addopts":
        return _options(was, now)
    if name == "filterwarnings":
        return _filters(was, now)
    if re.search(r"(^|\.)(rules|lints)\b", parts):
        return _level(was, now)
    return _more(was, now) if "per_file_ignores" in parts else _by_name(name, was, now)


def _by_name(name: str, was: Value | None, now: Value | None) -> str | None:
    if LEAST.fullmatch(name) and (numbers := _numbers(was, now)):
        return _changed(was, now) if numbers[1] < numbers[0] else None
    if MOST.fullmatch(name) and (numbers := _numbers(was, now)):
        return _changed(was, now) if numbers[1] > numbers[0] else None
    if HARMLESS.fullmatch(name):
        return None
    if LETS_THROUGH.fullmatch(name):
        return _more(was, now)
    if LOOKS_AT.fullmatch(name):
        narrowed = was is None and (NARROWS.fullmatch(name) or not _set(now))
        return _changed(was, now) if narrowed else _less(was, now)
    return _changed(was, now)


def _numbers(was: Value | None, now: Value | None) -> tuple[float, float] | None:
    """Return both as numbers; a limit that is not set holds nothing back."""
    try:
        old = float(was.rstrip("%")) if isinstance(was, str) else None
        new = float(now.rstrip("%")) if isinstance(now, str) else None
    except ValueError:
        return None
    if old is None or new is None:
        return (1.0, 0.0) if new is None else (0.0, 1.0)
    return old, new


def _set(value: Value | None) -> frozenset[str]:
    if value is None or (isinstance(value, str) and value.casefold() in {"false", "no", "off", ""}):
        return frozenset()
    return frozenset({value}) if isinstance(value, str) else value


def _more(was: Value | None, now: Value | None) -> str | None:
    more = sorted(_set(now) - _set(was))
    return f"lets through {_listed(more)}" if more else None


def _less(was: Value | None, now: Value | None) -> str | None:
    """Return what is looked at no longer."""
    less = sorted(_set(was) - _set(now))
    return f"no longer {_listed(less)}" if less else None


def _filters(was: Value | None, now: Value | None) -> str | None:
    """Return which warnings are ignored now, or fail no longer."""
    out = frozenset(word for word in _set(now) - _set(was) if not word.startswith("error"))
    return _more(None, out) or _less(frozenset(word for word in _set(was) if word.startswith("error")), now)


def _level(was: Value | None, now: Value | None) -> str | None:
    old, new = _severity(was), _severity(now)
    if new is None:
        return _changed(was, now) if old else None
    return _changed(was, now) if new < (2 if old is None else old) else None


def _severity(value: Value | None) -> int | None:
    if value is None:
        return None
    words = {word.strip("\"'").casefold() for word in _set(value) or {"off"}}
    return min((LEVELS[word] for word in words if word in LEVELS), default=2)


def _options(was: Value | None, now: Value | None) -> str | None:
    old, new = (set(" ".join(sorted(_set(value))).split()) for value in (was, now))
    out = sorted(option for option in new - old if LEAVES_OUT.fullmatch(option))
    less = sorted(option for option in old - new if HOLDS.fullmatch(option))
    if out:
        return f"leaves out by {_listed(out)}"
    return f"no longer {_listed(less)}" if less else None


def _changed(was: Value | None, now: Value | None) -> str:
    return f"{_shown(was)} became {_shown(now)}"


def _shown(value: Value | None) -> str:
    return "nothing" if value is None else quoted(value if isinstance(value, str) else ", ".join(sorted(value)), 50)


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - MAX_WORDS} more" if len(words) > MAX_WORDS else ""
    return ", ".join(quoted(word, 50) for word in words[:MAX_WORDS]) + more
