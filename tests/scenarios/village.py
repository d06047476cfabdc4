"""A village beside the town: GitHub's stand-in and the bot in this process, all of them speaking HTTP on loopback.

The worker runs in the test's own thread until nothing is left to do, so a scenario is a sequence without waiting::

    issue = village.planned()                       # opened by Mia, labelled by Tom, planned by a runner
    village.people["alice"].comment(issue, "/approve")
    village.settle()
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]

The runner is a script (:mod:`.runner`): it speaks the contract over HTTP with tokens of the stand-in's issuer, and
pushes with real git. The bot's clock is the machine's, moved on by :meth:`Village.later`.
"""

from __future__ import annotations

import itertools
import re
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import httpx
from sqlalchemy import event, func, select

from bot import serving
from bot.github.client import connect
from bot.lifecycle.plan import Plan, lane
from bot.settings import from_environment
from bot.store import health, journal, outbox, plans, throttles
from bot.store.engine import Store, choose_backend
from bot.store.schema import deliveries as deliveries_table
from bot.store.schema import outbox as outbox_table
from bot.web.people import People
from tests import audit
from tests.scenarios.runner import Runner, Workshop
from tests.standin.runs_service import Actions
from tests.town.people import Person
from tests.web.lab import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.store.backend import Backend
    from bot.store.journal import Entry
    from tests.standin import StandIn
    from tests.standin.workflow_runs import Attempt

OWNER = "acme"
APP = "twogate-demo"
ROLES = {"mia": "read", "tom": "triage", "alice": "write", "bob": "write", "rita": "read"}
"""Mia reports, Tom triages, Alice and Bob decide, Rita may only read."""
SLOWEST_POLL = 700.0
"""Seconds after which the reactions of any plan are due to be looked at."""
MARK = re.compile(r"^<!-- twogate:(\S+) -->\n")
SETTLING = ("show_status", "read_ci", "refresh_review")
"""Effects that wait for things to come to rest."""
STATUS_WAIT = 10.0
"""Seconds; longer than any of them waits for further changes."""
ROUNDS = 200
"""Rounds of webhooks and work after which a village that still finds something to do counts as mad."""


