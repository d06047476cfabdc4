"""Records of workflow runs: attempts and their jobs, the settings of Actions, and which attempt may start when."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.standin.entities import User, WorkflowRun
from tests.standin.workflow_file import Workflow, WorkflowJob

Phase = Literal["pending", "queued", "in_progress", "lost", "completed"]
"""``pending`` waits for its concurrency group, ``queued`` for a machine; ``lost`` is a machine that fell silent."""
HOLDING: tuple[Phase, ...] = ("queued", "in_progress", "lost")
"""Phases in which an attempt holds its concurrency group."""


@dataclass
class ActionsSettings:
    """What a test may set before or between runs.

    ``slots`` runs go on at once; a workflow's minute lasts ``seconds_per_minute``; a run starts ``start_delay`` seconds
    after a slot is free; a cancelled step has ``interrupt`` and then ``terminate`` seconds. ``old_server`` answers
    every dispatch with 204, as servers before 2026 do. ``machine`` is the environment of the self-hosted machine.
    ``action_folder`` stands in for every ``<owner>/twogate@<ref>`` (default: a copy of this project's), and
    ``local_actions`` maps other actions, ``owner/name@ref``, to folders.
    """

    slots: int = 4
    seconds_per_minute: float = 60.0
    start_delay: float = 0.0
    interrupt: float = 7.5
    terminate: float = 2.5
    old_server: bool = False
    machine: dict[str, str] = field(default_factory=dict)
    action_folder: Path | None = None
    local_actions: dict[str, Path] = field(default_factory=dict)


@dataclass(eq=False)
class JobRun:
    """One job in one attempt."""

    id: int
    declared: WorkflowJob
    status: Literal["queued", "in_progress", "completed"] = "queued"
    conclusion: str | None = None
    started_at: float | None = None
    completed_at: float | None = None


@dataclass(eq=False)
class Attempt:
    """One try at a run; a re-run adds one. ``actor`` is who caused it, ``log`` what its steps printed."""

    run: WorkflowRun
    number: int
    workflow: Workflow
    workflow_id: int
    actor: User
    group: str | None
    jobs: list[JobRun]
    folder: Path
    runner: str
    created_at: float
    updated_at: float
    phase: Phase = "queued"
    conclusion: str | None = None

    @property
    def log(self) -> Path:
        """The file with the run's output, kept after the run."""
        return self.folder / "log.txt"

    @property
    def status(self) -> str:
        """The status as the API shows it; of a lost machine GitHub does not know yet."""
        return "in_progress" if self.phase == "lost" else self.phase

    def shares_group(self, other: "Attempt") -> bool:
        """Whether both are of one concurrency group; groups are per repository and compare without case."""
        same = self.group is not None and other.group is not None and self.group.lower() == other.group.lower()
        return same and self.run.repo is other.run.repo and self is not other


def holders(attempt: Attempt, all_attempts: Iterable[Attempt]) -> list[Attempt]:
    """Who holds the concurrency group that an attempt waits for."""
    return [other for other in all_attempts if other.phase in HOLDING and attempt.shares_group(other)]


def superseded(attempt: Attempt, all_attempts: Iterable[Attempt]) -> list[Attempt]:
    """Attempts that a newcomer ends: the pending one of its group, and with cancel-in-progress the running one too."""
    phases: tuple[Phase, ...] = ("pending", *HOLDING) if attempt.workflow.cancel_in_progress else ("pending",)
    return [other for other in all_attempts if other.phase in phases and attempt.shares_group(other)]


def startable(all_attempts: list[Attempt], slots: int) -> list[Attempt]:
    """Queued attempts for which a machine is free, oldest first."""
    busy = sum(1 for attempt in all_attempts if attempt.phase == "in_progress")
    queued = [attempt for attempt in all_attempts if attempt.phase == "queued"]
    return queued[: max(0, slots - busy)]
