"""The command line ``twogate``. A command loads what it needs when it is asked for: the whole takes seconds.

Exit codes: 0 well, 1 something that was asked about is not well, 2 it can't be done as asked, 130 Ctrl-C.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from bot.arguments import IMPOSSIBLE, UNWELL, WELL, account, add_command, commit, count, program, run_command
from bot.errors import ConfigError
from bot.lifecycle.policy import PolicyError, parse_policy
from bot.remote import verbs
from bot.shipped import shipped

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

WORKFLOW = ".github/workflows/twogate.yml"
PLACEHOLDER = "OWNER/twogate/.github/actions/run@" + "0" * 40
"""Where the workflow that is shipped names the action."""
MODULES = {
    "data-flow": "bot.data_flow.command",
    "admin": "bot.admin_command",
    "eval": "bot.eval_command",
    "memory": "bot.memory_command",
}
"""What knows the arguments of a command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    return run_command(_parser(words[0] if words else ""), words)


def _parser(asked: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of every command, or one that reads the arguments of the one that is asked for."""
    parser = program()
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = partial(add_command, commands)
    serve = command("serve", _serve, "serve the web and work, in one process: all that one machine needs")
    web = command("web", _web, "serve the web alone; `twogate work` has to run somewhere")
    for server in (serve, web):
        server.add_argument("--processes", type=count, default=1, metavar="N", help="processes to serve with (1)")
    command("work", _work, "work without serving the web, until SIGTERM")
    command("migrate", _migrate, "bring the database to the current schema")
    command("doctor", _doctor, "look at settings, database, GitHub and permissions, and say what to mend")
    command("data-flow", _data_flow, "list who sees code or prompts in one run, and why")
    admin = "list and put right what the bot's database holds, on its machine: plans, pauses, what was given up, costs"
    commands.add_parser("admin", help=admin, description=f"{admin.capitalize()}.")
    verbs.add_verbs(commands)
    init = command("init", _init, "write the runner's workflow into a repository")
    init.add_argument("--owner", required=True, type=account, help="account that has the repository `twogate`")
    init.add_argument("--commit", required=True, type=commit, help="commit of that repository to run, 40 characters")
    init.add_argument("--path", type=Path, default=Path(), help="folder of the repository to write into (.)")
    command("eval", _eval, "measure a unit's instructions on small cases, side by side")
    command("memory", _memory, "list a checkout's lessons; show one; make room")
    policy = command("check-policy", _check_policy, "check a repository's policy file")
    policy.add_argument("file", type=Path, help="the file, .github/twogate.yml in a repository")
    for name in MODULES if asked is None else {asked} & MODULES.keys():
        import_module(MODULES[name]).add_arguments(commands.choices[name])
    return parser


def _serve(arguments: argparse.Namespace) -> int:
    from bot import opened, serving

    found = opened.made_ready()
    make_worker = serving.worker if found.worker_threads else None
    serving.Server(found, make_worker=make_worker, processes=arguments.processes).run()
    return WELL


def _web(arguments: argparse.Namespace) -> int:
    from bot import opened, serving

    serving.Server(opened.made_ready(), make_worker=None, processes=arguments.processes).run()
    return WELL


def _work(_arguments: argparse.Namespace) -> int:
    from bot import opened, serving

    found = opened.made_ready()
    if not found.worker_threads:
        raise ConfigError(["TWOGATE_WORKER_THREADS is 0: set it to the number of effects to carry out at a time."])
    return WELL if serving.work(found) else UNWELL


def _migrate(_arguments: argparse.Namespace) -> int:
    from bot import opened

    opened.made_ready()
    print("The database is up to date.")
    return WELL


def _data_flow(arguments: argparse.Namespace) -> int:
    from bot import opened
    from bot.data_flow import command

    for line in command.told(arguments, opened.found_settings):
        print(line)
    return WELL


def _doctor(_arguments: argparse.Namespace) -> int:
    from bot import doctor, opened

    well = True
    for finding in doctor.examine(opened.found_settings()):
        print(f"{'ok   ' if finding.well else 'FAULT'}  {finding.sentence}")
        well &= finding.well
    return WELL if well else UNWELL


def _eval(arguments: argparse.Namespace) -> int:
    from bot import eval_command

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
    from bot import memory_command

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
