"""What happens in a run, in words that are the same for every agent; one JSON object a line.

``python -m runner.logs.events`` writes the schema, ``runner/logs/events.schema.json``. Readers pass over kinds and
fields that they don't know: a later release may have more.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

MAX_TEXT = 4_000
"""Characters of what an agent said at once; the rest is cut, which is seen."""
MAX_SHORT = 300
"""Characters of a path, a command, an argument."""


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    at: float = 0.0
    """Epoch seconds."""


class Started(_Event):
    """A run began."""

    kind: Literal["started"] = "started"
    job: str
    plan: str
    """``owner/name#12``."""
    revision: int
    unit: str
    number: int
    """Which run of this unit it is in the job."""
    attempt: int
    agent: str
    model: str | None
    resumed: bool
    """Whether it went on with a session that knew the first prompt."""
    prompt_bytes: int
    prompt_sha256: str
    """Of what the agent got; ``prompt.md`` differs from it where a secret was taken out."""


class Said(_Event):
    """The agent's own words."""

    kind: Literal["said"] = "said"
    text: str


class Thought(_Event):
    """The agent's reasoning, where its stream shows it."""

    kind: Literal["thought"] = "thought"
    text: str


class Called(_Event):
    """The agent called one of its tools."""

    kind: Literal["called"] = "called"
    tool: str
    argument: str = ""
    """The one that tells most of it, shortened."""


class Answered(_Event):
    """A tool answered."""

    kind: Literal["answered"] = "answered"
    tool: str
    ok: bool
    size: int = 0
    """Characters of the answer."""


class Read(_Event):
    """A file was read."""

    kind: Literal["read"] = "read"
    path: str


class Changed(_Event):
    """A file was written, edited or removed."""

    kind: Literal["changed"] = "changed"
    path: str
    how: Literal["added", "edited", "removed", "written"] = "written"


class Ran(_Event):
    """A command ended."""

    kind: Literal["ran"] = "ran"
    command: str
    exit_code: int | None = None
    """None where the stream does not tell it."""
    ok: bool


class Warned(_Event):
    """The agent's program told of a fault."""

    kind: Literal["warned"] = "warned"
    text: str


class Asked(_Event):
    """The agent called its model, by the meter; of a run past the meter, all that the agent told of it afterwards."""

    kind: Literal["asked"] = "asked"
    model: str | None
    input_tokens: int | None = None
    """Without what was read from or written to a cache; None: unknown."""
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    usd: Decimal | None = None
    """None: the price is not known."""
    metered: bool = True
    calls: int = 1


class Cut(_Event):
    """The run told more than is kept: nothing of its stream follows here."""

    kind: Literal["cut"] = "cut"
    events: int
    """How many are kept."""


class Ended(_Event):
    """The run is over."""

    kind: Literal["ended"] = "ended"
    outcome: str
    """``answered``: with a result that can be used; ``invalid_result``: with none; else how the job ended by it."""
    sentence: str = ""
    seconds: float = 0.0
    exit_code: int | None = None
    """None where the runner ended it, or it never started."""
    lines: int = 0
    """Lines of the stream."""
    unknown: int = 0
    """Of these, lines that nothing here understood; they are in the raw stream."""


Event = Annotated[
    Started | Said | Thought | Called | Answered | Read | Changed | Ran | Warned | Asked | Cut | Ended,
    Field(discriminator="kind"),
]
ADAPTER: TypeAdapter[Any] = TypeAdapter(Event)
SCHEMA = Path(__file__).with_name("events.schema.json")


def parse(line: bytes) -> Event | None:
    """Return the event of a line, None where it is none that is known here."""
    try:
        event: Event = ADAPTER.validate_json(line)
    except ValidationError:
        return None
    return event


def render() -> str:
    """Return the JSON Schema of a line."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Twogate run event"}
    return json.dumps({**schema, **ADAPTER.json_schema(mode="serialization")}, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(render(), encoding="utf-8")
