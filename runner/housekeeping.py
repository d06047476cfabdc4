"""The runner's disk: enough of it before anything is spent, logs below a cap, stores packed while nobody borrows them.

Work trees borrow a store's objects (``objects/info/alternates``), so nothing of a store is packed away or pruned unless
no job runs and no work tree exists; both are looked at under the locks that a job needs to begin.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from runner import folders, sessions
from runner.contract import Outcome
from runner.git import GitError
from runner.leftovers import alone
from runner.place import Place
from runner.report import KEY_FILE
from runner.store import ObjectStore, StoreError
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.settings import Settings

GIGABYTE = 1_000_000_000
DAY = 24 * 3600.0
LOG_CAP = 5 * GIGABYTE
"""Bytes that prompts, streams and reports of ended jobs may take; beyond it the oldest go before their time."""
MAX_PACKS = 50
"""Packs from which on a store is packed anew; git's own gc.autoPackLimit."""
MAX_LOOSE = 27
"""Loose objects in one of 256 folders from which on a store is packed anew; git's own gc.auto."""
PRUNE_AFTER = "14.days.ago"
"""Objects that no ref has are kept as long as salvage is."""
PLAN_LOCK = re.compile(r"([0-9]+)-([a-z0-9]{1,64})\.lock")


def free_bytes(home: Path) -> int:
    """Return how much of the disk is free for ``home``, which need not exist yet."""
    return shutil.disk_usage(next(path for path in (home, *home.parents) if path.exists())).free


def require_space(settings: Settings) -> None:
    """End the job, before anything is spent, where the disk is too full for a work tree and its checks."""
    free = free_bytes(settings.home)
    if free < settings.min_free:
        raise Ending(
            Outcome.RUNNER_FAILED,
            f"Runner {settings.runner} has {free / GIGABYTE:.1f} GB free where TWOGATE_MIN_FREE asks for "
            f"{settings.min_free / GIGABYTE:g}; nothing was spent. Make room (twogate-runner clean), then /retry.",
        )


def tidy(home: Path, now: float, apart_from: str | None = None) -> tuple[str, ...]:
    """Bring logs below their cap, forget idle locks and old sessions, pack stores that need it; say what was done.

    ``now`` is in epoch seconds.
    """
    try:
        for path in (home / "locks").glob("*.lock"):
            if named := PLAN_LOCK.fullmatch(path.name):
                Place(home, int(named[1]), named[2]).forget()
        old = now - sessions.SESSION_DAYS * DAY
        return (*sessions.expire(home, old), *_cap_logs(home), *_pack_stores(home, apart_from))
    except OSError as error:  # another runner tidies at the same time
        return (f"housekeeping was cut short: {error}",)


def _cap_logs(home: Path) -> Iterator[str]:
    logs = sorted((home / "jobs").glob("*"), key=lambda folder: folder.stat().st_mtime)
    sizes = {folder: _size(folder) for folder in logs}
    excess = sum(sizes.values()) - LOG_CAP
    for folder in logs:
        if excess > 0 and not (folder / KEY_FILE).exists():
            with suppress(BlockingIOError), alone(home, folder.name):
                folders.remove(folder)
                excess -= sizes[folder]
                yield f"the log of job {folder.name} was removed: logs take more than {LOG_CAP / GIGABYTE:g} GB"


def _size(folder: Path) -> int:
    return sum(entry.stat(follow_symlinks=False).st_blocks * 512 for entry in _entries(folder))


def _entries(folder: str | Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        for entry in found:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(entry.path)


def _pack_stores(home: Path, apart_from: str | None) -> Iterator[str]:
    for path in sorted((home / "repos").glob("*.git")):
        try:
            if _pack(ObjectStore(home, int(path.stem)), home, apart_from):
                yield f"store {path.name} was packed"
        except (ValueError, GitError, StoreError, OSError) as error:
            yield f"store {path.name} could not be tidied: {error}"


def _pack(store: ObjectStore, home: Path, apart_from: str | None) -> bool:
    """Remove what killed gits left in the store and pack it, where nobody can be using it; return whether it was."""
    litter, crowded = _litter(store.path), _is_crowded(store.objects)
    if not litter and not crowded:
        return False
    with store.at_rest():
        if any((home / "worktrees" / str(store.repository_id)).glob("*")) or _somebody_runs(home, apart_from):
            return False
        folders.remove(*litter)
        if crowded:
            store.git.run("gc", "--quiet", f"--prune={PRUNE_AFTER}")
    return crowded


def _litter(store: Path) -> list[Path]:
    patterns = ("pack/tmp_*", "pack/.tmp-*", "[0-9a-f][0-9a-f]/tmp_obj_*", "tmp_objdir-*")
    return [path for pattern in patterns for path in (store / "objects").glob(pattern)]


def _is_crowded(objects: Path) -> bool:
    loose = objects / "17"
    many = loose.is_dir() and len(list(loose.iterdir())) > MAX_LOOSE
    return many or len(list((objects / "pack").glob("*.pack"))) > MAX_PACKS


def _somebody_runs(home: Path, apart_from: str | None) -> bool:
    for folder in (home / "jobs").glob("*"):
        if folder.name != apart_from:
            try:
                with alone(home, folder.name):
                    continue
            except BlockingIOError:
                return True
    return False
