"""A prompt with one text wherever a prompt takes any, and what is wrong with it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from runner.contract import Feedback, Issue, KnownPlan, Ledger
from runner.memory import LessonFile
from runner.program import Input, load
from runner.promptware import FailedGate, PromptInput, Terms, compose
from runner.results import PlanDocument, Recommendation, Unit, Verdict
from runner.terms import Budget, GateSpec
from runner.untrusted import BLANKS, VARIATION_SELECTORS

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKER = "5f3c9a17d2e84b60"
HARMLESS = "A text that harms nobody."
LABELS = (
    *("FEEDBACK", "REJECTIONS", "RECOMMENDATION", "PLANS", "LEDGER"),
    *("FAULT", "FACTS", "PATHS", "OUTPUT", "ISSUE"),
)
"""Of the fences, in their order."""
KINDS = get_args(Feedback.model_fields["kind"].annotation)
FENCED = re.compile(
    rf"^(-----BEGIN UNTRUSTED \w+ {MARKER}-----)\n.*?\n(-----END UNTRUSTED \w+ {MARKER}-----)$",
    re.MULTILINE | re.DOTALL,
)
SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")
COMMENT = re.compile(r"<!(?:--|\[CDATA\[)")


def line(text: str) -> str:
    """Return what of a text fits a field of one line."""
    return text[:300] or "x"


def parts(text: str, *, trusted: str = HARMLESS, overlay: str = "", resumed: bool = False) -> PromptInput:
    """Return everything that a prompt is made of: ``text`` where others wrote it, ``trusted`` where a person agreed.

    ``overlay`` is what the repository makes of the unit.
    """
    program = load(Unit.EXECUTE_PLAN, lambda _: overlay.encode() if overlay else None)
    gate = GateSpec(name=line(trusted), run=trusted)
    lesson = LessonFile("p", Unit.EXECUTE_PLAN, line(trusted), "pitfall", (line(trusted),), date(2026, 11, 1), trusted)
    return PromptInput(
        program=replace(program, front=program.front.model_copy(update={"inputs": tuple(Input)})),
        result_file=Path("/run/out/result.json"),
        issue=Issue(number=1, title=text, body=text, author=text),
        policy=Terms((gate,), protected=(trusted,), budget=Budget()),
        lessons=(lesson,),
        plan=plan(trusted),
        ledger=Ledger(delivered=(text,), missing=(text,), files=(text,)),
        known=(KnownPlan(issue=4, title=line(text), state=line(text), files=(line(text),)),),
        recommendation=Recommendation(title=line(text), reason=text, paths=(line(text),)),
        feedback=tuple(
            Feedback.model_validate(
                {"kind": kind, "author": line(text), "text": text, "path": line(text), "line": 3, "quote": text}
            )
            for kind in KINDS
        ),
        fault=text,
        failed_gates=(FailedGate(line(trusted), text, Path("/run/in/gate.txt"), text),),
        conflicts=(text,),
        facts=(text,),
        resumed=resumed,
    )


def plan(text: str) -> PlanDocument:
    """Return a plan that a person approved, with the text in every field."""
    many = (text, text)
    return PlanDocument(
        verdict=Verdict.PLAN,
        title=line(text),
        summary=text,
        steps=many,
        files=(line(text),),
        weakens=(line(text),),
        tests=many,
        risks=many,
        questions=many,
    )


def composed(text: str, *, trusted: str = HARMLESS, overlay: str = "", resumed: bool = False) -> str:
    """Return the prompt of :func:`parts`."""
    return compose(parts(text, trusted=trusted, overlay=overlay, resumed=resumed), MARKER)


def outside(prompt: str) -> str:
    """Return a prompt without what lies between its fences."""
    return FENCED.sub(r"\1\n\2", prompt)


def unseen(text: str) -> set[str]:
    """Return the characters of a text that nobody sees, or that change how others are seen."""
    return {
        c
        for c in set(text)
        if (unicodedata.category(c)[0] == "C" and c not in "\n\t") or ord(c) in VARIATION_SELECTORS or c in BLANKS
    }


def fence_faults(prompt: str, *, labels: tuple[str, ...] = LABELS) -> Iterator[str]:
    """Yield where a prompt's fences are not one of each kind, in their order, with nothing in them that is hidden."""
    rules = [seen for seen in prompt.split("\n") if MARKER in seen and seen.startswith("-----")]
    wanted = [f"-----{word} UNTRUSTED {label} {MARKER}-----" for label in labels for word in ("BEGIN", "END")]
    if rules != wanted:
        yield f"the fences are {rules}"
    if prompt.count(MARKER) != len(wanted) + 1:
        yield f"the marker is there {prompt.count(MARKER)} times"
    if hidden := unseen(prompt):
        yield f"it holds {sorted(map(ord, hidden))}"
    if not prompt.endswith(f"\n(Here the prompt of run {MARKER[:8]} ends. Begin.)\n"):
        yield "it does not end as it must"


def trust_faults(prompt: str, harmless: str) -> Iterator[str]:
    """Yield where what a person agreed to has another shape than a harmless text would have in its place."""
    seen, wanted = (
        re.findall(r"^(?:#{1,6} .*|.*\n(?:=+|-+)$)", text, re.MULTILINE) for text in (outside(prompt), harmless)
    )
    if seen != wanted:
        yield f"its headings are {[one for one in seen if one not in wanted]} too many"
    if COMMENT.search(SPAN.sub("", outside(prompt))):
        yield "it holds a comment"
