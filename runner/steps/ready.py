"""Prepare and carry: make a fresh work tree ready to run the checks, from a cache that no agent can write.

``prepare`` runs once a state of the lock files, in a fresh checkout of the base commit, by the base's policy. What it
leaves untracked, and the packages it leaves in HOME, are kept under ``cache/ready/<repository>/<key>/`` and copied into
each work tree from there, never linked. ``carry`` names what the operator put under ``carry/<repository>/``; that wins.
Where the work itself changes a lock file that the approved plan names, its own tree is prepared under a key of its own,
so that nothing which a branch decided is ever used for another.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.filetree import FileTree
from runner.folders import fresh, remove
from runner.gates.command import GateRun, run_gate
from runner.gates.detect import detect_prepare, reading
from runner.gates.scope import LOCK_FILES, unplanned
from runner.gates.verdict import failed
from runner.git import split
from runner.globs import any_match
from runner.locks import flock
from runner.report import write_atomically
from runner.steps import copying
from runner.steps.confined import Confined, environment
from runner.steps.redact import carried_values
from runner.terms import GateSpec
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.steps.context import Job
    from runner.store import Checkout

PREPARE_SECONDS = 1_800
"""Seconds that one command of ``prepare`` may take."""
READY_KEEP = 14 * 24 * 3600.0
"""Seconds after its last use that what was prepared is kept."""
WAIT_SECONDS = 0.2
"""How often a job looks whether another has prepared what it waits for."""
LOCKS = (*LOCK_FILES, "requirements*.txt", "*requirements.txt")
"""Files by which it is told whether the packages are the same."""
MANIFESTS = ("package.json", "pyproject.toml", "setup.cfg", "setup.py", "go.mod", "Cargo.toml", "Gemfile", "pom.xml")
"""What counts where a repository has no such file."""
HOME_FOLDERS = (
    *(".cache", ".npm", ".cargo/registry", ".cargo/git", ".cargo/bin", "go/pkg/mod", ".m2/repository"),
    *(
        ".gradle/caches",
        ".gradle/wrapper",
        ".bundle",
        ".local/bin",
        ".local/lib",
        ".local/share/pnpm",
        ".local/share/uv",
    ),
    *(".nuget/packages", ".composer/cache", ".pub-cache", ".hex", ".mix"),
)
"""Where package managers keep packages in HOME; nothing else of HOME is kept, so that no agent is configured by it."""
NAME = "prepare"


class PrepareError(Ending):
    """A command of ``prepare`` failed: the job ends, unless the work itself changed what is prepared."""

    def __init__(self, run: GateRun, command: str) -> None:
        self.failure = f"`{command[:200]}` of `prepare` failed: {run.result.summary} {run.result.first_error}".strip()
        super().__init__(
            Outcome.RUNNER_FAILED,
            f"No work tree could be made ready: {self.failure} Mend it on the default branch, then say /retry.",
            output_tail=run.result.tail,
        )
        self.run = run


@dataclass(frozen=True)
class Kept:
    """What an entry of the cache holds."""

    origin: str
    """The work tree that it was made in."""
    paths: tuple[str, ...]
    """What of the tree, each a file or a whole folder."""
    home: tuple[str, ...]
    kept_out: tuple[str, ...]
    """What of it may never be committed: what git ignores, with all below it, and the files that it doesn't."""
    venvs: tuple[str, ...]
    """Python environments among it, which know their place."""


