"""The command line ``twogate``.

Exit codes: 0 well, 1 something that was asked about is not well, 2 it can't be done as asked.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dotenv import dotenv_values

from bot import costs_command, doctor, eval_command, memory_command, serving, settings, tables
from bot.errors import ConfigError, TwogateError
from bot.lifecycle.policy import PolicyError, parse_policy
from bot.shipped import shipped
from bot.store import deliveries, journal, outbox, plans, throttles
from bot.store.engine import open_store
from bot.store.migrate import is_current, migrate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.settings import Settings
    from bot.store.engine import Store

WELL, UNWELL, IMPOSSIBLE = 0, 1, 2
WORKFLOW = ".github/workflows/twogate.yml"
PLACEHOLDER = "OWNER/twogate/.github/actions/run@" + "0" * 40
"""Where the workflow that is shipped names the action."""
PLANS_SHOWN = 100
"""Rows of the table of plans, those that changed last."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    arguments = _parser().parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except ConfigError as error:
        for fault in error.faults:
            print(f"twogate: {fault}", file=sys.stderr)
    except (TwogateError, OSError) as error:
        print(f"twogate: {error}", file=sys.stderr)
    return IMPOSSIBLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="twogate",
        description="Turns labelled issues into reviewed pull requests.",
        epilog="Settings are environment variables TWOGATE_*; a file .env in the current folder is read as well.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        made.set_defaults(run=run)
        return made

    serve = command("serve", _serve, "serve the web and work, in one process: all that one machine needs")
    web = command("web", _web, "serve the web alone; `twogate work` has to run somewhere")
    for server in (serve, web):
        server.add_argument("--processes", type=_count, default=1, metavar="N", help="processes to serve with (1)")
    command("work", _work, "work without serving the web, until SIGTERM")
    command("migrate", _migrate, "bring the database to the current schema")
    command("doctor", _doctor, "look at settings, database, GitHub and permissions, and say what to mend")
    _add_plans(command("plans", _plans, "list the plans; show one; lift pauses"))
    _add_parked(command("parked", _parked, "list deliveries and effects that were given up; put one back"))
    costs = command("costs", _costs, "say what a period cost, what a merged pull request cost, and what was denied")
    when = costs.add_mutually_exclusive_group()
    when.add_argument("--month", metavar="YYYY-MM", help="a calendar month (UTC)")
    when.add_argument("--days", type=_count, default=costs_command.DAYS, help=f"the last days ({costs_command.DAYS})")
    costs.add_argument("--json", action="store_true", help="print JSON, dollars as text")
    init = command("init", _init, "write the runner's workflow into a repository")
    init.add_argument("--owner", required=True, type=_owner, help="account that has the repository `twogate`")
    init.add_argument("--commit", required=True, type=_commit, help="commit of that repository to run, 40 characters")
    init.add_argument("--path", type=Path, default=Path(), help="folder of the repository to write into (.)")
    eval_command.add_arguments(command("eval", _eval, "measure a unit's instructions on small cases, side by side"))
    memory_command.add_arguments(command("memory", _memory, "list a checkout's lessons; show one; make room"))
    policy = command("check-policy", _check_policy, "check a repository's policy file")
    policy.add_argument("file", type=Path, help="the file, .github/twogate.yml in a repository")
    return parser


def _add_plans(parser: argparse.ArgumentParser) -> None:
    below = parser.add_subparsers(metavar="ACTION")
    show = below.add_parser("show", help="show an issue's plans and what happened to them")
    show.add_argument("issue", type=_count, help="number of the issue")
    show.set_defaults(run=_show_plans)
    resume = below.add_parser("resume", help="lift every pause, or an installation's")
    resume.add_argument("--installation", type=_count, metavar="ID", help="that installation alone")
    resume.set_defaults(run=_resume)


def _add_parked(parser: argparse.ArgumentParser) -> None:
    below = parser.add_subparsers(metavar="ACTION")
    retry = below.add_parser("retry", help="put one back, to be tried afresh")
    retry.add_argument("queue", choices=("delivery", "effect"), help="where it was given up")
    retry.add_argument("id", type=_count, help="its number in the list")
    retry.set_defaults(run=_retry_parked)


def _serve(arguments: argparse.Namespace) -> int:
    found = _ready()
    make_worker = serving.worker if found.worker_threads else None
    serving.Server(found, make_worker=make_worker, processes=arguments.processes).run()
    return WELL


def _web(arguments: argparse.Namespace) -> int:
    serving.Server(_ready(), make_worker=None, processes=arguments.processes).run()
    return WELL


def _work(_arguments: argparse.Namespace) -> int:
    found = _ready()
    if not found.worker_threads:
        raise ConfigError(["TWOGATE_WORKER_THREADS is 0: set it to the number of effects to carry out at a time."])
    return WELL if serving.work(found) else UNWELL


def _migrate(_arguments: argparse.Namespace) -> int:
    _ready()
    print("The database is up to date.")
    return WELL


