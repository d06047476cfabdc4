"""Jobs from claim to report: a real bot and git server on loopback, real git, real processes, scripted agents."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from runner.contract import Branch, Feedback, GateStatus, JobKind, Outcome
from runner.results import Unit
from runner.steps.redact import Redactor
from runner.terms import AgentSpec, Budget, GateSpec, SandboxMode
from tests.runner.bot_on_loopback import JOB_KEY, PUSH_TOKEN, READ_TOKEN
from tests.runner.lab import START, TESTS, UID, Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


def test_a_good_agents_work_is_committed_verified_pushed_and_reported(lab: Lab) -> None:
    report = lab.run("good")
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert report.work.head == lab.tip("plan/7")
    assert [(f.path, f.status, f.added, f.removed) for f in report.work.files] == [("calc.py", "modified", 1, 1)]
    assert "+    return a + b" in report.work.patch
    assert not report.work.patch_cut
    assert report.work.commits == 1
    assert report.work.pull_request is not None
    assert report.work.pull_request.body == "Mends add()."
    assert report.work.summary is not None
    assert lab.tip("trunk") == lab.base
    author, subject, trailer = lab.git(
        "log", "-1", "--format=%an <%ae>%n%s%n%(trailers:key=Twogate-Plan,valueonly)", "plan/7", cwd=lab.remote
    ).splitlines()[:3]
    assert author == "Twogate <twogate[bot]@users.noreply.github.com>"
    assert subject == "Add two numbers right (#7)"
    assert trailer == UID
    assert lab.bot.pushes == [{"sha": report.work.head, "gates": [g.model_dump(mode="json") for g in report.gates]}]
    assert [gate.name for gate in report.gates][-1] == "tests"
    assert {gate.status for gate in report.gates} == {GateStatus.PASSED}
    assert lab.bot.phases == ["prepare", "agent", "gates", "publish", "report"]
    assert [(u.unit, u.agent, u.attempt, u.usd) for u in report.usage] == [
        (Unit.EXECUTE_PLAN, "scripted", 1, None),
        (Unit.CREATE_PR, "scripted", 1, None),
    ]
    assert report.attempts == 1
    assert report.check_seconds is not None
    assert 0 < report.check_seconds < report.ended_at - report.started_at
    assert report.sandbox is not None
    assert report.sandbox.asked is SandboxMode.OFF
    assert lab.left() == []
    assert not any(secret in line for line in lab.said for secret in (JOB_KEY, PUSH_TOKEN, READ_TOKEN))


def test_reads_and_pushes_over_http_use_each_their_own_token(tmp_path: Path) -> None:
    lab = Lab(tmp_path, over_http=True)
    try:
        report = lab.run("good")
        assert report.outcome is Outcome.VERIFIED, report
        assert lab.bot.git_authorisations <= {"", READ_TOKEN, PUSH_TOKEN}
        assert {READ_TOKEN, PUSH_TOKEN} <= lab.bot.git_authorisations
    finally:
        lab.close()


def test_failing_checks_go_back_to_the_agent_with_their_whole_output(lab: Lab) -> None:
    report = lab.run("mend")
    assert report.outcome is Outcome.VERIFIED, report
    assert report.attempts == 2
    assert [u.attempt for u in report.usage if u.unit is Unit.EXECUTE_PLAN] == [1, 2]
    (told,) = [note for note in report.notes if "went back" in note]
    assert told.startswith("Attempt 1 went back to the agent, since checks failed: tests (")
    assert lab.bot.phases == ["prepare", "agent", "gates", "agent", "gates", "publish", "report"]


def test_checks_that_keep_failing_end_the_job_and_nothing_is_pushed(lab: Lab) -> None:
    report = lab.run("never")
    assert report.outcome is Outcome.GATES_FAILED, report
    assert report.attempts == 2
    assert "tests" in report.sentence
    assert "/retry" in report.sentence
    assert [note.partition(" went back")[0] for note in report.notes if "went back" in note] == ["Attempt 1"]
    assert report.gates[-1].status is GateStatus.FAILED
    assert "AssertionError" in report.gates[-1].tail
    assert lab.tip("plan/7") is None
    assert lab.bot.pushes == []
    assert lab.left() == []


def test_what_failed_before_is_not_held_against_the_change_and_runs_once_a_base(lab: Lab) -> None:
    marks = lab.folder / "runs"
    broken = GateSpec(name="old", run=f"echo run >> {marks}; echo error: old; exit 1")
    for expected in (2, 3):
        report = lab.run("good", gates=(broken, TESTS), branch=f"plan/{expected}")
        assert report.outcome is Outcome.VERIFIED, report
        assert {g.name: g.status for g in report.gates}["old"] is GateStatus.FAILED_BEFORE
        assert len(marks.read_text().split()) == expected


def test_a_failing_check_that_does_not_block_is_shown(lab: Lab) -> None:
    report = lab.run("good", gates=(TESTS, GateSpec(name="style", run="echo bad style; exit 1", blocking=False)))
    assert report.outcome is Outcome.VERIFIED, report
    assert report.gates[-1].status is GateStatus.FAILED
    assert report.gates[-1].tail.strip() == "bad style"


def test_a_path_outside_of_the_plan_fails_the_scope_gate(lab: Lab) -> None:
    report = lab.run("out_of_scope")
    assert report.outcome is Outcome.GATES_FAILED, report
    scope = next(gate for gate in report.gates if gate.holds_back)
    assert scope.name == "scope"
    assert "setup.py" in scope.summary + scope.tail


def test_a_secret_is_found_however_far_down_a_long_file(lab: Lab) -> None:
    report = lab.run("secret_far_down")
    assert report.outcome is Outcome.GATES_FAILED, report
    (found,) = (gate for gate in report.gates if gate.holds_back)
    assert (found.name, "notes/long.txt:100001" in found.summary) == ("secrets", True), found
    assert any("notes/long.txt is long" in note for note in report.notes)


@pytest.mark.parametrize(
    ("behaviour", "outcome", "words"),
    [
        ("nothing", Outcome.NOTHING_CHANGED, "without changing anything"),
        ("idle", Outcome.NOTHING_CHANGED, "without changing anything"),
        ("boast_and_fail", Outcome.AGENT_FAILED, "exit code 3"),
        ("flood", Outcome.OUTPUT_FLOOD, "more than 50 MB"),
        ("delete_git", Outcome.WORKSPACE_DAMAGED, "damaged its work tree"),
        ("other_branch", Outcome.WRONG_BRANCH, "left its branch"),
        ("blocked", Outcome.BLOCKED, "The issue contradicts itself."),
        ("invalid", Outcome.INVALID_RESULT, "does not fit its schema"),
    ],
)
def test_each_misbehaviour_is_its_own_outcome(lab: Lab, behaviour: str, outcome: Outcome, words: str) -> None:
    report = lab.run(behaviour)
    assert (report.outcome, words in report.sentence) == (outcome, True), report
    assert lab.tip("plan/7") is None
    assert report.usage, "what was spent is told at each exit"
    assert lab.left() == []


def test_a_secret_is_blotted_out_without_the_line_end_that_its_file_gave_it() -> None:
    assert Redactor({"MY_TOKEN": "abc-123-def\n"})("It is abc-123-def.") == "It is ***."


def test_a_failed_agents_last_words_are_reported(lab: Lab) -> None:
    report = lab.run("boast_and_fail", env={"MODEL_API_KEY": "everything is done"})
    assert report.output_tail == "SUCCESS: ***"


def test_an_invalid_result_goes_back_once_more(lab: Lab) -> None:
    report = lab.run("invalid_once")
    assert report.outcome is Outcome.VERIFIED, report
    assert report.attempts == 2


def test_an_agent_that_hangs_is_ended_at_the_jobs_time(lab: Lab) -> None:
    report = lab.run("hang", budget=Budget(minutes=0.05), gates=())
    assert report.outcome is Outcome.TIMED_OUT, report
    assert "0.05 minutes" in report.sentence
    assert report.output_tail == "thinking"
    assert not report.usage[0].complete
    assert lab.left() == []


def test_a_daemon_is_ended_and_noted(lab: Lab) -> None:
    pid_file = lab.folder / "daemon.pid"
    report = lab.run("daemon", env={"DAEMON_PID_FILE": str(pid_file)})
    assert report.outcome is Outcome.VERIFIED, report
    assert any("left 1 processes behind" in note for note in report.notes)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_commits_of_the_agent_on_its_branch_are_kept(lab: Lab) -> None:
    report = lab.run("own_commit")
    assert report.outcome is Outcome.VERIFIED, report
    assert lab.git("log", "--format=%s", "trunk..plan/7", cwd=lab.remote) == "mended"


def test_a_spent_budget_ends_the_job_before_the_next_attempt(lab: Lab) -> None:
    code = (
        "import json,sys; open('calc.py','w').write('bad'); "
        "print(json.dumps({'type':'usage','model':'m','input_tokens':1,'output_tokens':1,'usd':2})); "
        "open(sys.argv[1],'w').write(json.dumps({'status':'done','summary':'x'}))"
    )
    agent = lab.spec("good").agents[Unit.EXECUTE_PLAN]
    paid = agent.model_copy(
        update={"command": (*(agent.command or ())[:1], "-c", code, "{result_file}"), "output": "jsonl"}
    )
    report = lab.run("good", agents={Unit.EXECUTE_PLAN: paid}, budget=Budget(usd=Decimal(2), attempts=3))
    assert report.outcome is Outcome.OVER_BUDGET, report
    assert "$2.00 of $2.00" in report.sentence
    assert [u.usd for u in report.usage] == [Decimal(2)]


def test_a_sentence_fits_whatever_an_agent_says(lab: Lab) -> None:
    code = "import json,sys; open(sys.argv[1],'w').write(json.dumps({'status':'blocked','summary':'','blocked_by':'x'*65536}))"
    command = (lab.spec("good").agents[Unit.EXECUTE_PLAN].command or ())[:1]
    agent = AgentSpec(name="scripted", command=(*command, "-c", code, "{result_file}"))
    report = lab.run("good", agents={Unit.EXECUTE_PLAN: agent})
    assert report.outcome is Outcome.BLOCKED, report
    assert report.sentence.endswith("x…")


def test_an_unknown_agent_is_named(lab: Lab) -> None:
    agent = lab.spec("good").agents[Unit.EXECUTE_PLAN].model_copy(update={"command": None, "name": "robot"})
    report = lab.run("good", agents={Unit.EXECUTE_PLAN: agent})
    assert report.outcome is Outcome.AGENT_FAILED
    assert "robot" in report.sentence


@pytest.mark.parametrize("session", ["a\\u0000b", "\\ud800", "--last"], ids=["nul", "surrogate", "option"])
def test_a_session_whose_name_is_none_is_not_gone_on_with(lab: Lab, session: str) -> None:
    tools, told = (
        lab.folder / "tools",
        '{"type": "result", "subtype": "success", "is_error": false, "session_id": "%s"}',
    )
    tools.mkdir()
    (tools / "claude").write_text(
        f"#!/bin/sh\necho \"$*\" >> {tools}/asked\necho x > calc.py\ncat <<'END'\n{told % session}\nEND\n"
    )
    (tools / "claude").chmod(0o755)
    claude = {Unit.EXECUTE_PLAN: AgentSpec(name="claude")}
    report = lab.run("good", agents=claude, env={"PATH": f"{tools}:{os.environ['PATH']}"})
    assert (report.outcome, report.attempts) == (Outcome.INVALID_RESULT, 2), report.sentence
    assert any(note.startswith("Attempt 1 went back to the agent: ") for note in report.notes), report.notes
    assert "--resume" not in (tools / "asked").read_text()


def test_a_program_that_is_not_there_is_named(lab: Lab) -> None:
    agent = lab.spec("good").agents[Unit.EXECUTE_PLAN].model_copy(update={"command": ("no-such-agent",)})
    report = lab.run("good", agents={Unit.EXECUTE_PLAN: agent})
    assert report.outcome is Outcome.AGENT_FAILED
    assert "no-such-agent" in report.sentence


def test_a_failed_pull_request_text_is_made_from_the_plan(lab: Lab) -> None:
    report = lab.run("good", env={"PR_BEHAVIOUR": "boast_and_fail"})
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert report.work.pull_request is not None
    assert report.work.pull_request.title == "Add two numbers right"
    assert report.work.pull_request.body.startswith("add() subtracts.")
    assert any("made from the plan" in note for note in report.notes)
    assert report.output_tail == ""


def test_lessons_are_committed_by_themselves_and_stay_outside_of_the_scope_gate(lab: Lab) -> None:
    report = lab.run("learn")
    assert report.outcome is Outcome.VERIFIED, report
    subjects = lab.git("log", "--format=%s", "trunk..plan/7", cwd=lab.remote).splitlines()
    assert subjects == ["Note what was learned (#7)", "Add two numbers right (#7)"]
    assert report.work is not None
    lesson = next(file.path for file in report.work.files if file.path.startswith(".twogate/promptware/ExecutePlan/"))
    assert "The function add() lives in calc.py." in lab.shown(lesson)


# --- plans


def test_a_plan_is_returned_with_the_checks_recognised(lab: Lab) -> None:
    lab.base = lab.commit({"Makefile": "test:\n\tpython3 test_calc.py\n"}, "Checks")
    report = lab.run("plan", kind=JobKind.PLAN, detect_gates=True, gates=())
    assert report.outcome is Outcome.PLANNED, report
    assert report.plan is not None
    assert report.plan.files == ("calc.py", "notes/**")
    assert any("make" in gate.run for gate in report.detected_gates)
    assert lab.left() == []
    assert lab.tip("plan/7") is None


def test_a_plan_that_writes_is_refused(lab: Lab) -> None:
    report = lab.run("plan_and_write", kind=JobKind.PLAN)
    assert report.outcome is Outcome.TREE_CHANGED, report
    assert "read only" in report.sentence
    assert report.plan is None


def test_a_plan_without_files_is_no_plan(lab: Lab) -> None:
    report = lab.run("plan_without_files", kind=JobKind.PLAN)
    assert report.outcome is Outcome.INVALID_RESULT, report
    assert report.attempts == 2
    assert "files" in report.sentence


def test_other_verdicts_need_no_files(lab: Lab) -> None:
    report = lab.run("needs_information", kind=JobKind.PLAN)
    assert report.outcome is Outcome.PLANNED, report


def test_feedback_and_the_old_plan_reach_the_prompt_of_an_update(lab: Lab) -> None:
    feedback = (Feedback(kind="update", author="bob", text="Mention the README."),)
    report = lab.run("plan", kind=JobKind.PLAN, unit=Unit.UPDATE_PLAN, feedback=feedback)
    assert report.outcome is Outcome.PLANNED, report
    prompt = next((lab.home / "jobs" / report.job).glob("UpdatePlan-1/prompt.md")).read_text()
    assert "Mention the README." in prompt
    assert "add() is wrong" in prompt


# --- the default branch and other people


def test_a_base_check_names_the_paths_in_conflict(lab: Lab) -> None:
    head = lab.commit({"calc.py": "def add(a, b):\n    return b + a\n"}, "Plan", branch="plan/7")
    lab.git("reset", "-q", "--hard", lab.base)
    clean = lab.commit({"README.md": "Other\n"}, "Readme")
    report = lab.run("good", kind=JobKind.CHECK_BASE, base=clean, head=head, branch_head=head)
    assert report.outcome is Outcome.BASE_CLEAN, report
    moved = lab.commit({"calc.py": "def add(a, b):\n    return sum((a, b))\n"}, "Sum")
    report = lab.run("good", kind=JobKind.CHECK_BASE, base=moved, head=head, branch_head=head)
    assert report.outcome is Outcome.BASE_CONFLICT, report
    assert report.conflicts == ("calc.py",)
    assert report.usage == ()


def test_a_base_that_moved_into_a_conflict_goes_back_to_the_agent(lab: Lab) -> None:
    moved = "def add(a, b):\n    return sum((a, b))\n\n\ndef sub(a, b):\n    return a - b\n"
    (lab.clone / "calc.py").write_text(moved)
    lab.git("commit", "-qam", "Sum")
    push = f"git -C {lab.clone} push -q origin HEAD:refs/heads/trunk"
    report = lab.run("settle", gates=(TESTS, GateSpec(name="meanwhile", run=f"{push} 2>&1", blocking=False)))
    assert report.outcome is Outcome.VERIFIED, report
    assert report.attempts == 2
    assert "Attempt 1 went back to the agent: it conflicts in calc.py." in report.notes
    tip = lab.tip("trunk")
    assert report.work is not None
    assert report.work.base == tip
    assert [file.path for file in report.work.files] == ["calc.py"]
    assert len(lab.git("log", "-1", "--format=%P", "plan/7", cwd=lab.remote).split()) >= 1
    assert lab.git("merge-base", "trunk", "plan/7", cwd=lab.remote) == tip


def test_a_conflict_job_merges_first_and_pushes_on_top(lab: Lab) -> None:
    head = lab.commit({"calc.py": "def add(a, b):\n    return b + a\n"}, "Plan", branch="plan/7")
    lab.git("reset", "-q", "--hard", lab.base)
    moved = lab.commit({"calc.py": START["calc.py"] + "\n\ndef sub(a, b):\n    return a - b\n"}, "Sub")
    conflict = lab.commit({"calc.py": "def add(a, b):\n    return sum((a, b))\n"}, "Sum")
    assert moved != conflict
    report = lab.run("settle", base=conflict, head=head, branch_head=head, merge_base_in=True)
    assert report.outcome is Outcome.VERIFIED, report
    parents = lab.git("log", "-1", "--format=%P", "plan/7", cwd=lab.remote).split()
    assert parents == [head, conflict]


def test_a_revision_that_changes_nothing_is_no_revision(lab: Lab) -> None:
    head = lab.run("good").work
    assert head is not None
    feedback = (Feedback(kind="retry", author="bob", text="Use sum()."),)
    report = lab.run("good", head=head.head, branch_head=head.head, feedback=feedback)
    assert report.outcome is Outcome.NOTHING_CHANGED, report
    assert lab.tip("plan/7") == head.head


def test_a_revision_goes_on_from_the_branch(lab: Lab) -> None:
    head = lab.commit({"calc.py": "def add(a, b):\n    return 0\n"}, "Earlier", branch="plan/7")
    report = lab.run("good", head=head, branch_head=head)
    assert report.outcome is Outcome.VERIFIED, report
    assert lab.git("log", "-1", "--format=%P", "plan/7", cwd=lab.remote) == head


def test_a_branch_that_somebody_pushed_to_ends_the_job_before_anything_is_spent(lab: Lab) -> None:
    theirs = lab.commit({"README.md": "Mine\n"}, "Hello", branch="plan/7")
    report = lab.run("good")
    assert report.outcome is Outcome.BRANCH_MOVED, report
    assert theirs[:10] in report.sentence
    assert lab.tip("plan/7") == theirs
    assert report.usage == ()


def test_a_branch_that_moves_while_the_agent_works_keeps_its_commits(lab: Lab) -> None:
    lab.bot.on_push_token = lambda: lab.commit({"README.md": "Mine\n"}, "Hello", branch="plan/7")
    report = lab.run("good")
    assert report.outcome is Outcome.BRANCH_MOVED, report
    assert lab.tip("plan/7") == lab.git("rev-parse", "HEAD")


def test_the_branch_of_a_killed_run_of_this_plan_makes_room(lab: Lab) -> None:
    abandoned = lab.commit({"calc.py": "half\n"}, f"Half\n\nTwogate-Plan: {UID}", branch="plan/7")
    report = lab.run("good")
    assert report.outcome is Outcome.VERIFIED, report
    assert lab.tip("plan/7") != abandoned
    assert lab.git("log", "--format=%s", "trunk..plan/7", cwd=lab.remote) == "Add two numbers right (#7)"


def test_a_push_that_the_bot_refuses_is_reported_with_its_words(lab: Lab) -> None:
    lab.bot.refuse_push = True
    report = lab.run("good")
    assert report.outcome is Outcome.RUNNER_FAILED, report
    assert "The plan was withdrawn" in report.sentence
    assert lab.tip("plan/7") is None


def test_a_push_that_the_server_refuses_is_reported_with_its_words(lab: Lab) -> None:
    hook = lab.remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho branches are frozen >&2\nexit 1\n")
    hook.chmod(0o755)
    report = lab.run("good")
    assert report.outcome is Outcome.RUNNER_FAILED, report
    assert "refused the push" in report.sentence
    assert lab.tip("plan/7") is None


def test_a_commit_that_is_not_there_is_the_runners_failure(lab: Lab) -> None:
    report = lab.run("good", base="1" * 40)
    assert report.outcome is Outcome.RUNNER_FAILED, report
    assert "/retry" in report.sentence


def test_a_stop_of_the_bot_ends_the_agent(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.heartbeat.PERIOD", 0.1)
    started = lab.folder / "started"
    lab.bot.on_progress = lambda: setattr(lab.bot, "stop", "cancelled by ada" if started.exists() else None)
    report = lab.run("stop_here", env={"STARTED_FILE": str(started)})
    assert report.outcome is Outcome.STOPPED, report
    assert "cancelled by ada" in report.sentence
    assert lab.left() == []


def test_a_check_that_can_not_be_run_ends_the_job_before_anything_is_spent(lab: Lab) -> None:
    for _ in range(2):
        report = lab.run("good", gates=(GateSpec(name="odd", run="no-such-program-here --all"),))
        assert report.outcome is Outcome.RUNNER_FAILED, report
        assert "check odd can't be run on runner lab: Exit code 127" in report.sentence
        assert "no-such-program-here" in report.sentence
        assert report.usage == ()
    assert lab.run("good").outcome is Outcome.VERIFIED


def test_branches_of_other_plans_that_conflict_are_reported(lab: Lab) -> None:
    other = lab.commit({"calc.py": "def add(a, b):\n    return sum((a, b))\n"}, "Other", branch="plan/8")
    beside = lab.commit({"calc.py": START["calc.py"], "other.py": "x = 1\n"}, "Beside", branch="plan/9")
    rows = [(8, other), (9, beside), (10, "1" * 40)]
    in_flight = tuple(Branch(issue=issue, name=f"plan/{issue}", head=head) for issue, head in rows)
    report = lab.run("good", in_flight=in_flight)
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert [(c.issue, c.head, c.paths) for c in report.work.collisions] == [(8, other, ("calc.py",))]
    assert any("plan/10 were not tried" in note for note in report.notes)


def test_the_agent_is_told_where_it_is(lab: Lab) -> None:
    report = lab.run("never", budget=Budget(minutes=2, attempts=1))
    prompt = (lab.home / "jobs" / report.job / "ExecutePlan-1" / "prompt.md").read_text()
    assert f"on branch plan/7, begun from trunk at {lab.base}" in prompt


def test_unpushed_work_is_named_with_the_way_to_it(lab: Lab) -> None:
    report = lab.run("never")
    assert report.salvaged is not None
    note = next(note for note in report.notes if "not pushed" in note)
    command = note.partition("there: ")[2].replace("$TWOGATE_HOME", str(lab.home)).split()
    assert report.salvaged in lab.git(*command[1:])
