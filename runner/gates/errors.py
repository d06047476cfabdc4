"""The first line of a check's output that names an error, in the words of the usual tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_LINE = 300
"""Characters of the line (``runner.results.Line``)."""
NAMED = re.compile(
    r"""(?x)
    ^E[ ]{2,}\S                                              # pytest: what an assertion said
    | ^(FAILED|ERROR)[ ]\S+::                                # pytest: its summary
    | ^\S[^:\n]*\.py:\d+:(\d+:)?[ ](error:|[A-Z]{1,5}\d+[ ]) # mypy, ruff, flake8
    | ^[A-Z]{1,5}\d{3,4}[ ](\[\*\][ ])?[A-Z`]                # ruff, in full
    | ^\S[^\n]*\(\d+,\d+\):[ ]error[ ]                       # tsc, msbuild
    | ^\S[^:\n]*:\d+:\d+[ ]-[ ]error[ ]                      # tsc, pretty
    | ^\s+\d+:\d+\s+error\s                                  # eslint
    | ^\s*●[ ]\S                                             # jest
    | ^\s*(✗|✘|\u00d7|not[ ]ok\b)[ ]                              # ava, vitest, tap
    | ^\s*FAIL[ ]{1,2}\S+\.[jt]sx?                           # jest, vitest
    | ^\s*---[ ]FAIL:[ ]                                     # go test
    | ^(\./|\S+/)?[\w.-]+\.go:\d+(:\d+)?:[ ]                 # go build, go vet
    | ^panic:[ ]                                             # go
    | ^error(\[E\d+\])?:[ ]                                  # cargo, uv
    | ^thread[ ]'[^']*'[^\n]*[ ]panicked[ ]at                # Rust
    | ^\S[^:\n]*:\d+(:\d+)?:[ ](fatal[ ])?error:             # C compilers, javac
    | ^\[ERROR\][ ]\S                                        # Maven
    | ^\S+Test\S*[ ]>[ ].*FAILED$                            # Gradle
    | ^npm[ ](ERR!|error)[ ]\S                               # npm
    | ^(FAIL|ERROR):[ ]\S                                    # unittest
    | ^(\w+\.)*\w*(Error|Exception)(:|$)                     # the last line of a traceback
    """
)
LATE = re.compile(r"^g?make(\[\d+\])?: \*\*\* |^error Command failed|^ELIFECYCLE")
"""What only repeats that something before it failed."""
GENERAL = re.compile(r"\b(error|fail(ed|ure)?|fatal|exception|cannot|not found|undefined|denied)\b", re.IGNORECASE)
FINE = re.compile(r"\b(0|no) (errors?|failures?|failed|problems?)\b|^\[the end of|\berror(s)?:? 0\b", re.IGNORECASE)
"""Lines that say that nothing failed."""


def first_error(lines: Iterable[str]) -> str:
    """Return the first line that names an error; empty where none can be told."""
    general = late = ""
    for line in lines:
        if not line.strip() or FINE.search(line):
            continue
        if NAMED.search(line):
            return _short(line)
        if LATE.search(line):
            late = late or line
        elif not general and GENERAL.search(line):
            general = line
    return _short(general or late)


def _short(line: str) -> str:
    text = " ".join(line.split())
    return text if len(text) <= MAX_LINE else text[: MAX_LINE - 1] + "…"
