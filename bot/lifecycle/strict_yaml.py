"""A small, strict YAML: text -> plain data, and the line on which each part of it stands.

Stricter than YAML: one document, no anchors, aliases or tags, no key twice, keys are text. Plain scalars mean what they
look like: only ``true`` and ``false`` are booleans, so that ``off`` and ``no`` stay words; numbers are decimal.
Since nothing refers to anything and depth and size have limits, no text takes long to read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_CHARACTERS = 16_384
"""A longer text is not a settings file; reading one of this length takes about a second."""
MAX_DEPTH = 12
"""Levels of nesting; the deepest key known anywhere lies on the fourth."""

Data: TypeAlias = "bool | int | Decimal | str | list[Data] | dict[str, Data] | None"
Path: TypeAlias = "tuple[str | int, ...]"


class YamlError(ValueError):
    """What is wrong with the text, and on which line (counted from 1)."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data, and the line of every key and item by its path."""

    data: Data
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int:
        """Return the line of a part, or of the nearest part around it that is there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


class _Loader(yaml.SafeLoader):
    """Knows no implicit types; :func:`_scalar` decides what a plain scalar is."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as its base has it


_SCALARS: tuple[tuple[re.Pattern[str], Callable[[str], Data]], ...] = (
    (re.compile(r"|~|null"), lambda _: None),
    (re.compile(r"true|false"), lambda text: text == "true"),
    (re.compile(r"-?(?:0|[1-9][0-9]{0,17})"), int),
    (re.compile(r"-?[0-9]{1,18}\.[0-9]{1,18}"), Decimal),
)


def load(text: str) -> Document:
    """Return the data of a text; raises :class:`YamlError`. An empty text is None."""
    if len(text) > MAX_CHARACTERS:
        raise YamlError(1, f"the file has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read")
    lines: dict[Path, int] = {}
    try:
        _refuse_references(text)
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "this can't be read"
        raise YamlError(mark.line + 1 if mark else 1, f"not valid YAML: {problem}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlError(line, "not valid YAML: a character that is not allowed") from None
    return Document(None if root is None else _build(root, (), lines), lines)


def _refuse_references(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if getattr(event, "anchor", None) is not None:
            raise YamlError(line, "anchors and aliases are not read here; write the value out")
        if getattr(event, "tag", None) is not None:
            raise YamlError(line, "tags are not read here; write the plain value")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise YamlError(line, f"nested more than {MAX_DEPTH} levels deep")


def _build(node: yaml.Node, path: Path, lines: dict[Path, int]) -> Data:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, lines)
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, (*path, index), lines) for index, item in enumerate(node.value)]
    assert isinstance(node, yaml.ScalarNode), "compose resolves aliases, and there are none"  # noqa: S101
    return _scalar(node)


def _mapping(node: yaml.MappingNode, path: Path, lines: dict[Path, int]) -> dict[str, Data]:
    found: dict[str, Data] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = _scalar(key_node) if isinstance(key_node, yaml.ScalarNode) else None
        if not isinstance(key, str):
            raise YamlError(line, "a key must be a word")
        if key in found:
            raise YamlError(line, f"`{key}` is here twice; the first is on line {lines[*path, key]}")
        lines[*path, key] = line
        found[key] = _build(value_node, (*path, key), lines)
    return found


def _scalar(node: yaml.ScalarNode) -> Data:
    text = str(node.value)
    if node.style is None:
        for pattern, make in _SCALARS:
            if pattern.fullmatch(text):
                return make(text)
    return text
