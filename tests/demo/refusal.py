"""What the demo can't do, as a sentence."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818 - it is no error of the program
    """The demo can't be played as it was asked for; ``str()`` says what is amiss and what to do. Exit code 2."""