class BotClock:
    """The machine's clock, moved on by hand."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@dataclass
class Country:
    """What villages share: a GitHub with an organisation, its App, and people with their tokens."""

    github: StandIn
    app: dict[str, Any]
    tokens: dict[str, str]
    founded: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    backends: dict[str, Backend] = field(default_factory=dict)

    @classmethod
    def found(cls, github: StandIn) -> Country:
        """Set up what people set up once."""
        github.control.create_organization(OWNER)
        app = github.control.create_app(APP, OWNER)
        tokens = {login: str(github.control.create_user(login)["token"]) for login in ROLES}
        github.hub.service(Actions).settings.slots = 0  # nothing carries runs out but the scripts
        return cls(github, app, tokens)

    def backend(self, url: str) -> Backend:
        """What is behind a database's URL, kept with the statements that it has compiled already.

        No scenario takes the power away: none of its hundreds of commits waits for the disk.
        """
        if url not in self.backends:
            self.backends[url] = choose_backend(url)
            event.listen(self.backends[url].writer, "connect", lambda c, _: c.execute("PRAGMA synchronous = OFF"))
        return self.backends[url]


class Village:
    """See the module's docstring. ``source`` is a git repository with the workflow and a policy."""

    def __init__(self, country: Country, home: Path, source: Path, database: str) -> None:
        self.clock = BotClock()
        self.country, self.github, self.app = country, country.github, country.app
        self.home, self._source, self._database = home, source, database
        self.repository = f"{OWNER}/shop-{next(country.founded)}"
        self._stack = ExitStack()
        self.people: dict[str, Person] = {}
        self.excused: set[str] = set()
        """Kinds of effects that a scenario means to be given up."""
        self.tampered: set[int] = set()
        """Issues whose stored plans a scenario changed by hand, so that their journals do not tell them."""

    def __enter__(self) -> Self:
        control = self.github.control
        self.github.limits.forget()
        self.github.hub.deliveries.clear()  # else this bot asks again for what went to the one before
        self._github_clock = self.github.hub.clock
        made = control.create_repository(self.repository, str(self._source), private=True)
        self.repository_id = int(made["id"])
        self.url = self._stack.enter_context(served(self._open_bot))
        control.set_webhook_url(int(self.app["app_id"]), f"{self.url}/webhook")
        control.set_callback_urls(int(self.app["app_id"]), [f"{self.url}/login/callback"])
        self.actions = self.github.hub.service(Actions)
        self.http = self._stack.enter_context(httpx.Client(base_url=self.url, timeout=20, verify=False))
        self.workshop = Workshop(self.home / "workshop", self.github.hub.git_dir(self.repo))
        self.first_commit = self.workshop.tip("main")
        for login, role in ROLES.items():
            self.person(login, role)
        return self

    def __exit__(self, *_exc: object) -> None:
        for person in self.people.values():
            person.close()
        self.github.faults.clear()
        self.github.hub.clock = self._github_clock
        self.github.sender.drain(20)
        self._stack.close()
        self.parts.close()

    def _open_bot(self, url: str) -> Any:
        """Put the bot together as ``twogate serve`` does, with our clock and without a pace."""
        self.environment = {
            "TWOGATE_HOME": str(self.home),
            "TWOGATE_URL": url,
            "TWOGATE_GITHUB_URL": self.github.url,
            "TWOGATE_GITHUB_API_URL": self.github.api_url,
            "TWOGATE_APP_ID": str(self.app["app_id"]),
            "TWOGATE_PRIVATE_KEY": str(self.app["private_key"]),
            "TWOGATE_WEBHOOK_SECRET": str(self.app["webhook_secret"]),
            "TWOGATE_OIDC_ISSUER": f"{self.github.url}/_oidc",
            "TWOGATE_DATABASE_URL": self._database,
            "TWOGATE_CLIENT_ID": str(self.app["client_id"]),
            "TWOGATE_CLIENT_SECRET": str(self.app["client_secret"]),
        }
        settings = from_environment(self.environment)
        store = Store(self.country.backend(self._database), self.clock)
        gateway = connect(serving.registration(settings), self.clock)
        self.parts = serving.Parts(settings, store, gateway, now=self.clock)
        self.worker: Any = serving.worker(self.parts)
        return serving.web(self.parts)

    # people and things

    @property
    def repo(self) -> Any:
        found = self.github.hub.repo_by_id(self.repository_id)
        assert found is not None
        return found

    def person(self, login: str, role: str) -> Person:
        """A person with a role in the repository."""
        if login not in self.people:
            tokens = self.country.tokens
            if login not in tokens:
                tokens[login] = str(self.github.control.create_user(login)["token"])
            self.people[login] = Person(login, tokens[login], self.github.api_url, self.repository)
        self.github.control.set_role(self.repository, login, role)
        return self.people[login]

    @property
    def mia(self) -> Person:
        return self.people["mia"]

    @property
    def tom(self) -> Person:
        return self.people["tom"]

    @property
    def alice(self) -> Person:
        return self.people["alice"]

    @property
    def bob(self) -> Person:
        return self.people["bob"]

    @property
    def rita(self) -> Person:
        return self.people["rita"]

    # time

    def settle(self) -> None:
        """Let webhooks arrive and the worker work until nothing is due."""
        for _ in range(ROUNDS):
            assert self.github.sender.drain(20)
            if self.worker.run_until_idle() == 0 and not self._settling_is_late():
                return
        raise AssertionError(f"the village does not come to rest\n{self.known()}")

    def _settling_is_late(self) -> bool:
        """Let the time go by for which such an effect waits so that several changes make one call or edit."""
        c = outbox_table.c
        waits = select(c.not_before).where(c.kind.in_(SETTLING), c.done_at.is_(None), c.tried.is_(False))
        with self.parts.store.read() as tx:
            due = [at for (at,) in tx.execute(waits) if tx.now < at < tx.now + STATUS_WAIT]
            self.clock.ahead += max((at - tx.now for at in due), default=0.0)
        return bool(due)

    def later(self, seconds: float) -> None:
        """Let the bot's clock go on, and whatever is due then be done."""
        self.clock.ahead += seconds
        self.settle()

    def github_ahead(self, seconds: float) -> None:
        """Let GitHub's own clock go on."""
        hub = self.github.hub
        before = hub.clock
        hub.clock = lambda: before() + seconds

    def look(self) -> None:
        """Let the bot look for reactions, as it does every few seconds to minutes."""
        self.periodically("poll", SLOWEST_POLL)

    def periodically(self, name: str, after: float = 0.0) -> None:
        """Run one of the worker's periodic tasks."""
        self.clock.ahead += after
        assert self.worker.run_periodic(name)
        self.settle()

    # looking

    def plan(self, issue: int) -> Plan:
        """The newest plan of an issue."""
        found = self.plan_or_none(issue)
        assert found is not None, f"no plan of #{issue}\n{self.known()}"
        return found

    def plan_or_none(self, issue: int) -> Plan | None:
        with self.parts.store.read() as tx:
            return plans.latest(tx, lane(self.repository_id, issue))

    def stands(self, issue: int) -> str:
        """State and what is waited for, in three words."""
        plan = self.plan(issue)
        held = f"held: {plan.hold.causes[0]}, " if plan.hold else ""
        return f"{held}{plan.state}" + (f", waits for {plan.waiting_on}" if plan.waiting_on else "")

    def journal(self, issue: int) -> list[Entry]:
        with self.parts.store.read() as tx:
            return journal.of_lane(tx, lane(self.repository_id, issue))

    def notes(self, issue: int, event: str) -> list[str]:
        """What the journal says of all events of one kind."""
        return [entry.note for entry in self.journal(issue) if entry.event == event]

    def path(self, issue: int) -> list[str]:
        """The states that the issue's plans went through."""
        entries = [e for e in self.journal(issue) if e.to_state is not None and e.from_state != e.to_state]
        return [str(entry.to_state) for entry in entries]

    def comments(self, issue: int) -> list[dict[str, Any]]:
        return self.alice.comments(issue)

    def thread(self, issue: int) -> list[str]:
        """The whole thread: the bot's comments by what they are, people's by their words."""
        return [name_of(c["body"], c["user"]["login"]) for c in self.comments(issue)]

    def text(self, issue: int, name: str) -> str:
        """The text of the last comment of that name, without its mark."""
        found = [c["body"] for c in self.comments(issue) if name_of(c["body"], c["user"]["login"]) == name]
        assert found, f"no comment {name!r} in {self.thread(issue)}"
        return MARK.sub("", found[-1])

    def labels(self, issue: int) -> list[str]:
        return sorted(self.alice.labels(issue))

    def pulls(self) -> list[dict[str, Any]]:
        return self.alice.call("GET", "/pulls?state=all")

    def up(self, issue: int) -> str:
        """What an approval has to name."""
        asked = self.plan(issue).asked
        assert asked is not None, self.known()
        return asked[1]

    @property
    def people_of_bot(self) -> People:
        """Who the bot thinks that people are, asked anew."""
        return People(self.parts.store, self.parts.gateway.of_people(), self.clock)

    def runs(self) -> list[str]:
        """The titles of all workflow runs."""
        return [run.title for run in self.repo.runs.values()]

    def branches(self) -> list[str]:
        """The branches of plans."""
        return self.workshop.remote_branches()

    def known(self) -> str:
        lines = []
        with self.parts.store.read() as tx:
            for plan in plans.recent(tx):
                lines.append(f"#{plan.issue_number} {plan.state} waits for {plan.waiting_on}, {plan.failure}")
                lines += [
                    f"    {e.event}: {e.from_state} -> {e.to_state} ({e.note})" for e in journal.of_plan(tx, plan.uid)
                ]
            lines += [f"parked: {p.kind} {p.error}" for p in outbox.parked(tx)]
            lines += [f"closed: {gate.name} {gate.reason}" for gate in throttles.closed(tx)]
        return "\n".join(lines)

    def check(self) -> None:
        """What holds at the end of every scenario: nothing given up, nothing doubled, no pull request without a gate."""
        with self.parts.store.read() as tx:
            given_up = {p.kind: p.error for p in outbox.parked(tx) if p.kind not in self.excused}
            bad = health.look(tx).deliveries.parked
            unsound = [fault for fault in audit.faults(tx) if int(fault[1:].partition(":")[0]) not in self.tampered]
        assert unsound == [], self.known()
        assert given_up == {}, self.known()
        assert bad == 0, self.known()
        for issue in self.github.hub.threads(self.repo):
            marks = [found[1] for c in issue.comments if (found := MARK.match(c.body))]
            assert len(marks) == len(set(marks)), f"doubled comments in #{issue.number}: {marks}"
        titles = self.runs()
        assert len(titles) == len(set(titles)), f"doubled runs: {titles}"

    # the story up to a point

    def opened(self, title: str = "The total is wrong", body: str = "It shows fractions of a cent.") -> int:
        """An issue of Mia's."""
        return self.mia.open_issue(title, body)

    def labelled(self) -> int:
        """An issue whose plan a runner is asked for."""
        issue = self.opened()
        self.tom.label(issue, "agent")
        self.settle()
        return issue

    def planned(self, **document: Any) -> int:
        """An issue whose plan is up for decision."""
        issue = self.labelled()
        self.runner(issue).write_plan(**document)
        assert self.stands(issue) == "draft, waits for plan_decision", self.known()
        return issue

    def executing(self, **document: Any) -> int:
        """An issue whose approved plan was dispatched."""
        issue = self.planned(**document)
        self.alice.comment(issue, "/approve")
        self.settle()
        assert self.stands(issue) == "executing, waits for runner", self.known()
        return issue

    def reviewed(self, content: str = "rounded", **document: Any) -> int:
        """An issue whose diff is up for decision."""
        issue = self.executing(**document)
        self.runner(issue).execute({"shop/basket.py": content})
        assert self.stands(issue) == "in_review, waits for diff_decision", self.known()
        return issue

    def pulled(self, content: str = "rounded") -> int:
        """An issue whose pull request is open."""
        issue = self.reviewed(content)
        self.alice.comment(issue, "/approve")
        self.settle()
        assert self.stands(issue) == "pr_open, waits for merge", self.known()
        return issue

    # runners

    def runner(self, issue: int) -> Runner:
        """The runner that GitHub gave the plan's open job to."""
        job = self.plan(issue).job
        assert job is not None, self.known()
        return Runner(self, job.id, self.attempt(job.id))

    def attempt(self, job: str) -> Attempt:
        """The newest attempt of a job's run."""
        found = [a for a in self.actions.attempts if a.run.title == f"twogate {job}"]
        assert found, f"no run of {job}: {self.runs()}"
        return found[-1]

    def run_state(self, job: str) -> str:
        """The state of a job's run, with its conclusion."""
        run = self.attempt(job).run
        return f"{run.status} {run.conclusion or ''}".strip()

    def push(self, who: str, files: dict[str, str], branch: str = "main") -> str:
        """A person's commit on a branch, pushed over HTTP."""
        commit = self.workshop.commit(branch, files, f"{who} was here")
        assert self.workshop.push(self.push_url(who), commit, branch)
        return commit

    def press(self, issue: int, who: str, button: str) -> None:
        """Press a button of the check run on the commit in review."""
        review = self.plan(issue).review
        assert review is not None
        self.github.control.press(self.repository, review.check_run_id or 0, who, button)
        self.settle()

    def checks(self) -> list[str]:
        """Our check runs by what they show, the newest last."""
        ours = [c for c in self.repo.checks.values() if c.app.slug == APP]
        return [f"{c.fields.get('conclusion')}: {c.fields['output']['title']}" for c in ours]

    def says(self, head: str, name: str, conclusion: str | None, **fields: Any) -> None:
        """Let another App say something of a commit; a conclusion of None is that it has begun."""
        self.github.control.report_check(self.repository, head, name, conclusion, **fields)

    def redeliver(self, delivery: dict[str, Any]) -> None:
        """Send a delivery again under a new id."""
        self.github.control.redeliver(delivery["id"], new_guid=True)
        self.settle()

    def push_url(self, who: str) -> str:
        """Where a person pushes to, with their token."""
        url = f"{self.github.url}/{self.repository}.git"
        return url.replace("://", f"://{who}:{self.country.tokens[who]}@")

    def set_policy(self, text: str) -> None:
        """Change the policy file on the default branch; the label and the agent stay unless the text says otherwise."""
        start = "agent: {cli: scripted}\nagents: {scripted: {command: [scripted]}}\n"
        self.push("alice", {".github/twogate.yml": start + text})

    def redeliver_all(self) -> None:
        """Send again, under new ids, whatever GitHub has delivered so far about issues and comments."""
        for delivery in self._deliveries():
            own = delivery["payload"].get("repository", {}).get("id") == self.repository_id
            if own and delivery["event"] in {"issues", "issue_comment"}:
                self.github.control.redeliver(delivery["id"], new_guid=True)
        self.settle()

    def finish_run(self, attempt: Attempt, conclusion: str = "success") -> None:
        """End a run, as its machine does."""
        with self.github.hub.lock:
            self.actions._complete(attempt, conclusion)

    # deliveries from elsewhere

    def inbox(self) -> int:
        """How many deliveries were ever kept."""
        with self.parts.store.read() as tx:
            return int(tx.execute(select(func.count()).select_from(deliveries_table)).scalar_one())

    def last_delivery(self, event: str) -> dict[str, Any]:
        """GitHub's newest delivery of an event (``issues.labeled``) to our App, as its log has it."""
        name, _, action = event.partition(".")
        found = [d for d in self._deliveries() if d["event"] == name and action in {"", d["payload"].get("action")}]
        return found[-1]

    def _deliveries(self) -> list[dict[str, Any]]:
        """What went to our App; others that scenarios install in the organisation hear of the same events."""
        ours = {d.id for d in self.github.hub.deliveries if d.app.id == int(self.app["app_id"])}
        return [d for d in self.github.control.deliveries() if d["id"] in ours]


def name_of(body: str, login: str) -> str:
    """What a comment is: the bot's by the last telling part of its mark, a person's by name and first line."""
    found = MARK.match(body)
    if login != f"{APP}[bot]" or found is None:
        return f"{login}: {body.splitlines()[0]}"
    parts = found[1].split(":")
    if "say" in parts:
        return parts[parts.index("say") + 1]
    return " ".join(parts[1:])
