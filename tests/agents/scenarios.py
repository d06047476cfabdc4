"""What the model does in each scenario, and how the job must end: the same for every agent.

``outcome`` is the :class:`~runner.contract.Outcome` of the job. What an agent can't do, or does otherwise, stands in
:mod:`tests.agents.differences` by name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from runner.contract import Feedback, JobKind, Outcome
from runner.results import Lesson, Unit
from runner.terms import Budget, Network, SandboxMode
from tests.agents.model_api import Edit, Fault, Own, Read, Shell, Tokens, Turn, Write
from tests.agents.model_api.script import Cut
from tests.agents.stage import result_of_next

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.agents.stage import Stage

DONE = json.dumps({"status": "done", "summary": "Mended add()."})
PLAN = json.dumps({"verdict": "plan", "title": "T", "summary": "S", "steps": ["One."], "files": ["calc.py"]})
BAD, GOOD, WORSE = "    return a - b", "    return a + b", "    return a * b + 1"
BEGIN = Turn(text="I read it.", reasoning="Hm.", tools=(Read("calc.py"),), tokens=Tokens(1_000, 60, 200, 300, 10))
END = Turn(text="All done.", tokens=Tokens(120, 30, 1_500))
OUT = "exec 3<>/dev/tcp/127.0.0.1/$PROBE_PORT && echo it-got-out || echo it-stayed-in"
"""Tries to speak to a port of the machine."""
CLOSED = {"network": Network.MODEL, "sandbox": SandboxMode.REQUIRED}
"""Fields of a job whose agent reaches nothing but its model, and its tools."""
UNFIT = {"status": "finished", "summary": "Mended add()."}
FAULTS = ("The result does not fit its schema. status: ", "params/status must be equal to one of the allowed values")
"""How the runner says it, and how Gemini CLI does, which compares with the schema before it calls."""
FIT = {"status": "done", "summary": "Mended add(), by hand."}
LESSON = Lesson(unit=Unit.CREATE_PLAN, kind="pitfall", text="add() once subtracted: read its test.", paths=("calc.py",))
BY_PATH = f"""
echo '{json.dumps(UNFIT)}' | submit - ; echo "and so it ended with $?"
remember --kind {LESSON.kind} --path {LESSON.paths[0]} '{LESSON.text}' && echo '{json.dumps(FIT)}' | submit -
"""
"""Calls the tools as programs."""
WAITING = "waiting"
"""A file outside the work tree's commits by which a tool call says that it has begun."""


@dataclass(frozen=True)
class Scenario:
    """One scenario."""

    name: str
    what: str
    """For the table in the docs."""
    outcome: Outcome
    script: Callable[[str], tuple[Turn, ...]]
    """The model's turns, made from the path of the typed result."""
    check: Callable[[Stage], None] = lambda stage: None
    """What else must hold."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Fields of the job."""
    then: dict[str, Any] | None = None
    """Fields of the plan's next job, where there is one: the outcome is then that one's."""
    signal: str = ""
    """A signal for the agent's process while a tool runs; ``cancel`` is one for the runner."""
    billed: bool = True
    """Whether every answer's usage is known, so that the ledger must equal the script."""


def _edit(new: str, old: str = BAD) -> Turn:
    return Turn(text="I edit it.", tools=(Edit("calc.py", old, new),), tokens=Tokens(100, 40, 1_400, 50, 5))


def _result(path: str, text: str = DONE) -> Turn:
    return Turn(text="I write the result.", tools=(Write(path, text),))


def _shell(command: str, **more: Any) -> Turn:
    return Turn(text="I run a command.", tools=(Shell(command),), **more)


def _own(name: str, arguments: dict[str, Any]) -> Turn:
    return Turn(text=f"I call {name}.", tools=(Own(name, arguments),))


def _failing(*turns: Turn) -> Callable[[str], tuple[Turn, ...]]:
    return lambda _: turns


def _edits(stage: Stage) -> None:
    assert GOOD in stage.lab.shown("calc.py")


def _ran(stage: Stage) -> None:
    assert stage.lab.shown("notes/ran.txt") == "ran"
    asked = json.dumps([seen.body for seen in stage.api.main])
    assert "it-was-printed" in asked, "the model is told what the command printed"
    assert "TWOGATE_RUN=" in asked, "its environment, too"
    assert str(stage.api.key) not in asked, "where no key is"


