"""Sessions of agents from one job of a plan to the next: gone on with where they fit, and nothing in them trusted."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner import sessions
from runner.agents import home as limits
from runner.contract import Outcome, Report
from runner.housekeeping import tidy
from runner.results import Unit
from runner.sessions import SESSION_DAYS, Sessions
from runner.terms import AgentSpec
from tests.runner.lab import PLAN, UID, Lab

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAUDE = AgentSpec(name="claude", model="m")
PATTERNS = (".claude/projects/*/{session}.jsonl",)
LOG = ".claude/projects/tree/s1.jsonl"


class Machine(Lab):
    """A lab whose agent keeps sessions as Claude Code does."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.calls_file = folder / "calls"
        programs = folder / "programs"
        programs.mkdir()
        script = Path(__file__).with_name("claude_on_paper.py").read_text()
        (programs / "claude").write_text(f"#!{sys.executable}\n{script}")
        (programs / "claude").chmod(0o755)
        self.env = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "CALLS": str(self.calls_file),
            "PLAN": PLAN.model_dump_json(),
        }

    def work(self, after: Report | None = None, agent: AgentSpec = CLAUDE, **more: Any) -> Report:
        """Run a job that goes on with what another has pushed."""
        agents = {**self.spec("good").agents, Unit.EXECUTE_PLAN: agent}
        head = after.work.head if after and after.work else None
        env = {**self.env, **more.pop("env", {})}
        report = self.run("good", env=env, agents=agents, **{"head": head, "branch_head": head, **more})
        assert report.outcome is Outcome.VERIFIED, report
        return report

    def calls(self) -> list[dict[str, Any]]:
        """Return how the agent was started since this was asked last."""
        told = [json.loads(line) for line in self.calls_file.read_text().splitlines()]
        self.calls_file.unlink()
        return told

    @property
    def kept(self) -> Path:
        return self.home / "sessions" / "1" / UID / "ExecutePlan"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    machine.close()


def test_the_next_job_goes_on_with_the_session_and_hears_what_it_is_worth(machine: Machine) -> None:
    first = machine.work()
    (begun,) = machine.calls()
    assert (begun["resume"], begun["told"]) == (False, False)
    kept = sorted(str(path.relative_to(machine.kept)) for path in machine.kept.rglob("*") if path.is_file())
    log = f".claude/projects/tree/{begun['session']}.jsonl"
    assert kept == ["about.json", f"files/{log}"], "nothing but what it needs to go on"
    for folder in (machine.kept, *machine.kept.parents):
        assert folder == machine.home or folder.stat().st_mode & 0o777 == 0o700
        if folder.parent == machine.home:
            break
    second = machine.work(first)
    assert machine.calls() == [{"resume": True, "session": begun["session"], "runs": 1, "told": True}]
    machine.work(second)
    assert machine.calls() == [{"resume": True, "session": begun["session"], "runs": 2, "told": True}]
    assert [usage.attempt for usage in second.usage if usage.unit is Unit.EXECUTE_PLAN] == [1]


def test_a_session_that_can_not_be_gone_on_with_costs_no_attempt(machine: Machine) -> None:
    first = machine.work()
    (begun,) = machine.calls()
    second = machine.work(first, env={"FORGETFUL": "1"})
    refused, afresh = machine.calls()
    assert (refused["resume"], refused["session"]) == (True, begun["session"])
    assert (afresh["resume"], afresh["runs"], afresh["told"]) == (False, 0, False)
    assert afresh["session"] != begun["session"]
    assert second.attempts == 1
    machine.work(second)
    assert [call["session"] for call in machine.calls()] == [afresh["session"]], "that one is kept from now on"


def test_a_session_is_gone_on_with_where_its_work_and_its_agent_are(machine: Machine) -> None:
    first = machine.work()
    machine.calls()
    machine.work(first, agent=CLAUDE.model_copy(update={"model": "another"}))
    (other,) = machine.calls()
    assert not other["resume"], "another agent"
    head = machine.commit({"calc.py": "def add(a, b):\n    return b - a\n"}, "Elsewhere", branch="plan/8")
    machine.work(head=head, branch="plan/8", branch_head=head, agent=CLAUDE.model_copy(update={"model": "another"}))
    (begun,) = machine.calls()
    assert not begun["resume"], "its work is not in this one"
    about = machine.kept / "about.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "head": "a" * 40}))
    machine.work(head=head, branch="plan/9", agent=CLAUDE.model_copy(update={"model": "another"}))
    (begun,) = machine.calls()
    assert not begun["resume"], "its work is nowhere"


