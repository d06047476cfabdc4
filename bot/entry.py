"""Where ``twogate`` begins: the commands of people start without the bot, whose parts take seconds to load."""

from __future__ import annotations

import sys

from bot.remote import verbs


def main() -> int:
    """Run the command that was given and return its exit code."""
    words = sys.argv[1:]
    if words and words[0] in verbs.NAMES:
        return verbs.main(words)
    from bot import cli  # noqa: PLC0415 - only where it is needed

    return cli.main(words)
