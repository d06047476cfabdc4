"""The verbs of people: ``twogate plans``, ``show``, ``create``, ``approve``, ``reject``, ``costs``, ``logs``, ``open``.

They speak to the bot's REST API with the person's own token, so that each sees and does what GitHub lets them.
"""

from __future__ import annotations

import json
import os
import sys
import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot import wire
from bot.arguments import UNWELL, WELL, add_command, count, program, repository, run_command
from bot.errors import UserError
from bot.lifecycle.commands import Verb
from bot.lifecycle.periods import DAYS
from bot.lifecycle.states import State
from bot.remote import mcp_command, shown, where
from bot.remote.client import DEED_SECONDS, Client

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from pydantic import BaseModel

    from bot.arguments import Commands

SHORT_HASH = 7
"""Characters of a hash that name what was seen."""
PLANS_SHOWN = 30
"""Plans of a table where no number is asked for."""
STATES = f"in this state alone; may be repeated: {', '.join(State)}"
NAMES = frozenset({"plans", "show", "create", "approve", "reject", "costs", "logs", "open", "mcp"})
"""The commands that :func:`add_verbs` adds."""


def main(argv: Sequence[str]) -> int:
    """Run one of these commands, with nothing of the bot's own loaded, and return its exit code."""
    parser = program()
    add_verbs(parser.add_subparsers(required=True, metavar="COMMAND"))
    return run_command(parser, argv)


def add_verbs(commands: Commands) -> None:
    """Add the verbs to the command line."""
    plans = _verb(commands, "plans", _plans, "list the plans that you may see")
    plans.add_argument(
        "--state", action="append", choices=[str(state) for state in State], metavar="STATE", help=STATES
    )
    plans.add_argument("--all", action="store_true", help="of every repository, whatever folder this is")
    plans.add_argument("--limit", type=count, default=PLANS_SHOWN, metavar="N", help=f"so many ({PLANS_SHOWN})")
    _of_issue(_verb(commands, "show", _show, "show an issue's plan: where it stands, what it says, what it cost"))
    create = _verb(commands, "create", _create, "make an issue for which a plan is written")
    create.add_argument("title", help="the issue's title")
    create.add_argument("--body", default="", help="its text; `-` reads it from standard input, `@FILE` from a file")
    approve = _decision(commands, "approve", _approve, "approve the plan or the diff, after a look at it")
    approve.add_argument("--saw", metavar="HASH", help="approve only if this is what is up for decision")
    reject = _decision(commands, "reject", _reject, "reject the plan or the diff")
    reject.add_argument("--why", default="", metavar="TEXT", help="why; agents are told")
    costs = _verb(commands, "costs", _costs, "say what a plan has cost so far, or what a period cost")
    costs.add_argument("issue", type=count, nargs="?", help="number of the issue; without it, the period")
    costs.add_argument("--all", action="store_true", help="of every repository that you may see")
    when = costs.add_mutually_exclusive_group()
    when.add_argument("--month", metavar="YYYY-MM", help="a calendar month (UTC)")
    when.add_argument("--days", type=count, metavar="N", help=f"the last days ({DAYS})")
    _of_issue(_verb(commands, "logs", _logs, "show what the bot knows of a plan's runs"))
    opened = _of_issue(_verb(commands, "open", _open, "open a plan's page in the browser"))
    opened.add_argument("--print", action="store_true", help="print the address alone")
    mcp = add_command(commands, "mcp", mcp_command.run, "serve agents over the Model Context Protocol")
    mcp_command.add_arguments(mcp)


