"""Files that a repository stores through a filter (gitattributes(5)): the runner runs none, so it may not store them.

Under Git LFS what git holds is a pointer, and the content lies on another server to which nothing here uploads; under a
filter that encrypts, git would get the plain text. Such files can be deleted and moved; a new content of one is refused
by name instead of being pushed as what it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.git import split

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.git import Git

ATTRIBUTES = b".gitattributes"
"""Where attributes are; a tree without such a file has none."""
LFS = "lfs"
CRYPT = "crypt"
"""Part of the name of filters that encrypt: git-crypt, transcrypt and their like."""
POINTER_BYTES = 1_024
"""A pointer of Git LFS is smaller (its specification says so)."""


def filtered(git: Git, paths: Iterable[bytes]) -> dict[bytes, str]:
    """Return the paths whose content goes through such a filter, and its name; attributes are the work tree's."""
    listed = b"".join(path + b"\0" for path in paths)
    fields = split(git.run("check-attr", "-z", "--stdin", "filter", stdin=listed)) if listed else []
    rows = zip(fields[::3], fields[2::3], strict=True)
    found = {path: value.decode("utf-8", "replace") for path, value in rows}
    return {path: name for path, name in found.items() if name == LFS or CRYPT in name}


def refusal(name: str) -> str:
    """Say why a file's new content is refused."""
    if name == LFS:
        return "is kept in Git LFS, to which this runner can't upload. Leave its content as it is, or add it by hand."
    return f"is stored through the filter {name}, which this runner does not run. Leave its content as it is."
