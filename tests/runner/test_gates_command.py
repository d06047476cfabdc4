"""Commands as gates, run for real: time, output, and what was broken before."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from runner import process
from runner.contract import MAX_TAIL, GateStatus
from runner.gates.command import GateRun, again, against_base, may_be_flaky, run_gate, tail_of
from runner.terms import GateSpec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _execute(command: list[str], *, cwd: Path, env: Mapping[str, str], seconds: float, output: Path) -> process.Ended:
    return process.run(
        command, cwd=cwd, env=env, stdout_path=output, deadline_seconds=seconds, output_limit_bytes=2_000_000
    )


def _run(folder: Path, command: str, timeout: int = 60, **more: object) -> GateRun:
    (folder / "tree").mkdir(parents=True, exist_ok=True)
    spec = GateSpec.model_validate({"name": "tests", "run": command, "timeout_seconds": timeout, **more})
    return run_gate(spec, folder / "tree", folder / "out.txt", {"PATH": os.environ["PATH"]}, _execute)


def test_exit_code_0_passes(tmp_path: Path) -> None:
    run = _run(tmp_path, "echo hello; echo world >&2; pwd", detected=True)
    assert run.result.status is GateStatus.PASSED
    assert run.result.detected
    assert run.result.seconds > 0
    assert set(run.output.read_text().split("\n")) >= {"hello", "world", str(tmp_path / "tree")}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo all tests passed; exit 3", "Exit code 3."),
        ("no-such-program-anywhere", "is missing on the runner"),
        ("kill -9 $$", "Ended by signal 9."),
        ("yes", "printed more than is kept"),
    ],
)
def test_anything_else_fails_whatever_it_says(tmp_path: Path, command: str, said: str) -> None:
    result = _run(tmp_path, command).result
    assert result.status is GateStatus.FAILED
    assert said in result.summary


def test_a_failure_tells_its_first_error(tmp_path: Path) -> None:
    assert (
        _run(tmp_path, "echo start; echo 'a.go:3:4: undefined: x'; echo 'error: all'; exit 1").result.first_error
        == "a.go:3:4: undefined: x"
    )
    assert _run(tmp_path, "echo 'error: none'").result.first_error == ""


@pytest.mark.parametrize(
    ("command", "more", "expected"),
    [
        ("exit 1", {}, True),
        ("true", {}, False),
        ("exit 1", {"blocking": False}, False),
        ("no-such-program", {}, False),
        ("sleep 9", {"timeout": 1}, False),
        ("yes", {}, False),
    ],
)
def test_what_is_run_once_more(tmp_path: Path, command: str, more: dict[str, int], expected: bool) -> None:
    assert may_be_flaky(_run(tmp_path, command, **more)) is expected


def test_failed_then_passed_is_flaky_and_never_passed(tmp_path: Path) -> None:
    once = "test -e mark && exit 0; touch mark; echo 'error: odd'; exit 4"
    first = _run(tmp_path, once)
    result = again(first, _run(tmp_path, once)).result
    assert result.status is GateStatus.FLAKY
    assert result.summary == "Flaky: failed (exit code 4), then passed unchanged."
    assert result.first_error == "error: odd"
    assert not result.holds_back
    assert again(first, first) == first


def test_time_is_limited(tmp_path: Path) -> None:
    result = _run(tmp_path, "sleep 100", timeout=1).result
    assert result.status is GateStatus.TIMED_OUT
    assert "Not done after 1 s" in result.summary


def test_the_tail_is_cut_to_be_seen_and_the_file_is_whole(tmp_path: Path) -> None:
    run = _run(tmp_path, f"{sys.executable} -c \"print('\\n'.join(f'line {{n}} ü' for n in range(20000)))\"; exit 1")
    assert run.result.tail.startswith("[the end of ")
    assert run.result.tail.rstrip().endswith("line 19999 ü")
    assert len(run.result.tail) <= MAX_TAIL
    assert run.output.read_text().startswith("line 0 ü\n")


def test_a_tail_has_no_colours_and_controls(tmp_path: Path) -> None:
    path = tmp_path / "o"
    path.write_bytes(b"\x1b[31mred\x1b[0m\r\nb\x00\x07l\xffl\xe2\x80\xae\n")
    assert tail_of(path) == "red\nbl\ufffdl\n"
    assert tail_of(tmp_path / "none") == ""


FAILS = (
    "echo 'tests/a.py:{line}: AssertionError'; echo 'FAILED tests/a.py::test_one'; echo '1 failed in 0.{n}s'; exit 1"
)


def test_what_failed_before_in_the_same_way_is_told_apart(tmp_path: Path) -> None:
    before = _run(tmp_path / "base", FAILS.format(line=10, n=11))
    now = _run(tmp_path / "head", FAILS.format(line=12, n=29))
    result = against_base(now, before)
    assert result.status is GateStatus.FAILED_BEFORE
    assert not result.holds_back
    assert "before the change" in result.summary


@pytest.mark.parametrize(
    "command",
    [
        FAILS.format(line=1, n=1).replace("exit 1", "echo 'FAILED tests/b.py::test_two'; exit 1"),
        FAILS.format(line=1, n=1).replace("test_one", "test_two"),
        FAILS.format(line=1, n=1).replace("1 failed", "2 failed"),
        FAILS.format(line=1, n=1).replace("exit 1", "exit 2"),
    ],
)
def test_a_further_failure_is_held_against_the_change(tmp_path: Path, command: str) -> None:
    before = _run(tmp_path / "base", FAILS.format(line=1, n=1))
    assert against_base(_run(tmp_path / "head", command), before).holds_back


def test_a_command_that_ends_at_once_keeps_its_exit_code(tmp_path: Path) -> None:
    codes = {_run(tmp_path / str(number), "exit 7").result.summary for number in range(12)}
    assert codes == {"Exit code 7."}


def test_a_base_that_passed_or_a_check_that_passes_changes_nothing(tmp_path: Path) -> None:
    good, bad = _run(tmp_path / "good", "true"), _run(tmp_path / "bad", "exit 1")
    assert against_base(bad, good) == bad.result
    assert against_base(good, bad) == good.result


def test_a_check_that_never_ran_verifies_nothing(tmp_path: Path) -> None:
    command = "no-such-program-anywhere"
    result = against_base(_run(tmp_path / "head", command), _run(tmp_path / "base", command))
    assert result.holds_back
    assert "missing on the runner" in result.summary


def test_folders_of_the_two_runs_do_not_count(tmp_path: Path) -> None:
    command = 'echo "error in $(pwd)/a.c"; exit 1'
    result = against_base(_run(tmp_path / "head", command), _run(tmp_path / "base", command))
    assert result.status is GateStatus.FAILED_BEFORE


def test_real_pytest_output_is_told_apart(tmp_path: Path) -> None:
    def check(folder: str, tests: str) -> GateRun:
        tree = tmp_path / folder / "tree"
        tree.mkdir(parents=True)
        (tree / "test_a.py").write_text(tests, encoding="utf-8")
        return _run(tmp_path / folder, f"{sys.executable} -m pytest -q -p no:cacheprovider test_a.py")

    broken = "def test_old():\n    assert 1 == 2\n"
    before = check("base", broken)
    same = check("same", "def test_new():\n    pass\n\n\n" + broken)
    worse = check("worse", broken + "\n\ndef test_worse():\n    assert 3 == 4\n")
    assert against_base(same, before).status is GateStatus.FAILED_BEFORE
    assert against_base(worse, before).status is GateStatus.FAILED
