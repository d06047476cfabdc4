"""How long a text may be where GitHub shows it, and what is cut to fit."""

from __future__ import annotations

COMMENT = 65_536
"""Characters of a comment, an issue's or a pull request's body; beyond it GitHub answers 422."""
ROOM = 200
"""Characters left free for the hidden marker that the gateway adds."""
BODY = COMMENT - ROOM
"""Characters that a text made here may have."""
CHECK_BYTES = 65_535
"""Bytes, not characters, of a check run's summary."""
TITLE = 256
"""Characters of a pull request's title."""

TAIL = 2_000
"""Characters shown of the output of one failed check or agent."""
TAILS = 3
"""Outputs shown in one comment."""
PARAGRAPH = 800
"""Characters shown of a sentence or note from the runner."""
NOTES = 5
"""Notes shown."""
SECTION = 6_000
"""Characters shown of a text by an agent where the whole is elsewhere."""
COLLISIONS = 5
"""Other plans named whose branches conflict."""
COLLIDING_PATHS = 2
"""Paths named of each such conflict."""
PATHS = 40
"""Changed files listed by name; the comparison lists all."""
PATH = 120
"""Characters shown of one path."""
NAME = 80
"""Characters shown of a name: a check, an agent, a model."""
CHOICE = 400
"""Characters shown of a command that chooses an agent or a budget: all of it."""
GATES = 30
"""Rows of the checks' table; built-in and own together are fewer."""
CI_CHECKS = 15
"""Rows of other Apps' checks in the same table; the commit's page lists all."""
FINDINGS = 12
"""Findings of an inspector shown, in its order."""
FINDINGS_OPEN = 3
"""Findings up to which they are not folded."""
FINDING = 200
"""Characters shown of each."""
NAMED = 6
"""Names in one sentence of the diff review."""
JOBS_IN_REVIEW = 10
"""Rows of the cost table in the diff review; the totals count all."""
JOBS = 40
"""Rows of the cost table; the totals count all."""
RECOMMENDATIONS = 20
"""Recommendations listed by number."""
LESSON = 250
"""Characters shown of a lesson; its file has all."""
LESSON_PATHS = 3
"""Paths named of each."""
LESSONS = 8
"""Lessons, and other files of what agents are told, that are listed in one text."""
LESSONS_ENDED = 30
"""Lessons that a rejected plan lists by number: all that are kept of one."""
LESSONS_USED = 10
"""Files named of lessons that agents were told."""
KINDS = 12
"""Units, agents or models that costs are told of by name, those that cost most."""
REVISIONS = 10
"""Revisions listed in the status."""
EXCERPT = 8_000
"""Characters shown of a report's console, and of its requests."""
STEPS = 15
"""Steps of the plan shown in the pull request."""
STEP = 400
"""Characters shown of each."""
WAITED_FOR = 10
"""Plans named that another waits for."""
APPROVERS = 5
"""Teams, people or sets of files named where approvals are asked for."""
WORD = 40
"""Characters shown of a word of another App: its name, how it calls an ending."""
FIGURE = 40
"""Characters shown of a number."""


class TooLong(ValueError):  # noqa: N818 - reads as what it says
    """A text that must be shown whole does not fit into one comment."""

    def __init__(self, length: int) -> None:
        super().__init__(
            f"The plan is {length:,} characters long and one comment holds {BODY:,}. An approval binds to what was "
            "read whole, so it was not posted. Ask for a shorter plan, or split the issue."
        )
        self.length = length
