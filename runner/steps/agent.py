"""Ask an agent: prompt in, typed result out, and what it cost whatever happened.

An agent's words decide nothing. It has done its part when it ended by itself, reported no error, and left a result that
fits its schema; whether the work is good is for git and the gates to say.
"""

from __future__ import annotations

import secrets
import shutil
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner import process
from runner.agents import agent_for
from runner.agents.base import AgentError, AgentResult, AgentRun
from runner.agents.result import InvalidResultError, Result, read_result
from runner.contract import Outcome
from runner.folders import fresh, give
from runner.gates.command import tail_of
from runner.prices import usage_of
from runner.promptware import Program, PromptInput, PromptwareError, compose, load
from runner.sandbox import Confinement
from runner.steps.budget import rest
from runner.steps.redact import Redactor
from runner.watch import Ending

if TYPE_CHECKING:
    from pathlib import Path

    from runner.results import Unit
    from runner.steps.context import Job
    from runner.terms import Budget
    from runner.worktree import Mounts

GRACE = 2.0
"""Seconds an agent has between the request to end and its killing; GitHub grants seven in all after a cancellation."""
OUTPUT_LIMIT = 50_000_000
"""Bytes an agent may print in one run; more is a flood, and ends it."""
LONGEST_LINE = 2_000
"""Bytes of a line of the agent's output that the heartbeat looks at."""
RESULT_FILE = "result.json"


@dataclass(frozen=True)
class Reply:
    """What came back: a valid result, or the sentence that says why there is none."""

    result: Result | None
    fault: str = ""


def unusable(reply: Reply) -> str:
    """Tell the agent why its last result was none."""
    return f"Your last result could not be used: {reply.fault}"


