r"""``python -m tests.demo.odd_repository FOLDER``: a repository of everything that git allows and few expect.

Its default branch is ``trunk``. It has 20,000 files, names with spaces, quotes, line breaks, bytes that are no UTF-8,
executable files, links, CRLF line ends with and without attributes, and a submodule whose address is only known here.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.town.repository import AUTHOR, git

if TYPE_CHECKING:
    from collections.abc import Iterator

BRANCH = "trunk"
FILES = 20_000
"""Files in plain folders, besides the odd ones."""
IN_A_FOLDER = 100
PLAIN, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"
NAMES = (
    "with space",
    " leading and trailing ",
    "-leading-dash",
    "--all",
    "tab\there",
    "line\nbreak",
    "carriage\rreturn",
    'double"quote',
    "single'quote",
    "back\\slash",
    "dollar$HOME `tick` $(touch x)",
    "glob[a-z]*?.txt",
    ":(top)magic",
    "!negated",
    "#comment",
    "semi;colon & more | less > all",
    "%s%n{0}",
    "~tilde",
    "ünïcödé ☃ 猫.txt",
    "e\u0301-decomposed",
    "right-to-left-\u202etxt.exe",
    "\x01control\x7f",
    "trailing dot.",
    "CON",
    "case.txt",
    "CASE.txt",
    "x" * 240,
)
"""Names that programs stumble over; each stands at the top and in a folder."""
Entry = tuple[str, bytes, bytes]
"""Mode, path and content; of a submodule, its commit."""


def make(folder: Path, *, files: int = FILES) -> Path:
    """Make the repository, checked out, and the one that its submodule is of beside it; return the former."""
    inner = folder.with_name(f"{folder.name}-inner")
    inner.mkdir(parents=True)
    git(inner, "init", "--quiet", "-b", BRANCH)
    (inner / "inside").write_text("inside\n")
    git(inner, "add", "--all")
    git(inner, "commit", "--quiet", "-m", "Start")
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", BRANCH)
    _import(folder, [*_ordinary(files), *_odd(), *_submodule(inner)])
    git(folder, "reset", "--quiet", "--hard", BRANCH)
    return folder


def _ordinary(files: int) -> Iterator[Entry]:
    readme = b"# Odd\r\n\r\nA README with the line ends of another system.\r\n\r\nIts last line has none."
    yield PLAIN, b"README.md", readme
    yield PLAIN, b"Makefile", b"test:\n\t@./check.sh\n"
    yield EXECUTABLE, b"check.sh", b"#!/bin/sh\ntest -x check.sh && test -L link && echo all is well\n"
    yield PLAIN, b".gitignore", b"*.log\nbuild/\n"
    yield PLAIN, b".gitattributes", b"*.bat text eol=crlf\n*.dat binary\n*.norm text\n"
    for number in range(files):
        path = f"many/{number // IN_A_FOLDER:03}/file-{number:05}.txt"
        yield PLAIN, path.encode(), f"file {number}\n".encode() * 10


def _odd() -> Iterator[Entry]:
    for name in NAMES:
        yield PLAIN, name.encode(), f"{name!r}\n".encode()
        yield PLAIN, b"odd/" + name.encode(), f"{name!r} in a folder\n".encode()
    yield PLAIN, b"latin-1-\xe4\xf6\xfc", b"\xe4\xf6\xfc\n"
    yield PLAIN, b"/".join([b"deep"] * 60) + b"/file", b"deep\n"
    yield LINK, b"link", b"README.md"
    yield LINK, b"dangling", b"no/such/file"
    yield LINK, b"outward", b"/etc/hostname"
    yield LINK, b"loop", b"loop"
    yield LINK, b"folder-link", b"many"
    yield PLAIN, b"crlf.txt", b"one\r\ntwo\r\n"
    yield PLAIN, b"mixed.txt", b"one\r\ntwo\n"
    yield PLAIN, b"script.bat", b"@echo off\necho hello\n"
    yield PLAIN, b"careless.norm", b"stored with CRLF\r\nagainst its attribute\r\n"
    yield PLAIN, b"empty", b""
    yield PLAIN, b"no-last-line-end", b"text"
    yield PLAIN, b"binary.dat", bytes(range(256)) * 8_000
    yield PLAIN, b"tracked-though-ignored.log", b"log\n"


def _submodule(inner: Path) -> Iterator[Entry]:
    text = f'[submodule "inner"]\n\tpath = modules/inner\n\turl = file://{inner}\n'
    yield PLAIN, b".gitmodules", text.encode()
    yield SUBMODULE, b"modules/inner", git(inner, "rev-parse", "HEAD").encode()


def _import(folder: Path, entries: list[Entry]) -> None:
    """Commit everything at once, by git-fast-import(1): no file system has a say in the names."""
    who = b"Mia <mia@example.com> 1700000000 +0000"
    head = b"commit refs/heads/%b\ncommitter %b\ndata 5\nStart\n" % (BRANCH.encode(), who)
    stream = head + b"".join(_command(*entry) for entry in entries)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, env=AUTHOR, input=stream, check=True)


def _command(mode: str, path: bytes, content: bytes) -> bytes:
    quoted = b'"' + b"".join(b"\\%03o" % c if c in b'"\\' or not 32 <= c < 127 else bytes([c]) for c in path) + b'"'
    if mode == SUBMODULE:
        return b"M %b %b %b\n" % (mode.encode(), content, quoted)
    return b"M %b inline %b\ndata %d\n%b\n" % (mode.encode(), quoted, len(content), content)


if __name__ == "__main__":
    print(make(Path(sys.argv[1]).absolute()))
