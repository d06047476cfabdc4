"""What an agent returns: typed results, whose JSON Schemas are published beside the promptware.

Data alone, as :mod:`runner.contract`, which builds on it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Line = Annotated[str, StringConstraints(max_length=300)]
Text = Annotated[str, StringConstraints(max_length=65_536)]


class Message(BaseModel):
    """Base of everything that travels: immutable, nothing unknown gets in, and every number is one."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Unit(StrEnum):
    """A folder of promptware: what an agent is asked to do."""

    CREATE_PLAN = "CreatePlan"
    UPDATE_PLAN = "UpdatePlan"
    EXECUTE_PLAN = "ExecutePlan"
    CREATE_PR = "CreatePr"


class Verdict(StrEnum):
    """What planning came to."""

    PLAN = "plan"
    ALREADY_DONE = "already_done"
    NEEDS_INFORMATION = "needs_information"
    REFUSE = "refuse"


class PlanDocument(Message):
    """A plan as unit CreatePlan or UpdatePlan returns it (schema ``plan``)."""

    verdict: Verdict
    title: Line = Field(min_length=1)
    summary: Text
    steps: tuple[Text, ...] = ()
    files: tuple[Line, ...] = ()
    """Globs of the paths the change may touch, relative to the root; ``**`` crosses folders: the scope gate's list."""
    weakens: tuple[Line, ...] = ()
    """Exact paths of tests and of checks' settings in which something is taken away, loosened, skipped or set otherwise
    because the issue asks for it; nowhere else may that happen."""
    tests: tuple[Text, ...] = ()
    risks: tuple[Text, ...] = ()
    questions: tuple[Text, ...] = ()
    reason: Text = ""
    """Why, for every verdict but ``plan``: the evidence, the missing information, the ground of the refusal."""


class Lesson(Message):
    """One thing learned, to be kept as a file under the unit's Memory once a person has approved the diff."""

    unit: Unit
    kind: Literal["fact", "convention", "pitfall"]
    text: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    paths: tuple[Line, ...] = ()


class ExecutionSummary(Message):
    """What the agent says it did (schema ``execution``). Shown as its words; decides nothing but ``blocked``."""

    status: Literal["done", "blocked"]
    summary: Text
    deviations: tuple[Text, ...] = ()
    blocked_by: Text = ""
    lessons: tuple[Lesson, ...] = ()


class PullRequestText(Message):
    """Title and body of the pull request (schema ``pull_request``)."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    body: Text
