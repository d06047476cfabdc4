"""Work that is gone on with: on its own branch after a review, and beside an open pull request's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from runner.contract import Feedback, Ledger, Outcome, Work
from runner.results import Unit, WaitingLesson
from runner.terms import LogTerms
from tests.runner.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.contract import Report

AMEND = (
    "import subprocess\nwrite('calc.py', 'def add(a, b):\\n    return b + a\\n')\n"
    "name = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']\n"
    "subprocess.run(['git', *name, 'commit', '-q', '-a', '--amend', '-m', 'mine'], check=True)\ndone()\n"
)
NOTE = "pathlib.Path('notes').mkdir(exist_ok=True); write('notes/why.txt', 'Because.')\ndone()\n"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


@pytest.fixture
def work(lab: Lab) -> Work:
    """What a first run has pushed to the plan's branch."""
    return _work(lab.run("good"))


def _work(report: Report) -> Work:
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    return report.work


def _names(work: Work) -> list[str]:
    return [file.path for file in work.files]


def _beside(lab: Lab, work: Work, **more: Any) -> dict[str, Any]:
    """A job on the branch that waits beside the pull request's."""
    beside = {"branch": "plan/7-next", "head": work.head, "shown": work.head, "agents": lab.coded(NOTE)}
    return {**beside, "base": lab.tip("trunk"), **more}


def test_the_next_job_brings_lessons_and_logs_of_the_one_before_along(lab: Lab) -> None:
    texts = {"o/calc#3": "The tests run with unittest alone.", "o/calc#7": "Whoever adds calls add() in calc.py."}
    waiting = [
        WaitingLesson(
            unit=Unit.CREATE_PLAN,
            kind="fact",
            text=text,
            learned_from=plan,
            adopted_by="cleo" if plan[-1] == "3" else "",
        )
        for plan, text in texts.items()
    ]
    first = _work(lab.run("good", lessons=tuple(waiting), logs=LogTerms(commit=True)))
    origins = {lesson.text: (lesson.learned_from, lesson.adopted_by) for lesson in first.lessons}
    assert origins == {texts["o/calc#3"]: ("o/calc#3", "cleo"), texts["o/calc#7"]: ("o/calc#7", "")}
    more: dict[str, Any] = {"head": first.head, "branch_head": first.head, "agents": lab.coded("write('calc.py', "
            "'def add(a, b):\\n    return b + a\\n')\ndone()")}  # fmt: skip
    second = _work(lab.run("good", lessons=tuple(waiting), logs=LogTerms(commit=True), **more))
    assert second.lessons == (), "the branch has them already"
    paths = lab.git("ls-tree", "-r", "--name-only", "plan/7", cwd=lab.remote).split("\n")
    assert {path for path in paths if "/Memory/" in path} == {lesson.path for lesson in first.lessons}
    logs = [path for path in paths if "/ExecutePlan/Logs/" in path]
    assert [path.rpartition("-")[2] for path in logs] == ["1.md", "2.md"]
    assert lab.shown(logs[0]) == lab.git("show", f"{first.head}:{logs[0]}", cwd=lab.remote)


def test_a_revision_hears_where_the_work_stands_and_each_remark_beside_its_lines(lab: Lab, work: Work) -> None:
    lab.commit({"README.md": "Calculator\n"}, "Others go on")
    heard = (
        f"at {work.head}, the work to be gone on with, begun from trunk at {lab.base}",
        "Delivered:\n- Mended add().",
        "Missing:\n- Say why.",
        "1. bea wants the work otherwise:\nSay why.",
        "2. cem remarks on the change, at calc.py, line 2:\n> return a + b\nWhy this way?",
    )
    code = f"assert not [words for words in {heard!r} if words not in prompt], prompt\n{NOTE}"
    revised = _work(
        lab.run(
            "x",
            base=lab.tip("trunk"),
            head=work.head,
            branch_head=work.head,
            agents=lab.coded(code),
            ledger=Ledger(delivered=("Mended add().",), missing=("Say why.",), files=("calc.py",)),
            feedback=(
                Feedback(kind="revise", author="bea", text="Say why."),
                Feedback(
                    kind="review", author="cem", text="Why this way?", path="calc.py", line=2, quote="return a + b"
                ),
            ),
        )
    )
    assert (revised.base, revised.since) == (lab.base, None), "what others changed meanwhile is not its doing"
    assert _names(revised) == ["calc.py", "notes/why.txt"]
    assert lab.tip("plan/7") == revised.head


