"""``python -m tests.demo``: play the demo and check every promise it shows; exit 0 only if all hold."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import threading
from pathlib import Path

from tests.demo.pages import write_pages
from tests.demo.promises import broken
from tests.demo.script import TASKS
from tests.demo.story import Teller, perform
from tests.town import Town

HERE = Path(__file__).parent
OUTPUT = HERE.parent.parent / "demo-output"


def policy(agent: Path) -> str:
    """The policy of the demo's repository."""
    return f"""\
label: agent
agent: {{cli: scripted}}
agents:
  scripted:
    command: [python3, {agent}/agent.py, {agent}/script.json, "{{unit}}", "{{attempt}}", "{{prompt_file}}", "{{result_file}}"]
    output: jsonl
queue: {{max_parallel: 4, overlap: warn}}
sandbox: auto
gates:
  - {{name: tests, run: python3 -m unittest discover -s tests, timeout: 5m}}
  - {{name: syntax, run: python3 -m compileall -q shop tests, blocking: false, timeout: 1m}}
"""


def main() -> int:
    """Play it."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder for the pages (default: demo-output)")
    parser.add_argument("--keep", action="store_true", help="keep the town's folder and print where it is")
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="twogate-demo-"))
    home.chmod(0o755)
    try:
        return play(home, options.output)
    finally:
        if options.keep:
            print(f"The town's folder is kept: {home}")
        else:
            shutil.rmtree(home, ignore_errors=True)


def play(home: Path, output: Path) -> int:
    """Found a town, play the story in it, and check what was promised."""
    agent = home / "agent"
    agent.mkdir()
    shutil.copy(HERE / "agent.py", agent)
    (agent / "script.json").write_text(json.dumps(TASKS))
    machine = {"TWOGATE_TOOLS": str(agent)}
    teller = Teller()
    teller.tell(None, "The agent of this demo is a script: it plays a coding agent and has no model.")
    with Town(home, source=HERE / "repository", policy=policy(agent), machine=machine, conformance=True) as town:
        teller.tell(None, f"GitHub on {town.github.url}, Twogate on {town.url}")
        scenes = perform(town, TASKS, teller)
        town.settle()
        faults = broken(town, scenes)
        pages = write_pages(town, [scene.issue for scene in scenes], output)
        ending(town, scenes, pages, faults)
    return 1 if faults else 0


def ending(town: Town, scenes: list, pages: list[Path], faults: list[str]) -> None:
    """Print what came of it."""
    print()
    for scene in scenes:
        plan = town.plan(scene.issue)
        pull = town.people["alice"].pull(plan.pull_request)
        print(f"{pull['html_url']}  merged  {pull['title']}")
        print("\n".join(f"    {line}" for line in pull["body"].splitlines() if line.startswith("|")))
    print("\nPages:", *pages, sep="\n  ")
    for fault in faults:
        print(f"BROKEN: {fault}")
    print("\nEvery promise held." if not faults else f"\n{len(faults)} promises were broken.")


if __name__ == "__main__":
    threading.excepthook = lambda args: print(f"{args.thread}: {args.exc_value!r}", file=sys.stderr)
    sys.exit(main())
