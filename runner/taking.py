"""What of an agent's work is taken: no commit that holds what may not be pushed, and never what was brought along.

``kept_out`` are paths that the runner itself put into the tree (``carry``), and all that lies below them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.git import display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.filetree import Candidates, FileTree

SPARSE = "The work tree was made sparse; {} files missing from it were put back, deleted ones among them."
MAX_NAMED = 5
"""Paths that a sentence about commits names."""


def is_kept_out(path: bytes, kept_out: Sequence[str]) -> bool:
    """Whether ``path`` is or lies below one of ``kept_out``."""
    return any(
        path == out or path.startswith(out + b"/") for out in (os.fsencode(name.rstrip("/")) for name in kept_out)
    )


def candidates(
    files: FileTree, sha: str, kept_out: Sequence[str], *, unfiltered: bool = False, sparse: bool = False
) -> Candidates:
    """Return what of the files can be committed on top of ``sha``; what a ``sparse`` tree lacks was not deleted."""
    found = files.candidates(sha, unfiltered=unfiltered)
    if sparse and found.gone:
        files.put_back(found.gone)
        found = replace(found, gone=(), refused=(*found.refused, SPARSE.format(len(found.gone))))
    return replace(found, present=tuple(path for path in found.present if not is_kept_out(path, kept_out)))


def objection(files: FileTree, head: str, tip: str, kept_out: Sequence[str]) -> str | None:
    """Return why the agent's own commits, those of ``tip`` since ``head``, are not taken; None where they are."""
    if tip == head:
        return None
    brought = [row.path for row in files.store.history(head, tip) if is_kept_out(row.path, kept_out)]
    if brought:
        return f"The agent's own commits were not taken: they hold {_named(brought)}, which the runner brought along."
    smuggled = files.smuggled(head, tip)
    return f"The agent's own commits were not taken: they store {_named(smuggled)} unfiltered." if smuggled else None


def _named(paths: Sequence[bytes]) -> str:
    return ", ".join(map(display, dict.fromkeys(paths[:MAX_NAMED])))
