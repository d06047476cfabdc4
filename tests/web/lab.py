"""The runner's side of the bot, really served: the web on loopback, and a stand-in as GitHub and as issuer of tokens."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import yaml
from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from bot.crypto import Vault
from bot.github.client import GitHubGateway, connect
from bot.github.clients import App
from bot.lifecycle.plan import IssueSnapshot, Person, Plan, Repo
from bot.settings import Settings, from_environment
from bot.shipped import shipped
from bot.store import deliveries, jobs, plans
from bot.store.engine import Store, open_store
from bot.web import runner_pages
from bot.web.app import create_app
from bot.web.oidc import Keys, Verifier
from bot.web.runner_api import RunnerApi
from runner.client import Client
from runner.contract import GateResult, GateStatus, Issue, JobKind, JobSpec, Outcome, Report, Repository, Usage
from runner.results import Unit
from runner.settings import Identity
from runner.settings import Settings as RunnerSettings
from runner.terms import GateSpec
from tests.standin.oidc import Issuer
from tests.standin.server import StandIn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD, BASE = "a" * 40, "b" * 40
RUN = 4_711
UNITS = {JobKind.PLAN: Unit.CREATE_PLAN, JobKind.EXECUTE: Unit.EXECUTE_PLAN, JobKind.CHECK_BASE: None}
NUMBERS = itertools.count(1)


@dataclass
class Clock:
    """The time of the bot, moved by hand; the stand-in's goes on as the machine's does."""

    at: float = field(default_factory=time.time)

    def __call__(self) -> float:
        return self.at


@dataclass
class GitHub:
    """A stand-in with a repository and an App."""

    standin: StandIn
    app: dict[str, Any]
    repo: Repo
    gateway: GitHubGateway
    http: httpx.Client
    """Asks the bot: made once, since making one takes a while."""

    @property
    def issuer(self) -> Issuer:
        return self.standin.hub.service(Issuer)

    @property
    def jwks_url(self) -> str:
        return f"{self.issuer.url}/.well-known/jwks"


@pytest.fixture(scope="session")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    with StandIn(tmp_path_factory.mktemp("github")) as standin:
        standin.control.create_organization("Acme")
        made = standin.control.create_repository("Acme/shop")
        manifest = yaml.safe_load(shipped("app.yml"))
        app = standin.control.create_app("twogate-demo", "Acme", manifest["default_permissions"])
        repo = Repo(id=made["id"], owner="Acme", name="shop", installation_id=app["installation_id"])
        registration = App(id=app["app_id"], private_key=app["private_key"], api_url=standin.api_url)
        gateway = connect(registration, time.time)
        with httpx.Client(timeout=20) as http:
            yield GitHub(standin, app, repo, gateway, http)
        gateway.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


class Quiet(WSGIRequestHandler):
    def log(self, *_args: Any) -> None:
        pass


@contextmanager
def served(application: Any) -> Iterator[str]:
    """Serve a WSGI application on a free port of loopback; lends its address. ``application`` is asked for it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, Flask("none"), threaded=True, request_handler=Quiet)
    address = f"http://127.0.0.1:{server.server_port}"
    server.app = application(address)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield address
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


@dataclass
class Lab:
    """The bot under test and everything around it."""

    github: GitHub
    store: Store
    clock: Clock
    gateway: GitHubGateway
    vault: Vault
    http: httpx.Client
    url: str = ""

    def plan(self, **values: Any) -> Plan:
        """A plan that is stored."""
        number = next(NUMBERS)
        start = {
            "uid": f"{number:08x}",
            "repo": self.github.repo,
            "issue_number": number,
            "issue": IssueSnapshot(title="Title", body="Body", author=None),
            "requester": Person(id=1, login="ann"),
            "requested_at": self.clock(),
        }
        plan = Plan.model_validate(start | values)
        with self.store.write() as tx:
            plans.save(tx, plan, None)
        return plan

    def job(
        self, kind: JobKind = JobKind.EXECUTE, *, run_id: int | None = RUN, specified: bool = True, **spec: Any
    ) -> jobs.Job:
        """A job that was dispatched; without ``run_id`` its run is not known yet."""
        plan = self.plan()
        job = f"{plan.uid}-1"
        with self.store.write() as tx:
            jobs.open_job(
                tx,
                job=job,
                plan_uid=plan.uid,
                repository_id=plan.repo.id,
                lane=plan.lane,
                installation_id=plan.repo.installation_id,
                kind=kind,
                unit=UNITS[kind],
                deadline_at=self.clock() + 60,
            )
            if specified:
                jobs.specify(tx, job, spec_of(plan, job, kind, **spec))
            if run_id is not None:
                jobs.dispatched(tx, job, run_id)
        return self.row(job)

    def claimed(self, kind: JobKind = JobKind.EXECUTE, **spec: Any) -> tuple[jobs.Job, str]:
        """A job that a runner has claimed, and its key."""
        job = self.job(kind, **spec)
        answer = self.post(f"/runner/jobs/{job.id}/claim", self.token())
        assert answer.status_code == 200, answer.text
        return job, answer.json()["job_key"]

    def row(self, job: str) -> jobs.Job:
        with self.store.read() as tx:
            found = jobs.get(tx, job)
        assert found is not None
        return found

    def inbox(self, job: jobs.Job) -> list[deliveries.Delivery]:
        """What the job's plan was told, in order; takes it out."""
        found = []
        with self.store.write() as tx:
            while (delivery := deliveries.next_open(tx)) is not None:
                if delivery.lane == job.lane:
                    found.append(delivery)
                deliveries.finish(tx, delivery, "read by the test")
        return found

    def claims(self) -> dict[str, Any]:
        """What GitHub says of the job's own run."""
        repo = self.github.repo
        return {
            "repository_id": str(repo.id),
            "repository_owner": repo.owner,
            "repository": f"{repo.owner}/{repo.name}",
            "run_id": str(RUN),
            "run_attempt": "1",
            "event_name": "workflow_dispatch",
            "ref": "refs/heads/trunk",
            "workflow_ref": f"{repo.owner}/{repo.name}/.github/workflows/twogate.yml@refs/heads/trunk",
            "actor_id": str(self.github.app["bot_id"]),
        }

    def token(self, **changes: Any) -> str:
        """A token of the job's own run; ``changes`` replace claims, None removes one."""
        return self.github.issuer.mint(self.claims(), self.url, changes)

    def ask(self, method: str, path: str, bearer: str | None, content: str | bytes = b"") -> httpx.Response:
        headers = [] if bearer is None else [(b"Authorization", f"Bearer {bearer}".encode())]
        return self.http.request(method, f"{self.url}{path}", headers=headers, content=content)

    def post(self, path: str, bearer: str | None, content: str | bytes = b"") -> httpx.Response:
        return self.ask("POST", path, bearer, content)

    def runner(self, home: Path) -> Client:
        """The runner's own client, as GitHub would let it prove its run."""
        identity = Identity(f"{self.github.issuer.url}/token", self.github.issuer.grant(self.claims()))
        return Client(RunnerSettings(url=self.url, home=home, runner="here", environment={}, identity=identity))