def _stayed_in(stage: Stage) -> None:
    asked = json.dumps(stage.api.main[-1].body)
    assert "it-stayed-in" in asked.replace(OUT, ""), "no way leads to the machine's own ports"
    assert "it-got-out" not in asked.replace(OUT, "")
    assert stage.report.sandbox is not None
    assert stage.report.sandbox.network is Network.MODEL


def _submitted(stage: Stage) -> None:
    asked = json.dumps(stage.api.main[-1].body)
    assert any(fault in asked for fault in FAULTS), "it is told what is wrong"
    assert "The result is accepted." in asked
    assert stage.report.attempts == 1, "mended in the same run"
    assert stage.report.work is not None
    assert stage.report.work.summary is not None
    assert stage.report.work.summary.summary == FIT["summary"], "what was submitted is the result"


def _remembered(stage: Stage) -> None:
    assert stage.report.lessons == (LESSON,)
    assert stage.report.plan is not None, "what reads alone submits as well"


def _by_path(stage: Stage) -> None:
    _submitted(stage)
    printed = json.dumps(stage.api.main[-1].body)
    assert "and so it ended with 1" in printed
    assert "The lesson is recorded" in printed
    assert LESSON.text in stage.lab.git("grep", "-h", LESSON.text, "plan/7", cwd=stage.lab.remote)


def _resumed(stage: Stage) -> None:
    assert stage.report.attempts == 2
    assert GOOD in stage.lab.shown("calc.py")
    asked = json.dumps(stage.api.main[4].body)
    assert "The first try." in asked, "the session knows what was said"
    assert "7 != 5" in asked or "6 != 5" in asked or "AssertionError" in asked, "and gets the failing output"


def _went_on(stage: Stage) -> None:
    assert (stage.lab.shown("calc.py").endswith(GOOD), stage.lab.shown("notes/why.txt")) == (True, "why")
    asked = json.dumps(stage.api.main[4].body)
    assert "The first job." in asked, "the session knows what was said in the job before"
    assert "Say why in a note." in asked, "and hears what is new"
    assert [row.attempt for row in stage.rows] == [1, 1]


def _refused(stage: Stage) -> None:
    assert stage.report.plan is not None
    assert len(stage.api.main) >= 4, "it went on after the refusal"


def _at_least(stage: Stage) -> None:
    assert not all(row.complete for row in stage.rows), "what a broken answer cost is not known"


def _within_a_call(stage: Stage) -> None:
    limit = stage.job.budget.usd
    spent = sum((row.usd or Decimal(0) for row in stage.rows), Decimal(0))
    assert limit is not None
    assert limit <= spent < limit + Decimal("0.375") + Decimal("0.0001"), "at most the call that reached the limit"


