"""What the plans of the company are about: for each repository texts and changes that belong together, as data."""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from bot.lifecycle.policy import Policy, parse_policy
from runner.contract import FileChange, GateResult, GateStatus
from runner.results import PlanDocument, Verdict
from runner.terms import GateSpec

HERE = Path(__file__).parent
PYTHON = {"tests": "pytest -q", "lint": "ruff check .", "types": "mypy ."}
NODE = {"tests": "npm test", "lint": "eslint .", "types": "tsc --noEmit"}
SMOKE = {
    ".py": "\n\ndef test_the_module_says_what_it_is_for():\n    assert NAME.__doc__\n",
    ".ts": '\ntest("the module loads", async () => {\n  expect(await import("../src/NAME")).toBeTruthy();\n});\n',
}
"""How the file of tests ends before anything is added to it."""
NAMED = re.compile(r'def (test_\w+)|test\("([^"]+)"')


@dataclass(frozen=True)
class Work:
    """One plan's text, and the change that carries it out."""

    title: str
    summary: str
    steps: list[str]
    tests: list[str]
    risk: str
    said: str
    """What the agent says that it did."""
    file: str
    before: str
    after: str
    proof: str
    """What is added to the tests."""

    @property
    def tested(self) -> str:
        """The file of its tests."""
        path = PurePosixPath(self.file)
        return f"tests/test_{path.name}" if path.suffix == ".py" else f"test/{path.stem}.test.ts"

    @property
    def document(self) -> PlanDocument:
        """The plan as it is written."""
        return PlanDocument(
            verdict=Verdict.PLAN,
            title=self.title,
            summary=self.summary,
            steps=tuple(self.steps),
            files=(self.file, self.tested),
            tests=tuple(self.tests),
            risks=(self.risk,),
        )

    @cached_property
    def sides(self) -> dict[str, tuple[str, str]]:
        """Each file before and after."""
        path = PurePosixPath(self.file)
        smoke = "\n" * 11 + SMOKE[path.suffix].replace("NAME", path.stem)
        gap = "\n\n" if path.suffix == ".py" else "\n"
        return {self.file: (self.before, self.after), self.tested: (smoke, smoke + gap + self.proof)}

    @cached_property
    def patch(self) -> str:
        """The change as git shows it."""
        return "".join(_patch(path, *sides) for path, sides in self.sides.items())

    @cached_property
    def changes(self) -> tuple[FileChange, ...]:
        """The files that it changes, with their lines counted."""
        signs = {path: [line[0] for line in _lines(*sides)] for path, sides in self.sides.items()}
        return tuple(
            FileChange(path=path, status="modified", added=found.count("+"), removed=found.count("-"))
            for path, found in signs.items()
        )

    def results(self, *, passed: bool = True) -> tuple[GateResult, ...]:
        """How the checks ended on the change."""
        quiet = (
            ("scope", 0.1, "Both changed paths are in the plan."),
            ("secrets", 0.2, "none found"),
            ("weakening", 0.1, "no test does less"),
        )
        own = [_gate(name, summary, seconds) for name, seconds, summary in quiet]
        (function, described), *_ = NAMED.findall(self.proof)
        broken = f"{self.tested}::{function}" if function else f"{self.tested} > {described}"
        good = _gate("tests", "24 passed", 4.2, tail="........................\n24 passed in 4.20s")
        bad = _gate(
            "tests", "1 of 24 failed", 4.4, GateStatus.FAILED,
            first_error=f"FAILED {broken}", tail=f"FAILED {broken}\n  AssertionError\n\n1 failed, 23 passed in 4.41s",
        )  # fmt: skip
        lint = _gate("lint", "All checks passed!", 0.6)
        types = _gate(
            "types", "1 error", 2.9, GateStatus.FAILED, blocking=False,
            tail=f"{self.file}:{self.after.count(chr(10))}: error: the type is not known here",
        )  # fmt: skip
        return (*own, good if passed else bad, lint, types)


def _gate(
    name: str,
    summary: str,
    seconds: float,
    status: GateStatus = GateStatus.PASSED,
    *,
    blocking: bool = True,
    **more: str,
) -> GateResult:
    return GateResult(name=name, blocking=blocking, status=status, seconds=seconds, summary=summary, **more)


def _patch(path: str, before: str, after: str) -> str:
    old, new = (hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:7] for text in (before, after))
    head = f"diff --git a/{path} b/{path}\nindex {old}..{new} 100644\n--- a/{path}\n+++ b/{path}\n"
    return head + "".join(_hunks(before, after))


def _hunks(before: str, after: str) -> list[str]:
    return list(difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True)))[2:]


def _lines(before: str, after: str) -> list[str]:
    return [line for line in _hunks(before, after) if not line.startswith("@@")]


def of_repository(name: str) -> tuple[Work, ...]:
    """Return what the plans of a repository are about."""
    return tuple(Work(**each) for each in tomllib.loads((HERE / f"{name}.toml").read_text())["work"])


def checks(name: str) -> dict[str, str]:
    """Return the commands that judge the work in a repository."""
    return NODE if name == "mobile-app" else PYTHON


def gates(name: str) -> tuple[GateSpec, ...]:
    """Return the same as checks of a plan; types inform."""
    return tuple(GateSpec(name=each, run=run, blocking=each != "types") for each, run in checks(name).items())


def policy(name: str) -> Policy:
    """Return a repository's policy."""
    lines = [f'  - {{name: {each}, run: "{run}"}}' for each, run in checks(name).items()]
    lines[-1] = lines[-1].replace("}", ", blocking: false}")
    return parse_policy(
        "agent: {cli: claude, model: sonnet}\nbudget: {usd: 5, minutes: 45}\ngates:\n" + "\n".join(lines)
    )