def test_work_beside_a_pull_request_shows_what_is_new_and_leaves_its_branch(lab: Lab, work: Work) -> None:
    lab.commit({"README.md": "Calculator\n"}, "Others go on")
    report = lab.run("x", **_beside(lab, work))
    more = _work(report)
    assert (lab.tip("plan/7"), lab.tip("plan/7-next")) == (work.head, more.head)
    assert lab.git("rev-parse", "plan/7-next^", cwd=lab.remote) == work.head
    assert (more.since, more.base, more.commits) == (work.head, lab.base, 1)
    assert _names(more) == ["notes/why.txt"]
    assert "return a + b" not in more.patch
    assert more.pull_request is None, "an open pull request has its text"
    assert [usage.unit for usage in report.usage] == [Unit.EXECUTE_PLAN]

    code = "write('notes/how.txt', 'So.')\ndone()\n"
    again = _beside(lab, more, shown=work.head, branch_head=more.head, agents=lab.coded(code))
    assert _names(_work(lab.run("x", **again))) == ["notes/how.txt", "notes/why.txt"]
    assert lab.tip("plan/7") == work.head
    assert lab.left() == []


@pytest.mark.parametrize("merge", [False, True])
def test_lock_files_that_others_changed_meanwhile_are_not_the_works_doing(lab: Lab, work: Work, *, merge: bool) -> None:
    lab.commit({"requirements.txt": "one==1\n"}, "Others need one")
    _work(lab.run("x", **_beside(lab, work, merge_base_in=merge, prepare=("true",))))


def test_where_the_default_branch_was_merged_in_the_whole_change_is_shown(lab: Lab, work: Work) -> None:
    lab.commit({"README.md": "Calculator\n"}, "Others go on")
    report = lab.run("x", **_beside(lab, work, merge_base_in=True))
    more = _work(report)
    assert (more.since, more.base) == (None, lab.tip("trunk"))
    assert _names(more) == ["calc.py", "notes/why.txt"]
    assert f"so the whole change is shown, not only what is new since {work.head[:10]}." in " ".join(report.notes)


def test_commits_that_people_have_approved_can_not_be_rewritten(lab: Lab, work: Work) -> None:
    report = lab.run("x", **_beside(lab, work, agents=lab.coded(AMEND)))
    assert report.outcome is Outcome.WRONG_BRANCH, report
    assert work.head in report.sentence
    assert lab.tip("plan/7-next") is None


def test_a_failed_rework_is_salvaged_and_one_that_did_nothing_is_not(lab: Lab, work: Work) -> None:
    failed = lab.run("never", **_beside(lab, work, agents=lab.spec("never").agents))
    assert (failed.outcome, failed.salvaged is None) == (Outcome.GATES_FAILED, False)
    idle = lab.run("idle", **_beside(lab, work, agents=lab.spec("idle").agents))
    assert (idle.outcome, idle.salvaged) == (Outcome.NOTHING_CHANGED, None)
    assert (lab.tip("plan/7"), lab.tip("plan/7-next")) == (work.head, None)


def test_the_branch_of_an_open_pull_request_is_never_the_one_to_push(lab: Lab, work: Work) -> None:
    report = lab.run("x", **_beside(lab, work, branch="plan/7", branch_head=work.head))
    assert (report.outcome, report.usage) == (Outcome.RUNNER_FAILED, ()), report
    assert "whose pull request is open" in report.sentence
    assert lab.tip("plan/7") == work.head
