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
    EXPAND_PLAN = "ExpandPlan"
    UPDATE_PLAN = "UpdatePlan"
    SPLIT_PLAN = "SplitPlan"
    EXECUTE_PLAN = "ExecutePlan"
    INSPECT_DIFF = "InspectDiff"
    """Another agent than the one that wrote the change reads it beside its plan; what it finds is shown."""
    CREATE_PR = "CreatePr"
    CREATE_ISSUE = "CreateIssue"


class Verdict(StrEnum):
    """What planning came to."""

    PLAN = "plan"
    ALREADY_DONE = "already_done"
    NEEDS_INFORMATION = "needs_information"
    DUPLICATE = "duplicate"
    """Another issue's plan covers it."""
    REFUSE = "refuse"


class PlanDocument(Message):
    """A plan as units CreatePlan, ExpandPlan and UpdatePlan return it (schema ``plan``)."""

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
    duplicate_of: int | None = Field(default=None, ge=1)
    """With verdict ``duplicate``: the issue whose plan covers this one."""
    changes: tuple[Text, ...] = ()
    """What is different from the revision before, an entry a change; empty in a first plan."""


MOST_CHILDREN = 8
"""Plans that one plan is split into, at most: more is a project, not a change."""


class SplitChild(Message):
    """One of the plans that a plan is split into."""

    plan: PlanDocument
    depends_on: tuple[int, ...] = ()
    """Positions, counted from 1, of the children that must be merged before this one starts."""


class SplitDocument(Message):
    """A plan in parts, as unit SplitPlan returns it (schema ``split``)."""

    summary: Text
    """How it was cut, and why there."""
    children: tuple[SplitChild, ...] = Field(min_length=2, max_length=MOST_CHILDREN)


MOST_RECOMMENDATIONS = 10
"""Things beside its task that an agent may recommend."""


class Recommendation(Message):
    """Something worth doing that is not part of the plan; becomes an issue only when a person says so."""

    title: Line = Field(min_length=1)
    reason: Text
    paths: tuple[Line, ...] = ()


class IssueText(Message):
    """Title and body of an issue, as unit CreateIssue returns it (schema ``issue``)."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    body: Text


class Finding(Message):
    """One thing an inspector noticed."""

    severity: Literal["high", "medium", "low"]
    path: Line = ""
    line: int | None = Field(default=None, ge=1)
    text: Text


MOST_FINDINGS = 30
"""Findings of one inspection: more are not read."""


class Inspection(Message):
    """What an inspector says of a change (schema ``inspection``). Shown; decides nothing."""

    summary: Text
    findings: tuple[Finding, ...] = Field(default=(), max_length=MOST_FINDINGS)


LessonKind = Literal["fact", "convention", "pitfall"]
"""What a lesson is: how something is, how things are done here, what goes wrong."""


class Lesson(Message):
    """One thing learned, to be kept as a file under the unit's Memory once a person has approved the diff."""

    unit: Unit
    kind: LessonKind
    text: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    paths: tuple[Line, ...] = ()
    replaces: Line = ""
    """File name of an older lesson of the unit that holds no more since this one; empty: none."""


class WaitingLesson(Lesson):
    """A lesson that waits on a plan for the plan's branch: of a unit that only reads, or one that a person adopted."""

    learned_from: Line
    """The plan it comes from: ``owner/name#12``."""
    adopted_by: Line = ""
    """Who took it over from a rejected plan; empty for the plan's own."""


class WrittenLesson(WaitingLesson):
    """A lesson that the runner wrote into the plan's branch."""

    path: Line
    """Its file."""


MOST_WAITING = 12
"""Lessons that wait on one plan."""


class ExecutionSummary(Message):
    """What the agent says it did (schema ``execution``). Shown as its words; decides nothing but ``blocked``."""

    status: Literal["done", "blocked"]
    summary: Text
    deviations: tuple[Text, ...] = ()
    blocked_by: Text = ""
    lessons: tuple[Lesson, ...] = ()
    delivered: tuple[Text, ...] = ()
    """Steps of the plan that are done."""
    missing: tuple[Text, ...] = ()
    """Steps of the plan that are not, each with why."""
    recommendations: tuple[Recommendation, ...] = Field(default=(), max_length=MOST_RECOMMENDATIONS)


class PullRequestText(Message):
    """Title and body of the pull request (schema ``pull_request``)."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    body: Text
