"""What the commands of ``twogate`` have in common: exit codes, how a command is added, and values it can take."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bot.errors import ConfigError, TwogateError
from bot.tables import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 (argparse has no public name for it)

WELL, UNWELL, IMPOSSIBLE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: well; something that was asked about is not well; it can't be done as asked; Ctrl-C."""


def program() -> argparse.ArgumentParser:
    """Return the parser to which commands are added."""
    made = argparse.ArgumentParser(
        prog="twogate",
        description="Turns labelled issues into reviewed pull requests.",
        epilog="Settings are environment variables TWOGATE_*. On the bot's machine a file .env is read beside them.",
    )
    made.add_argument("--version", action="version", version=f"%(prog)s {version('twogate')}")
    return made


def run_command(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    """Run the command that is asked for and return its exit code; what can't be done is a sentence on stderr.

    Who reads the output may stop doing so, as ``head`` does: then the rest is not written, and all is well.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that can't show a letter still shows the rest
    arguments, strange = parser.parse_known_args(argv)
    if strange:
        arguments.parser.error(f"unrecognized arguments: {' '.join(strange)}")
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        code = run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except ConfigError as error:
        for fault in error.faults:
            print(f"twogate: {fault}", file=sys.stderr)
        code = IMPOSSIBLE
    except BrokenPipeError:
        code = WELL
    except (TwogateError, OSError) as error:
        print(f"twogate: {printable(str(error))}", file=sys.stderr)
        code = IMPOSSIBLE
    except KeyboardInterrupt:
        code = INTERRUPTED
    _finish_output()
    return code


def _finish_output() -> None:
    """Write what is left for stdout; where that takes nothing any more, drop it, so that the end is no second error."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def add_command(
    commands: Commands, name: str, run: Callable[[argparse.Namespace], int], text: str, **more: Any
) -> argparse.ArgumentParser:
    """Add a command that ``run`` carries out, and return its parser; ``text`` is its line in the help above it."""
    made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.", **more)
    made.set_defaults(run=run, parser=made)
    return made


def count(text: str) -> int:
    """Return a whole number above 0."""
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def account(text: str) -> str:
    """Return the name of an account of GitHub."""
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no account of GitHub")
    return text


def commit(text: str) -> str:
    """Return a whole commit id."""
    if not re.fullmatch(r"[0-9a-f]{40}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no commit: give all 40 characters, since a tag can be moved")
    return text


def repository(text: str) -> tuple[str, str]:
    """Return owner and name of a repository."""
    match = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9_-]{0,38})/([A-Za-z0-9._-]{1,100})", text)
    if match is None or match[2] in {".", ".."}:
        raise argparse.ArgumentTypeError(f"{text!r} is no repository: write it as OWNER/NAME")
    return match[1], match[2]
