"""Fixtures: a stand-in that checks its own conformance, with an App, people, and clients as the product has them."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from githubkit import AppAuthStrategy, GitHub
from githubkit.cache import MemCacheStrategy

from tests.standin import StandIn, gitstore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEADLINE = 20.0


class Clock:
    """A clock that is moved by hand."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass
class Hooks:
    """A webhook receiver: what arrived, in order."""

    url: str
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def wait(self, count: int) -> list[tuple[dict[str, str], bytes]]:
        """The deliveries once there are at least so many."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.received) >= count, DEADLINE), self.received
            return list(self.received)


@dataclass
class World:
    """A stand-in with acme/shop, its people and an App."""

    standin: StandIn
    app: dict[str, Any]
    people: dict[str, dict[str, Any]]
    repo: str = "acme/shop"
    alive: list[GitHub[Any]] = field(default_factory=list)
    """githubkit forgets its client when the object goes, so these are kept."""

    def client(self, login: str) -> httpx.Client:
        """An HTTP client of a person, below the repository."""
        headers = {"Authorization": f"token {self.people[login]['token']}", "X-GitHub-Api-Version": "2026-03-10"}
        return httpx.Client(base_url=f"{self.standin.api_url}/repos/{self.repo}", headers=headers, timeout=DEADLINE)

    def github(self) -> GitHub[Any]:
        """githubkit as the App."""
        auth = AppAuthStrategy(self.app["app_id"], self.app["private_key"])
        made: GitHub[Any] = GitHub(
            auth,
            base_url=self.standin.api_url,
            timeout=DEADLINE,
            auto_retry=False,
            http_cache=False,
            cache_strategy=MemCacheStrategy(),
        )
        self.alive.append(made)
        return made

    def installation(self, **scope: Any) -> GitHub[Any]:
        """githubkit as the installation."""
        github = self.github()
        made = github.with_auth(github.auth.as_installation(self.app["installation_id"], **scope))
        self.alive.append(made)
        return made

    def commit(self, branch: str, files: dict[str, str], parent: str = "main") -> str:
        """A commit on a branch, made in the bare repository, without any event."""
        repo = self.standin.control.repo(self.repo)
        path = self.standin.hub.git_dir(repo)
        base = gitstore.resolve(path, branch) or gitstore.resolve(path, parent)
        assert base
        env = {"GIT_INDEX_FILE": str(path / "test-index")}
        gitstore.run(path, "read-tree", base, env=env)
        for name, text in files.items():
            blob = gitstore.run(path, "hash-object", "-w", "--stdin", data=text.encode()).decode().strip()
            gitstore.run(path, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", env=env)
        tree = gitstore.run(path, "write-tree", env=env).decode().strip()
        sha = gitstore.commit_tree(path, tree, [base], f"Change {', '.join(files)}\n")
        gitstore.set_ref(path, f"refs/heads/{branch}", sha)
        return sha


@pytest.fixture
def clock() -> Clock:
    return Clock(time.time())


@pytest.fixture
def hooks() -> Iterator[Hooks]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with made.changed:
                made.received.append(({k.lower(): v for k, v in self.headers.items()}, body))
                made.changed.notify_all()
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Hooks(f"http://127.0.0.1:{server.server_address[1]}/hooks")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield made
    server.shutdown()
    thread.join(DEADLINE)
    server.server_close()


@pytest.fixture
def world(tmp_path: Path, clock: Clock, hooks: Hooks) -> Iterator[World]:
    """Ends with the demand that nothing was unlike GitHub."""
    with StandIn(tmp_path, clock, conformance=True) as standin:
        control = standin.control
        control.create_organization("acme")
        control.create_repository("acme/shop")
        people = {login: control.create_user(login) for login in ("mia", "wes", "rob", "eve")}
        for login, role in (("mia", "admin"), ("wes", "write"), ("rob", "read")):
            control.set_role("acme/shop", login, role)
        yield World(standin, control.create_app("twogate", "acme", webhook_url=hooks.url), people)
        assert control.drain()["drained"]
        assert not standin.problems, "\n".join(standin.problems)
