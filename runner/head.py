"""The head of a Program.md: YAML between two lines ``---``, read so that each fault can be told with its line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import ValidationError

from runner.untrusted import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

FENCE = "---\n"
BOM = "\N{BYTE ORDER MARK}"
"""What some editors begin a file of UTF-8 with."""
M = TypeVar("M", bound="BaseModel")


class PromptwareError(Exception):
    """A unit can't be used as it is written, or its prompt would be too long; the message says what to change.

    It may quote a repository's file, so that it is kept to one line of what can be seen.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(plain(sentence))


@dataclass(frozen=True, slots=True)
class Head:
    """The head of one file, not yet judged, and what follows it."""

    path: str
    values: Mapping[str, Any]
    lines: Mapping[str, int]
    """Where each key stands in the file."""
    body: str
    body_line: int
    """Lines of the file before the body."""

    @classmethod
    def read(cls, data: bytes, path: str) -> Head:
        """Take a file apart; raises :class:`PromptwareError` where it has no head, or one that is no YAML."""
        try:
            text = data.decode("utf-8").removeprefix(BOM).replace("\r\n", "\n")
            text += "" if text.endswith("\n") else "\n"
        except UnicodeDecodeError as error:
            line = 1 + data[: error.start].count(b"\n")
            raise PromptwareError(f"{path}, line {line}: it is not UTF-8.") from None
        start, fence, rest = text.partition(FENCE)
        head, end, body = rest.partition("\n" + FENCE)
        if start or not fence or not end:
            raise PromptwareError(f"{path}, line 1: it must begin with a head between two lines '---'.")
        values, lines = _yaml(head, path)
        return cls(path, values, lines, body, head.count("\n") + 3)

    def error(self, line: int, sentence: str) -> PromptwareError:
        """Return the fault of one line."""
        return PromptwareError(f"{self.path}, line {line}: {sentence}")

    def error_at(self, key: str, sentence: str) -> PromptwareError:
        """Return the fault of one key; of one that is missing, where the head begins."""
        return self.error(self.lines.get(key, 1), f"{key}: {sentence}")

    def validated(self, model: type[M], missing: str = "") -> M:
        """Return the head as ``model`` has it; ``missing`` says what else a head that lacks keys may do.

        Raises :class:`PromptwareError` with the first fault.
        """
        try:
            return model.model_validate(self.values)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            key = str(fault["loc"][0]) if fault["loc"] else "head"
            if fault["type"] == "missing":
                raise self.error_at(key, f"it is missing; add it{missing and f', {missing}'}.") from None
            if fault["type"] == "extra_forbidden":
                raise self.error_at(key, f"there is no such key; there are {', '.join(model.model_fields)}.") from None
            where = "".join(f" {name}:" for name in fault["loc"][1:])
            said = fault["msg"][:1].lower() + fault["msg"][1:]
            raise self.error_at(key, f"{where} {said}.".strip()) from None


def _yaml(head: str, path: str) -> tuple[dict[str, Any], dict[str, int]]:
    try:
        node = yaml.compose(head, yaml.SafeLoader)
        values = yaml.safe_load(head)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else 1
        raise PromptwareError(f"{path}, line {line}: the head is not valid YAML.") from None
    if not isinstance(node, yaml.MappingNode) or not isinstance(values, dict):
        raise PromptwareError(f"{path}, line 2: the head must be a list of 'key: value'.")
    lines: dict[str, int] = {}
    for key, _ in node.value:
        name, line = str(key.value), key.start_mark.line + 2
        if name in lines:
            raise PromptwareError(f"{path}, line {line}: {name}: it stands in line {lines[name]} already.")
        lines[name] = line
    return values, lines