def _verb(commands: Commands, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    made = add_command(commands, name, run, text)
    made.add_argument("--repo", type=repository, metavar="OWNER/NAME", help="the repository (that of this folder)")
    made.add_argument("--url", help="the bot's address (TWOGATE_URL)")
    made.add_argument("--json", action="store_true", help="print JSON")
    return made


def _of_issue(made: argparse.ArgumentParser) -> argparse.ArgumentParser:
    made.add_argument("issue", type=count, help="number of the issue")
    return made


def _decision(commands: Commands, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    made = _of_issue(_verb(commands, name, run, text))
    made.add_argument("--yes", action="store_true", help="do not ask")
    made.add_argument("--no-wait", action="store_true", help=f"do not wait for what comes of it ({DEED_SECONDS:.0f} s)")
    return made


def _plans(arguments: argparse.Namespace) -> int:
    wanted = {"repository": None if arguments.all else _repository(arguments)}
    states = tuple(State(state) for state in arguments.state or ())
    with _client(arguments) as client:
        found = list(client.every_plan(arguments.limit, states=states, **wanted))
    return _told(arguments, found, shown.plans(found, time.time()))


def _show(arguments: argparse.Namespace) -> int:
    with _client(arguments) as client:
        found = client.plan_of(_repository(arguments), arguments.issue)
    return _told(arguments, found, shown.plan(found, time.time()))


def _create(arguments: argparse.Namespace) -> int:
    where_ = _repository(arguments)
    with _client(arguments) as client:
        made = client.create(where_, arguments.title, _text(arguments.body))
    named = f" --repo {where_}" if arguments.repo else ""
    follows = f"Its plan is being asked for: `twogate show {made.issue}{named}`."
    held_up = "GitHub did not let you set the label: no plan follows until somebody with triage access sets it."
    return _told(arguments, made, [made.issue_url, follows if made.labelled else held_up])


def _approve(arguments: argparse.Namespace) -> int:
    with _client(arguments) as client:
        plan = client.plan_of(_repository(arguments), arguments.issue)
        if plan.up is None:
            return _nothing_up(arguments, plan)
        if arguments.saw and not (len(arguments.saw) >= SHORT_HASH and plan.up.saw.startswith(arguments.saw)):
            raise UserError(f"What is up for decision is {plan.up.saw}, and not {arguments.saw}: look at it again.")
        if not arguments.json:
            _print(shown.covered(plan, plan.up))
        _confirm(arguments, f"Approve this at the {plan.up.gate} gate?", sure=bool(arguments.saw))
        return _decided(arguments, client, client.decide(plan.uid, Verb.APPROVE, saw=plan.up.saw))


def _reject(arguments: argparse.Namespace) -> int:
    with _client(arguments) as client:
        plan = client.plan_of(_repository(arguments), arguments.issue)
        if plan.up is None:
            return _nothing_up(arguments, plan)
        _confirm(arguments, f"Reject {shown.line(plan.title)!r} at the {plan.up.gate} gate?")
        return _decided(arguments, client, client.decide(plan.uid, Verb.REJECT, arguments.why))


def _costs(arguments: argparse.Namespace) -> int:
    of_period = arguments.all or arguments.month or arguments.days
    if arguments.issue is not None and of_period:
        raise UserError(
            "A plan's costs are those of its whole life: leave out the issue, or --all, --month and --days."
        )
    where_ = None if arguments.all else _repository(arguments)
    with _client(arguments) as client:
        if arguments.issue is None or where_ is None:
            period = client.figures(where_, arguments.days or DAYS, arguments.month)
            return _told(arguments, period, shown.figures(period))
        plan = client.plan_of(where_, arguments.issue).costs
    return _told(arguments, plan, shown.costs(plan))


def _logs(arguments: argparse.Namespace) -> int:
    with _client(arguments) as client:
        found = client.plan_of(_repository(arguments), arguments.issue).jobs
    return _told(arguments, found, shown.logs(found, time.time()))


def _open(arguments: argparse.Namespace) -> int:
    with _client(arguments) as client:
        plan = client.plan_of(_repository(arguments), arguments.issue)
    address = f"{client.url}/plans/{plan.uid}"
    if not (arguments.print or arguments.json):
        webbrowser.open(address)
    return _told(arguments, {"url": address}, [address])


def _client(arguments: argparse.Namespace) -> Client:
    return Client(where.access(os.environ, arguments.url))


def _repository(arguments: argparse.Namespace) -> str:
    owner, name = arguments.repo or where.repository()
    return f"{owner}/{name}"


def _text(given: str) -> str:
    """Return an issue's text: as it was given, from standard input, or from a file."""
    if given == "-":
        return sys.stdin.read(wire.LONGEST_TEXT)
    if given.startswith("@"):
        try:
            return Path(given[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            said = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
            raise UserError(f"{given[1:]} can't be read: {said}.") from error
    return given


def _nothing_up(arguments: argparse.Namespace, plan: wire.PlanDetail) -> int:
    sentence = f"Nothing is up for decision, the plan is {plan.state}. {shown.line(plan.reason)}".rstrip()
    _told(arguments, {"counted": False, "outcome": sentence}, [sentence])
    return UNWELL


def _confirm(arguments: argparse.Namespace, question: str, *, sure: bool = False) -> None:
    """Ask whether it is meant. Raises :class:`UserError` where it is not, or where nobody can be asked."""
    if arguments.yes or sure:
        return
    if not sys.stdin.isatty():
        raise UserError("Nobody can be asked here: give --yes.")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().casefold() not in {"y", "yes"}:
        raise UserError("Nothing was done.")


def _decided(arguments: argparse.Namespace, client: Client, deed: wire.DeedView) -> int:
    """Say what came of a decision; exit code 1 where the plan did not take it, or nobody knows yet."""
    if not arguments.no_wait:
        deed = client.outcome(deed)
    waits = "The bot is asking GitHub: `twogate show` says what came of it."
    _told(arguments, deed, [shown.line(deed.outcome) or waits])
    return WELL if deed.counted or (arguments.no_wait and deed.counted is None) else UNWELL


def _told(arguments: argparse.Namespace, found: Any, lines: Iterable[str]) -> int:
    """Print JSON for programs, or else the lines for people."""
    if arguments.json:
        print(json.dumps(_plain(found), indent=1))
    else:
        _print(lines)
    return WELL


def _plain(found: BaseModel | Sequence[BaseModel] | dict[str, Any]) -> Any:
    if isinstance(found, dict):
        return found
    if isinstance(found, list | tuple):
        return [each.model_dump(mode="json") for each in found]
    return found.model_dump(mode="json")  # type: ignore[union-attr]


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)