def test_a_plan_is_rewritten_in_the_session_that_wrote_it(machine: Machine) -> None:
    for resumed in (False, True):
        agents = {Unit.UPDATE_PLAN: CLAUDE}
        report = machine.run("plan", kind="plan", unit=Unit.UPDATE_PLAN, plan=PLAN, agents=agents, env=machine.env)
        assert report.outcome is Outcome.PLANNED, report
        assert [call["resume"] for call in machine.calls()] == [resumed]


def test_a_plan_that_ends_takes_its_sessions_along(machine: Machine) -> None:
    machine.work()
    assert machine.kept.exists()
    machine.bot.ended = (UID,)
    machine.run("plan", kind="plan", plan_uid="otherplan")
    assert not machine.kept.parent.exists()


def _kept(home: Path, **changes: Any) -> Sessions:
    fields = {"repository_id": 1, "plan_uid": UID, "unit": Unit.EXECUTE_PLAN, "agent": CLAUDE, "tree": Path("/w/tree")}
    return Sessions(home=home, patterns=PATTERNS, **{**fields, **changes})


def _agents_home(tmp_path: Path) -> Path:
    log = tmp_path / "agent" / LOG
    log.parent.mkdir(parents=True)
    log.write_text("said")
    return tmp_path / "agent"


def test_sessions_are_kept_for_a_named_number_of_days(tmp_path: Path) -> None:
    kept = _kept(tmp_path)
    kept.keep("s1", None, _agents_home(tmp_path))
    ended = (kept.folder / "about.json").stat().st_mtime
    assert tidy(tmp_path, ended + SESSION_DAYS * 86_400 - 1) == ()
    assert kept.recall() is not None
    assert tidy(tmp_path, ended + SESSION_DAYS * 86_400 + 1) == (
        f"the session of ExecutePlan for plan {UID} was removed",
    )
    assert not kept.folder.parent.exists()


def test_another_place_or_agent_has_no_session_of_this_one(tmp_path: Path) -> None:
    _kept(tmp_path).keep("s1", "a" * 40, _agents_home(tmp_path))
    found = _kept(tmp_path).recall()
    assert found is not None
    assert (found.session, found.head, found.files) == ("s1", "a" * 40, {LOG: b"said"})
    for changes in ({"tree": Path("/other")}, {"agent": AgentSpec(name="codex")}, {"plan_uid": "other"}):
        assert _kept(tmp_path, **changes).recall() is None
    assert _kept(tmp_path, unit=Unit.UPDATE_PLAN).recall() is None


@pytest.mark.parametrize("trick", ["link", "hard link", "pipe", "linked folder", "large", "many"])
def test_what_an_agent_left_in_its_place_is_not_kept(
    tmp_path: Path, trick: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the runner's")
    agents_home = _agents_home(tmp_path)
    log = agents_home / LOG
    _play(trick, log, secret, monkeypatch)
    kept = _kept(tmp_path / "home")
    kept.keep("s1", None, agents_home)
    assert kept.recall() is None
    assert not kept.folder.exists()


def _play(trick: str, log: Path, secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if trick == "large":
        monkeypatch.setattr(limits, "MAX_SESSION", 3)
        return
    if trick == "many":
        monkeypatch.setattr(limits, "MAX_SESSION_FILES", 0)
        return
    log.unlink()
    match trick:
        case "link":
            log.symlink_to(secret)
        case "hard link":
            log.hardlink_to(secret)
        case "pipe":
            os.mkfifo(log)
        case _:
            log.parent.rmdir()
            elsewhere = secret.parent / "elsewhere"
            elsewhere.mkdir()
            (elsewhere / log.name).write_text("not its own")
            log.parent.symlink_to(elsewhere)


@pytest.mark.parametrize("about", ["", "[]", '{"session": "../x"}', '{"session": 3, "head": null}'])
def test_a_record_that_can_not_be_read_is_none(tmp_path: Path, about: str) -> None:
    kept = _kept(tmp_path)
    kept.keep("s1", None, _agents_home(tmp_path))
    (kept.folder / "about.json").write_text(about)
    assert kept.recall() is None


def test_a_draft_of_a_killed_runner_is_removed(tmp_path: Path) -> None:
    draft = sessions.place(tmp_path, 1, UID) / ".ExecutePlan"
    draft.mkdir(parents=True)
    assert len(tidy(tmp_path, 0.0)) == 1
    assert not draft.exists()
