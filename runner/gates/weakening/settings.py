"""Settings files of several forms as one flat table: dotted key to a scalar or to a set of words."""

from __future__ import annotations

import configparser
import json
import posixpath
import re
import tomllib
from typing import TYPE_CHECKING, Any

import yaml

from runner.gates.weakening.lexing import lex

if TYPE_CHECKING:
    from collections.abc import Iterator

Value = str | frozenset[str]
Settings = dict[str, Value]

MAX_KEYS = 20_000
"""Keys of one file; a file of more is told line by line."""
MAX_YAML = 200_000
"""Characters of a file of YAML that is read key by key."""
MAX_DEPTH = 40
"""How deep a file may be nested."""
NAMES = ("id", "repo", "module", "name", "path", "files", "linters")
"""What an entry of a list is known by, where it is a table itself."""
INI = re.compile(r".*\.(ini|cfg)|\.coveragerc|\.flake8|\.?pylintrc|\.bandit")


def parsed(name: str, text: str) -> dict[str, Any] | None:
    """Return what a settings file holds, None where it can't be read."""
    suffix = posixpath.splitext(name)[1]
    try:
        if INI.fullmatch(name):
            return _ini(text)
        if suffix == ".toml":
            return tomllib.loads(text)
        if suffix in {".yml", ".yaml"}:
            return _yaml(text)
        return _table(json.loads(_plain(text) or "{}"))
    except (ValueError, TypeError, RecursionError, configparser.Error, yaml.YAMLError):
        return None


def _yaml(text: str) -> dict[str, Any] | None:
    """Return what a file of YAML holds; one that is long or nested deep would take long to read."""
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            return None
    return None if len(text) > MAX_YAML else _table(yaml.safe_load(text) if text.strip() else {})


def _table(data: object) -> dict[str, Any] | None:
    return data if isinstance(data, dict) else None


def _plain(text: str) -> str:
    """Return JSON without the comments and last commas that many tools allow."""
    source = lex(text, "go")
    kept = "".join(t if c != " " else " " for t, c in zip(source.text, source.code, strict=True))
    return re.sub(r",(\s*[}\]])", r"\1", kept).strip()


def _ini(text: str) -> dict[str, Any]:
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keys keep their case
    parser.read_string(text)
    return {name: {key: _words(value or "") for key, value in parser.items(name)} for name in parser.sections()}


def _words(value: str) -> str | list[str]:
    """Return the lines or comma-separated words of a value as a list, one value as it is."""
    words = [word.strip() for word in re.split(r"\n|,(?![^(]*\))", value) if word.strip()]
    return words if len(words) > 1 or "\n" in value.strip("\n ") else value.strip()


def flat(data: dict[str, Any]) -> Settings | None:
    """Return all settings by their dotted keys, None where there are too many."""
    found: Settings = {}
    try:
        for key, value in _walk("", data, 0):
            found[key] = value
            if len(found) > MAX_KEYS:
                return None
    except RecursionError:
        return None
    return found


def _walk(key: str, value: object, depth: int) -> Iterator[tuple[str, Value]]:
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(f"{key}.{name}" if key else str(name), inner, depth + 1)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from _walk(f"{key}[{_name(item, number)}]", item, depth + 1)
    elif isinstance(value, list):
        yield key, frozenset(_word(item) for item in value)
    else:
        yield key, _word(value)


def _name(item: object, number: int) -> str:
    named = next((item[name] for name in NAMES if name in item), None) if isinstance(item, dict) else item
    return str(number) if named is None else str(named)[:100]


def _word(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: ""}[value]
    return value if isinstance(value, str) else json.dumps(value, default=str)
