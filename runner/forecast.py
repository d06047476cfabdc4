"""Which other plans' branches a verified commit will not merge with: told to the reviewer, never a reason to fail.

Whichever of two such plans is merged second goes back to its runner. Each branch is looked at in three steps, cheapest
first: is its commit at hand, do both change a common path since their common base, and does a merge of the two, made in
the store without a work tree, conflict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.contract import Collision
from runner.git import GitError, display
from runner.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.contract import Branch
    from runner.git import Auth
    from runner.store import ObjectStore

MAX_BRANCHES = 200
"""Branches that one forecast looks at; the contract names no more."""
MAX_PATHS = 20
"""Paths in conflict that are named a branch, as the contract has it."""
SECONDS = 60.0
"""For a whole forecast; what is not looked at by then is said."""


@dataclass(frozen=True)
class Forecast:
    """What was found, and what could not be looked at, as sentences."""

    collisions: tuple[Collision, ...]
    notes: tuple[str, ...]


def bring(store: ObjectStore, url: str, branches: Sequence[Branch], auth: Auth | None) -> str | None:
    """Fetch what is missing of the branches' heads; return a sentence where that failed, which hinders nothing."""
    missing = [branch.name for branch in branches[:MAX_BRANCHES] if not store.has(branch.head)]
    if not missing:
        return None
    try:
        store.fetch(url, missing, (), auth)
    except (GitError, StoreError) as error:
        return f"Other plans' branches could not be fetched to try merges with them: {error}"
    return None


def forecast(
    store: ObjectStore, base: str, head: str, branches: Sequence[Branch], now: Callable[[], float]
) -> Forecast:
    """Try the merge of ``head`` with each branch; ``now`` is a clock in seconds."""
    ours = _changed(store, base, head)
    end = now() + SECONDS
    collisions: list[Collision] = []
    absent: list[str] = []
    looked = branches[:MAX_BRANCHES]
    for number, branch in enumerate(looked):
        if now() > end:
            late = f"Merges with {len(looked) - number} more branches of other plans were not tried: no time was left."
            return Forecast(tuple(collisions), (*_passed_over(absent), late))
        if not store.has(branch.head):
            absent.append(branch.name)
        elif paths := _conflicts(store, ours, head, branch.head):
            shown = tuple(display(path) for path in paths[:MAX_PATHS])
            collisions.append(
                Collision(issue=branch.issue, branch=branch.name, head=branch.head, paths=shown, paths_total=len(paths))
            )
    return Forecast(tuple(collisions), _passed_over(absent))


def _conflicts(store: ObjectStore, ours: frozenset[bytes], head: str, other: str) -> tuple[bytes, ...]:
    """Return the paths in conflict between two heads; histories without a common base are no case of merging."""
    fork = store.fork(head, other)
    if fork is None or fork in {head, other}:
        return ()
    return store.merge_conflicts(other, head) if _meet(ours, _changed(store, fork, other)) else ()


def _changed(store: ObjectStore, base: str, head: str) -> frozenset[bytes]:
    return frozenset(change.path for change in store.changes(base, head))


def _meet(ours: frozenset[bytes], theirs: frozenset[bytes]) -> bool:
    """Whether two changes share a path, or a file of one is a folder of the other."""
    return not ours.isdisjoint(theirs) or not _folders(ours).isdisjoint(theirs) or not _folders(theirs).isdisjoint(ours)


def _folders(paths: frozenset[bytes]) -> set[bytes]:
    parts = [path.split(b"/") for path in paths]
    return {b"/".join(names[:depth]) for names in parts for depth in range(1, len(names))}


def _passed_over(absent: Sequence[str]) -> tuple[str, ...]:
    if not absent:
        return ()
    named = ", ".join(absent[:MAX_PATHS]) + (" …" if len(absent) > MAX_PATHS else "")
    return (f"Merges with {named} were not tried: their commits are not to be had any more.",)
