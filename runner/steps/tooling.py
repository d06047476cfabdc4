"""The tools of one unit's agent, over its runs: what it finds, who listens, and what becomes of what was recorded."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from runner.agents.result import InvalidResultError, read_result
from runner.contract import Outcome
from runner.head import PromptwareError
from runner.program import Access
from runner.results import ExecutionSummary, PlanDocument
from runner.steps.lessons import ground_against, hand_in
from runner.tools import Records, Toolbox, ToolServer, furnish, own_executables
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from runner.agents.base import AgentResult, ToolAccess
    from runner.agents.result import Result
    from runner.promptware import Program
    from runner.steps.context import Job
    from runner.steps.redact import Redactor


class Tooling:
    """The tools of a conversation: each run has a toolbox of its own, and all fill the same records."""

    def __init__(self, job: Job, program: Program, objection: Callable[[Result], str]) -> None:
        """``objection`` says why a result that fits its schema can't be used, empty where it can.

        Raises :class:`~runner.watch.Ending` where the repository's own executables can't be used.
        """
        self._job, self._program, self._objection = job, program, objection
        self.records = Records()
        try:
            self._own = own_executables(job.store, job.spec.base, program.unit)
        except PromptwareError as error:
            raise Ending(Outcome.RUNNER_FAILED, str(error)) from error

    def furnish(self, run: int) -> ToolAccess | None:
        """Return what the ``run``-th run finds, None where its unit may call nothing; raises OSError."""
        tools = self._program.front.tools
        if not tools and not self._own:
            return None
        return furnish(self._job.exchange / "in" / f"{self._program.unit}-{run}", self._program.unit, tools, self._own)

    def toolbox(self, redact: Redactor) -> Toolbox:
        """Return the toolbox of a run, whose progress is heard without secrets."""
        return Toolbox(
            self._program.unit,
            self._program.front.tools,
            self.records,
            objection=self._objection,
            judge=lambda lesson: ground_against(self._job, lesson, self.records.lessons),
            say=lambda text: self._job.heartbeat.line(redact(text)),
        )

    def listen(self, toolbox: Toolbox, access: ToolAccess | None) -> AbstractContextManager[object]:
        """Let the run's processes call its tools; raises OSError."""
        return ToolServer(toolbox, access.socket, self._job.sandbox.owner) if access else nullcontext()

    def result(self, toolbox: Toolbox, file: Path, answer: AgentResult) -> Result:
        """Return what a run came to, with what was recorded beside it; raises :class:`InvalidResultError`.

        What was submitted and what lies in the result file count alike: the later valid one is taken.
        """
        try:
            found = self._read(file, answer)
        except InvalidResultError:
            if toolbox.result is None:
                raise
            found = toolbox.result
        else:
            if toolbox.result is not None and not _written_after(file, toolbox.submitted_at):
                found = toolbox.result
        return self._completed(found)

    def _read(self, file: Path, answer: AgentResult) -> Result:
        found = read_result(file, self._program.unit, answer.final_text)
        if fault := self._objection(found):
            raise InvalidResultError(fault)
        return found

    def _completed(self, found: Result) -> Result:
        match found:
            case ExecutionSummary():
                return self.records.added_to(found)
            case PlanDocument():
                return self.records.asked_in(found)
        return found

    def report(self, result: Result | None) -> None:
        """Put into the report what has no place in a result, as it stands after a run.

        Questions are told whatever the run came to: they may say what was in the way. What a unit that only reads has
        learned counts once its result does; it waits on the plan.
        """
        fields, records = self._job.ledger.fields, self.records
        answered = result.questions if isinstance(result, PlanDocument) else ()
        asked = dict.fromkeys((*fields.get("asked", ()), *records.asked))
        fields["asked"] = tuple(question for question in asked if question not in answered)
        if result is not None and self._program.front.access is Access.READ_ONLY:
            hand_in(self._job, records.lessons)


def _written_after(file: Path, moment: float) -> bool:
    try:
        return file.lstat().st_mtime > moment
    except OSError:
        return False
