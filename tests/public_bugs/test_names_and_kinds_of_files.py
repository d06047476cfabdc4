"""Names and kinds of files that tools trip over, from the agent's tree to the report.

CCA#115 (deleted files break the commit), CCA#469 (modes lost), gitpython#1099 and Prowl PR#10 (quoted path names),
OpenHands#9877 (long names), OpenHands#5357 (an issue without a body), CCA#473 (one endless line).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.contract import Issue, Outcome
from tests.runner.lab import PLAN, Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


def test_every_kind_of_change_arrives_as_what_it_is(lab: Lab) -> None:
    lab.base = lab.commit({"notes/gone": "x\n", "notes/tool": "#!/bin/sh\n", "notes/old": "a\nb\nc\n"}, "Notes")
    code = (
        "os.unlink('notes/gone'); os.chmod('notes/tool', 0o755); os.rename('notes/old', 'notes/new'); "
        "os.symlink('new', 'notes/link'); pathlib.Path('notes/raw').write_bytes(bytes(range(256))); done()"
    )
    report = lab.run("", agents=lab.coded(code), gates=())
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert {file.path: file.status for file in report.work.files} == {
        "notes/gone": "deleted",
        "notes/tool": "mode",
        "notes/old": "deleted",
        "notes/new": "added",
        "notes/link": "added",
        "notes/raw": "added",
    }
    assert {file.path: file.added for file in report.work.files}["notes/raw"] is None
    rows = lab.git("ls-tree", "-r", "plan/7", "notes", cwd=lab.remote).splitlines()
    modes = {row.split("\t")[1]: row.split()[0] for row in rows}
    assert modes["notes/tool"] == "100755"
    assert modes["notes/link"] == "120000"


def test_a_submodule_beside_the_change_is_no_obstacle(lab: Lab) -> None:
    lab.git("update-index", "--add", "--cacheinfo", f"160000,{lab.base},notes/module")
    (lab.clone / "notes" / "module").mkdir(parents=True)
    lab.git("commit", "-qm", "Submodule")
    lab.git("push", "-q", "origin", "HEAD:trunk")
    lab.base = lab.git("rev-parse", "HEAD")
    report = lab.run("good")
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert [file.path for file in report.work.files] == ["calc.py"]
    assert lab.git("ls-tree", "plan/7", "notes/module", cwd=lab.remote).startswith("160000")


@pytest.mark.parametrize("name", ["ü.py", "tab\there", "new\nline", '"quoted"', "-dash", " space ", "a -> b"])
def test_unusual_names_arrive_whole(lab: Lab, name: str) -> None:
    report = lab.run("", agents=lab.coded(f"os.mkdir('notes'); write('notes/' + {name!r}, 'x\\n'); done()"), gates=())
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert [file.path for file in report.work.files] == [f"notes/{name}"]
    assert lab.git("ls-tree", "-rz", "--name-only", "plan/7", "notes", cwd=lab.remote) == f"notes/{name}\0"


def test_long_titles_and_missing_bodies_do_no_harm(lab: Lab) -> None:
    report = lab.run(
        "good",
        issue=Issue(number=7, title="t" * 1_024, body="", author="ada"),
        plan=PLAN.model_copy(update={"title": "long\nwords " * 25}),
    )
    assert report.outcome is Outcome.VERIFIED, report
    subject = lab.git("log", "-1", "--format=%s", "plan/7", cwd=lab.remote)
    assert len(subject) < 120
    assert subject.endswith("(#7)")


def test_a_long_file_is_carried_and_noted(lab: Lab) -> None:
    code = "os.mkdir('notes'); write('notes/long', 'line\\n' * 300_000); done()"
    report = lab.run("", agents=lab.coded(code), gates=())
    assert report.outcome is Outcome.VERIFIED, report
    assert any("notes/long is long" in note for note in report.notes)


def test_one_endless_line_is_no_obstacle(lab: Lab) -> None:
    code = "sys.stdout.write('x' * 20_000_000); write('calc.py', 'def add(a, b):\\n    return a + b\\n'); done()"
    report = lab.run("", agents=lab.coded(code))
    assert report.outcome is Outcome.VERIFIED, report