def spec_of(plan: Plan, job: str, kind: JobKind, **fields: Any) -> JobSpec:
    start: dict[str, Any] = {
        "job": job,
        "kind": kind,
        "unit": UNITS[kind],
        "repository": Repository(
            id=plan.repo.id, owner="acme", name="Shop", default_branch="trunk", clone_url="http://127.0.0.1/none"
        ),
        "plan_uid": plan.uid,
        "revision": 1,
        "base": BASE,
        "branch": plan.branch,
        "issue": Issue(number=plan.issue_number, title="t", body="b", author="ann"),
        "agents": {},
        "gates": (GateSpec(name="tests", run="true"),),
    }
    return JobSpec.model_validate(start | fields)


def gate(status: GateStatus = GateStatus.PASSED, name: str = "tests") -> GateResult:
    return GateResult(name=name, blocking=True, status=status, seconds=1, summary="12 passed")


def report(job: jobs.Job, outcome: Outcome = Outcome.AGENT_FAILED, **fields: Any) -> Report:
    run = Usage(unit=Unit.EXECUTE_PLAN, agent="claude", model=None, attempt=1, seconds=2)
    start = {"sentence": "It ended.", "runner": "here", "started_at": 1.0, "ended_at": 2.0, "usage": (run,)}
    return Report.model_validate({"job": job.id, "outcome": outcome, **start, **fields})


def settings_of(github: GitHub, url: str, home: Path, **more: str) -> dict[str, str]:
    """The environment of a bot that is the stand-in's App."""
    return {
        "TWOGATE_HOME": str(home),
        "TWOGATE_URL": url,
        "TWOGATE_GITHUB_URL": github.standin.url,
        "TWOGATE_GITHUB_API_URL": github.standin.api_url,
        "TWOGATE_APP_ID": str(github.app["app_id"]),
        "TWOGATE_PRIVATE_KEY": str(github.app["private_key"]),
        "TWOGATE_WEBHOOK_SECRET": "a-webhook-secret-of-the-tests",
        "TWOGATE_OIDC_ISSUER": github.issuer.url,
        **more,
    }


@contextmanager
def running_lab(url: str, github: GitHub, clock: Clock, home: Path) -> Iterator[Lab]:
    settings: Settings = from_environment(settings_of(github, "http://127.0.0.1:1", home))
    store = open_store(url, now=clock)
    lab = Lab(github, store, clock, github.gateway, Vault(settings), github.http)

    def application(address: str) -> Any:
        verifier = Verifier(issuer=github.issuer.url, audience=address, keys=Keys(github.jwks_url, clock), now=clock)
        api = RunnerApi(store, lab.gateway, verifier, "twogate.yml", lab.vault.encrypt, lab.vault.decrypt)
        return create_app(runner_pages.blueprint(api))

    with served(application) as lab.url:
        yield lab
    store.dispose()


@pytest.fixture
def lab(sqlite_url: str, github: GitHub, clock: Clock, tmp_path: Path) -> Iterator[Lab]:
    """The lab on SQLite."""
    with running_lab(sqlite_url, github, clock, tmp_path) as running:
        yield running


@pytest.fixture
def lab_on(url: str, github: GitHub, clock: Clock, tmp_path: Path) -> Iterator[Lab]:
    """The lab on each kind of database."""
    with running_lab(url, github, clock, tmp_path) as running:
        yield running
