"""On a terminal and in an Actions log: nothing of others' words moves a cursor, sets a title or gives a command."""

from __future__ import annotations

import io
import json
import re
import subprocess
from typing import TYPE_CHECKING

from bot.cli import main
from runner.__main__ import say
from runner.agents.readers import GenericEvents
from runner.logs import LOG_FILE
from runner.logs.command import Request, show
from runner.logs.record import RunLog
from runner.steps.redact import Redactor
from tests.hostile.prompts import unseen
from tests.hostile.texts import TEXTS
from tests.runner.test_logs import STARTED

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.hostile.texts import Hostile

DRIVES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What a terminal acts upon."""


def recorded(folder: Path, texts: list[str]) -> Path:
    """Return the home of a runner that keeps the log of one run which said, read, ran and was called all this."""
    job = folder / "jobs" / STARTED.job
    job.mkdir(parents=True)
    log = RunLog(job / "ExecutePlan-1", GenericEvents(), Redactor({}), lambda: 1.0, {})
    begun = STARTED.model_copy(update={"agent": texts[0], "model": texts[0]})
    log.begin(begun, texts[0])
    for text in texts:
        log.hear(text.encode("utf-8", "replace"))
        log.hear(json.dumps({"type": "text", "text": text}).encode())
    log.end("answered", texts[0])
    return folder


def test_no_log_drives_the_terminal_or_bears_a_mark(hostile: Hostile, tmp_path: Path) -> None:
    home = recorded(tmp_path, [hostile.text])
    for form in ("log", "json"):
        out = io.BytesIO()
        show(home, Request("#7", form=form), out)
        shown = out.getvalue().decode()
        assert DRIVES.search(shown) is None
        assert unseen(shown) == set()
    kept = (home / "jobs" / STARTED.job / "ExecutePlan-1" / LOG_FILE).read_text()
    assert "<!--" not in kept


def test_an_actions_log_takes_no_command(hostile: Hostile, capsys: pytest.CaptureFixture[str]) -> None:
    say(hostile.text)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("twogate ") and "##[" not in line for line in lines)
    assert all(line.isprintable() for line in lines)


def test_the_lessons_of_a_checkout_drive_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All texts at once: as lessons, as heads that are damaged, and as names of folders."""
    for number, row in enumerate(TEXTS):
        name = re.sub(r"[/\0]", "", row.text)
        while len(name.encode("utf-8", "replace")) > 200:
            name = name[:-1]
        for unit in ("ExecutePlan", f"{number}{name}"):
            place = tmp_path / ".twogate/promptware" / unit / "Memory"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"2026-11-30-x{number}.md").write_text(
                f"---\nlearned_from: {json.dumps(row.text[:300])}\nkind: fact\ncreated: 2026-11-30\n"
                f"paths: [{json.dumps(row.text[:300])}]\n{'' if number % 2 else f'{json.dumps(row.text)}: 1'}\n---\n"
                f"{row.text[:900]}x\n"
            )
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    worst = [number for number, row in enumerate(TEXTS) if DRIVES.search(row.text)]
    assert {number % 2 for number in worst} == {0, 1}
    for action in (["list"], ["stale"], *(["show", f"2026-11-30-x{number}.md"] for number in worst)):
        main(["memory", *action[:1], "-C", str(tmp_path), *action[1:]])
    said = capsys.readouterr()
    assert len(said.out) > 1_000
    assert DRIVES.search(said.out) is None
    assert DRIVES.search(said.err) is None