class Conversation:
    """One unit's agent over its attempts: the same session where the adapter can go on with one."""

    def __init__(self, job: Job, unit: Unit, mounts: Mounts) -> None:
        """Raise :class:`~runner.watch.Ending` where the unit or the agent can't be used as it is set up."""
        self._job, self._unit, self._mounts = job, unit, mounts
        self.program = _program(job, unit)
        try:
            self._spec = job.spec.agents[unit]
            self._agent = agent_for(self._spec)
        except KeyError:
            raise Ending(Outcome.RUNNER_FAILED, f"No agent is set for unit {unit}: name one under agent:.") from None
        except AgentError as error:
            raise Ending(Outcome.AGENT_FAILED, str(error)) from error
        self._session = str(uuid.uuid4())
        self.resumed = False
        """Whether the next question goes to a session that knows the first prompt."""
        self._out = job.exchange / "out" / unit
        self.result_file = self._out / RESULT_FILE
        self._asked = 0

    @property
    def name(self) -> str:
        """What the agent is called in the log."""
        return f"{self._unit} by {self._spec.name}" + (f" ({self._spec.model})" if self._spec.model else "")

    def ask(self, parts: PromptInput, attempt: int) -> Reply:
        """Run the agent once; raises :class:`~runner.watch.Ending` where it did not end well."""
        run = self._set_up(parts, attempt, rest(self._job.spec.budget, self._job.ledger.usage))
        try:
            command = self._agent.command(run)
        except AgentError as error:
            raise Ending(Outcome.AGENT_FAILED, str(error)) from error
        ended, answer, redact = self._run(run, command)
        self._judge(ended, answer, redact)
        self._session = answer.session or self._session
        self.resumed = self._agent.resumes and answer.session is not None
        try:
            return Reply(read_result(self.result_file, self._unit, answer.final_text))
        except InvalidResultError as error:
            return Reply(None, str(error))

    def _set_up(self, parts: PromptInput, attempt: int, budget: Budget) -> AgentRun:
        job, self._asked = self._job, self._asked + 1
        give(job.sandbox.owner, fresh(self._out))
        folder = job.folder / f"{self._unit}-{self._asked}"
        folder.mkdir()
        try:
            prompt = compose(parts, secrets.token_hex(8))
        except PromptwareError as error:
            raise Ending(Outcome.RUNNER_FAILED, str(error)) from error
        (folder / "prompt.md").write_text(prompt)
        prompt_file = job.exchange / "in" / f"{self._unit}-{self._asked}.md"
        shutil.copyfile(folder / "prompt.md", prompt_file)
        return AgentRun(
            unit=self._unit,
            spec=self._spec,
            attempt=attempt,
            prompt_file=prompt_file,
            result_file=self.result_file,
            worktree=self._mounts.cwd,
            home=self._mounts.home,
            session=self._session,
            budget=budget,
            resume=self.resumed,
            read_only=self.program.front.access == "read-only",
        )

    def _run(self, run: AgentRun, command: list[str]) -> tuple[process.Ended, AgentResult, Redactor]:
        job, folder = self._job, self._job.folder / f"{self._unit}-{self._asked}"
        offered = job.settings.environment
        extra = {name: offered[name] for name in job.settings.agent_env if name in offered}
        own = {process.MARKER: job.spec.job, "TMPDIR": str(self._mounts.tmp)}
        env = self._agent.environment(run, offered) | extra | own
        redact = Redactor(env)
        confinement = Confinement(
            cwd=self._mounts.cwd,
            writable=(*self._mounts.writable, self._out),
            readonly=(*self._mounts.readonly, job.exchange / "in"),
        )
        try:
            with job.watch.polled():
                ended = process.run(
                    job.sandbox.wrap(command, confinement),
                    cwd=self._mounts.cwd,
                    env=env,
                    stdout_path=folder / "stdout",
                    stderr_path=folder / "stderr",
                    deadline_seconds=min(job.watch.remaining(), self.program.front.minutes * 60),
                    output_limit_bytes=OUTPUT_LIMIT,
                    on_line=lambda line: job.heartbeat.line(redact(line[:LONGEST_LINE].decode("utf-8", "replace"))),
                    stop=lambda: ending.sentence if (ending := job.watch.ending()) else None,
                    grace_seconds=GRACE,
                )
        except process.StartError as error:
            raise Ending(Outcome.AGENT_FAILED, f"The agent could not be started: {error}") from error
        return ended, self._account(run, ended, folder), redact

    def _account(self, run: AgentRun, ended: process.Ended, folder: Path) -> AgentResult:
        """Put what the run cost into the ledger, before anything is made of how it ended."""
        with (folder / "stdout").open("rb") as stream:
            answer = self._agent.parse(run, stream, ended.returncode if ended.reason == "exited" else None)
        ledger = self._job.ledger
        ledger.usage.append(usage_of(run, answer, ended.seconds))
        if ended.left_behind:
            ledger.note(f"The agent left {ended.left_behind} processes behind; the runner ended them.")
        if answer.denied:
            ledger.note(f"The agent's own permission system refused {answer.denied} of its tool calls.")
        return answer

    def _judge(self, ended: process.Ended, answer: AgentResult, redact: Redactor) -> None:
        """End the job where the agent did not end by itself and well."""
        folder = self._job.folder / f"{self._unit}-{self._asked}"
        printed = redact(tail_of(folder / "stderr").strip() or tail_of(folder / "stdout").strip())
        stopped = self._job.watch.ending()
        if ended.reason == "output_flood":
            megabytes = OUTPUT_LIMIT // 1_000_000
            sentence = f"The agent printed more than {megabytes} MB and was ended. Say /retry to try again."
            raise Ending(Outcome.OUTPUT_FLOOD, sentence, output_tail=printed)
        if stopped is not None:
            raise Ending(stopped.outcome, stopped.sentence, output_tail=printed)
        if ended.reason != "exited":
            sentence = f"The agent was ended after {ended.seconds / 60:.1f} minutes, the time of unit {self._unit}."
            raise Ending(Outcome.TIMED_OUT, f"{sentence} Say /retry, or /update the plan.", output_tail=printed)
        if not answer.ok:
            sentence = redact(answer.error or "The agent ended with an error.")
            raise Ending(Outcome.AGENT_FAILED, f"{sentence} Say /retry to try again.", output_tail=printed)


def _program(job: Job, unit: Unit) -> Program:
    try:
        return load(unit, lambda path: job.store.read(job.spec.base, path.encode()))
    except PromptwareError as error:
        raise Ending(Outcome.RUNNER_FAILED, str(error)) from error
