"""``twogate admin``: what the bot's database holds, told and put right on the bot's own machine."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from bot import costs_command, hook_command, tables
from bot.arguments import UNWELL, WELL, add_command, count, repository
from bot.lifecycle import periods
from bot.opened import current_store, found_settings
from bot.store import deliveries, journal, outbox, plans, throttles

if TYPE_CHECKING:
    import argparse

PLANS_SHOWN = 100
"""Rows of the table of plans, those that changed last."""
OWN = "read from standard input the secret of the sender's own making (jam.dev, Linear, Sentry)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands below ``twogate admin``."""
    below = parser.add_subparsers(required=True, metavar="ACTION")
    add_command(below, "plans", _plans, "list the plans that changed last, and the installations that are paused")
    show = add_command(below, "show", _show, "show an issue's plans and what happened to them")
    show.add_argument("issue", type=count, help="number of the issue")
    resume = add_command(below, "resume", _resume, "lift every pause, or an installation's")
    resume.add_argument("--installation", type=count, metavar="ID", help="that installation alone")
    parked = add_command(below, "parked", _parked, "list deliveries and effects that were given up; put one back")
    _add_retry(parked)
    hook = add_command(below, "hook-secret", _hook_secret, "let reports of a repository in, and show the secret for it")
    hook.add_argument("repository", type=repository, metavar="OWNER/NAME", help="the repository")
    hook.add_argument("--signs-with-own", action="store_true", help=OWN)
    costs = add_command(
        below, "costs", _costs, "say what a period cost, what a merged pull request cost, what was denied"
    )
    when = costs.add_mutually_exclusive_group()
    when.add_argument("--month", metavar="YYYY-MM", help="a calendar month (UTC)")
    when.add_argument("--days", type=count, default=periods.DAYS, help=f"the last days ({periods.DAYS})")
    costs.add_argument("--json", action="store_true", help="print JSON, dollars as text")


def _add_retry(parked: argparse.ArgumentParser) -> None:
    below = parked.add_subparsers(metavar="[ACTION]")
    retry = add_command(below, "retry", _retry, "put one back, to be tried afresh")
    retry.add_argument("queue", choices=("delivery", "effect"), help="where it was given up")
    retry.add_argument("id", type=count, help="its number in the list")


def _plans(_arguments: argparse.Namespace) -> int:
    with current_store().read() as tx:
        found = plans.recent(tx, PLANS_SHOWN)
        now = tx.now
        pauses = throttles.paused(tx)
    for line in tables.table(tables.PLANS, *(tables.plan(plan, now) for plan in found)):
        print(line)
    for pause in pauses:
        print(f"{pause.name} is paused: {pause.reason}")
    return WELL


def _show(arguments: argparse.Namespace) -> int:
    with current_store().read() as tx:
        found = [plan for plan in plans.recent(tx, sys.maxsize) if plan.issue_number == arguments.issue]
        histories = [journal.of_plan(tx, plan.uid) for plan in found]
        now = tx.now
    for plan, entries in zip(found, histories, strict=True):
        print("  ".join((plan.uid, *tables.plan(plan, now))))
        for entry in entries:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(entry.at))
            who = f" by {entry.actor_login}" if entry.actor_login else ""
            note = tables.printable(entry.note)
            print(f"  {when}Z  {entry.event}{who}: {entry.from_state or 'new'} -> {entry.to_state}  {note}")
    if not found:
        print(f"No plan of an issue #{arguments.issue} is known.")
    return WELL if found else UNWELL


def _resume(arguments: argparse.Namespace) -> int:
    with current_store().write() as tx:
        lifted = [pause for pause in throttles.paused(tx, arguments.installation) if throttles.lift(tx, pause.name)]
    for gate in lifted:
        print(f"{gate.name} is open again. It was closed: {gate.reason}")
    if not lifted:
        print("Nothing is paused.")
    return WELL


def _parked(_arguments: argparse.Namespace) -> int:
    with current_store().read() as tx:
        now = tx.now
        rows = [tables.delivery(found, now) for found in deliveries.parked(tx)]
        rows += [tables.effect(found, now) for found in outbox.parked(tx)]
    for line in tables.table(tables.PARKED, *rows) if rows else ["Nothing is given up."]:
        print(line)
    return WELL


def _retry(arguments: argparse.Namespace) -> int:
    queue = deliveries if arguments.queue == "delivery" else outbox
    with current_store().write() as tx:
        back = queue.unpark(tx, arguments.id)
    what = f"{arguments.queue.capitalize()} {arguments.id}"
    print(f"{what} is tried afresh." if back else f"{what} is not given up: `twogate admin parked` lists what is.")
    return WELL if back else UNWELL


def _hook_secret(arguments: argparse.Namespace) -> int:
    current_store().dispose()
    owner, name = arguments.repository
    signs_with = sys.stdin.readline().strip() if arguments.signs_with_own else None
    for line in hook_command.told(found_settings(), owner, name, signs_with):
        print(line)
    return WELL


def _costs(arguments: argparse.Namespace) -> int:
    store = current_store()
    with store.read() as tx:
        since, until = costs_command.period(arguments.month, arguments.days, tx.now)
    for line in costs_command.told(store, since, until, as_json=arguments.json):
        print(line)
    return WELL
