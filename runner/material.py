"""What others wrote, as a prompt shows it: cleaned, cut to its room, and fenced with the marker of the run.

Where a section says what its material means for the task, that stands outside of the fence and holds no word of others.
Each function returns no section where there is nothing to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING

from runner.contract import REGRESSION_DAYS
from runner.untrusted import clean_markdown, clean_output, code, cut, fence, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.contract import Feedback, Issue, KnownPlan, Ledger
    from runner.results import Recommendation

MAX_FEEDBACK = 16_000
MAX_OUTPUT = 12_000
"""Bytes of feedback and of gate output that a prompt shows; of the output the end, and the whole is named as a file."""
MAX_REJECTIONS = 8_000
"""Bytes of what was said when earlier attempts were denied."""
MAX_ISSUE = 40_000
"""Bytes of the issue."""
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
    "rejection": "rejected an earlier attempt",
}
"""What each kind of feedback does, after who did it."""
CHECKS = "## Checks that failed\n\nMend the cause; never weaken a check or a test.\n\n"
"""What stands before the first of them."""


@dataclass(frozen=True, slots=True)
class FailedGate:
    """A gate the agent must answer."""

    name: str
    summary: str
    output: Path
    """The whole of what it printed, readable by the agent."""
    tail: str


@dataclass(frozen=True, slots=True)
class Part:
    """A section that holds words of others."""

    intro: str
    """Its heading, and what it means for the task: words of the runner alone."""
    label: str
    body: str
    """Cleaned."""
    most: int
    """Bytes of it that a prompt shows at most."""
    end: bool = False
    """Where there is too little room, its end is shown and not its start."""

    @property
    def wanted(self) -> int:
        """Bytes that its body takes where there is room."""
        return min(size(self.body), self.most)

    def shown(self, marker: str, room: int) -> str:
        """Return the section with at most ``room`` bytes of its body."""
        told = cut(self.body, min(room, self.most), end=self.end)
        return f"{self.intro}\n\n{fence(self.label, told, marker)}"


def fault(sentence: str, marker: str) -> list[Part]:
    """Return why the agent's last result was none; it holds the agent's own words."""
    intro = "## Your last result\n\nIt could not be used. Mend what is said here and hand it in again, whole."
    return [Part(intro, "FAULT", clean_output(sentence, marker), MAX_FACTS)] if sentence else []


def facts(sentences: Sequence[str], marker: str) -> list[Part]:
    """Return sentences of the runner, which hold names and words of others."""
    told = clean_output("\n".join(sentences), marker)
    return [Part("## Facts", "FACTS", told, MAX_FACTS)] if sentences else []


def conflicts(paths: Sequence[str], marker: str) -> list[Part]:
    """Return the paths with conflict markers."""
    intro = "## Conflicts to settle\n\nThe default branch was merged in. Settle these files, both sides in mind."
    listed = "\n".join(f"- {one_line(path, marker)}" for path in paths)
    return [Part(intro, "PATHS", listed, MAX_FACTS)] if paths else []


def feedback(words: Sequence[Feedback], marker: str) -> list[Part]:
    """Return what people said, but for rejections; long remarks give way to short ones."""
    told = [one for one in words if one.kind != "rejection"]
    return (
        [Part("## Feedback to answer", "FEEDBACK", _remarks(told, marker, MAX_FEEDBACK), MAX_FEEDBACK)] if told else []
    )


def rejections(words: Sequence[Feedback], marker: str) -> list[Part]:
    """Return why earlier attempts were denied."""
    told = [one for one in words if one.kind == "rejection"]
    intro = (
        "## Why earlier attempts were denied\n\n"
        "People with the right to decide said this of work that is gone. Don't bring back what they turned down."
    )
    return [Part(intro, "REJECTIONS", _remarks(told, marker, MAX_REJECTIONS), MAX_REJECTIONS)] if told else []


def _remarks(words: Sequence[Feedback], marker: str, most: int) -> str:
    """Return the remarks, each with its place and the lines it is about, long ones cut so that ``most`` bytes do."""
    heads = [_head(number, one, marker) for number, one in enumerate(words, start=1)]
    bodies = [clean_markdown(one.text, marker) for one in words]
    longest = share(map(size, bodies), most - sum(size(head) + 4 for head in heads))
    return "\n\n".join(
        f"{head}\n{cut(body, longest, end=one.kind == 'ci')}"
        for head, body, one in zip(heads, bodies, words, strict=True)
    )


def _head(number: int, words: Feedback, marker: str) -> str:
    head = f"{number}. {one_line(words.author, marker)} {SAYINGS[words.kind]}"
    if words.path:
        line = f", line {words.line}" if words.line else ""
        head += f", at {one_line(words.path, marker)}{line}"
    quoted = cut(clean_markdown(words.quote, marker), MAX_QUOTE).split("\n") if words.quote else ()
    return "\n".join([f"{head}:", *(f"> {line}" for line in quoted)])


def size(text: str) -> int:
    """Return the bytes of ``text`` in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def share(sizes: Iterable[int], room: int) -> int:
    """Return how long a text may be, so that all of them fit ``room`` and none is cut for the sake of a longer one."""
    ordered = sorted(sizes)
    longest = 0
    for number, each in enumerate(ordered):
        longest = max(0, room) // (len(ordered) - number)
        room -= min(each, longest)
    return max(longest, 0)