def _doctor(_arguments: argparse.Namespace) -> int:
    well = True
    for finding in doctor.examine(_settings()):
        print(f"{'ok   ' if finding.well else 'FAULT'}  {finding.sentence}")
        well &= finding.well
    return WELL if well else UNWELL


def _plans(_arguments: argparse.Namespace) -> int:
    with _store().read() as tx:
        found = plans.recent(tx, PLANS_SHOWN)
        now = tx.now
        pauses = throttles.paused(tx)
    for line in tables.table(tables.PLANS, *(tables.plan(plan, now) for plan in found)):
        print(line)
    for pause in pauses:
        print(f"{pause.name} is paused: {pause.reason}")
    return WELL


def _show_plans(arguments: argparse.Namespace) -> int:
    with _store().read() as tx:
        found = [plan for plan in plans.recent(tx, sys.maxsize) if plan.issue_number == arguments.issue]
        histories = [journal.of_plan(tx, plan.uid) for plan in found]
        now = tx.now
    for plan, entries in zip(found, histories, strict=True):
        print("  ".join((plan.uid, *tables.plan(plan, now))))
        for entry in entries:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(entry.at))
            who = f" by {entry.actor_login}" if entry.actor_login else ""
            print(f"  {when}Z  {entry.event}{who}: {entry.from_state or 'new'} -> {entry.to_state}  {entry.note}")
    if not found:
        print(f"No plan of an issue #{arguments.issue} is known.")
    return WELL if found else UNWELL


def _resume(arguments: argparse.Namespace) -> int:
    with _store().write() as tx:
        lifted = [pause for pause in throttles.paused(tx, arguments.installation) if throttles.lift(tx, pause.name)]
    for gate in lifted:
        print(f"{gate.name} is open again. It was closed: {gate.reason}")
    if not lifted:
        print("Nothing is paused.")
    return WELL


def _parked(_arguments: argparse.Namespace) -> int:
    with _store().read() as tx:
        now = tx.now
        rows = [tables.delivery(found, now) for found in deliveries.parked(tx)]
        rows += [tables.effect(found, now) for found in outbox.parked(tx)]
    for line in tables.table(tables.PARKED, *rows) if rows else ["Nothing is given up."]:
        print(line)
    return WELL


def _retry_parked(arguments: argparse.Namespace) -> int:
    queue = deliveries if arguments.queue == "delivery" else outbox
    with _store().write() as tx:
        back = queue.unpark(tx, arguments.id)
    what = f"{arguments.queue.capitalize()} {arguments.id}"
    print(f"{what} is tried afresh." if back else f"{what} is not given up: `twogate parked` lists what is.")
    return WELL if back else UNWELL


def _costs(arguments: argparse.Namespace) -> int:
    store = _store()
    with store.read() as tx:
        since, until = costs_command.period(arguments.month, arguments.days, tx.now)
    for line in costs_command.told(store, since, until, as_json=arguments.json):
        print(line)
    return WELL


def _eval(arguments: argparse.Namespace) -> int:
    whole, lines = eval_command.told(arguments)
    for line in lines:
        print(line)
    return WELL if whole else UNWELL


def _init(arguments: argparse.Namespace) -> int:
    target: Path = arguments.path / WORKFLOW
    text = shipped(WORKFLOW).replace(PLACEHOLDER, f"{arguments.owner}/twogate/.github/actions/run@{arguments.commit}")
    if target.exists() and target.read_text() != text:
        print(f"twogate: {target} exists and differs: remove it first if it may be replaced.", file=sys.stderr)
        return IMPOSSIBLE
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    print(f"{target} is written. Commit it to the default branch, and set the variable TWOGATE_URL of the repository.")
    return WELL


def _memory(arguments: argparse.Namespace) -> int:
    for line in memory_command.told(arguments):
        print(line)
    return WELL


def _check_policy(arguments: argparse.Namespace) -> int:
    try:
        parse_policy(arguments.file.read_text(encoding="utf-8"))
    except PolicyError as error:
        print(f"{arguments.file}:{error.line}: {error.reason}")
        return UNWELL
    except UnicodeDecodeError:
        print(f"{arguments.file}: this is not UTF-8 text: save it as UTF-8.")
        return UNWELL
    except OSError as error:
        print(f"twogate: {arguments.file} can't be read: {error.strerror}.", file=sys.stderr)
        return IMPOSSIBLE
    print(f"{arguments.file} is valid.")
    return WELL


def _settings() -> Settings:
    file = {name: value for name, value in dotenv_values(".env").items() if value is not None}
    return settings.from_environment({**file, **os.environ})


def _ready() -> Settings:
    """Return the settings, once logs are written and the database is up to date."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    found = _settings()
    found.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    migrate(found.database_url)
    return found


def _store() -> Store:
    """Return the database, which has to be at the current schema."""
    url = _settings().database_url
    if not is_current(url):
        raise ConfigError(["The database is not up to date: run `twogate migrate`."])
    return open_store(url)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def _owner(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no account of GitHub")
    return text


def _commit(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{40}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no commit: give all 40 characters, since a tag can be moved")
    return text
