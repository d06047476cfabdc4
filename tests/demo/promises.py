"""What the demo shows has to be so: every promise is looked up where it would be broken."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.data_flow.command import listing
from bot.settings import from_environment
from bot.store import usage
from runner.contract import GateStatus
from runner.results import Unit
from tests.standin import gitstore
from tests.standin.runs_service import Actions
from tests.town.town import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.demo.story import Scene
    from tests.town import Town

INSTRUCTIONS = ("promptware", ".twogate/promptware")
"""Where a repository keeps what agents are told."""
MARK = re.compile(r"^<!-- twogate:(\S+) -->")


def broken(town: Town, scenes: list[Scene], *, scripted: bool, sound: bool) -> list[str]:
    """Return a sentence for every promise that does not hold.

    A ``scripted`` agent makes mistakes that a check has to find. In a ``sound`` repository all checks end well; in any
    other one, those that failed before the change may still.
    """
    found = list(_repository(town, len(scenes)))
    for scene in scenes:
        found += [f"#{scene.issue}: {fault}" for fault in _thread(town, scene)]
        found += [f"#{scene.issue}: {fault}" for fault in _pull(town, scene)]
        found += [f"#{scene.issue}: {fault}" for fault in _mistakes(town, scene)] if scripted else []
        found += [f"#{scene.issue}: {fault}" for fault in _checks(town, scene)] if sound else []
    found += list(_instructions(town, scenes, scripted=scripted))
    found += list(_unlisted(town))
    found += [f"not as GitHub describes it: {problem}" for problem in town.github.problems]
    return found


def instructions(town: Town, scenes: list[Scene]) -> list[tuple[str, int | None]]:
    """Return what ``git log`` says of the instructions, the newest first: a line a commit, and the pull request of it."""
    place = town.github.hub.git_dir(town.github.hub.repo(*REPOSITORY.split("/")))
    pulls: dict[str, int | None] = {}
    for plan in (town.plan(scene.issue) for scene in scenes):
        its = gitstore.text(place, "rev-list", f"{plan.review.work.base}..{plan.review.work.head}", "--", *INSTRUCTIONS)
        pulls |= dict.fromkeys(its.split(), plan.pull_request)
    begun = gitstore.text(
        place, "log", "-1", "--format=%H", "--first-parent", "--grep=^Let Twogate in$", "HEAD"
    ).strip()
    log = gitstore.text(place, "log", "--format=%H %h %s", f"{begun}..HEAD", "--", *INSTRUCTIONS).splitlines()
    return [(shown, pulls.get(sha)) for sha, _, shown in (line.partition(" ") for line in log)]


def _instructions(town: Town, scenes: list[Scene], *, scripted: bool) -> Iterator[str]:
    """Look whether every change of what agents are told came with a pull request that people merged."""
    log = instructions(town, scenes)
    yield from (f"what agents are told was changed beside every pull request: {line}" for line, pull in log if not pull)
    wanted = [lesson["text"] for scene in scenes for lesson in scene.task.get("lessons", ())] if scripted else []
    if len(log) < len(wanted):
        yield f"{len(wanted)} lessons were learned, and the log of the instructions has {log}"


def _unlisted(town: Town) -> Iterator[str]:
    """Look whether everybody who was spoken to stands in the list of who sees code or prompts."""
    listed = listing(from_environment(town.environment), [REPOSITORY])
    addresses = {address for parties in listed.values() for party in parties for address in party.addresses}
    machine = town.github.hub.service(Actions).settings.machine
    models = {url for name, url in machine.items() if name.endswith("_BASE_URL")}
    for url in (town.github.url, town.url, *models):
        if urlsplit(url).netloc not in addresses:
            yield f"{url} was spoken to, and `twogate data-flow` does not list it"


def _repository(town: Town, merges: int) -> Iterator[str]:
    hub = town.github.hub
    repo = hub.repo(*REPOSITORY.split("/"))
    for push in hub.pushes:
        if not re.fullmatch(r"refs/heads/plan/\d+(-\d+)?", push.ref):
            yield f"{push.actor} pushed to {push.ref}"
    bot = {push.actor for push in hub.pushes}
    if bot != {"twogate-demo[bot]"}:
        yield f"branches were pushed by {bot}"
    if left := gitstore.refs(hub.git_dir(repo), "refs/heads/plan"):
        yield f"branches of merged plans are left: {left}"
    rows = gitstore.text(
        hub.git_dir(repo), "log", "--first-parent", f"-{merges + 1}", "--format=%p\t%s", "HEAD"
    ).splitlines()
    if any(" " not in row.split("\t")[0] for row in rows[:-1]) or not rows[-1].endswith("\tLet Twogate in"):
        yield f"the default branch moved otherwise than by {merges} merges: {rows}"
    runs = list(repo.runs.values())
    if any(not run.path.endswith("twogate.yml") for run in runs):
        yield "something else than twogate.yml ran"
    names = Counter(run.title for run in runs)
    yield from (f"{name!r} was dispatched {count} times" for name, count in names.items() if count > 1)


def _thread(town: Town, scene: Scene) -> Iterator[str]:
    comments = town.people["alice"].comments(scene.issue)
    marks = [found[1] for c in comments if (found := MARK.match(c["body"]))]
    yield from (f"comment {mark} stands {count} times" for mark, count in Counter(marks).items() if count > 1)
    plan = town.plan(scene.issue)
    wanted = {f"{plan.uid}:status", *(f"{plan.uid}:plan:{r.number}" for r in plan.revisions)}
    if missing := wanted - set(marks):
        yield f"these comments are missing: {missing}"
    if town.people["alice"].call("GET", f"/issues/{scene.issue}")["state"] != "closed":
        yield "the issue is still open"
    if "plan: merged" not in town.people["alice"].labels(scene.issue):
        yield "the label does not say merged"
    if any(entry.actor_login == "rita" and entry.from_state != entry.to_state for entry in town.journal(scene.issue)):
        yield "a reader's reaction moved the plan"


def _mistakes(town: Town, scene: Scene) -> Iterator[str]:
    """Look whether each mistake of the script was found by a check and went back to the agent."""
    with town.store.read() as tx:
        runs = [spent.usage for spent in usage.of_plan(tx, town.plan(scene.issue).uid)]
    executions = sum(run.unit is Unit.EXECUTE_PLAN for run in runs)
    if executions < len(scene.task["attempts"]):
        yield f"no check found the mistake: the agent was asked {executions} times to carry out the plan"


def _checks(town: Town, scene: Scene) -> Iterator[str]:
    for gate in town.plan(scene.issue).review.gates:
        if gate.blocking and gate.status is not GateStatus.PASSED:
            yield f"check {gate.name} did not pass: {gate.summary} {gate.tail[-2_000:]}"


def _pull(town: Town, scene: Scene) -> Iterator[str]:
    plan = town.plan(scene.issue)
    pull = town.people["alice"].pull(plan.pull_request)
    if not pull["merged"]:
        yield f"pull request #{plan.pull_request} is not merged"
    if f"#{scene.issue}" not in pull["body"]:
        yield "the pull request does not name its issue"
    if "$" not in pull["body"] or "ExecutePlan" not in pull["body"]:
        yield "the pull request does not say what it cost"
    if any(gate.holds_back for gate in plan.review.gates):
        yield "a failing check reached a reviewer"
