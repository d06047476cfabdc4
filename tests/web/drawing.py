"""Lets hypothesis-jsonschema 0.23 draw with a Hypothesis whose collections are loops: it still asks them for ``more``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import hypothesis_jsonschema._from_schema as drawing
from hypothesis.internal.conjecture import utils


class Many:
    """A collection that is drawn element by element, as it was asked for before."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._many = utils.many(*args, **kwargs)
        self._elements = iter(self._many.__enter__())

    def more(self) -> bool:
        """Whether another element is wanted."""
        for _ in self._elements:
            return True
        self._many.__exit__(None)
        return False

    def reject(self, why: str | None = None) -> None:
        """Leave the last element out."""
        self._many.reject(why)


def mend() -> None:
    """Put it in the place where it is looked for."""
    drawing.cu = SimpleNamespace(**{**vars(utils), "many": Many})
