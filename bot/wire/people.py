"""Who asks, what they ask for, and what came of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, StringConstraints, WithJsonSchema

from bot.lifecycle.commands import DOES_SOMETHING, Verb
from bot.wire.base import Asked, PersonView, RepositoryView, Wire

LONGEST_TITLE = 256
"""Characters of an issue's title, as GitHub has it."""
LONGEST_TEXT = 65_536
"""Characters of what a person says, as GitHub has it."""
LONGEST_KEY = 200
"""Characters of an idempotency key."""
LONGEST_TOKEN = 2_048
"""Characters of a token of GitHub; theirs are shorter, and what is longer is not shown to it."""


def is_token(text: str) -> bool:
    """Whether a text can be a token of GitHub, and be sent as one."""
    return 0 < len(text) <= LONGEST_TOKEN and text.isascii() and text.isprintable() and " " not in text


class MyRepository(RepositoryView):
    """A repository with plans, and what the person may do there."""

    permission: str


class Me(Wire):
    """Who asks, and what they may see."""

    person: PersonView
    by: Literal["dashboard", "api"]
    repositories: list[MyRepository]


class NewPlan(Asked):
    """Ask for a plan: an issue is made with the person's own token and the repository's label."""

    repository: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._-]{1,100}$")]
    """``owner/name``."""
    title: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TITLE)]
    body: Annotated[str, StringConstraints(max_length=LONGEST_TEXT)] = ""


class MadePlan(Wire):
    """The issue that was made; its plan follows as soon as GitHub has told the bot of it."""

    repository: RepositoryView
    issue: int
    issue_url: str
    labelled: bool
    """False where GitHub dropped the label, as it does for who may not set any: somebody with triage has to set it."""


def _does_something(verb: Verb) -> Verb:
    if verb not in DOES_SOMETHING:
        raise ValueError(f"{verb} asks for words alone, which are shown here anyhow")
    return verb


Sayable = Annotated[
    Verb,
    AfterValidator(_does_something),
    WithJsonSchema({"enum": [verb.value for verb in DOES_SOMETHING], "type": "string"}),
]
"""Commands that do something to a plan."""


class Decision(Asked):
    """What a person says to a plan: a command, with the words behind it."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"verb": {"const": Verb.APPROVE.value}}},
            "then": {"required": ["saw"], "properties": {"saw": {"type": "string"}}},
        }
    )

    verb: Sayable
    text: Annotated[str, StringConstraints(max_length=LONGEST_TEXT)] = ""
    saw: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")] | None = None
    """For ``approve``: ``up.saw`` of the plan, so that the approval covers what the person was shown."""
    via: Literal["api", "mcp"] = "api"
    """How the person came to the API; what the dashboard sends is always its own."""


class DeedStatus(StrEnum):
    """How far a deed has come."""

    WAITING = "waiting"
    DONE = "done"


class DeedView(Wire):
    """What a person said, and what came of it."""

    id: int
    plan: str
    verb: Verb
    status: DeedStatus
    outcome: str
    """A sentence; empty while GitHub is being asked."""
    counted: bool | None
    """Whether the plan took it; null while it waits."""
