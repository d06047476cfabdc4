"""Fixtures: one stand-in for the session that checks its conformance, and a repository with an App for each test."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from bot.github.client import GitHubGateway, connect
from bot.github.clients import App
from bot.lifecycle.plan import Person, Repo
from tests.github.canned import Canned, canned
from tests.standin import gitstore
from tests.standin.entities import Comment
from tests.standin.keys import key_pair
from tests.standin.server import StandIn

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBERS = itertools.count(1)


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@dataclass
class World:
    """A repository, its people, an App and the gateway under test."""

    standin: StandIn
    app: dict[str, Any]
    repo: Repo
    clock: Clock
    gateway: GitHubGateway
    people: dict[str, Person] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    log_start: int = 0

    @property
    def name(self) -> str:
        found = self.standin.hub.repo_by_id(self.repo.id)
        assert found is not None
        return found.full_name

    def person(self, login: str, role: str = "none") -> Person:
        made = self.standin.control.create_user(f"{login}{next(NUMBERS)}")
        self.standin.control.set_role(self.name, made["login"], role)
        self.people[login] = Person(id=made["id"], login=made["login"])
        self.tokens[login] = made["token"]
        return self.people[login]

    def ask(self, login: str, method: str, path: str, body: Any = None) -> Any:
        """A request of a person below the repository."""
        headers = {"Authorization": f"token {self.tokens[login]}", "X-GitHub-Api-Version": "2026-03-10"}
        url = f"{self.standin.api_url}/repos/{self.name}{path}"
        answer = httpx.request(method, url, headers=headers, json=body, timeout=20)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def issue(self, title: str = "Fix it", body: str = "Please") -> int:
        if "mia" not in self.people:
            self.person("mia", "admin")
        return int(self.ask("mia", "POST", "/issues", {"title": title, "body": body})["number"])

    def say(self, number: int, count: int) -> list[Comment]:
        """Many comments of mia at once, behind the API's back."""
        hub, now = self.standin.hub, self.clock()
        with hub.lock:
            issue, user = hub.repos[self.repo.id].issues[number], hub.users[self.people["mia"].id]
            made = [
                Comment(hub.next_id("comment"), issue.repo, number, f"comment {n}", user, now, now)
                for n in range(count)
            ]
            issue.comments.extend(made)
            hub.comments.update({c.id: c for c in made})
        return made

    def commit(self, branch: str, files: dict[str, str], parent: str = "main") -> str:
        path = self.standin.hub.git_dir(self.standin.control.repo(self.name))
        base = gitstore.resolve(path, f"refs/heads/{branch}") or gitstore.resolve(path, parent)
        assert base
        env = {"GIT_INDEX_FILE": str(path / "test-index")}
        gitstore.run(path, "read-tree", base, env=env)
        for name, text in files.items():
            blob = gitstore.run(path, "hash-object", "-w", "--stdin", data=text.encode()).decode().strip()
            gitstore.run(path, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", env=env)
        tree = gitstore.run(path, "write-tree", env=env).decode().strip()
        made = gitstore.commit_tree(path, tree, [base], "Change\n")
        gitstore.set_ref(path, f"refs/heads/{branch}", made)
        return made

    def fault(self, kind: str, **options: Any) -> None:
        self.standin.control.add_fault(kind, **options)

    def written(self) -> list[tuple[str, str, int]]:
        """Every write of this test that reached the stand-in: method, operation, status."""
        log = self.standin.control.log(self.log_start)
        return [(e["method"], e["operation"], e["status"]) for e in log if e["write"]]

    def asked(self, operation: str) -> int:
        return sum(e["operation"] == operation for e in self.standin.control.log(self.log_start))


@pytest.fixture(scope="session")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with StandIn(tmp_path_factory.mktemp("github"), conformance=True) as running:
        yield running


@pytest.fixture
def world(standin: StandIn) -> Iterator[World]:
    """Ends with the demand that the bot asked as GitHub's own descriptions say."""
    number = next(NUMBERS)
    control, clock = standin.control, Clock()
    control.create_organization(f"acme{number}")
    made = control.create_repository(f"acme{number}/shop")
    app = control.create_app(f"twogate-{number}", f"acme{number}")
    repo = Repo(id=made["id"], owner=f"acme{number}", name="shop", installation_id=app["installation_id"])
    gateway = connect(App(id=app["app_id"], private_key=app["private_key"], api_url=standin.api_url), clock)
    known, start = len(standin.problems), len(control.log())
    yield World(standin, app, repo, clock, gateway, log_start=start)
    control.clear_faults()
    gateway.close()
    assert [p for p in standin.problems[known:] if ": answer:" not in p] == []


@pytest.fixture(scope="session")
def private_key() -> str:
    return key_pair()[0]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server() -> Iterator[Canned]:
    with canned() as told:
        yield told


@pytest.fixture
def gateway(server: Canned, clock: Clock, private_key: str) -> Iterator[GitHubGateway]:
    """The gateway towards the canned server."""
    made = connect(App(id=1, private_key=private_key, api_url=server.url), clock)
    yield made
    made.close()


@pytest.fixture
def repo() -> Repo:
    """The repository of the canned server."""
    return Repo(id=7, owner="acme", name="shop", installation_id=9)
