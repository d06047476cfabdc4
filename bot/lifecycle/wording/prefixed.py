"""Commands as they have to be written here: where the policy sets a prefix, each that a text names carries it.

Templates name commands bare, ``/approve`` in backticks. What they are made of is changed once, when they are loaded, so
that text of others, which only comes in through the filters, is never touched.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jinja2 import PackageLoader

from bot.lifecycle.commands import Verb

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment

_COMMAND = rf"`/(?=(?:{'|'.join(Verb)})\b|\{{\{{ meant)"
_PARTS = re.compile(rf"(?P<tag>\{{\{{.*?\}}\}}|\{{%.*?%\}}|\{{#.*?#\}})|{_COMMAND}", re.DOTALL)
_IN_WORDS = re.compile(rf"(?<![\w/])/(?=(?:{'|'.join(Verb)})\b)")


class Prefixing(PackageLoader):
    """Loads templates in which each command is written behind ``spoken``: nothing, or the prefix and a blank.

    Commands in the double-quoted strings of an expression are meant too.
    """

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool] | None]:
        """Return the source with the prefix's place in it."""
        source, path, fresh = super().get_source(environment, template)
        return _PARTS.sub(_with_place, source), path, fresh


def _with_place(found: re.Match[str]) -> str:
    return re.sub(_COMMAND, '`/" ~ spoken ~ "', found["tag"]) if found["tag"] else "`/{{ spoken }}"


def prefixed(sentence: str, spoken: str) -> str:
    """Return a sentence of ours in which the commands carry the prefix."""
    return _IN_WORDS.sub(f"/{spoken}", sentence)
