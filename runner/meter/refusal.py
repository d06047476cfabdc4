"""How the meter says no: to a request, and to a whole run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.contract import Outcome


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run must end."""

    outcome: Outcome
    sentence: str


class Refusal(Exception):  # noqa: N818 - not an error of the program: an answer
    """A request is answered with a status and a sentence; ``stop`` ends its run as well."""

    def __init__(self, status: int, sentence: str, *, stop: Stop | None = None, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.stop, self.retry_after = status, sentence, stop, retry_after
