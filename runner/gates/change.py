"""The view of a change that the built-in gates judge: what git says of two commits, and nothing else.

The caller fills it from the commit, never from the working tree, so that what is judged is what is pushed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MODE_ABSENT = 0
MODE_FILE = 0o100644
MODE_EXECUTABLE = 0o100755
MODE_LINK = 0o120000
MODE_GITLINK = 0o160000
"""Modes as git writes them in a tree; 0 stands for a side on which the path does not exist."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One path that differs between base and head. A rename is two: the old path gone, the new path there."""

    path: bytes
    old_mode: int
    new_mode: int

    @property
    def exists(self) -> bool:
        """Whether the path is there at head."""
        return self.new_mode != MODE_ABSENT

    @property
    def is_text_candidate(self) -> bool:
        """Whether the path has content of its own at head: a file or a link, no gitlink."""
        return self.new_mode in {MODE_FILE, MODE_EXECUTABLE, MODE_LINK}


@dataclass(frozen=True, slots=True)
class Change:
    """Everything the built-in gates may look at."""

    files: tuple[Changed, ...]
    plan_files: tuple[str, ...]
    """Globs of the approved plan."""
    read: Callable[[bytes], bytes]
    """Content of a path at head, of a long file its beginning; of a link, its target."""
    read_base: Callable[[bytes], bytes | None]
    """Content of a path at base, None where it was not there."""
    tree: tuple[bytes, ...]
    """Every path at head, as ``git ls-tree -r -z --name-only`` lists them."""
    protected: tuple[str, ...] = ()
    """Globs of the policy, on top of those that are always protected."""
    own: Mapping[bytes, bytes] = field(default_factory=dict)
    """What the runner itself wrote (lessons), path to content: those very bytes are outside the scope gate, and inside
    every other."""
    weakens: tuple[str, ...] = ()
    """Exact paths in which the approved plan asks for weaker tests or checks."""
    carried: tuple[str, ...] = ()
    """Values of the files that the runner carried in, which may stand nowhere in the work."""
    commands: tuple[str, ...] = ()
    """Command lines of the repository's own checks, from the base's policy."""
    read_whole: Callable[[bytes], bytes] | None = None
    """As ``read``, to the end of a long file; None where ``read`` does so."""

    read_whole_base: Callable[[bytes], bytes | None] | None = None
    """The same for ``read_base``."""

    def whole(self, path: bytes) -> bytes:
        """Return all of a path's content at head."""
        return (self.read_whole or self.read)(path)

    def whole_base(self, path: bytes) -> bytes:
        """Return all of a path's content at base, nothing where it was not there."""
        return (self.read_whole_base or self.read_base)(path) or b""
