"""The play: three issues in parallel, each from label to merge, told as it happens."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.town import TownError

if TYPE_CHECKING:
    from bot.lifecycle.plan import Review
    from tests.demo.script import Task
    from tests.town import Person, Town

STEP_SECONDS = 600.0
"""The longest that one step may take: a real agent with a real test suite is not quick."""


@dataclass
class Cast:
    """Who plays: Mia reports, Tom triages, Alice decides, Rita may only read."""

    mia: Person
    tom: Person
    alice: Person
    rita: Person

    @classmethod
    def of(cls, town: Town) -> Cast:
        """Give everybody a role in the repository."""
        roles = {"mia": "read", "tom": "triage", "alice": "write", "rita": "read"}
        return cls(**{login: town.person(login, role) for login, role in roles.items()})


@dataclass
class Teller:
    """Prints the story, a line an event, with the seconds since it began."""

    started: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, issue: int | None, text: str) -> None:
        """Print one line."""
        where = f"#{issue}" if issue is not None else "  "
        with self._lock:
            print(f"{time.monotonic() - self.started:6.1f}s  {where:4} {text}", flush=True)


class Watcher(threading.Thread):
    """Tells every change of a plan's state, as the journal has it."""

    def __init__(self, town: Town, teller: Teller, issues: list[int]) -> None:
        super().__init__(name="watcher", daemon=True)
        self._town, self._teller, self._issues = town, teller, issues
        self._seen: set[str] = set()
        self.done = threading.Event()

    def run(self) -> None:
        """Look until told to stop, and once more."""
        while not self.done.wait(0.5):
            self._look()
        self._look()

    def _look(self) -> None:
        for issue in self._issues:
            for entry in self._town.journal(issue):
                if entry.ref in self._seen:
                    continue
                self._seen.add(entry.ref)
                if entry.from_state != entry.to_state:
                    self._teller.tell(issue, f"    {entry.from_state or 'new'} -> {entry.to_state}: {entry.note}")


class Scene:
    """One issue's way. Each line of :meth:`play` is something a person does or waits for."""

    def __init__(self, town: Town, cast: Cast, teller: Teller, task: Task) -> None:
        self.town, self.cast, self.task = town, cast, task
        self.issue = cast.mia.open_issue(task["title"], task["body"])
        self._tell = lambda text: teller.tell(self.issue, text)
        self.fault: BaseException | None = None

    def play(self) -> None:
        """From the label to the merge."""
        self._tell(f"Mia opened {self.task['title']!r}")
        self.cast.tom.label(self.issue, "agent")
        self._tell("Tom set the label `agent`")
        self._steer()
        self._approve_plan()
        self._approve_diff()
        self._merge()

    def _steer(self) -> None:
        self._until("draft", "plan_decision")
        self._tell("the plan is posted")
        if "update" in self.task:
            self.cast.alice.comment(self.issue, f"/update {self.task['update']}")
            self._tell(f"Alice: /update {self.task['update']}")
            self.town.until("the plan is rewritten", lambda: self._revision() == 2, STEP_SECONDS)
            self._until("draft", "plan_decision")
            self._tell("revision 2 is posted")

    def _revision(self) -> int:
        plan = self.town.plan(self.issue)
        self._stuck(plan)
        return plan.revision.number if plan is not None and plan.revision is not None else 0

    def _approve_plan(self) -> None:
        comment = self._until("draft", "plan_decision").revision.comment_id
        self.cast.rita.react(comment)
        self._tell("Rita, who may only read, reacted 👍: nothing comes of it")
        self.cast.alice.react(comment)
        self._tell("Alice reacted 👍 to the plan")
        self.town.until("the plan is approved", lambda: self.town.plan(self.issue).state != "draft", STEP_SECONDS)
        approval = self.town.plan(self.issue).plan_approval
        if approval is None or approval.by.login != "alice":
            raise TownError(f"approved by {approval}")

    def _approve_diff(self) -> None:
        while True:
            plan = self._until("in_review", "diff_decision")
            self._tell_review(plan.review)
            self.cast.alice.comment(self.issue, "/approve")
            self._tell("Alice: /approve")
            self.town.until(
                "the pull request is open, or the diff is up again",
                lambda head=plan.review.work.head: self._moved_on(head),
                STEP_SECONDS,
            )
            if self.town.plan(self.issue).state == "pr_open":
                return
            self._tell("the default branch changed the same lines: back to the agent")

    def _tell_review(self, review: Review) -> None:
        times = "1 attempt" if review.attempts == 1 else f"{review.attempts} attempts"
        self._tell(f"verified: {review.work.head[:12]}, {len(review.gates)} checks, {times}; the diff is posted")
        if review.sandbox is not None:
            self._tell(f"    {review.sandbox.sentence}")

    def _moved_on(self, head: str) -> bool:
        plan = self.town.plan(self.issue)
        again = plan.review is not None and plan.review.work.head != head and plan.waiting_on == "diff_decision"
        self._stuck(plan)
        return plan.state == "pr_open" or again

    def _merge(self) -> None:
        plan = self.town.plan(self.issue)
        self._tell(f"pull request #{plan.pull_request} is open")
        self.cast.alice.merge(plan.pull_request)
        self._tell("Alice merged it")
        self._until("merged")

    def _until(self, state: str, waiting_on: str | None = None):
        def there() -> bool:
            plan = self.town.plan(self.issue)
            self._stuck(plan)
            return plan is not None and plan.state == state and waiting_on in {None, plan.waiting_on}

        self.town.until(f"#{self.issue} is {state}", there, STEP_SECONDS)
        return self.town.plan(self.issue)

    def _stuck(self, plan) -> None:
        """Stop waiting where only a person could go on."""
        if plan is not None and plan.state == "failed":
            raise TownError(f"#{self.issue} failed: {plan.failure.sentence}\n{self.town.known()}")

    def guarded(self) -> None:
        """Play in a thread, and keep what went wrong."""
        try:
            self.play()
        except BaseException as fault:  # noqa: BLE001 - told by the caller
            self.fault = fault


def perform(town: Town, tasks: tuple[Task, ...], teller: Teller, make_scene: type[Scene] = Scene) -> list[Scene]:
    """Play all tasks at the same time; raises the first fault."""
    cast = Cast.of(town)
    scenes = [make_scene(town, cast, teller, task) for task in tasks]
    watcher = Watcher(town, teller, [scene.issue for scene in scenes])
    watcher.start()
    threads = [threading.Thread(target=scene.guarded, name=f"issue-{scene.issue}") for scene in scenes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    watcher.done.set()
    watcher.join()
    for scene in scenes:
        if scene.fault is not None:
            raise scene.fault
    return scenes
