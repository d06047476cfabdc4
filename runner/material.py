"""What others wrote, as a prompt shows it: cleaned, cut to its room, and fenced with the marker of the run.

Where a section says what its material means for the task, that stands outside of the fence and holds no word of others.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING

from runner.contract import REGRESSION_DAYS
from runner.untrusted import clean_markdown, clean_output, cut, fence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.contract import Feedback, Issue, KnownPlan, Ledger
    from runner.results import Recommendation

MAX_FEEDBACK = 16_000
MAX_OUTPUT = 12_000
"""Bytes of feedback and of gate output that a prompt shows; of the output the end, and the whole is named as a file."""
MAX_QUOTE = 2_000
"""Bytes of the lines that one remark is about."""
MAX_FACTS = 8_000
"""Bytes of sentences of the runner; diffstats are long."""
MAX_LEDGER = 8_000
"""Bytes of what was delivered, is missing and was changed."""
MAX_KNOWN = 12_000
"""Bytes of the list of other issues' plans."""
MAX_RECOMMENDATION = 8_000
"""Bytes of what an issue is to be written from."""
UNDONE = frozenset({"rejected", "cancelled"})
"""States of plans that nobody carries out: no other issue is settled by one."""
SAYINGS = {
    "update": "wants the plan otherwise",
    "expand": "wants to know more",
    "split": "says where to split the plan",
    "answer": "answers a question of the plan",
    "annotation": "remarks on these lines of the plan",
    "revise": "wants the work otherwise",
    "review": "remarks on the change",
    "retry": "says for another try",
    "ci": "failed on GitHub; the end of its log",
    "conflict": "tells of a conflict",
    "rejection": "rejected an earlier plan",
}
"""What each kind of feedback does, after who did it."""


@dataclass(frozen=True, slots=True)
class FailedGate:
    """A gate the agent must answer."""

    name: str
    summary: str
    output: Path
    """The whole of what it printed, readable by the agent."""
    tail: str


def facts(sentences: Sequence[str], marker: str) -> str:
    """Return sentences of the runner, which hold names and words of others."""
    return "## Facts\n\n" + fence("FACTS", cut(clean_output("\n".join(sentences), marker), MAX_FACTS), marker)


def conflicts(paths: Sequence[str], marker: str) -> str:
    """Return the paths with conflict markers."""
    listed = "\n".join(f"- {clean_output(path, marker)}" for path in paths)
    return f"## Conflicts to settle\n\nThe default branch was merged in. Settle these, both sides in mind:\n\n{listed}"


def feedback(words: Sequence[Feedback], marker: str) -> str:
    """Return what people said, each remark with its place and the lines it is about; long ones give way to short."""
    heads = [_head(number, one, marker) for number, one in enumerate(words, start=1)]
    bodies = [clean_markdown(one.text, marker) for one in words]
    room = MAX_FEEDBACK - sum(_size(head) + 4 for head in heads)
    longest = _longest(map(_size, bodies), room)
    told = "\n\n".join(
        f"{head}\n{cut(body, longest, end=one.kind == 'ci')}"
        for head, body, one in zip(heads, bodies, words, strict=True)
    )
    return "## Feedback to answer\n\n" + fence("FEEDBACK", cut(told, MAX_FEEDBACK), marker)


def _head(number: int, words: Feedback, marker: str) -> str:
    author = clean_output(words.author, marker).replace("\n", " ")
    head = f"{number}. {author} {SAYINGS[words.kind]}"
    if words.path:
        line = f", line {words.line}" if words.line else ""
        head += f", at {clean_output(words.path, marker)}".replace("\n", " ") + line
    quoted = cut(clean_markdown(words.quote, marker), MAX_QUOTE).split("\n") if words.quote else ()
    return "\n".join([f"{head}:", *(f"> {line}" for line in quoted)])


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _longest(sizes: Iterable[int], room: int) -> int:
    """Return how long a text may be, so that all of them fit ``room`` and none is cut for the sake of a longer one."""
    ordered = sorted(sizes)
    longest = 0
    for number, size in enumerate(ordered):
        longest = max(0, room) // (len(ordered) - number)
        room -= min(size, longest)
    return max(longest, 0)


def ledger(stands: Ledger, marker: str) -> str:
    """Return where the work stands."""
    parts = (("Delivered", stands.delivered), ("Missing", stands.missing), ("Files it changed", stands.files))
    told = "\n\n".join(f"{name}:\n" + "\n".join(f"- {item}" for item in items) for name, items in parts if items)
    return (
        "## Where the work stands\n\nThe work tree holds it as it was shown last. Whoever did it said of it:\n\n"
        + fence("LEDGER", cut(clean_markdown(told or "Nothing.", marker), MAX_LEDGER), marker)
    )


def known(plans: Sequence[KnownPlan], marker: str) -> str:
    """Return the plans of other issues, and what it means to name one."""
    told = "\n".join(_known(plan, marker) for plan in plans)
    return (
        "## Plans of other issues\n\n"
        "Verdict `duplicate` says that one of these, done as it stands, settles this issue whole; it is named in "
        "`duplicate_of`. One whose line says that it can't be named is no reason for the verdict: plan this issue.\n\n"
        + fence("PLANS", cut(told, MAX_KNOWN), marker)
    )


def _known(plan: KnownPlan, marker: str) -> str:
    files = f" Files: {', '.join(plan.files)}." if plan.files else ""
    unfit = why_no_original(plan)
    told = f"#{plan.issue} ({plan.state}): {plan.title}.{files}" + (f" It can't be named: {unfit}" if unfit else "")
    return clean_output(told, marker).replace("\n", " ")


def why_no_original(plan: KnownPlan) -> str:
    """Return why no issue can be a duplicate of this plan's, empty where one can."""
    if plan.state in UNDONE:
        return f"it was {plan.state}, so nobody does it."
    if plan.merged_days_ago is not None and plan.merged_days_ago < REGRESSION_DAYS:
        ago = f"{plan.merged_days_ago:.0f} days ago"
        return f"it was merged {ago}; if the issue reports it again, it is a regression: plan it."
    return ""


def recommendation(seen: Recommendation, marker: str) -> str:
    """Return what an issue is to be written from."""
    paths = f"\n\nFiles: {', '.join(seen.paths)}" if seen.paths else ""
    told = clean_markdown(f"{seen.title}\n\n{seen.reason}{paths}", marker)
    return "## The recommendation\n\n" + fence("RECOMMENDATION", cut(told, MAX_RECOMMENDATION), marker)


def gates(failed: Sequence[FailedGate], marker: str) -> str:
    """Return the checks that failed, each with the end of its output."""
    room = MAX_OUTPUT // len(failed)
    told = [
        f"Check `{gate.name}`, its whole output in `{gate.output}`:\n\n"
        + fence("OUTPUT", cut(clean_output(f"{gate.summary}\n\n{gate.tail}", marker), room, end=True), marker)
        for gate in failed
    ]
    return "## Checks that failed\n\nMend the cause; never weaken a check or a test.\n\n" + "\n\n".join(told)


def issue(about: Issue, marker: str, room: int) -> str:
    """Return the issue in ``room`` bytes."""
    title = clean_markdown(about.title, marker).replace("\n", " ")
    told = f"Title: {title}\nBy: {clean_output(about.author, marker)}\n\n{clean_markdown(about.body, marker)}"
    return f"## Issue #{about.number}\n\n" + fence("ISSUE", cut(told, room), marker)
