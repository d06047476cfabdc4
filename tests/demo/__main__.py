"""``python -m tests.demo``: play the demo and check every promise it shows; exit 0 only if all hold.

Exit code 1: something that was shown or promised is not so. 2: the demo can't be played as it was asked for.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from tests.demo import confinement, players
from tests.demo.pages import write_pages
from tests.demo.promises import INSTRUCTIONS, broken, instructions
from tests.demo.refusal import Refusal
from tests.demo.stage import set_stage
from tests.demo.story import Scene, Teller, perform
from tests.town import Town, TownError
from tests.town.town import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.demo.players import Player
    from tests.demo.stage import Stage

OUTPUT = Path(__file__).parent.parent.parent / "demo-output"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play it."""
    parser = argparse.ArgumentParser(prog="make demo", description="Three issues from label to merge, on this machine.")
    parser.add_argument("--repo", default="", help="a local git repository (cloned), or pypi:NAME==VERSION")
    parser.add_argument(
        "--agent", default="", help="claude, or an agent of the repository's policy (default: a script)"
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder for the pages (default: demo-output)")
    parser.add_argument("--keep", action="store_true", help="keep the town's folder and print where it is")
    parser.add_argument("--serve", action="store_true", help="leave bot and GitHub running at the end, until Ctrl-C")
    options = parser.parse_args(arguments)
    home = Path(tempfile.mkdtemp(prefix="twogate-demo-"))
    home.chmod(0o755)
    try:
        return play(home, options.repo, options.agent, options.output, serve=options.serve)
    except Refusal as refusal:
        print(f"make demo: {refusal}", file=sys.stderr)
        return 2
    except TownError as stuck:
        print(f"BROKEN: {stuck}")
        return 1
    finally:
        if options.keep:
            print(f"The town's folder is kept: {home}")
        else:
            shutil.rmtree(home, ignore_errors=True)


def play(home: Path, repo: str, agent: str, output: Path, *, serve: bool = False) -> int:
    """Found a town, play the story in it, and check what was promised; raises :class:`Refusal` before it begins."""
    teller = Teller()
    player = players.claude() if agent == "claude" else None
    stage = set_stage(repo, home, lambda text: teller.tell(None, text))
    if player is None:
        player = players.own(agent, stage.policy_file) if agent else players.scripted(home / "agent", stage.tasks)
    teller.tell(None, player.sentence)
    machine = environment(stage, player)
    sandbox = confinement.mode(player, machine, lambda text: teller.tell(None, text))
    rules = policy(stage, player, sandbox)
    with Town(home, source=stage.source, policy=rules, machine=machine, conformance=True) as town:
        teller.tell(None, f"GitHub on {town.github.url}, Twogate on {town.url}")
        scenes = perform(town, stage.tasks, teller)
        town.settle()
        faults = broken(town, scenes, scripted=player.scripted, sound=stage.sound)
        pages = write_pages(town, [scene.issue for scene in scenes], output)
        ending(town, scenes, pages, faults)
        dashboard(town, serve=serve)
    return 1 if faults else 0


def policy(stage: Stage, player: Player, sandbox: str = "auto") -> str:
    """The text of the policy file for this demo."""
    queue = {"max_parallel": 4, "overlap": "warn"}
    settings = {"label": "agent", **player.policy, "queue": queue, "sandbox": sandbox, "gates": list(stage.gates)}
    return yaml.safe_dump(settings, sort_keys=False, width=1_000)


def environment(stage: Stage, player: Player) -> dict[str, str]:
    """What the self-hosted machine has besides what every one has: programs, and an agent's own variables."""
    programs = [stage.venv / "bin"] if stage.venv else []
    programs += [Path(sys.executable).parent, *map(Path, ("/usr/local/bin", "/usr/bin", "/bin")), *player.path]
    tools = [*player.tools, *([stage.venv] if stage.venv else [])]
    return {
        **player.environment,
        "PATH": os.pathsep.join(map(str, programs)),
        **({"TWOGATE_TOOLS": os.pathsep.join(map(str, tools))} if tools else {}),
    }


def ending(town: Town, scenes: list[Scene], pages: list[Path], faults: list[str]) -> None:
    """Print what came of it; the pull requests with their costs come last."""
    print("\nThe threads and pull requests, as pages to open:", *pages, sep="\n  ")
    for fault in faults:
        print(f"BROKEN: {fault}")
    log = instructions(town, scenes)
    print(f"\nEvery change of what agents are told (git log -- {' '.join(INSTRUCTIONS)}):")
    print("\n".join(f"  {line}  merged with pull request #{pull}" for line, pull in log) or "  none")
    print("\nEvery promise held.\n" if not faults else f"\n{len(faults)} promises were broken.\n")
    for scene in scenes:
        plan = town.plan(scene.issue)
        pull = town.people["alice"].pull(plan.pull_request)
        print(f"{pull['html_url']}  merged  {pull['title']}")
        print("\n".join(f"    {line}" for line in pull["body"].splitlines() if line.startswith("|")))


def dashboard(town: Town, *, serve: bool) -> None:
    """Print the dashboard's address; with ``serve``, leave all running for people to look at, until they have seen it."""
    people = ", ".join(town.people)
    print(
        f"\nThe dashboard: {town.url}/\n  Sign in as one of {people}; GitHub's page asks for no password here.",
        flush=True,
    )
    if not serve:
        print("  It ends with the demo: `make demo SERVE=1` leaves it running.")
        return
    print(
        "  From another terminal, in this folder, as Alice:",
        f"    export TWOGATE_URL={town.url} TWOGATE_TOKEN={town.people['alice'].token}",
        f"    .venv/bin/twogate plans --repo {REPOSITORY}",
        "  It runs until Ctrl-C.",
        sep="\n",
        flush=True,
    )
    seen = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: seen.set())
    seen.wait()


if __name__ == "__main__":
    threading.excepthook = lambda args: print(f"{args.thread}: {args.exc_value!r}", file=sys.stderr)
    sys.exit(main())
