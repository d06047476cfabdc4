"""Three tasks for a repository that nobody wrote for the demo, with the story of the built-in one.

The first fails a check before it is mended, the second touches a file that the first touches, the third is updated
before its approval. All of them are harmless: two new pages, a line at either end of the README, and a comment in a
module of Python where there is one that tests import.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.demo.script import Task
    from tests.demo.sight import Sight

DRAFT = "DRAFT"
"""The word that the demo's own check does not let through."""
BROKEN = "import twogate_demo_missing_module\n"
COMMENT = "# Seen by the demo of Twogate.\n"


@dataclass(frozen=True)
class Places:
    """Where the tasks work."""

    page: str
    checks_page: str
    shared: str
    """The README, or else the page: two tasks change it."""
    module: str | None

    @classmethod
    def of(cls, sight: Sight) -> Places:
        """Choose them in a repository."""
        page = sight.free("twogate-demo")
        return cls(page, sight.free("twogate-checks"), sight.readme() or page, sight.module())

    def own_check(self) -> dict[str, Any]:
        """Return the demo's own check, as the policy file has it: no page is a draft. A missing page is none."""
        pages = " ".join(map(shlex.quote, (self.page, self.checks_page)))
        run = f"! cat {pages} 2>/dev/null | grep -n {DRAFT}"
        return {"name": "no drafts", "run": run, "timeout": "1m"}


def make_tasks(places: Places, *, break_module: bool) -> tuple[Task, ...]:
    """Return the tasks; with ``break_module`` the first one breaks the tests at first, too."""
    module = places.module if break_module else None
    return _page(places, module), _greeting(places), _checks(places)


def _page(places: Places, module: str | None) -> Task:
    """Write a page; the first try leaves it a draft, and an import that does not work in a module."""
    text = "# A page by Twogate's demo\n\nAn agent wrote it, checks verified it, and people approved it twice.\n"
    files = list(dict.fromkeys([places.page, places.shared, *([module] if module else [])]))
    asked = f"Please write `{places.page}`, a short page that says that Twogate's demo was here, and add one line"
    asked += f" at the end of `{places.shared}` that names the page."
    steps = [f"Write `{places.page}`.", f"Name it at the end of `{places.shared}`."]
    first: list[dict[str, Any]] = [
        {"path": places.page, "content": f"{text}\n{DRAFT}\n"},
        {"path": places.shared, "append": f"\nWhat Twogate's demo did is told in {places.page}.\n"},
    ]
    second: list[dict[str, Any]] = [{"path": places.page, "find": f"\n{DRAFT}\n"}]
    if module:
        asked += f" In `{module}`, please add a comment at the end: `{COMMENT.strip()}`"
        steps.append(f"Add the comment to `{module}`.")
        first.append({"path": module, "append": BROKEN})
        second.append({"path": module, "find": BROKEN, "replace": COMMENT})
    return {
        "title": "Write a page about the demo",
        "body": asked,
        "plan": {
            "verdict": "plan",
            "title": "Write a page about the demo",
            "summary": f"There is no page about the demo yet. Add `{places.page}` and name it in `{places.shared}`.",
            "steps": steps,
            "files": files,
            "tests": ["The checks of the repository pass."],
        },
        "attempts": [first, second],
        "summary": f"Wrote `{places.page}` and named it in `{places.shared}`.",
        "lessons": [
            {
                "unit": "ExecutePlan",
                "kind": "convention",
                "text": f"A page that is no draft any more is named in `{places.shared}`.",
                "paths": [places.page, places.shared],
            }
        ],
        "pull_request": {
            "title": "Add a page about the demo",
            "body": f"Adds `{places.page}`, named in `{places.shared}`.",
        },
    }


def _greeting(places: Places) -> Task:
    """Add a line at the top of the file that the first task changes at its end."""
    line = "This repository was visited by Twogate's demo."
    return {
        "title": "Greet those who read the first lines",
        "body": f"Please put this line at the very top of `{places.shared}`: {line}",
        "plan": {
            "verdict": "plan",
            "title": "Put a greeting at the top",
            "summary": f"`{places.shared}` begins without a greeting. Put one line at its top.",
            "steps": [f"Put the line at the top of `{places.shared}`."],
            "files": [places.shared],
            "tests": ["The checks of the repository pass."],
        },
        "attempts": [[{"path": places.shared, "prepend": f"{line}\n\n"}]],
        "summary": f"Put the line at the top of `{places.shared}`.",
        "pull_request": {"title": "Put a greeting at the top", "body": f"One line at the top of `{places.shared}`."},
    }


def _checks(places: Places) -> Task:
    """Write another page, whose plan is updated once."""
    plan = {
        "verdict": "plan",
        "title": "Write down what is checked",
        "summary": f"Nothing says what Twogate checks. Add `{places.checks_page}`.",
        "steps": [f"Write `{places.checks_page}`."],
        "files": [places.checks_page],
        "tests": ["The checks of the repository pass."],
        "questions": ["Should the page say who approves? The plan leaves it out."],
    }
    page = "# What is checked\n\nThe scope, conflict markers, secrets, and the repository's own checks.\n\n"
    page += "A person approves the plan, and a person approves the diff.\n"
    return {
        "title": "Write down what is checked before a review",
        "body": f"Please write `{places.checks_page}`, a short page on what is checked before a person looks at a diff.",
        "plan": plan,
        "update": "Say who approves as well, please.",
        "updated_plan": {**plan, "title": "Write down what is checked, and who approves", "questions": []},
        "attempts": [[{"path": places.checks_page, "content": page}]],
        "summary": f"Wrote `{places.checks_page}`.",
        "pull_request": {
            "title": "Write down what is checked, and who approves",
            "body": f"Adds `{places.checks_page}`.",
        },
    }
