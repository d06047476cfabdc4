"""What other Apps say of a commit: their check runs and commit statuses, read the same way."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from bot.lifecycle.states import Frozen
from runner.contract import Feedback

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_CHECKS = 200
"""Checks of one commit that are kept and shown to be there, those that failed first."""
MOST_LOGS = 3
"""Failed checks whose logs are fetched."""
LONGEST_LOG = 16_000
"""Characters of the end of such a log: what failed is told at the end."""


class CiState(StrEnum):
    """How a check stands."""

    PENDING = "pending"
    PASSED = "passed"
    FAILED = "failed"
    NEUTRAL = "neutral"
    """Ended without a judgement: skipped, neutral, or no longer of interest."""


class CiCheck(Frozen):
    """One check of another App on a commit. Names and texts are anybody's."""

    name: str
    state: CiState
    conclusion: str = ""
    """GitHub's own word: ``success``, ``timed_out``, ``error``."""
    url: str = ""
    app: str = ""
    """The slug of the App that made it; empty for a commit status."""
    job_id: int | None = None
    """The Actions job whose log tells more; None where it is none."""
    at: float = 0.0
    """When something was last said of it, in seconds since the epoch."""

    @property
    def passed(self) -> bool:
        """Whether it would let a pull request be merged where it is required: skipped counts, as on GitHub."""
        return self.state is CiState.PASSED or self.conclusion in {"skipped", "neutral"}


class CiFailure(Frozen):
    """A required check that failed, and the end of its log where there is one."""

    check: CiCheck
    log: str = ""

    @property
    def feedback(self) -> Feedback:
        """What the agent is told of it."""
        told = (f"The check {self.check.name} ended as {self.check.conclusion} on GitHub.", self.check.url, self.log)
        return Feedback(kind="ci", author="GitHub", text="\n\n".join(filter(None, told)))


class Outlook(Frozen):
    """How a commit stands to the checks that are required of it."""

    failed: tuple[CiCheck, ...]
    awaited: tuple[str, ...]
    """Names of those that have not passed and have not failed."""


ORDER = (CiState.FAILED, CiState.PENDING, CiState.PASSED, CiState.NEUTRAL)
"""In which checks are shown: what a person has to look at comes first."""


def latest(checks: Iterable[CiCheck]) -> tuple[CiCheck, ...]:
    """Return the checks that are kept: what each App said last under each name, in their order."""
    return tuple(_newest(checks)[:MOST_CHECKS])


def _newest(checks: Iterable[CiCheck]) -> list[CiCheck]:
    newest = {(check.name.casefold(), check.app): check for check in sorted(checks, key=lambda check: check.at)}
    return sorted(newest.values(), key=lambda check: (ORDER.index(check.state), check.name, check.app))


def by_name(required: Iterable[str], checks: Iterable[CiCheck]) -> tuple[tuple[str, CiCheck | None], ...]:
    """Return each required name with its check, None where nothing is known of it. Names know no case.

    Where several Apps use a name, the one counts that is farthest from passing: on GitHub they all have to pass.
    """
    known = {check.name.casefold(): check for check in reversed(_newest(checks))}
    return tuple((name, known.get(name.casefold())) for name in required)


def outlook(required: Iterable[str], checks: Iterable[CiCheck]) -> Outlook:
    """Return what has become of the required checks."""
    found = by_name(required, checks)
    return Outlook(
        failed=tuple(check for _, check in found if check is not None and check.state is CiState.FAILED),
        awaited=tuple(
            name for name, check in found if check is None or not (check.passed or check.state is CiState.FAILED)
        ),
    )


def same(before: Iterable[CiCheck], after: Iterable[CiCheck]) -> bool:
    """Whether both say the same; when it was said does not count."""
    return [_said(check) for check in before] == [_said(check) for check in after]


def _said(check: CiCheck) -> CiCheck:
    return check.model_copy(update={"at": 0.0})


def failures(failed: Iterable[CiCheck], logs: Mapping[str, str]) -> tuple[CiFailure, ...]:
    """Return the failed checks with their logs, which are given by the checks' names."""
    return tuple(CiFailure(check=check, log=logs.get(check.name, "")) for check in failed)
