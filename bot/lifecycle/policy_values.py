"""The kinds of values in a policy file, and their limits."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

BUILT_IN_AGENTS = ("claude", "codex", "copilot", "gemini", "opencode")
"""Agents that need no command of one's own."""
BUILT_IN_GATES = ("scope", "conflict markers", "secrets", "security", "weakening", "dependencies")
"""Names that the built-in checks have in the table, so that no command is taken for one of them."""
PLACEHOLDERS = ("prompt_file", "result_file", "model", "unit", "attempt", "worktree")
"""What an agent's command may ask for in braces."""
MOST_USD = 100_000
"""Dollars that a limit may name, and that a million tokens may cost."""
MOST_MINUTES = 1_440
"""Minutes that a job may be given."""
MOST_TOKENS = 10_000_000_000
"""Tokens that a limit may name."""
MOST_ATTEMPTS = 10
"""Attempts that a job may be given; the contract with the runner has the same limit."""
MAX_GATE_SECONDS = 7_200
"""The longest that one check may take; the contract with the runner has the same limit."""
MAX_CI_SECONDS = 86_400
"""The longest that the checks of other Apps are waited for."""
MAX_KEEP_SECONDS = 90 * 86_400
"""The longest that the branch of a closed pull request is kept."""
MAX_LOG_SECONDS = 3_650 * 86_400
"""The longest that runners keep logs; the contract with the runner has the same limit."""
MOST_NAMES = 50
"""Teams, people, bots or checks that one list may name."""
MOST_APPROVALS = 10
"""Different people whose approval may be asked for at each gate."""
MOST_FIXES = 10
"""How often failing checks of a pull request may be worked on without a person asking."""
MOST_GENERATIONS = 1_000_000
"""Up to which the secret of the hooks can be counted."""
MOST_IN_REVIEW = 1_000
"""Plans that may wait for their diff review at the same time."""
MOST_ISSUE = 2**31 - 1
"""The highest number of an issue that can be named."""
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic collects ValueErrors alone
    return Decimal(value)


def _duration(most: int, units: str, examples: list[str]) -> tuple[object, ...]:
    """Return what makes seconds of a time as people write it, at most so many."""
    pattern = rf"([1-9][0-9]{{0,4}})([{units}])"
    *others, last = examples
    such_as = f"{', '.join(others)} or {last}"

    def read(value: object) -> int:
        match = re.fullmatch(pattern, value) if isinstance(value, str) else None
        if match is None:
            raise ValueError(f"must be a time such as {such_as}")
        seconds = int(match[1]) * _SECONDS[match[2]]
        if seconds > most:
            raise ValueError(f"must be at most {in_words(most)}")
        return seconds

    schema = {"type": "string", "pattern": f"^[1-9][0-9]{{0,4}}[{units}]$", "examples": examples}
    return BeforeValidator(read), WithJsonSchema(schema)


def in_words(seconds: int) -> str:
    """Return a time as the file would say it, in its largest whole unit."""
    unit = next(unit for unit in "dhms" if seconds % _SECONDS[unit] == 0)
    return f"{seconds // _SECONDS[unit]}{unit}"


def _glob(value: str) -> str:
    parts = value.split("/")
    if value.startswith(("/", "!")) or ".." in parts or "" in parts[:-1]:
        raise ValueError("must be a path pattern relative to the root, without `..` or `!`")
    return value


def _command_word(value: str) -> str:
    for name in re.findall(r"\{([a-z_]+)\}", value):
        if name not in PLACEHOLDERS:
            raise ValueError(f"{{{name}}} is not known; there is {', '.join(f'{{{p}}}' for p in PLACEHOLDERS)}")
    return value


def _inside(value: str) -> str:
    parts = value.rstrip("/").split("/")
    if not value.isprintable() or {"", ".", "..", ".git"} & set(parts):
        raise ValueError("must be a path within the repository, relative to its root")
    return value.rstrip("/")


Word = Annotated[str, Field(min_length=1, max_length=300, pattern=r"^\S(.*\S)?$")]
Shell = Annotated[str, Field(min_length=1, max_length=4_000, pattern=r"\S")]
Glob = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_glob)]
_USD = {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_USD}
_PRICE = {"type": "number", "minimum": 0, "maximum": MOST_USD}
_MINUTES = {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_MINUTES}
Usd = Annotated[Decimal, BeforeValidator(_number), Field(gt=0, le=MOST_USD), WithJsonSchema(_USD)]
Price = Annotated[Decimal, BeforeValidator(_number), Field(ge=0, le=MOST_USD), WithJsonSchema(_PRICE)]
Minutes = Annotated[Decimal, BeforeValidator(_number), Field(gt=0, le=MOST_MINUTES), WithJsonSchema(_MINUTES)]
CarriedPath = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_inside)]
Duration = Annotated[int, *_duration(MAX_GATE_SECONDS, "smh", ["90s", "15m", "2h"])]
Patience = Annotated[int, *_duration(MAX_CI_SECONDS, "smh", ["30m", "2h"])]
Keeping = Annotated[int, *_duration(MAX_KEEP_SECONDS, "hd", ["12h", "14d"])]
LogKeeping = Annotated[int, *_duration(MAX_LOG_SECONDS, "d", ["7d", "30d"])]
TierName = Literal["fast", "balanced", "deep"]
EffortName = Literal["low", "medium", "high"]
AgentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,49}$")]
CommandWord = Annotated[str, Field(min_length=1, max_length=4_000), AfterValidator(_command_word)]
_LOGIN = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$"
_TEAM = r"^(?:[A-Za-z0-9][A-Za-z0-9-]{0,38}/)?[A-Za-z0-9_-]{1,100}$"
_BOT = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?$"
_PREFIX = r"^[a-z]{1,20}$"
Login = Annotated[str, Field(pattern=_LOGIN)]
Team = Annotated[str, Field(pattern=_TEAM)]
Bot = Annotated[str, Field(pattern=_BOT)]
Prefix = Annotated[str, Field(pattern=_PREFIX)]
FORMS = {
    _LOGIN: "a user name without `@`, such as octocat",
    _TEAM: "a team's name without `@`, such as core, or acme/core of another organisation",
    _BOT: "the name of an App or a bot without `@`, such as renovate or renovate[bot]",
    _PREFIX: "one word of 1 to 20 small letters without `/`, such as tg",
}
"""What a pattern asks for, in words; the others are told as they are."""