SCENARIOS = (
    Scenario(
        "edits a file",
        "reads a file, changes it, leaves its typed result",
        Outcome.VERIFIED,
        lambda path: (BEGIN, _edit(GOOD), _result(path), END),
        _edits,
    ),
    Scenario(
        "runs a command",
        "runs a shell command and is told what it printed",
        Outcome.VERIFIED,
        lambda path: (
            _shell("mkdir -p notes && echo ran > notes/ran.txt && echo it-was-printed && env"),
            BEGIN,
            _edit(GOOD),
            _result(path),
            END,
        ),
        _ran,
    ),
    Scenario(
        "resumes",
        "fails the tests; their output goes back to the same session, which mends it",
        Outcome.VERIFIED,
        lambda path: (
            BEGIN,
            _edit(WORSE),
            _result(path),
            Turn(text="The first try."),
            _edit(GOOD, WORSE),
            _result(path),
            END,
        ),
        _resumed,
    ),
    Scenario(
        "goes on in the next job",
        "a person wants more: the plan's next job goes on with the same session",
        Outcome.VERIFIED,
        lambda path: (
            BEGIN,
            _edit(GOOD),
            _result(path),
            Turn(text="The first job."),
            _shell("mkdir -p notes && echo why > notes/why.txt"),
            _result(result_of_next(path)),
            END,
        ),
        _went_on,
        then={"feedback": (Feedback(kind="revise", author="bea", text="Say why in a note."),)},
    ),
    Scenario(
        "is refused a tool",
        "writes to a tree that it may only read, is refused, goes on",
        Outcome.PLANNED,
        lambda path: (BEGIN, Turn(text="I write.", tools=(Write("early.py", "x = 1\n"),)), _result(path, PLAN), END),
        _refused,
        {"kind": JobKind.PLAN},
    ),
    Scenario(
        "no network",
        "`network: model`: reaches its model through the meter, and nothing else",
        Outcome.VERIFIED,
        lambda path: (_shell(f"bash -c '{OUT}'"), BEGIN, _edit(GOOD), _result(path), END),
        _stayed_in,
        CLOSED,
    ),
    Scenario(
        "submits",
        "hands in its result over MCP, is told that it does not fit, mends it",
        Outcome.VERIFIED,
        lambda _: (BEGIN, _edit(GOOD), _own("submit", UNFIT), _own("submit", FIT), END),
        _submitted,
        CLOSED,
    ),
    Scenario(
        "remembers",
        "plans, and over MCP keeps a lesson and hands in the plan",
        Outcome.PLANNED,
        lambda _: (
            BEGIN,
            _own("remember", LESSON.model_dump(mode="json", exclude={"unit"})),
            _own("submit", json.loads(PLAN)),
            END,
        ),
        _remembered,
        {"kind": JobKind.PLAN},
    ),
    Scenario(
        "tools by PATH",
        "does both by programs on its PATH, in its shell",
        Outcome.VERIFIED,
        lambda _: (BEGIN, _edit(GOOD), _shell(BY_PATH), END),
        _by_path,
        CLOSED,
    ),
    Scenario("wrong key", "401 for good", Outcome.AGENT_FAILED, _failing(Turn(fault=Fault(401)))),
    Scenario("rate limit", "429 for good", Outcome.AGENT_FAILED, _failing(Turn(fault=Fault(429)))),
    Scenario(
        "rate limit with a time",
        "429 with Retry-After, then well",
        Outcome.VERIFIED,
        lambda path: (Turn(fault=Fault(429, retry_after=1)), BEGIN, _edit(GOOD), _result(path), END),
    ),
    Scenario("broken server", "500 for good", Outcome.AGENT_FAILED, _failing(Turn(fault=Fault(500)))),
    Scenario(
        "cut stream",
        "an answer breaks off in the middle, again and again",
        Outcome.AGENT_FAILED,
        _failing(BEGIN, Turn(text="I was about to say", fault=Fault(cut=Cut.STREAM))),
        _at_least,
        {"budget": Budget(minutes=5, attempts=2, usd=Decimal(100))},
        billed=False,
    ),
    Scenario(
        "context overflow",
        "the context is too long for the model",
        Outcome.AGENT_FAILED,
        _failing(BEGIN, Turn(fault=Fault(cut=Cut.OVERFLOW))),
    ),
    Scenario(
        "loops",
        "the same command again and again",
        Outcome.NO_PROGRESS,
        _failing(_shell("true")),
        fields={"budget": Budget(minutes=4, attempts=2, usd=Decimal(5), idle_calls=5)},
    ),
    Scenario(
        "SIGTERM",
        "its process is asked to end while a tool runs",
        Outcome.AGENT_FAILED,
        _failing(BEGIN, _shell(f'touch "$HOME/{WAITING}"; tail -f /dev/null')),
        signal="SIGTERM",
    ),
    Scenario(
        "SIGKILL",
        "its process is killed while a tool runs",
        Outcome.AGENT_FAILED,
        _failing(BEGIN, _shell(f'touch "$HOME/{WAITING}"; tail -f /dev/null')),
        signal="SIGKILL",
    ),
    Scenario(
        "cancelled",
        "the run is cancelled while a tool runs",
        Outcome.STOPPED,
        _failing(BEGIN, _shell(f'touch "$HOME/{WAITING}"; tail -f /dev/null')),
        signal="cancel",
    ),
    Scenario(
        "over budget",
        "spends its dollars: the call that reaches the limit is the last",
        Outcome.OVER_BUDGET,
        lambda path: tuple(_shell(f"echo {n}", tokens=Tokens(100_000, 5_000)) for n in range(20)),
        _within_a_call,
        {"budget": Budget(minutes=4, attempts=2, usd=Decimal(1))},
    ),
)
"""In the order of the table."""