def ledger(stands: Ledger | None, marker: str) -> list[Part]:
    """Return where the work stands."""
    if stands is None:
        return []
    parts = (("Delivered", stands.delivered), ("Missing", stands.missing), ("Files it changed", stands.files))
    told = "\n\n".join(f"{name}:\n" + "\n".join(f"- {item}" for item in items) for name, items in parts if items)
    intro = "## Where the work stands\n\nThe work tree holds it as it was shown last. Whoever did it said of it:"
    return [Part(intro, "LEDGER", clean_markdown(told or "Nothing.", marker), MAX_LEDGER)]


def known(plans: Sequence[KnownPlan], marker: str) -> list[Part]:
    """Return the plans of other issues, and what it means to name one."""
    told = "\n".join(_known(plan, marker) for plan in plans)
    intro = (
        "## Plans of other issues\n\n"
        "Verdict `duplicate` says that one of these, done as it stands, settles this issue whole; it is named in "
        "`duplicate_of`. One whose line says that it can't be named is no reason for the verdict: plan this issue."
    )
    return [Part(intro, "PLANS", told, MAX_KNOWN)] if plans else []


def _known(plan: KnownPlan, marker: str) -> str:
    files = f" Files: {', '.join(plan.files)}." if plan.files else ""
    unfit = why_no_original(plan)
    told = f"#{plan.issue} ({plan.state}): {plan.title}.{files}" + (f" It can't be named: {unfit}" if unfit else "")
    return one_line(told, marker)


def why_no_original(plan: KnownPlan) -> str:
    """Return why no issue can be a duplicate of this plan's, empty where one can."""
    if plan.state in UNDONE:
        return f"it was {plan.state}, so nobody does it."
    if plan.merged_days_ago is not None and plan.merged_days_ago < REGRESSION_DAYS:
        ago = f"{plan.merged_days_ago:.0f} days ago"
        return f"it was merged {ago}; if the issue reports it again, it is a regression: plan it."
    return ""


def recommendation(seen: Recommendation | None, marker: str) -> list[Part]:
    """Return what an issue is to be written from."""
    if seen is None:
        return []
    paths = f"\n\nFiles: {', '.join(seen.paths)}" if seen.paths else ""
    told = clean_markdown(f"{seen.title}\n\n{seen.reason}{paths}", marker)
    return [Part("## The recommendation", "RECOMMENDATION", told, MAX_RECOMMENDATION)]


def gates(failed: Sequence[FailedGate], marker: str) -> list[Part]:
    """Return the checks that failed, each with the end of its output."""
    room = MAX_OUTPUT // max(1, len(failed))
    return [
        Part(
            f"{CHECKS if number == 0 else ''}Check {code(gate.name, marker)}, its whole output in `{gate.output}`:",
            "OUTPUT",
            clean_output(f"{gate.summary}\n\n{gate.tail}", marker),
            room,
            end=True,
        )
        for number, gate in enumerate(failed)
    ]


def issue(about: Issue, marker: str) -> list[Part]:
    """Return the issue."""
    title = clean_markdown(about.title, marker).replace("\n", " ")
    told = f"Title: {title}\nBy: {one_line(about.author, marker)}\n\n{clean_markdown(about.body, marker)}"
    return [Part(f"## Issue #{about.number}", "ISSUE", told, MAX_ISSUE)]
