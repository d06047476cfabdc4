"""Prepare and carry: what makes a fresh work tree ready, made once, copied, and never committed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from runner.contract import GateStatus, Outcome
from runner.steps import copying
from runner.terms import Budget, GateSpec, SandboxMode
from tests.runner.lab import PLAN, Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TRUE = GateSpec(name="tests", run="true", timeout_seconds=60)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    lab.base = lab.commit({".gitignore": "deps/\n.env\n__pycache__/\n", "a.lock": "1\n", "uv.lock": "1\n"}, "Locks")
    yield lab
    lab.close()


def operator(lab: Lab, name: str, content: str) -> None:
    place = lab.home / "carry" / "1" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content)


def prepare(lab: Lab, *more: str) -> tuple[str, ...]:
    """A preparation that leaves an ignored folder, a visible file and something in HOME, and counts its runs."""
    return (
        f"echo run >> {lab.folder}/runs; mkdir deps; echo lib > deps/lib; ln -s lib deps/link; echo seen > visible.txt",
        'mkdir -p "$HOME/.cache/pkg" && echo pkg > "$HOME/.cache/pkg/x"; echo evil > "$HOME/.agentrc"',
        *more,
    )


def runs(lab: Lab) -> int:
    return len((lab.folder / "runs").read_text().split())


CHECK = GateSpec(
    name="ready",
    run='set -e; cat deps/lib deps/link visible.txt .env "$HOME/.cache/pkg/x"; test ! -e "$HOME/.agentrc"; echo spoilt > deps/lib',
)


def test_gates_and_agent_find_it_ready_and_it_is_made_once(lab: Lab) -> None:
    operator(lab, ".env", "KEY=1\n")
    agent = "assert pathlib.Path('deps/lib').read_text() == 'lib\\n' and pathlib.Path('.env').exists()\nwrite('calc.py', 'x = 1\\n')\ndone()"
    for branch in ("plan/7", "plan/8"):
        agents = {**lab.spec("good").agents, **lab.coded(agent)}
        report = lab.run("good", agents=agents, gates=(CHECK,), prepare=prepare(lab), carry=(".env",), branch=branch)
        assert report.outcome is Outcome.VERIFIED, report
        assert report.gates[-1].status is GateStatus.PASSED, report.gates[-1].tail
        assert [file.path for file in report.work.files] == ["calc.py"] if report.work else False
    assert runs(lab) == 1
    assert lab.left() == ["carry/1/.env"]


def test_what_is_carried_is_never_committed_whatever_an_agent_does(lab: Lab) -> None:
    operator(lab, "secrets/key.pem", "carried-secret\n")
    operator(lab, ".env", "carried-secret\n")
    name = "'-c', 'user.name=a', '-c', 'user.email=a@example.com'"
    agent = (
        "import subprocess\nwrite('calc.py', 'x = 1\\n')\nwrite('.gitignore', '')\n"
        f"git = lambda *words: subprocess.run(['git', {name}, *words], check=True)\n"
        "git('add', '-f', '.')\ngit('commit', '-qm', 'all of it')\n"
        "git('rm', '-q', '--cached', '.env')\ngit('commit', '-qm', 'as if nothing had been')\ndone()"
    )
    report = lab.run(
        "good",
        agents={**lab.spec("good").agents, **lab.coded(agent)},
        gates=(TRUE,),
        prepare=prepare(lab),
        carry=(".env", "secrets"),
        plan=PLAN.model_copy(update={"files": ("calc.py", "*", "**/*", ".gitignore", ".env", "secrets/**", "deps/**")}),
    )
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert {file.path for file in report.work.files} == {"calc.py", ".gitignore", "deps/lib", "deps/link"} - {
        "deps/lib",
        "deps/link",
    }
    assert any("which the runner brought along" in note for note in report.notes)
    everything = lab.git("log", "-p", "--all", cwd=lab.remote)
    assert "x = 1" in everything
    assert "carried-secret" not in everything
    assert "seen" not in everything


def test_a_value_of_a_carried_file_in_the_work_fails_the_secrets_gate(lab: Lab) -> None:
    operator(lab, ".env", "export TOKEN='s3cr3tvalue-of-the-company'\nNAME=short\n")
    agent = "write('calc.py', '# ' + pathlib.Path('.env').read_text().splitlines()[0] + '\\n')\ndone()"
    report = lab.run("good", agents={**lab.spec("good").agents, **lab.coded(agent)}, gates=(TRUE,), carry=(".env",))
    assert report.outcome is Outcome.GATES_FAILED, report
    assert [gate.summary for gate in report.gates if gate.holds_back] == [
        "calc.py:1: holds a value of a file under `carry`; take it out."
    ]


def test_a_failing_preparation_ends_the_job_before_anything_is_spent(lab: Lab) -> None:
    report = lab.run("good", prepare=("echo 'npm error no such package' >&2; exit 9",))
    assert report.outcome is Outcome.RUNNER_FAILED, report
    assert "`prepare` failed: Exit code 9. npm error no such package" in report.sentence
    assert "no such package" in report.output_tail
    assert report.usage == ()
    assert list((lab.home / "cache" / "ready" / "1").iterdir()) == []


def test_what_was_recognised_and_fails_is_noted_and_the_checks_run_anyway(lab: Lab) -> None:
    report = lab.run("good", gates=(TRUE.model_copy(update={"detected": True}),), env={"PATH": "/usr/bin:/bin"})
    assert report.outcome is Outcome.VERIFIED, report
    assert any("`uv sync --locked` of `prepare` failed" in note for note in report.notes)


def test_a_changed_lock_file_is_prepared_for_that_tree_alone(lab: Lab) -> None:
    gate = GateSpec(name="lock", run="cmp uv.lock deps/lock")
    command = (f"echo run >> {lab.folder}/runs; mkdir deps; cp uv.lock deps/lock; ! grep broken uv.lock",)
    plan = PLAN.model_copy(update={"files": ("calc.py", "uv.lock")})
    code = "write('uv.lock', 'broken\\n' if sys.argv[2] == '1' else '2\\n')\nwrite('calc.py', 'x = 1\\n')\ndone()"
    agents = {**lab.spec("good").agents, **lab.coded(code)}
    report = lab.run("good", agents=agents, gates=(gate,), prepare=command, plan=plan)
    assert report.outcome is Outcome.VERIFIED, report
    assert report.attempts == 2, "what can't be prepared goes back to the agent"
    assert runs(lab) == 3
    report = lab.run("good", gates=(gate,), prepare=command, branch="plan/8")
    assert report.outcome is Outcome.VERIFIED, report
    assert runs(lab) == 3, "the base's own is still there"


def test_nothing_is_installed_by_a_lock_file_that_the_plan_does_not_name(lab: Lab) -> None:
    command = (f"echo run >> {lab.folder}/runs; mkdir deps; cp uv.lock deps/lock",)
    code = "write('uv.lock', '2\\n')\nwrite('calc.py', 'x = 1\\n')\ndone()"
    agents = {**lab.spec("good").agents, **lab.coded(code)}
    report = lab.run("good", agents=agents, gates=(TRUE,), prepare=command, budget=Budget(attempts=1))
    assert report.outcome is Outcome.GATES_FAILED, report
    assert runs(lab) == 1, "for the base alone"
    failing = {gate.name: gate.summary for gate in report.gates if gate.holds_back}
    assert set(failing) == {"scope", "prepare"}
    assert "uv.lock was changed, so nothing was installed by it: the plan does not name it." in failing["prepare"]


def test_what_a_branch_holds_is_never_prepared_for_others(lab: Lab) -> None:
    """Work that goes on from a pushed branch finds no entry of the cache: it is made at the base all the same."""
    lab.base = lab.commit({"setup.sh": "mkdir deps; echo lib > deps/lib\n"}, "Setup")
    head = lab.commit({"setup.sh": "mkdir deps; echo poison > deps/lib\n"}, "Poison", branch="plan/7")
    gate = GateSpec(name="lib", run="cat deps/lib; grep lib deps/lib")
    plan = PLAN.model_copy(update={"files": ("calc.py", "setup.sh")})
    report = lab.run("good", head=head, branch_head=head, plan=plan, gates=(gate,), prepare=("sh setup.sh",))
    assert report.outcome is Outcome.VERIFIED, report
    assert report.gates[-1].tail == "lib\nlib\n"


def test_a_value_of_a_carried_file_that_a_check_prints_is_not_told(lab: Lab) -> None:
    operator(lab, ".env", "API_TOKEN=abcdef0123456789xyz\n")
    gate = GateSpec(name="talks", run="cat .env; echo error: abcdef0123456789xyz; exit 1")
    report = lab.run("good", gates=(gate,), carry=(".env",))
    broken = lab.run("good", prepare=("cat .env; exit 1",), carry=(".env",), gates=(gate,))
    assert "API_TOKEN=***" in report.gates[-1].tail
    assert "API_TOKEN=***" in broken.output_tail
    said = (lab.home / "jobs" / report.job / "report.json").read_text() + report.model_dump_json()
    assert "abcdef0123456789xyz" not in said + broken.model_dump_json() + "".join(lab.said)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/etc/passwd", "within the repository"),
        ("../x", "within the repository"),
        (".git/config", "within the repository"),
        ("calc.py", "git tracks"),
        ("out", "is a link out of"),
    ],
)
def test_what_can_not_be_carried_is_refused(lab: Lab, path: str, said: str) -> None:
    (lab.home / "carry" / "1").mkdir(parents=True)
    (lab.home / "carry" / "1" / "out").symlink_to("/etc")
    report = lab.run("good", carry=(path,))
    assert report.outcome is Outcome.RUNNER_FAILED, report
    assert said in report.sentence
    assert report.usage == ()


def test_a_plan_that_names_what_no_plan_may_change_is_refused_at_once(lab: Lab) -> None:
    report = lab.run("good", plan=PLAN.model_copy(update={"files": ("calc.py", ".github/workflows/ci.yml")}))
    assert report.outcome is Outcome.GATES_FAILED, report
    assert "people alone" in report.sentence
    assert report.usage == ()


def test_copies_follow_no_link_and_overwrite_nothing(tmp_path: Path) -> None:
    source, target, outside = (tmp_path / name for name in ("source", "target", "outside"))
    for folder in (source / "sub", target, outside):
        folder.mkdir(parents=True)
    (source / "sub" / "new").write_text("new")
    (source / "there").write_text("new")
    (source / "away").symlink_to("/etc/passwd")
    (target / "there").write_text("old")
    (target / "sub").symlink_to(outside)
    copying.copy(source, target, ("sub/new", "there", "away", "none"), None)
    assert (target / "there").read_text() == "old"
    assert list(outside.iterdir()) == []
    assert (target / "away").is_symlink()


def test_a_copy_is_no_link_to_the_cache(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "deps").mkdir(parents=True)
    target.mkdir()
    (source / "deps" / "lib").write_text("good")
    copying.copy(source, target, ("deps",), None)
    (target / "deps" / "lib").write_text("evil")
    assert (source / "deps" / "lib").read_text() == "good"


def test_a_python_environment_is_told_where_it_lies_now(tmp_path: Path) -> None:
    import subprocess

    origin, tree = tmp_path / "origin", tmp_path / "tree"
    for folder in (origin, tree):
        folder.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(origin / ".venv")], check=True)
    script = origin / ".venv" / "bin" / "tool"
    script.write_text(f"#!{origin}/.venv/bin/python\nimport sys; print(sys.prefix)\n")
    script.chmod(0o755)
    (origin / ".venv" / "bin" / "evil").symlink_to(tmp_path / "victim")
    (tmp_path / "victim").write_text(str(origin))
    assert copying.venvs(origin, [".venv"]) == [".venv"]
    copying.copy(origin, tree, [".venv"], None)
    copying.relocate(tree, [".venv"], str(origin))
    done = subprocess.run([str(tree / ".venv" / "bin" / "tool")], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tree / ".venv")
    assert (tmp_path / "victim").read_text() == str(origin)


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deps").mkdir()
    (tmp_path / "deps" / "big").write_bytes(b"x" * 10_000)
    copying.check_size(tmp_path, ["deps"])
    monkeypatch.setattr(copying, "MAX_BYTES", 9_999)
    with pytest.raises(OSError, match="are kept"):
        copying.check_size(tmp_path, ["deps"])


def test_two_jobs_of_one_state_prepare_once(lab: Lab) -> None:

    slow = (f"echo run >> {lab.folder}/runs; sleep 1; mkdir deps; echo lib > deps/lib",)
    specs = [lab.spec("good", prepare=slow, gates=(TRUE,), branch=f"plan/{n}", plan_uid=f"planplan{n}") for n in (1, 2)]
    processes = [lab.start(spec.job) for spec in specs]
    for process in processes:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output
    reports = [lab.bot.reports[spec.job] for spec in specs]
    assert {report.outcome for report in reports} == {Outcome.VERIFIED}, reports
    assert runs(lab) == 1


@pytest.mark.parametrize("mode", [SandboxMode.AUTO, SandboxMode.OFF])
def test_confined_or_not_the_cache_is_the_runners_and_the_copies_are_the_agents(lab: Lab, mode: SandboxMode) -> None:
    operator(lab, ".env", "KEY=1\n")
    (lab.home / "carry" / "1" / ".env").chmod(0o600)
    quiet = ('mkdir deps "$HOME/.cache"; echo lib > deps/lib; echo pkg > "$HOME/.cache/x"',)
    gate = GateSpec(
        name="mine", run='set -e; cat .env; echo changed > deps/lib; echo more >> "$HOME/.cache/x"; echo x > deps/new'
    )
    agent = "write('deps/lib', 'agent')\nwrite('.env', 'agent')\nwrite('calc.py', 'x = 1\\n')\ndone()"
    report = lab.run(
        "good",
        agents={**lab.spec("good").agents, **lab.coded(agent)},
        gates=(gate,),
        prepare=quiet,
        carry=(".env",),
        sandbox=mode,
    )
    assert report.outcome is Outcome.VERIFIED, report
    (entry,) = (lab.home / "cache" / "ready" / "1").iterdir()
    assert (entry / "tree" / "deps" / "lib").read_text() == "lib\n"
    assert sorted(path.name for path in (entry / "tree" / "deps").iterdir()) == ["lib"]
    assert (entry / "home" / ".cache" / "x").read_text() == "pkg\n"
    assert not (entry / "tree" / ".env").exists(), "what the operator gave is not kept twice"
    assert entry.parent.stat().st_mode & 0o077 == 0
    assert (lab.home / "carry" / "1" / ".env").read_text() == "KEY=1\n"


def test_a_secret_that_was_taken_out_again_is_not_pushed_with_the_history(lab: Lab) -> None:
    """Neither with the commit of an attempt that did not pass, nor with one of the agent's own, nor its message."""
    operator(lab, ".env", "TOKEN=abcdef0123456789xyz\n")
    first = "if sys.argv[2] == '1':\n    write('calc.py', '# abcdef0123456789xyz\\n')\n    done()\n    sys.exit()\n"
    name = "'-c', 'user.name=a', '-c', 'user.email=a@example.com'"
    own = (
        f"import subprocess\ngit = lambda *words: subprocess.run(['git', {name}, *words], check=True)\n"
        "write('calc.py', 'x = \"ghp_' + 'a1B2' * 9 + '\"\\n')\ngit('commit', '-qam', 'AIza' + 'Ab3' * 11 + 'xy')\n"
        "write('calc.py', 'x = 1\\n')\ngit('commit', '-qam', 'Second')\ndone()"
    )
    agents = {**lab.spec("good").agents, **lab.coded(first + own)}
    report = lab.run("good", agents=agents, gates=(TRUE,), carry=(".env",))
    assert report.outcome is Outcome.VERIFIED, report
    assert report.attempts == 2
    pushed = lab.git("log", "-p", "--format=%B", f"{lab.base}..plan/7", cwd=lab.remote)
    assert "x = 1" in pushed
    for secret in ("abcdef0123456789xyz", "ghp_a1B2", "AIzaAb3"):
        assert secret not in pushed
