"""Copy files and folders between work trees: no link is followed, nothing is overwritten, everything is measured.

``cp -a`` keeps links as links and shares blocks with its source where the file system can (``--reflink=auto``).
"""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from runner.folders import give

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.folders import Owner

COPY_SECONDS = 600.0
"""For copying the files of one folder."""
MAX_BYTES = 8_000_000_000
"""Bytes that a preparation may leave."""
MAX_PATHS = 5_000
"""Files and whole folders that a preparation may leave beside tracked ones."""
MAX_SCRIPT = 256_000
"""Bytes of a script that may name the place of its Python environment."""
PLACED = (".pth", ".egg-link", ".py", ".json")
"""Ends of files among a Python environment's packages that may name the work tree."""


def copy(source: Path, target: Path, paths: Sequence[str], owner: Owner | None) -> None:
    """Copy ``paths`` from below ``source`` to the same place below ``target`` and give them to ``owner``.

    What is there already stays as it is; so does what would lead through a link. Raises OSError.
    """
    wanted: dict[str, list[str]] = {}
    for path in paths:
        if not os.path.lexists(target / path) and os.path.lexists(source / path):
            wanted.setdefault(os.path.dirname(path), []).append(path)  # noqa: PTH120 - text, not a Path
    for folder, names in wanted.items():
        if made := _folder(target, folder, owner):
            _cp([source / name for name in names], made)
            give(owner, *(target / name for name in names))


def _cp(sources: Sequence[Path], target: Path) -> None:
    command = ["cp", "-a", "--reflink=auto", "-t", str(target), "--", *map(os.fspath, sources)]
    ended = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=COPY_SECONDS,
        check=False,
        close_fds=False,
    )
    if ended.returncode:
        said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        raise OSError(f"Files could not be copied to {target}: {said[-1] if said else ended.returncode}.")


def _folder(root: Path, path: str, owner: Owner | None) -> Path | None:
    """Make ``path`` below ``root`` folder by folder; None where a file or a link is in the way."""
    place = root
    for part in path.split("/") if path else ():
        place /= part
        if not os.path.lexists(place):
            place.mkdir()
            give(owner, place)
        elif place.is_symlink() or not place.is_dir():
            return None
    return place


def check_size(root: Path, paths: Sequence[str]) -> None:
    """Raise OSError where ``paths`` are too many or too large to be kept."""
    total = sum(found.st_size for path in paths for found in _stats(root / path))
    if len(paths) > MAX_PATHS or total > MAX_BYTES:
        raise OSError(
            f"`prepare` left {len(paths)} files and folders of {total} bytes; {MAX_PATHS} of {MAX_BYTES} are kept. "
            "Let it leave less, or ignore whole folders in .gitignore."
        )


def _stats(path: Path) -> Iterator[os.stat_result]:
    yield path.lstat()
    if path.is_dir() and not path.is_symlink():
        for folder, folders, files in os.walk(path):
            yield from (os.lstat(os.path.join(folder, name)) for name in (*folders, *files))  # noqa: PTH118 - in bulk


def venvs(root: Path, paths: Sequence[str]) -> list[str]:
    """Return the Python environments among ``paths``."""
    found = []
    for path in (path for path in paths if not (root / path).is_symlink()):
        folders = (folder for folder, _, files in os.walk(root / path) if "pyvenv.cfg" in files)
        found += [os.path.relpath(folder, root) for folder in folders]
    return found


def relocate(tree: Path, environments: Sequence[str], origin: str) -> None:
    """Let the scripts and settings of Python environments name ``tree`` where they name the ``origin`` copied from."""
    old, new = os.fsencode(origin), os.fsencode(tree)
    for root in (tree / environment for environment in environments):
        for folder, _, files in os.walk(root):
            within = Path(folder).relative_to(root).parts
            script = within[:1] in {(), ("bin",)}
            for name in files:
                if script or (name.endswith(PLACED) and within[-1].endswith(("site-packages", "info"))):
                    _rewrite(Path(folder, name), old, new)


def _rewrite(path: Path, old: bytes, new: bytes) -> None:
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with os.fdopen(handle, "r+b") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or found.st_size > MAX_SCRIPT:
            return
        content = file.read()
        if old in content and b"\0" not in content:
            file.seek(0)
            file.write(content.replace(old, new))
            file.truncate()
