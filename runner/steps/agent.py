"""Ask an agent: prompt in, typed result out, and what it cost whatever happened.

An agent's words decide nothing. It has done its part when it ended by itself, reported no error, and left a result that
fits its schema; whether the work is good is for git and the gates to say.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from runner import process
from runner.agents import agent_for
from runner.agents.base import AgentError, AgentResult, AgentRun, past_proxies, program_of
from runner.agents.home import SESSION, login, put
from runner.agents.result import InvalidResultError, Result
from runner.agents.tiers import with_model
from runner.contract import Outcome
from runner.folders import fresh, give
from runner.logs import STDERR_FILE, STDOUT_FILE
from runner.meter import SHIM_PORT, Stop, UpstreamError
from runner.prices import usage_of
from runner.program import strangers
from runner.promptware import Program, PromptInput, PromptwareError, load, reader
from runner.results import Unit
from runner.sandbox import Confinement
from runner.sessions import Kept, Sessions
from runner.steps.prompt import composed
from runner.steps.ran import Ran
from runner.steps.recording import RunOf, asked_of, closing, open_log
from runner.steps.redact import Redactor, carried_values
from runner.steps.tooling import Tooling
from runner.terms import Network
from runner.tools import prepare
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.logs.record import RunLog
    from runner.meter import Tap
    from runner.steps.context import Job
    from runner.steps.recording import Closer
    from runner.worktree import Mounts

GRACE = 2.0
"""Seconds an agent has between the request to end and its killing; GitHub grants seven in all after a cancellation."""
OUTPUT_LIMIT = 50_000_000
"""Bytes an agent may print in one run; more is a flood, and ends it."""
LONGEST_LINE = 2_000
"""Bytes of a line of the agent's output that the heartbeat looks at."""
SILENT_SECONDS = 1_200.0
"""Seconds that an agent at the meter may neither print anything nor call its model; its longest tool takes half."""
SPOILT = frozenset({Outcome.AGENT_FAILED, Outcome.TIMED_OUT, Outcome.NO_PROGRESS, Outcome.OUTPUT_FLOOD})
"""Ends after which an earlier job's session is not gone on with once more: it may be what led there."""
CURES = {
    Outcome.TIMED_OUT: "Say /retry, or /update the plan.",
    Outcome.AGENT_FAILED: "Say /retry to try again.",
}
"""What people can do where an agent brought no result; the sentences of the meter say it themselves."""
RESULT_FILE = "result.json"
SOCKET = "meter.sock"
UNSTARTED = AgentResult(ok=False, error=None, session=None, usd=Decimal(0))
"""Of an agent that could not be started: it cost nothing."""


@dataclass(frozen=True)
class Reply:
    """What came back: a valid result, or the sentence that says why there is none."""

    result: Result | None
    fault: str = ""


def no_objection(_: Result) -> str:
    """Take what fits its schema."""
    return ""