class Ready:
    """Makes work trees of one job ready."""

    def __init__(self, job: Job, base: str) -> None:
        self._job = job
        self.base = base
        """The commit of the default branch that the work is compared with; another once a newer one is merged in."""
        number = str(job.spec.repository.id)
        self._commands, self._detected = job.spec.prepare, False
        if not self._commands and any(gate.detected for gate in job.spec.gates):
            self._commands, self._detected = detect_prepare(reading(job.store, base)), True
        self._cache, self._operator = (job.settings.home / part / number for part in ("cache/ready", "carry"))

    def check(self) -> None:
        """End the job where ``carry`` names what can't be carried; nothing has been spent yet."""
        for path in self._job.spec.carry:
            if fault := self._fault(path):
                sentence = f"`carry` names {path!r}, which {fault}. Change it in the policy file, then say /retry."
                raise Ending(Outcome.RUNNER_FAILED, sentence)

    def _fault(self, path: str) -> str | None:
        parts = path.rstrip("/").split("/")
        if path.startswith("/") or {"", ".", ".."} & set(parts) or parts[0].casefold() == ".git":
            return "must be a path within the repository, without '.', '..' and empty parts"
        if self._job.store.files(self.base, [path.rstrip("/").encode()]):
            return "git tracks: every work tree has it already"
        place = self._operator.joinpath(*parts)
        if os.path.lexists(place) and not place.resolve().is_relative_to(self._operator.resolve()):
            return f"is a link out of {self._operator}"
        return None

    def furnish(self, sha: str, tree: Path, home: Path) -> tuple[str, ...]:
        """Copy into ``tree`` (a fresh checkout of ``sha``) and ``home`` what makes them ready.

        Returns the paths that may never be committed: all of them. Raises :class:`PrepareError`, and OSError where the
        disk is full.
        """
        owner = self._job.sandbox.owner
        carried = self._carry(tree)
        left: tuple[str, ...] = ()
        if entry := self._provided(sha):
            kept = Kept(**json.loads((entry / "kept.json").read_text()))
            copying.copy(entry / "tree", tree, kept.paths, owner)
            copying.copy(entry / "home", home, kept.home, owner)
            copying.relocate(tree, kept.venvs, kept.origin)
            left = tuple(kept.kept_out)
        return tuple(dict.fromkeys((*self._job.spec.carry, *carried, *left)))

    def values(self) -> tuple[str, ...]:
        """Return what may stand nowhere in the work."""
        return carried_values(self._job.settings.home, self._job.spec)

    def provide(self, sha: str) -> None:
        """Prepare for ``sha`` where that was not done, before its checkout is made. Raises :class:`PrepareError`."""
        self._provided(sha)

    def _provided(self, sha: str) -> Path | None:
        """Return what was prepared for ``sha``; nothing where the commands were recognised only, and fail."""
        try:
            return self._entry(sha) if self._commands else None
        except PrepareError as error:
            if not self._detected:
                raise
            self._job.ledger.note(
                f"{error.failure} It was recognised from the repository's files; the checks ran without."
            )
            self._commands = ()
            return None

    def _carry(self, tree: Path) -> list[str]:
        """Copy what the operator put there."""
        paths = [path.rstrip("/") for path in self._job.spec.carry]
        there = [path for path in paths if os.path.lexists(self._operator / path)]
        if not self._commands:
            self._job.ledger.note(
                *(f"`carry` names {path!r}, and nobody put it there." for path in paths if path not in there)
            )
        copying.copy(self._operator, tree, there, self._job.sandbox.owner)
        return there

    def _entry(self, sha: str) -> Path:
        """Return the entry of the cache for ``sha``, made now where there is none.

        One that other work may use is made of the base: a branch may hold other scripts beside the same lock files.
        """
        shared = self._is_as_the_base(sha)
        if not shared:
            self._require_planned(sha)
        entry = self._cache / self._key(sha)
        with self._alone(entry.name):
            if not entry.exists():
                self._expire()
                self._make(self.base if shared else sha, entry)
            os.utime(entry)
        return entry

    def _require_planned(self, sha: str) -> None:
        """Refuse to install by lock files whose change nobody approved: what they name may run, with the network."""
        spec = self._job.spec
        changed = {path for path, _ in {*self._locks(sha)} ^ {*self._locks(self.base)}}
        files = spec.plan.files if spec.plan else ()
        for path in sorted(changed):
            if fault := unplanned(os.fsencode(path), files, spec.protected):
                raise PrepareError(self._refused(f"{path} was changed, so nothing was installed by it: {fault}"), path)

    def _refused(self, sentence: str) -> GateRun:
        output = self._job.exchange / "in" / "prepare-refused.txt"
        output.write_text(f"{sentence}\n")
        result = failed(NAME, [sentence])
        return GateRun(result, output, self._job.exchange)

    def _key(self, sha: str) -> str:
        own = "" if self._is_as_the_base(sha) else self._job.store.tree(sha)
        told = [self._commands, self._job.spec.carry, self._locks(sha), own]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:40]

    def _is_as_the_base(self, sha: str) -> bool:
        return self._locks(sha) == self._locks(self.base)

    def _locks(self, sha: str) -> list[tuple[str, str]]:
        entries = [(os.fsdecode(entry.path), entry.blob) for entry in self._job.store.entries(sha)]
        for names in (LOCKS, MANIFESTS):
            if found := sorted(one for one in entries if any_match(names, one[0].rpartition("/")[2])):
                return found
        return []

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """Hold the entry's lock; ends the job where it must end while another prepares."""
        self._cache.mkdir(parents=True, exist_ok=True)
        for folder in (self._cache, self._cache.parent):
            folder.chmod(0o700)
        locks = self._job.settings.home / "locks"
        locks.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (locks / f"ready-{self._cache.name}-{key}.lock").open("w") as file:
            while not flock(file.fileno()):
                self._job.watch.check()
                time.sleep(WAIT_SECONDS)
            yield

    def _expire(self) -> None:
        before = self._job.now() - READY_KEEP
        for entry in self._cache.iterdir():
            if entry.stat().st_mtime < before:
                remove(entry)

    def _make(self, sha: str, entry: Path) -> None:
        """Run ``prepare`` in a fresh checkout and keep what it left; the entry is there whole or not at all."""
        job = self._job
        folder = job.settings.home / "checkouts" / job.spec.job
        job.say(f"prepare: making a work tree ready at {sha[:10]}")
        checkout = job.store.fresh_checkout(sha, folder, job.sandbox.owner)
        try:
            self._carry(checkout.tree)
            for number, command in enumerate(self._commands):
                self._command(checkout, number, command)
            draft = fresh(entry.with_name(f"{entry.name}.draft"))
            kept = self._left(checkout, folder / "index")
            copying.check_size(checkout.tree, kept.paths)
            copying.check_size(checkout.home, kept.home)
            for part, paths, source in (("tree", kept.paths, checkout.tree), ("home", kept.home, checkout.home)):
                (draft / part).mkdir()
                copying.copy(source, draft / part, paths, None)
            write_atomically(draft / "kept.json", json.dumps(kept.__dict__).encode())
            draft.rename(entry)
        finally:
            remove(folder)

    def _command(self, checkout: Checkout, number: int, command: str) -> None:
        job = self._job
        job.heartbeat.line(f"preparing: {command}")
        gate = GateSpec(name=NAME, run=command, timeout_seconds=PREPARE_SECONDS)
        output = job.exchange / "in" / f"prepare-{checkout.sha[:10]}-{number}.txt"
        confined = Confined(job, checkout, job.sandbox.network_of_preparation)
        run = run_gate(gate, checkout.tree, output, environment(job, checkout), confined)
        if run.result.holds_back:
            raise PrepareError(run, command)

    def _left(self, checkout: Checkout, index: Path) -> Kept:
        """Return what ``prepare`` left: untracked, whether git ignores it or not, but for what the operator gave."""
        files = FileTree(self._job.store, checkout.tree, index)
        files.read_index(checkout.sha)
        left, ignored, visible = (
            [path for path in self._listed(files, *options) if not self._is_carried(path)]
            for options in (("--directory",), ("--directory", "-i", "--exclude-standard"), ("--exclude-standard",))
        )
        home = [path for path in HOME_FOLDERS if (checkout.home / path).is_dir()]
        venvs = copying.venvs(checkout.tree, left)
        return Kept(str(checkout.tree), tuple(left), tuple(home), (*ignored, *visible), tuple(venvs))

    def _is_carried(self, path: str) -> bool:
        """Whether the operator gave it, or what it lies in."""
        given = (carried.rstrip("/") for carried in self._job.spec.carry)
        there = [name for name in given if os.path.lexists(self._operator / name)]
        return any(path == name or path.startswith(f"{name}/") for name in there)

    @staticmethod
    def _listed(files: FileTree, *options: str) -> list[str]:
        listed = split(files.git.run("ls-files", "-o", "-z", *options))
        return [os.fsdecode(path).rstrip("/") for path in listed if path not in {b".git", b".git/"}]
