"""HOME of an agent: what an earlier run left there leads nowhere, and nothing of it is read but regular files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runner.agents import home as module
from runner.agents.base import AgentError
from runner.agents.home import log_lines, login, put

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


def test_files_are_written_for_their_owner_alone(home: Path) -> None:
    put(home, {".agent/settings.json": "{}", "token": b"\xff"}, None)
    assert (home / ".agent/settings.json").read_text() == "{}"
    assert (home / "token").read_bytes() == b"\xff"
    assert (home / "token").stat().st_mode & 0o777 == 0o600
    assert (home / ".agent").stat().st_mode & 0o777 == 0o700


def test_what_an_agent_left_is_replaced_and_no_link_is_followed(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text("the runner's")
    (home / ".folder").symlink_to(outside)
    (home / ".file").symlink_to(outside / "settings.json")
    (home / ".pipe").mkdir()
    os.mkfifo(home / ".pipe/settings.json")
    (home / ".closed").mkdir(mode=0)
    (home / ".taken").mkdir()
    (home / ".taken/settings.json").mkdir()
    folders = (".folder", ".pipe", ".closed", ".taken")
    put(home, {".file": "new", **{f"{name}/settings.json": "new" for name in folders}}, None)
    assert (outside / "settings.json").read_text() == "the runner's"
    assert [path.name for path in outside.iterdir()] == ["settings.json"]
    for name in folders:
        assert not (home / name).is_symlink()
        assert (home / name / "settings.json").read_text() == "new"
    assert not (home / ".file").is_symlink()


def test_session_logs_are_read_in_order_and_links_pipes_and_folders_passed_over(home: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(b"secret\n")
    logs = home / "a/logs"
    logs.mkdir(parents=True)
    (logs / "2.jsonl").write_bytes(b"three\nfour")
    (logs / "1.jsonl").write_bytes(b"one\ntwo\n")
    (logs / "3.jsonl").symlink_to(secret)
    os.mkfifo(logs / "4.jsonl")
    (logs / "5.jsonl").mkdir()
    (logs / "6.txt").write_bytes(b"other\n")
    (home / "b").symlink_to(home / "a")
    (home / "c").write_bytes(b"no folder")
    assert list(log_lines(home, "*/logs/*.jsonl")) == [b"one\n", b"two\n", b"three\n", b"four"]
    assert list(log_lines(home, "nowhere/*.jsonl")) == []


def test_reading_ends_at_the_limit(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LOG", 10)
    for name in ("1.jsonl", "2.jsonl"):
        (home / name).write_bytes(b"1234567\n")
    assert sum(map(len, log_lines(home, "*.jsonl"))) == 10


def test_a_login_is_what_the_operator_put_there(tmp_path: Path) -> None:
    assert login(tmp_path, "codex") == {}
    folder = tmp_path / "logins/codex/.codex"
    folder.mkdir(parents=True)
    (folder / "auth.json").write_bytes(b"{}")
    assert login(tmp_path, "codex") == {".codex/auth.json": b"{}"}
    with (folder / "big").open("wb") as file:
        file.truncate(module.MAX_LOGIN + 1)
    with pytest.raises(AgentError, match=r"logins/codex"):
        login(tmp_path, "codex")
