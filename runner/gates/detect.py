"""Recognise a repository's own checks from its files, where its policy names none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.contract import GateSpec


def detect(read: Callable[[str], bytes | None]) -> tuple[GateSpec, ...]:
    """Return the checks recognised at a commit; ``read`` gives the content of a path there, None where it is not."""
    raise NotImplementedError
