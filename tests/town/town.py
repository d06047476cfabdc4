"""The town itself: see the package's docstring."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bot.lifecycle.plan import lane
from bot.store import health, journal, plans
from bot.store.engine import Store, open_store
from tests.standin import StandIn
from tests.standin.runs_service import Actions
from tests.town.machine import Process, free_port, until_ready
from tests.town.people import Person
from tests.town.repository import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bot.lifecycle.plan import Plan
    from bot.store.journal import Entry

SERVE = {"serve": ("-m", "bot", "serve")}
"""The bot as one machine runs it."""
REPOSITORY = "acme/shop"
APP = "twogate-demo"
PATIENCE = 120.0
"""Seconds that a step of the story may take before it counts as stuck."""


class TownError(AssertionError):
    """Something that should have happened did not; the message holds what is known."""


class Town:
    """See the package's docstring.

    ``machine`` adds to the self-hosted machine's environment. ``processes`` are the bot's: Python's arguments by the name
    of each.
    """

    def __init__(
        self,
        home: Path,
        *,
        source: Path,
        policy: str,
        branch: str = "main",
        machine: Mapping[str, str] | None = None,
        conformance: bool = False,
        seed: int = 0,
        processes: Mapping[str, Sequence[str]] = SERVE,
    ) -> None:
        self.home = home
        self._commands = processes
        self.processes: dict[str, Process] = {}
        self._source, self._policy, self._branch = source, policy, branch
        self._machine = dict(machine or {})
        self.github = StandIn(home / "github", seed=seed, conformance=conformance)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment: dict[str, str] = {}
        self.people: dict[str, Person] = {}
        self._store: Store | None = None
        self.repository_id = 0
        self.app: dict[str, object] = {}

    def __enter__(self) -> Self:
        self.home.mkdir(parents=True, exist_ok=True)
        self.github.start()
        try:
            self._found()
            for name, command in self._commands.items():
                self.processes[name] = Process(command, self.environment, self.home / f"{name}.log")
                self.processes[name].start()
            self.until_ready()
        except BaseException:
            self.github.stop()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        for person in self.people.values():
            person.close()
        for process in self.processes.values():
            process.kill()
        self.github.stop()
        if self._store is not None:
            self._store.dispose()

    @property
    def bot(self) -> Process:
        """The process that serves the web."""
        return next(iter(self.processes.values()))

    def until_ready(self) -> None:
        """Wait until the bot answers, as after a start."""
        until_ready(self.url, self.bot)

    def _found(self) -> None:
        """Set up what people set up once: organisation, repository, App, variable, runner."""
        control = self.github.control
        control.create_organization("acme")
        clone = prepare(self._source, self.home / "source", self._policy, branch=self._branch)
        made = control.create_repository(REPOSITORY, str(clone), private=True)
        self.repository_id = int(made["id"])
        self.app = control.create_app(APP, "acme", webhook_url=f"{self.url}/webhook")
        control.set_callback_urls(int(str(self.app["app_id"])), [f"{self.url}/login/callback"])
        (self.home / "bot").mkdir(exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home / "bot"),
            "TWOGATE_HOME": str(self.home / "bot"),
            "TWOGATE_URL": self.url,
            "TWOGATE_LISTEN": f"127.0.0.1:{self.port}",
            "TWOGATE_GITHUB_URL": self.github.url,
            "TWOGATE_GITHUB_API_URL": self.github.api_url,
            "TWOGATE_APP_ID": str(self.app["app_id"]),
            "TWOGATE_PRIVATE_KEY": str(self.app["private_key"]),
            "TWOGATE_WEBHOOK_SECRET": str(self.app["webhook_secret"]),
            "TWOGATE_OIDC_ISSUER": f"{self.github.url}/_oidc",
            "TWOGATE_OIDC_JWKS_URL": f"{self.github.url}/_oidc/.well-known/jwks",
            "TWOGATE_CLIENT_ID": str(self.app["client_id"]),
            "TWOGATE_CLIENT_SECRET": str(self.app["client_secret"]),
            "TWOGATE_WRITES_PER_SECOND": "50",
        }
        actions = self.github.hub.service(Actions)
        repo = self.github.hub.repo_by_id(self.repository_id)
        assert repo is not None
        repo.variables["TWOGATE_URL"] = self.url
        bin_folder = Path(sys.executable).parent
        actions.settings.machine = {
            "PATH": f"{bin_folder}:/usr/local/bin:/usr/bin:/bin",
            "TWOGATE_RUNNER": str(bin_folder / "twogate-runner"),
            "TWOGATE_HOME": str(self.home / "runner"),
            **self._machine,
        }

    # people

    def person(self, login: str, role: str = "read") -> Person:
        """A person with a role in the repository; the same one for the same login."""
        if login not in self.people:
            made = self.github.control.create_user(login)
            self.people[login] = Person(login, str(made["token"]), self.github.api_url, REPOSITORY)
        self.github.control.set_role(REPOSITORY, login, role)  # type: ignore[arg-type]
        return self.people[login]

    # looking into the bot

    @property
    def store(self) -> Store:
        """The bot's database, to look into."""
        if self._store is None:
            self._store = open_store(f"sqlite:///{self.home}/bot/twogate.db")
        return self._store

    def plan(self, issue: int) -> Plan | None:
        """The newest plan of an issue, if there is one."""
        with self.store.read() as tx:
            return plans.latest(tx, lane(self.repository_id, issue))

    def journal(self, issue: int) -> list[Entry]:
        """Everything that happened to an issue's plans."""
        with self.store.read() as tx:
            return journal.of_lane(tx, lane(self.repository_id, issue))

    def until(self, what: str, condition: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Wait until something holds; raises :class:`TownError` with what is known where it does not."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.1)
        raise TownError(f"After {seconds:g} seconds still not: {what}\n{self.known()}")

    def known(self) -> str:
        """What there is to say when something did not happen."""
        lines = []
        with self.store.read() as tx:
            for plan in plans.recent(tx):
                lines.append(
                    f"#{plan.issue_number} {plan.state} waits for {plan.waiting_on} job {plan.job} failure {plan.failure}"
                )
                lines += [
                    f"    {e.version} {e.event}: {e.from_state} -> {e.to_state} ({e.note})"
                    for e in journal.of_plan(tx, plan.uid)
                ]
        logs = [f"log of {name}:\n{process.tail()}" for name, process in self.processes.items()]
        runs = sorted((self.home / "github").rglob("log.txt"), key=lambda log: log.stat().st_mtime)
        logs += [f"log of the last run:\n{run.read_text(errors='replace')[-4_000:]}" for run in runs[-1:]]
        return "\n".join([*lines, *logs])

    def settle(self, seconds: float = PATIENCE) -> None:
        """Wait until the bot has nothing left to do: no open delivery, no open effect."""

        def idle() -> bool:
            with self.store.read() as tx:
                found = health.look(tx)
            return found.deliveries.waiting == 0 and found.effects.waiting == 0

        self.until("the bot is idle", idle, seconds)

    # short cuts through the story

    def until_state(self, issue: int, state: str, waiting_on: str | None = None, seconds: float = PATIENCE) -> Plan:
        """Wait until the issue's plan is in a state (and waits for something)."""

        def there() -> bool:
            plan = self.plan(issue)
            return plan is not None and plan.state == state and waiting_on in {None, plan.waiting_on}

        self.until(f"#{issue} is {state}{f' and waits for {waiting_on}' if waiting_on else ''}", there, seconds)
        plan = self.plan(issue)
        assert plan is not None
        return plan
