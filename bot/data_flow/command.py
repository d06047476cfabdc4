"""``twogate data-flow``: the list as a table, or as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot import tables
from bot.data_flow import facts, of_bot, of_repository
from bot.data_flow.party import shown
from bot.serving import opened

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from bot.data_flow.party import Party
    from bot.settings import Settings

HEAD = ("WHO", "SEES", "BY WHOSE RIGHT", "KNOWN FROM")
WIDTHS = (50, 16, 30, 30)
"""Characters of the columns."""
EVERY = "every run"
"""The name of the parties that come with the bot, in JSON too."""
BESIDES = (
    "Nobody else: prices are looked up in a table of the program itself, agents get no MCP server but the runner's, "
    "and there is no telemetry. Not looked at is who may log in to these machines, and where their backups lie."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Tell what can be asked for."""
    parser.add_argument("names", nargs="*", metavar="OWNER/NAME", help="repositories (all where the App is installed)")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="what a policy file would make of it; asks nobody")
    parser.add_argument("--json", action="store_true", help="print JSON")


def told(arguments: argparse.Namespace, settings: Callable[[], Settings]) -> Iterator[str]:
    """Yield the lines to print; what is wrong with a policy file is told before the bot's settings are looked at."""
    file = None if arguments.policy is None else facts.of_file(arguments.policy)
    listed = listing(settings(), arguments.names, file)
    if arguments.json:
        yield json.dumps({where: [_as_json(party) for party in rows] for where, rows in listed.items()}, indent=2)
        return
    for where, rows in listed.items():
        yield where
        yield from tables.wrapped(WIDTHS, HEAD, *(_cells(party) for party in rows))
        yield ""
    yield BESIDES


def listing(
    settings: Settings, names: Iterable[str] = (), file: of_repository.Facts | None = None
) -> dict[str, list[Party]]:
    """Return the parties of every run, and under each repository's name, or that of a policy file, those that it adds.

    Raises :class:`~bot.errors.UserError` for a repository that can't be used.
    """
    found = {EVERY: list(of_bot.parties(settings))}
    if file is not None:
        return found | {file.name: list(of_repository.parties(file))}
    with opened(settings) as parts:
        return found | {each.name: list(of_repository.parties(each)) for each in facts.in_force(parts, list(names))}


def _cells(party: Party) -> tuple[str, ...]:
    return shown(party), ", ".join(party.sees), party.credentials, party.source


def _as_json(party: Party) -> dict[str, Any]:
    return {
        "who": party.who,
        "addresses": list(party.addresses),
        "sees": list(party.sees),
        "credentials": party.credentials,
        "from": party.source,
    }
