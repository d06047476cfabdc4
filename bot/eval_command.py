"""``twogate eval``: a unit's instructions on small cases, two versions side by side.

Works on a checkout, with the runner's code and the machine's settings for runners; no bot and no database.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from decimal import Decimal
from pathlib import Path

from bot import eval_table
from bot.errors import UserError
from bot.lifecycle.policy import Policy, PolicyError, parse_policy
from runner.evals.case import CaseError, load_cases
from runner.evals.measure import measure
from runner.evals.purse import Purse
from runner.evals.trial import Bench, Terms
from runner.evals.versions import WORK_TREE, Version, VersionError, root_of, version_of
from runner.results import Unit
from runner.settings import Settings, SettingsError, from_environment
from runner.terms import AgentSpec

CASES = (".twogate/evals", "tests/evals")
"""Where cases lie, the first that exists; relative to the root of the checkout."""
POLICY = ".github/twogate.yml"
"""Where the policy lies that names agent, model and sandbox; without one its defaults hold."""
MOST_VERSIONS = 2
"""Versions that are measured side by side."""
BUDGET = Decimal(5)
"""Dollars that a measurement may spend where nothing else is said."""
MINUTES = 60.0
"""Minutes that it may take where nothing else is said."""
MOST_REPEATS = 100
"""Tries of each case."""
MOST_JOBS = 16
"""Tries at the same time."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe what the command takes."""
    parser.add_argument(
        "--unit", choices=[unit.value for unit in Unit], required=True, metavar="UNIT", help=", ".join(Unit)
    )
    parser.add_argument("--case", action="append", default=[], metavar="NAME", help="this case alone; may be repeated")
    parser.add_argument(
        "--program",
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE|REV",
        help="one or two versions of Program.md: a file, a revision, work-tree, or built-in; one is compared with the "
        "work tree's (HEAD work-tree)",
    )
    parser.add_argument("--agent", metavar="NAME", help="a built-in agent or one of the policy's (the policy's choice)")
    parser.add_argument("--model", metavar="MODEL", help="the agent's model (the policy's choice)")
    parser.add_argument("--repeat", type=_up_to(MOST_REPEATS), default=1, metavar="N", help="tries of each case (1)")
    parser.add_argument("--jobs", type=_up_to(MOST_JOBS), default=1, metavar="N", help="tries at the same time (1)")
    parser.add_argument("--budget", type=_usd, default=BUDGET, metavar="USD", help=f"dollars at most ({BUDGET}usd)")
    parser.add_argument("--minutes", type=_minutes, default=MINUTES, metavar="N", help=f"at most ({MINUTES:g})")
    parser.add_argument("--cases", type=Path, metavar="FOLDER", help=f"folder of the cases ({', else '.join(CASES)})")
    parser.add_argument("--policy", type=Path, metavar="FILE", help=f"policy file with agents and limits ({POLICY})")
    parser.add_argument("--json", action="store_true", help="print JSON, dollars as text")
    parser.add_argument("--verbose", action="store_true", help="tell on standard error what the jobs do")


def told(arguments: argparse.Namespace) -> tuple[bool, list[str]]:
    """Measure; return whether every case could be run, and the lines to print. Raises :class:`UserError`."""
    unit = Unit(arguments.unit)
    try:
        root = root_of(Path.cwd())
        cases = load_cases(_cases(arguments.cases, root), unit, tuple(arguments.case))
        versions, note = _versions(arguments.program, root, unit)
        terms = _terms(_policy(arguments.policy, root), unit, arguments.agent, arguments.model)
        settings = _settings()
    except (CaseError, VersionError, SettingsError) as error:
        raise UserError(str(error)) from error
    purse = Purse(arguments.budget, arguments.minutes, time.monotonic)
    bench = Bench(settings, terms, purse, time.time, _say if arguments.verbose else lambda _line: None)
    measured = measure(bench, cases, versions, arguments.repeat, arguments.jobs)
    whole = not any(trial.fault for trial in measured.trials)
    if arguments.json:
        return whole, [eval_table.as_json(measured)]
    return whole, [*eval_table.lines(measured), *note]


def _cases(named: Path | None, root: Path) -> Path:
    if named is not None:
        return named
    found = next((root / folder for folder in CASES if (root / folder).is_dir()), None)
    if found is None:
        raise CaseError(f"{root} has no cases: put them under {CASES[0]}/UNIT/NAME/, or name their folder by --cases.")
    return found


def _versions(words: list[str], root: Path, unit: Unit) -> tuple[tuple[Version, ...], list[str]]:
    """Return the versions to measure, one where both are the same, and then a sentence that says so."""
    if len(words) > MOST_VERSIONS:
        raise VersionError(f"{len(words)} versions are named: {MOST_VERSIONS} are compared.")
    named = {0: ["HEAD", WORK_TREE], 1: [*words, WORK_TREE]}.get(len(words), words)
    found = [version_of(word, root, unit) for word in dict.fromkeys(named)]
    if len(found) == MOST_VERSIONS and found[0].data == found[1].data:
        same = f"{found[0].name} and {found[1].name} have the same Program.md: there is nothing to compare."
        return (found[0],), ["", same]
    return tuple(found), []


def _policy(named: Path | None, root: Path) -> Policy:
    path = named or root / POLICY
    if named is None and not path.is_file():
        return Policy.default()
    try:
        return parse_policy(path.read_text(encoding="utf-8"))
    except PolicyError as error:
        raise UserError(f"{path}:{error.line}: {error.reason}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} can't be read: {error}") from error


def _terms(policy: Policy, unit: Unit, name: str | None, model: str | None) -> Terms:
    asked = policy.agents[unit]
    if unit is Unit.INSPECT_DIFF and policy.inspector is not None:
        asked = policy.inspector
    if name is not None and name != asked.name:
        if name not in policy.known_agents:
            raise UserError(f"There is no agent {name}. There are {', '.join(policy.known_agents)}.")
        asked = policy.own_agents.get(name, AgentSpec(name=name))
    return Terms(
        agent=asked.model_copy(update={"model": model}) if model else asked,
        sandbox=policy.sandbox,
        network=policy.network,
        budget=policy.budget,
        tiers=policy.tiers,
        prices=policy.prices,
        protected=policy.protected,
        checks=policy.checks,
    )


def _settings() -> Settings:
    """Return the machine's settings for runners, whose log-ins and keys are those of the agents here."""
    return from_environment(os.environ, offline=True)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _up_to(most: int) -> type[int]:
    """Return what reads a whole number from 1 to ``most``."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and 0 < int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to {most}")
        return int(text)

    return read  # type: ignore[return-value]


def _usd(text: str) -> Decimal:
    found = re.fullmatch(r"\$?([0-9]{1,6}(?:\.[0-9]{1,4})?)(?:usd)?", text.strip(), re.IGNORECASE)
    if not found or not Decimal(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no sum above 0: write 5usd")
    return Decimal(found[1])


def _minutes(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of minutes above 0")
    return float(text)
