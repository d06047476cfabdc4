"""What all shapes are made of: people, places, sums, pages, refusals."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MOST_ROWS = 100
"""Rows of a page."""
USUAL_ROWS = 30
"""Rows of a page where no number is asked for."""

T = TypeVar("T")

UID = r"^[a-z0-9]{8,32}$"
Uid = Annotated[str, StringConstraints(pattern=UID)]
"""The name of a plan."""


class Wire(BaseModel):
    """Base of what is said: immutable; a field that a reader does not know is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)


class Asked(Wire):
    """Base of what people ask for: a field that is not known is a mistake of theirs."""

    model_config = ConfigDict(extra="forbid")


class PersonView(Wire):
    """Somebody on GitHub; the number is the identity."""

    id: int
    login: str


class RepositoryView(Wire):
    """A repository on GitHub, as it was called when last seen."""

    id: int
    owner: str
    name: str


class Money(Wire):
    """Dollars: null where nothing is known, and at least that much where a part is not."""

    usd: str | None
    at_least: bool = False
    covered: bool = False
    """A part of it is paid by a subscription, which has no price by use; null then means that all of it is."""


class Total(Wire):
    """A sum of tokens or of seconds: null where nothing is known, and at least that much where a part is not."""

    value: float | None
    at_least: bool = False


class Page(Wire, Generic[T]):
    """Some rows, and where to go on."""

    model_config = ConfigDict(use_attribute_docstrings=False)  # pages of something have no source: it takes 50 ms each

    items: list[T]
    next: Annotated[str | None, Field(description="Give it as ``cursor`` to go on; null: these were the last.")]


class Problem(Wire):
    """Why something was not done (RFC 9457)."""

    type: str = "about:blank"
    title: str
    """The status in words."""
    status: int
    detail: str
    """What happened and what to do."""