class Conversation:
    """One unit's agent over its attempts: the same session where the adapter can go on with one."""

    def __init__(self, job: Job, unit: Unit, mounts: Mounts, objection: Callable[[Result], str] = no_objection) -> None:
        """Raise :class:`~runner.watch.Ending` where the unit or the agent can't be used as it is set up.

        ``objection`` says why a result that fits its schema can't be used, empty where it can.
        """
        self._job, self._unit, self._mounts = job, unit, mounts
        self.program = _program(job, unit)
        self._tooling = Tooling(job, self.program, objection)
        asked = job.spec.inspector if unit is Unit.INSPECT_DIFF else job.spec.agents.get(unit)
        if asked is None:
            raise Ending(Outcome.RUNNER_FAILED, f"No agent is set for unit {unit}: name one under agent:.")
        try:
            self._spec = with_model(asked, self.program.front.tier, job.spec.tiers)
            self._agent = agent_for(self._spec)
        except AgentError as error:
            raise Ending(Outcome.AGENT_FAILED, str(error)) from error
        if self._agent.program and self.program.front.tools:  # a command of the policy file is told of programs alone
            prepare()
        self._sessions = Sessions(
            job.settings.home,
            job.spec.repository.id,
            job.spec.plan_uid,
            unit,
            self._spec,
            mounts.cwd,
            self._agent.keeps,
        )
        self._kept = self._recall()
        self._session = self._kept.session if self._kept else str(uuid.uuid4())
        self.resumed = False
        """Whether the next question goes to a session that knows the first prompt."""
        self._out = job.exchange / "out" / unit
        self.result_file = self._out / RESULT_FILE
        self._asked = 0
        self._log: RunLog
        """Of the run under way."""

    @property
    def name(self) -> str:
        """What the agent is called in the log."""
        return f"{self._unit} by {self._spec.name}" + (f" ({self._spec.model})" if self._spec.model else "")

    def _recall(self) -> Kept | None:
        """Return the session of an earlier job, where this one begins with the work that it ended in, or later."""
        kept, head, store = self._sessions.recall(), self._job.spec.head, self._job.store
        if kept is None or kept.head is None:
            return kept
        return kept if head and store.has(kept.head) and store.is_ancestor(kept.head, head) else None

    def keep(self, head: str | None = None) -> None:
        """Keep the session for the plan's next job: its work, which is at ``head``, stands."""
        try:
            if self.resumed:
                self._sessions.keep(self._session, head, self._mounts.home)
        except OSError as error:
            self._job.say(f"agent: the session could not be kept: {error}")

    def ask(self, parts: PromptInput, attempt: int) -> Reply:
        """Run the agent once; raises :class:`~runner.watch.Ending` where it did not end well.

        The first time it goes on with the session of an earlier job where there is one, and where that fails begins
        one afresh.
        """
        if self._kept is None:
            return self._ask(parts, attempt)
        try:
            reply = self._ask(replace(parts, facts=(_earlier(self._kept), *parts.facts)), attempt)
        except Ending as ending:
            if ending.outcome in SPOILT:
                self._sessions.forget()
            if ending.outcome is not Outcome.AGENT_FAILED:
                raise
            self._job.say(f"agent: the session of the job before could not be gone on with: {ending.sentence}")
            self._kept, self._session = None, str(uuid.uuid4())
            return self._ask(parts, attempt)
        self._kept = None
        return reply

    def _ask(self, parts: PromptInput, attempt: int) -> Reply:
        """Run the agent once, and keep the log of it."""
        with closing() as closer:
            reply = self._asked_once(parts, attempt, closer)
            closer.fault = reply.fault
        return reply

    def _asked_once(self, parts: PromptInput, attempt: int, closer: Closer) -> Reply:
        spent = self._job.meter.limits.spent()
        if spent is not None:
            raise Ending(Outcome.OVER_BUDGET, spent)
        try:
            run, tap = self._set_up(parts, attempt, closer)
            command = self._agent.command(run)
            self._furnish(run)
        except (AgentError, UpstreamError) as error:
            raise Ending(Outcome.AGENT_FAILED, str(error)) from error
        ran = self._run(run, tap, command)
        answer, result = ran.answer, None
        try:
            self._judge(ran, tap.stopped)
            result = self._tooling.result(ran.toolbox, self.result_file, answer)
        except InvalidResultError as error:
            fault = str(error)
        finally:
            self._tooling.report(result)
        session = answer.session if answer.session and SESSION.fullmatch(answer.session) else None
        self._session = session or str(uuid.uuid4())
        self.resumed = self._agent.resumes and session is not None
        return Reply(result) if result is not None else Reply(None, fault)

    def _set_up(self, parts: PromptInput, attempt: int, closer: Closer) -> tuple[AgentRun, Tap]:
        """Write the prompt, and return the run with its place at the meter."""
        job, self._asked = self._job, self._asked + 1
        give(job.sandbox.owner, fresh(self._out))
        prompt = composed(job, parts, attempt)
        prompt_file = job.exchange / "in" / f"{self._unit}-{self._asked}.md"
        prompt_file.write_text(prompt)
        resumed = self.resumed or self._kept is not None
        self._log = closer.log = open_log(
            job, self._folder, self._mounts, RunOf(self._unit, self._spec, self._asked, attempt, resumed, prompt)
        )
        tap = self._tap(attempt)
        run = AgentRun(
            unit=self._unit,
            spec=self._spec,
            attempt=attempt,
            prompt_file=prompt_file,
            result_file=self.result_file,
            worktree=self._mounts.cwd,
            home=self._mounts.home,
            session=self._session,
            budget=job.meter.limits.rest(),
            endpoint=tap.endpoint,
            resume=resumed,
            started_at=job.now(),
            read_only=self.program.front.access == "read-only",
            tools=self._tooling.furnish(self._asked),
        )
        return run, tap

    @property
    def _folder(self) -> Path:
        """Where the log of this run is kept (:mod:`runner.logs`)."""
        return self._job.folder / f"{self._unit}-{self._asked}"

    @property
    def _socket(self) -> Path | None:
        """Where a sandbox that reaches its model alone finds the meter."""
        return self._job.exchange / "in" / SOCKET if self._job.sandbox.network is Network.MODEL else None

    def _tap(self, attempt: int) -> Tap:
        """Return a place at the meter; without one the cost is the agent's own word, which the report says."""
        api = self._agent.api(self._spec)
        tap = self._job.meter.open(self._unit, self._spec, attempt, api, socket=self._socket)
        if tap.endpoint is not None:
            return tap
        why = f"the runner has no key for {api}" if api else "it can't be pointed at the meter"
        if self._job.sandbox.network is Network.MODEL:
            cure = "Give the runner that key" if api else "Name its API by `api:`, choose another model"
            raise AgentError(
                f"With `network: model` agent {self._spec.name} can't reach its model, since {why}. {cure}, or set "
                "`network: on` in the policy file."
            )
        self._job.ledger.note(f"Agent {self._spec.name} was not metered, since {why}: its cost is what it says itself.")
        return tap

    def _furnish(self, run: AgentRun) -> None:
        """Put into HOME what the agent has to find there; a log-in where it has no meter, once a conversation."""
        owner = self._job.sandbox.owner
        if run.endpoint is None and self._asked == 1:
            put(run.home, login(self._job.settings.home, self._spec.name), owner)
        put(run.home, self._agent.files(run), owner)
        if self._kept is not None:
            put(run.home, self._kept.files, owner)

    def _run(self, run: AgentRun, tap: Tap, command: list[str]) -> Ran:
        job, env = self._job, self._environment(run)
        redact = Redactor(job.settings.environment, env, carried=carried_values(job.settings.home, job.spec))
        self._log.redact = redact
        confinement = Confinement(
            cwd=self._mounts.cwd,
            writable=(*self._mounts.writable, self._out),
            readonly=(*self._mounts.readonly, job.exchange / "in"),
            network=job.sandbox.network,
            meter=self._socket,
            meter_port=SHIM_PORT,
        )
        if fault := job.sandbox.fault_of_program(program_of(command), confinement, env):
            raise Ending(Outcome.AGENT_FAILED, fault)
        started, toolbox = time.monotonic(), self._tooling.toolbox(redact)
        with job.watch.polled(), tap, self._tooling.listen(toolbox, run.tools):
            try:
                ended = self._watched(tap, job.sandbox.wrap(command, confinement), env, redact)
            except process.StartError as error:
                tap.end(0, usage_of(run, UNSTARTED, 0))
                raise Ending(Outcome.AGENT_FAILED, f"The agent could not be started: {error}") from error
            except BaseException:
                self._account(run, tap, None, time.monotonic() - started)
                raise
            return Ran(ended, self._account(run, tap, ended, ended.seconds), redact, toolbox)

    def _watched(self, tap: Tap, command: list[str], env: dict[str, str], redact: Redactor) -> process.Ended:
        """Run the agent's processes to their end; raises :class:`~runner.process.StartError`."""
        job = self._job

        def hear(line: bytes) -> None:
            tap.hear()
            self._log.hear(line)
            text = line[:LONGEST_LINE].decode("utf-8", "replace")
            job.heartbeat.line(redact(text, cut=len(line) > LONGEST_LINE))

        return process.run(
            command,
            cwd=self._mounts.cwd,
            env=env,
            stdout_path=self._folder / STDOUT_FILE,
            stderr_path=self._folder / STDERR_FILE,
            sieve=self._log.sieve,
            aside=self._log.raw,
            deadline_seconds=min(job.watch.remaining(), self.program.front.minutes * 60),
            output_limit_bytes=OUTPUT_LIMIT,
            on_line=hear,
            stop=lambda: self._why_stop(tap),
            grace_seconds=GRACE,
        )

    def _environment(self, run: AgentRun) -> dict[str, str]:
        """Return the agent's whole environment; at the meter no key is in it, and no proxy stands before it."""
        job, offered = self._job, self._job.settings.environment
        if run.endpoint is not None:
            offered = job.meter.withhold(offered)
        extra = {name: offered[name] for name in job.settings.agent_env if name in offered}
        own = {process.MARKER: job.spec.job, "TMPDIR": str(self._mounts.tmp)}
        env = self._agent.environment(run, offered) | extra | own
        return past_proxies(env) if run.endpoint is not None else env

    def _why_stop(self, tap: Tap) -> str | None:
        """Return why the run has to end now, None while it may go on."""
        if ending := self._job.watch.ending():
            return ending.sentence
        if tap.endpoint is not None and time.monotonic() - tap.heard > SILENT_SECONDS:
            minutes = f"{SILENT_SECONDS / 60:.0f} minutes"
            sentence = (
                f"For {minutes} the agent neither printed anything nor called its model. Say /retry to try again."
            )
            tap.stop(Stop(Outcome.NO_PROGRESS, sentence))
        return tap.stopped.sentence if tap.stopped else None

    def _account(self, run: AgentRun, tap: Tap, ended: process.Ended | None, seconds: float) -> AgentResult:
        """Put what the run cost into the ledger, before anything is made of how it ended."""
        code = ended.returncode if ended is not None and ended.reason == "exited" else None
        self._log.exit_code = code
        self._log.raw.seek(0)
        answer = self._agent.parse(run, self._log.raw, code)
        job, ledger = self._job, self._job.ledger
        past = run.endpoint is not None and bool(answer.calls) and not tap.calls
        if past:
            ledger.note(f"Agent {self._spec.name} went past the meter: the cost is what it told itself.")
        own = usage_of(run, answer, seconds, job.spec.prices) if past or run.endpoint is None else None
        tap.end(seconds, own)
        self._log.spent(asked_of(tap, answer))
        ledger.usage = list(job.meter.rows())
        if ended is not None and ended.left_behind:
            ledger.note(f"The agent left {ended.left_behind} processes behind; the runner ended them.")
        if answer.denied:
            ledger.note(f"The agent's own permission system refused {answer.denied} of its tool calls.")
        return answer

    def _judge(self, ran: Ran, metered: Stop | None) -> None:
        """End the job where the agent did not end by itself and well, or was refused a call for good.

        A result that was handed in before counts all the same, where nobody but the agent is the cause.
        """
        printed = ran.printed(self._folder)
        if ran.ended.reason == "output_flood":
            megabytes = OUTPUT_LIMIT // 1_000_000
            sentence = f"The agent printed more than {megabytes} MB and was ended. Say /retry to try again."
            raise Ending(Outcome.OUTPUT_FLOOD, sentence, output_tail=printed)
        if stopped := self._job.watch.ending():
            raise Ending(stopped.outcome, stopped.sentence, output_tail=printed)
        fault = ran.fault(self._unit, metered)
        if fault is not None and ran.toolbox.result is None:
            cure = CURES.get(fault.outcome, "")
            raise Ending(fault.outcome, f"{fault.sentence} {cure}".strip(), output_tail=printed)
        if fault is not None:
            self._job.ledger.note(f"The agent handed in its result, which counts; after that: {fault.sentence}")


def _earlier(kept: Kept) -> str:
    """Tell an agent what its own memory is worth."""
    ended = f" Its work then ended in commit {kept.head}; nothing later of it is here." if kept.head else ""
    return (
        f"This session has worked on this plan in an earlier job.{ended} Files may have changed since: what stands in "
        "this prompt and in the work tree counts, not what you remember."
    )


def _program(job: Job, unit: Unit) -> Program:
    job.ledger.note(*strangers(entry.path for entry in job.store.entries(job.spec.base)))
    try:
        return load(unit, reader(job.store, job.spec.base))
    except PromptwareError as error:
        raise Ending(Outcome.RUNNER_FAILED, str(error)) from error
