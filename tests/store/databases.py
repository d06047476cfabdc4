"""Databases for tests: an SQLite file and a database of a PostgreSQL server of our own, both migrated."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.lifecycle.plan import IssueSnapshot, Person, Plan, Repo
from bot.store.engine import Store, open_store
from bot.store.migrate import migrate
from bot.store.schema import metadata

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Clock:
    """A time that stands still until it is moved."""

    at: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.at

    def forward(self, seconds: float) -> None:
        self.at += seconds


@dataclass
class Server:
    """A PostgreSQL server on a socket in a folder of its own."""

    folder: Path
    user: str | None
    made: int = 0
    socket: str = field(init=False)

    def __post_init__(self) -> None:
        self.socket = str(self.folder / "s")

    def run(self, *command: str) -> None:
        done = subprocess.run(command, user=self.user, cwd="/", capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        options = f"-k {self.socket} -c listen_addresses='' -c fsync=off -c max_connections=60"
        self.run(
            _binary("pg_ctl"),
            "-D",
            str(self.folder / "d"),
            "-l",
            str(self.folder / "log"),
            "-w",
            "-o",
            options,
            "start",
        )

    def restart(self) -> None:
        self.run(
            _binary("pg_ctl"),
            "-D",
            str(self.folder / "d"),
            "-l",
            str(self.folder / "log"),
            "-w",
            "-m",
            "immediate",
            "restart",
        )

    def stop(self) -> None:
        self.run(_binary("pg_ctl"), "-D", str(self.folder / "d"), "-w", "-m", "immediate", "stop")

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@/{database}?host={self.socket}"

    def create(self) -> str:
        """Make an empty database and return its URL."""
        self.made += 1
        self.execute("postgres", f"CREATE DATABASE t{self.made}")
        return self.url(f"t{self.made}")

    def execute(self, database: str, statement: str) -> None:
        import psycopg

        with psycopg.connect(f"host={self.socket} user=postgres dbname={database}", autocommit=True) as connection:
            connection.execute(statement.encode())


def _binary(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/lib/postgresql/15/bin")
    assert found is not None
    return found


@contextmanager
def postgresql_server() -> Iterator[Server]:
    """Run a server of our own, as user ``postgres`` or ``nobody`` where the tests run as root."""
    if shutil.which("initdb") is None or shutil.which("pg_ctl") is None:
        pytest.skip("no PostgreSQL server is installed here")
    pytest.importorskip("psycopg", reason="psycopg is not installed: it is in the extra 'postgresql'")
    user = None if os.getuid() else "nobody"
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        server = Server(Path(name), user)
        (server.folder / "s").mkdir()
        if user:
            for folder in (server.folder, server.folder / "s"):
                shutil.chown(folder, user)
        server.run(_binary("initdb"), "-D", str(server.folder / "d"), "-U", "postgres", "-A", "trust", "-N")
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with postgresql_server() as running:
        yield running


@pytest.fixture(scope="session")
def migrated(server: Server) -> str:
    """The name of a migrated database."""
    url = server.create()
    migrate(url)
    return f"t{server.made}"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "store.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    shutil.copy(sqlite_template, tmp_path / "store.db")
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """A fresh, migrated database of each kind."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("sqlite_url"))
    server, migrated = request.getfixturevalue("server"), request.getfixturevalue("migrated")
    server.execute(migrated, f"TRUNCATE {', '.join(table.name for table in metadata.sorted_tables)}")
    return str(server.url(migrated))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    """A store on a fresh database whose time is ``clock``."""
    opened = open_store(url, now=clock)
    yield opened
    opened.dispose()


def some_plan(uid: str = "cafe0001", issue: int = 12, **values: object) -> Plan:
    """Return a plan as one starts."""
    start = {
        "uid": uid,
        "repo": Repo(id=7, owner="octo", name="demo", installation_id=3),
        "issue_number": issue,
        "issue": IssueSnapshot(title="Title", body="Body", author=None),
        "requester": Person(id=1, login="ann"),
        "requested_at": 1_800_000_000.0,
    }
    return Plan.model_validate(start | values)
