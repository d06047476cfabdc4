"""What a scripted model says, in terms of no wire format: text, tool calls, tokens, faults."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True)
class Tokens:
    """What one answer bills. Input is without cache reads and writes, output with reasoning."""

    input: int = 1_000
    output: int = 50
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def all_input(self) -> int:
        """Every input token, however it is billed."""
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True)
class Write:
    """Write a file; the path is relative to the work tree, or absolute."""

    path: str
    content: str


@dataclass(frozen=True)
class Read:
    """Read a file: several agents edit none that they have not read."""

    path: str


@dataclass(frozen=True)
class Edit:
    """Replace text in a file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Shell:
    """Run a command."""

    command: str


@dataclass(frozen=True)
class Raw:
    """Call a tool by its own name, whether it is offered or not."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Own:
    """Call a tool of the run's own over MCP, by whatever name the agent offers it."""

    name: str
    arguments: dict[str, Any]


Tool = Write | Read | Edit | Shell | Raw | Own


class Cut(StrEnum):
    """Ways in which an answer can break."""

    OVERFLOW = "overflow"
    """The provider's own refusal of a context that is too long."""
    STREAM = "stream"
    """The answer begins well, and the connection closes in the middle."""


@dataclass(frozen=True)
class Fault:
    """An answer that is none: an HTTP status, or a :class:`Cut`."""

    status: int = 0
    retry_after: int | None = None
    """Seconds, in a header; None: no such header."""
    cut: Cut | None = None


@dataclass(frozen=True)
class Turn:
    """One answer of the model."""

    text: str = ""
    tools: tuple[Tool, ...] = ()
    reasoning: str = ""
    tokens: Tokens = Tokens()
    fault: Fault | None = None
    delay: float = 0.0
    """Seconds before the first byte."""


@dataclass(frozen=True)
class Call:
    """A tool call by the name that an agent offers; ``arguments`` is text for a tool that takes free text."""

    name: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True)
class Reply:
    """A turn on its way out: what a wire format is made of."""

    number: int
    """Of the request, counted from 1; part of every id."""
    model: str
    text: str
    reasoning: str
    calls: tuple[Call, ...]
    tokens: Tokens
