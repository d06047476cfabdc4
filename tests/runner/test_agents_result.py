"""The result file: whatever lies there, it is read safely, and refused with a sentence."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from runner.agents.result import MAX_RESULT, InvalidResultError, read_result
from runner.results import (
    ExecutionSummary,
    Inspection,
    IssueText,
    PlanDocument,
    PullRequestText,
    SplitDocument,
    Unit,
)

PLAN = {"verdict": "plan", "title": "T", "summary": "S", "steps": ["a"], "files": ["src/a.py"]}
CHILD: dict[str, Any] = {"plan": PLAN}
OTHER: dict[str, Any] = {"plan": {**PLAN, "title": "U"}, "depends_on": [1]}
DONE = {"status": "done", "summary": "S"}


def _split(*children: dict[str, Any]) -> dict[str, Any]:
    return {"summary": "S", "children": children}


def _write(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "result.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("unit", "value", "model"),
    [
        (Unit.CREATE_PLAN, PLAN, PlanDocument),
        (Unit.UPDATE_PLAN, {**PLAN, "weakens": ["src/a.py"]}, PlanDocument),
        (Unit.EXECUTE_PLAN, DONE, ExecutionSummary),
        (Unit.CREATE_PR, {"title": "Fix it", "body": ""}, PullRequestText),
        (Unit.EXPAND_PLAN, {**PLAN, "changes": ["Step 1 says more."]}, PlanDocument),
        (Unit.SPLIT_PLAN, {"summary": "S", "children": [CHILD, OTHER]}, SplitDocument),
        (Unit.INSPECT_DIFF, {"summary": "S", "findings": [{"severity": "low", "text": "t"}]}, Inspection),
        (Unit.CREATE_ISSUE, {"title": "It breaks", "body": "b"}, IssueText),
        (Unit.CREATE_PLAN, {"verdict": "refuse", "title": "T", "summary": "", "reason": "Harm."}, PlanDocument),
    ],
)
def test_a_valid_result(tmp_path: Path, unit: Unit, value: dict[str, Any], model: type) -> None:
    assert isinstance(read_result(_write(tmp_path, value), unit), model)


@pytest.mark.parametrize(
    ("unit", "value", "said"),
    [
        (Unit.CREATE_PLAN, "", "Invalid JSON"),
        (Unit.CREATE_PLAN, "[]", "does not fit"),
        (Unit.CREATE_PLAN, {**PLAN, "extra": 1}, "extra"),
        (Unit.CREATE_PLAN, {**PLAN, "verdict": "go"}, "verdict"),
        (Unit.CREATE_PLAN, {**PLAN, "steps": []}, "steps: a plan needs it"),
        (Unit.CREATE_PLAN, {**PLAN, "files": []}, "files: a plan needs it"),
        (Unit.CREATE_PLAN, {**PLAN, "summary": "  "}, "summary: a plan needs it"),
        (Unit.CREATE_PLAN, {**PLAN, "files": ["../x"]}, "relative to the root"),
        (Unit.CREATE_PLAN, {**PLAN, "files": ["**"]}, "names everything"),
        (Unit.CREATE_PLAN, {**PLAN, "files": [".github/workflows/ci.yml"]}, "by people alone"),
        (Unit.CREATE_PLAN, {**PLAN, "weakens": ["src/*.py"]}, "exact path"),
        (Unit.CREATE_PLAN, {**PLAN, "weakens": ["tests/b.py"]}, "not covered by `files`"),
        (Unit.CREATE_PLAN, {**PLAN, "verdict": "refuse"}, "reason"),
        (Unit.CREATE_PLAN, {**PLAN, "verdict": "duplicate", "reason": "R"}, "duplicate_of: verdict duplicate names"),
        (Unit.SPLIT_PLAN, _split(CHILD), "children"),
        (Unit.SPLIT_PLAN, _split(CHILD, CHILD), "child 2: title: another child has the same"),
        (Unit.SPLIT_PLAN, _split(CHILD, {"plan": {**OTHER["plan"], "title": " t "}}), "child 1: title"),
        (Unit.SPLIT_PLAN, _split(CHILD, {**OTHER, "depends_on": [3]}), "child 2: depends_on: there is no child 3"),
        (Unit.SPLIT_PLAN, _split(CHILD, {**OTHER, "depends_on": [0]}), "there is no child 0"),
        (
            Unit.SPLIT_PLAN,
            _split(CHILD, {**OTHER, "depends_on": [2]}),
            "child 2: depends_on: a child can't wait for it",
        ),
        (Unit.SPLIT_PLAN, _split({**CHILD, "depends_on": [2]}, OTHER), "children 1, 2 wait for each other"),
        (
            Unit.SPLIT_PLAN,
            _split(CHILD, {"plan": {**PLAN, "title": "U", "files": []}}),
            "child 2: files: a plan needs it",
        ),
        (
            Unit.SPLIT_PLAN,
            _split(CHILD, {"plan": {**PLAN, "title": "U", "verdict": "refuse", "reason": "R"}}),
            "child 2: verdict: a child is a plan, not refuse",
        ),
        (Unit.CREATE_ISSUE, {"title": "a\nb", "body": ""}, "one line"),
        (Unit.EXECUTE_PLAN, {"status": "blocked", "summary": "S"}, "blocked_by"),
        (Unit.EXECUTE_PLAN, PLAN, "does not fit"),
        (Unit.CREATE_PR, {"title": "a\nb", "body": ""}, "one line"),
        (Unit.CREATE_PR, {"title": "", "body": ""}, "title"),
        (Unit.EXECUTE_PLAN, '{"status":"done","summary":"\\ud800"}', "Invalid JSON"),
        (Unit.EXECUTE_PLAN, "x" * (MAX_RESULT + 1), "longer than"),
    ],
)
def test_an_invalid_result(tmp_path: Path, unit: Unit, value: Any, said: str) -> None:
    with pytest.raises(InvalidResultError, match=said):
        read_result(_write(tmp_path, value), unit)


def test_a_fault_does_not_repeat_what_stood_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidResultError) as caught:
        read_result(_write(tmp_path, {"status": "hunter2-secret", "summary": 3}), Unit.EXECUTE_PLAN)
    assert "hunter2" not in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidResultError, match="nothing was written"):
        read_result(tmp_path / "result.json", Unit.EXECUTE_PLAN)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = _write(tmp_path, DONE)
    link = tmp_path / "link.json"
    link.symlink_to(secret)
    with pytest.raises(InvalidResultError, match="can't be read"):
        read_result(link, Unit.EXECUTE_PLAN)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "result.json")
    with pytest.raises(InvalidResultError, match="no regular file"):
        read_result(tmp_path / "result.json", Unit.EXECUTE_PLAN)


def test_folders_sockets_and_devices_are_no_results(tmp_path: Path) -> None:
    with pytest.raises(InvalidResultError, match="no regular file"):
        read_result(tmp_path, Unit.EXECUTE_PLAN)
    with pytest.raises(InvalidResultError, match="no regular file"):
        read_result(Path("/dev/zero"), Unit.EXECUTE_PLAN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        with pytest.raises(InvalidResultError, match="can't be read"):
            read_result(tmp_path / "s", Unit.EXECUTE_PLAN)


def test_the_last_message_stands_in_for_a_missing_file(tmp_path: Path) -> None:
    said = f"Here it is:\n```json\n{json.dumps(DONE)}\n```\n"
    assert read_result(tmp_path / "none", Unit.EXECUTE_PLAN, said) == ExecutionSummary(status="done", summary="S")


@pytest.mark.parametrize(
    "said",
    [
        "done",
        json.dumps(DONE),
        f"```json\n{json.dumps(DONE)}\n```\nand more",
        f"```\n{json.dumps(DONE)}\n```",
    ],
)
def test_only_a_closing_block_of_json_stands_in(tmp_path: Path, said: str) -> None:
    with pytest.raises(InvalidResultError, match="nothing was written"):
        read_result(tmp_path / "none", Unit.EXECUTE_PLAN, said)


def test_a_quoted_block_before_the_last_one_is_not_taken(tmp_path: Path) -> None:
    quoted = json.dumps({"status": "blocked", "summary": "quoted", "blocked_by": "x"})
    said = f"The file says\n```json\n{quoted}\n```\nMy result:\n```json\n{json.dumps(DONE)}\n```"
    assert read_result(tmp_path / "none", Unit.EXECUTE_PLAN, said) == ExecutionSummary(status="done", summary="S")


def test_a_broken_file_is_not_passed_over_for_words(tmp_path: Path) -> None:
    with pytest.raises(InvalidResultError, match="does not fit"):
        read_result(_write(tmp_path, "{"), Unit.EXECUTE_PLAN, f"```json\n{json.dumps(DONE)}\n```")
