"""``twogate-runner prompt``: print what an agent would be told, from a checkout and files alone.

Nothing is asked of the bot, the network or a model. The unit, its overlay and the lessons come from the commit that
``--base`` names; the issue and the plan come from files. Of what only a running job knows (how its checks failed, where
the work stands) there is nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pydantic import ValidationError

from runner import memory
from runner.agents.result import faults_of
from runner.commits import Commits
from runner.contract import Issue
from runner.git import GitError
from runner.memory.checkout import Checkout, CheckoutError
from runner.program import load, reader
from runner.promptware import PromptInput, PromptwareError, compose, digest
from runner.results import PlanDocument, Unit

ABOUT = (
    "Print what an agent of a unit would be told, from a checkout and files alone: the instructions and lessons of a "
    "commit, the issue from a file or standard input, the plan from a JSON file. Its hash goes to standard error."
)
MARKER = "0" * 16
"""Stands for the marker, which in a run is random: nobody outside may know it."""
RESULT = Path("result.json")
"""Stands for the run's result file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``prompt`` takes."""
    parser.add_argument(
        "--unit", choices=[unit.value for unit in Unit], required=True, metavar="UNIT", help=", ".join(Unit)
    )
    parser.add_argument("--issue", required=True, type=_issue, metavar="N", help="the issue's number")
    parser.add_argument(
        "--text", default="-", metavar="FILE", help="the issue: its title, an empty line, its body; - for stdin"
    )
    parser.add_argument("--plan", type=Path, metavar="FILE", help="the plan, JSON as the schema plan has it")
    parser.add_argument("--base", default="HEAD", metavar="REV", help="the commit whose instructions count (HEAD)")
    parser.add_argument("--repo", type=Path, default=Path(), metavar="DIR", help="the checkout (the current folder)")


def prompt(parsed: argparse.Namespace) -> int:
    """Print the prompt, and to standard error its hash; return the exit code, 2 where something can't be used."""
    try:
        parts = _parts(parsed)
        text = compose(parts, MARKER)
    except ValidationError as error:
        sys.stderr.write(f"prompt: {error.title} can't be used. {faults_of(error)}\n")
        return 2
    except (PromptwareError, CheckoutError, OSError, GitError, UnicodeDecodeError) as error:
        sys.stderr.write(f"prompt: {error}\n")
        return 2
    sys.stdout.write(text)
    source = "the repository's" if parts.program.overridden else "built-in"
    sys.stderr.write(
        f"prompt: sha256 {digest(text, parts, MARKER)}, {len(text.encode())} bytes, unit {source}, "
        f"{len(parts.lessons)} lessons; marker and result file are stand-ins\n"
    )
    return 0


def _issue(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of an issue: give a whole number above 0")
    return int(text)


def _parts(parsed: argparse.Namespace) -> PromptInput:
    found = Checkout.open(parsed.repo, parsed.base)
    store = Commits(found.git_dir)
    if parsed.text == "-" and sys.stdin.isatty():
        sys.stderr.write("prompt: type the issue's title, an empty line, its text; end with Ctrl-D\n")
    said = sys.stdin.read() if parsed.text == "-" else Path(parsed.text).read_text(encoding="utf-8")
    title, _, body = said.strip().partition("\n")
    plan = PlanDocument.model_validate_json(parsed.plan.read_bytes()) if parsed.plan else None
    program = load(Unit(parsed.unit), reader(store, found.commit))
    tree = memory.Paths(store.files(found.commit))
    lessons = memory.choose(found.lessons, Unit(parsed.unit), plan.files if plan else (), program.front.memory, tree)
    issue = Issue(number=parsed.issue, title=title, body=body.strip(), author="somebody")
    return PromptInput(program=program, result_file=RESULT, issue=issue, plan=plan, lessons=lessons)
