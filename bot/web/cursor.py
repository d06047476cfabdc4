"""Marks in an address: where a page of a list begins, as text that means something to this bot alone.

A mark gives no right: whoever changes one begins elsewhere in what they may see anyhow.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import FiniteFloat, StringConstraints, TypeAdapter

from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_CURSOR = 200
"""Characters of a mark; ours are shorter."""
STRANGE = "This cursor is none of ours: leave it out to begin, and take `next` of each page from then on."

T = TypeVar("T")

_NAME = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,64}$")]
_PAIR: TypeAdapter[tuple[float, str]] = TypeAdapter(tuple[FiniteFloat, _NAME])
_NUMBER: TypeAdapter[tuple[int]] = TypeAdapter(tuple[int])
_LARGEST = 2**63 - 1


def written(mark: Sequence[float | str]) -> str:
    """Return a mark as text."""
    text = json.dumps(list(mark), separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def pair(cursor: str | None) -> tuple[float, str] | None:
    """Return the time and the name behind which a page begins. Raises ``Refused`` 400 for what is no mark."""
    return None if cursor is None else _read(_PAIR, cursor)


def number(cursor: str | None) -> int | None:
    """Return the number behind which a page begins. Raises ``Refused`` 400 for what is no mark."""
    if cursor is None:
        return None
    (found,) = _read(_NUMBER, cursor)
    if not 0 <= found <= _LARGEST:
        raise Refused(400, STRANGE)
    return found


def _read(kind: TypeAdapter[T], cursor: str) -> T:
    if len(cursor) > LONGEST_CURSOR:
        raise Refused(400, STRANGE)
    try:
        return kind.validate_json(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except ValueError as error:
        raise Refused(400, STRANGE) from error
