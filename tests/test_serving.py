"""The bot's processes, really started, asked and ended."""

from __future__ import annotations

import hashlib
import hmac
import signal
import socket
import stat
import time
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from gunicorn.config import Config
from gunicorn.workers.gthread import TConn

from bot import timely
from bot.serving import WEB_THREADS
from bot.timely import Timely
from tests.processes import DEADLINE, answers, free_port, started, until
from tests.web.lab import GitHub, github, settings_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

__all__ = ["github"]

SMALL = str(Path(__file__).with_name("served_with_a_small_worker.py"))


def settings_at(port: int, github: GitHub, home: Path, **more: str) -> dict[str, str]:
    return settings_of(github, f"http://127.0.0.1:{port}", home, TWOGATE_LISTEN=f"127.0.0.1:{port}", **more)


def end(process: subprocess.Popen[bytes], number: signal.Signals = signal.SIGTERM) -> int:
    process.send_signal(number)
    return process.wait(DEADLINE)


def test_serve_answers_and_ends_when_asked(tmp_path: Path, github: GitHub) -> None:
    port, log, home = free_port(), tmp_path / "log", tmp_path / "home"
    url = f"http://127.0.0.1:{port}"
    with started("-m", "bot", "serve", settings=settings_at(port, github, home), log=log) as process:
        until(answers(f"{url}/healthz"), "alive", log)
        assert httpx.get(f"{url}/readyz", timeout=20).json()["status"] == "ready"
        claim = httpx.post(f"{url}/runner/jobs/cafecafe-1/claim", timeout=20)
        assert (claim.status_code, "error" in claim.json()) == (401, True)
        body = b'{"zen": "Keep it logically awesome."}'
        signed = hmac.new(b"a-webhook-secret-of-the-tests", body, hashlib.sha256).hexdigest()
        headers = {"X-GitHub-Event": "ping", "X-GitHub-Delivery": "d-1", "Content-Type": "application/json"}
        headers["X-Hub-Signature-256"] = f"sha256={signed}"
        assert httpx.post(f"{url}/webhook", content=body, headers=headers, timeout=20).status_code == 202
        assert end(process) == 0
    assert "Traceback" not in log.read_text(), log.read_text()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert not answers(f"{url}/healthz")()


def notes(path: Path, word: str) -> list[str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.split()[1] for line in lines if line.startswith(word)]


def test_every_process_has_its_worker_from_start_to_end(tmp_path: Path, github: GitHub) -> None:
    port, log, said = free_port(), tmp_path / "log", tmp_path / "notes"
    with started("-P", SMALL, str(said), "2", settings=settings_at(port, github, tmp_path), log=log) as process:
        until(lambda: len(set(notes(said, "started"))) == 2, "two workers", log)
        process.send_signal(signal.SIGHUP)
        until(lambda: len(set(notes(said, "started"))) == 4, "four workers", log)
        until(lambda: len(set(notes(said, "stopped"))) == 2, "two of them stopped", log)
        until(answers(f"http://127.0.0.1:{port}/healthz"), "alive", log)
        assert end(process) == 0
    assert str(process.pid) not in notes(said, "started")
    assert sorted(notes(said, "started")) == sorted(notes(said, "stopped"))


@contextmanager
def held(port: int, head: bytes) -> Iterator[None]:
    """All threads of a process busy with connections of which nothing more is heard."""
    with ExitStack() as open_:
        for _ in range(WEB_THREADS):
            open_.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(head)
        yield


def test_nobody_holds_the_threads_for_long(tmp_path: Path, github: GitHub) -> None:
    port, log = free_port(), tmp_path / "log"
    url = f"http://127.0.0.1:{port}"
    with started("-P", SMALL, str(tmp_path / "notes"), "1", settings=settings_at(port, github, tmp_path), log=log):
        until(answers(f"{url}/healthz"), "alive", log)
        for head in (b"GET /healthz HTTP/1.1\r\n", b"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"):
            with held(port, head):
                until(answers(f"{url}/healthz"), f"free of {head[:20]!r}", log)
        as_proxy = httpx.get(f"{url}/there/metrics", headers={"SCRIPT_NAME": "/there"}, timeout=20)
        assert as_proxy.status_code == 404, "what a client sends does not move an address"
    assert "Traceback" not in log.read_text(), log.read_text()


def test_an_answer_that_nobody_takes_is_given_up() -> None:
    worker, (ours, theirs) = Timely(0, 0, [], None, 30, Config(), None), socket.socketpair()
    connection = TConn(worker.cfg, ours, None, None)
    with closing(worker.tmp), ours, theirs:
        for seconds, word in ((0, b"in time"), (timely.ARRIVAL_SECONDS, b"while it is made")):
            worker._since[connection] = time.monotonic() - seconds
            worker.murder_pending()
            ours.sendall(word)
            assert theirs.recv(100) == word
        worker._since[connection] = time.monotonic() - timely.ANSWERED_SECONDS
        worker.murder_pending()
        assert theirs.recv(100) == b"", "closed"


def test_web_alone_works_nothing_off(tmp_path: Path, github: GitHub) -> None:
    port, log = free_port(), tmp_path / "log"
    before = len(github.standin.control.log())
    with started("-m", "bot", "web", settings=settings_at(port, github, tmp_path), log=log) as process:
        until(answers(f"http://127.0.0.1:{port}/healthz"), "alive", log)
        assert end(process) == 0
    assert len(github.standin.control.log()) == before


def test_work_alone_ends_when_asked(tmp_path: Path, github: GitHub) -> None:
    log = tmp_path / "log"
    before = len(github.standin.control.log())
    with started("-m", "bot", "work", settings=settings_at(free_port(), github, tmp_path), log=log) as process:
        until(lambda: len(github.standin.control.log()) > before, "at work", log)
        assert end(process) == 0
    assert "Traceback" not in log.read_text(), log.read_text()


def test_work_ends_at_an_interrupt_as_well(tmp_path: Path, github: GitHub) -> None:
    log = tmp_path / "log"
    before = len(github.standin.control.log())
    with started("-m", "bot", "work", settings=settings_at(free_port(), github, tmp_path), log=log) as process:
        until(lambda: len(github.standin.control.log()) > before, "at work", log)
        assert end(process, signal.SIGINT) == 0
