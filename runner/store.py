"""The object store of one repository on this runner: the only repository in which the runner itself uses git.

``repos/<id>.git`` is bare and belongs to the runner. Agents borrow its objects (as an alternate, read-only wherever the
runner can confine or switch user) and never see its configuration, hooks or refs at work. Every change of it is made
under one lock per repository and leaves a snapshot of all that steers it beside the lock; :meth:`ObjectStore.tampered`
compares with that. Objects are never pruned here, because running plans borrow them.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner import snapshot
from runner.commits import Commits, DiffStat, Entry
from runner.filetree import FileTree
from runner.folders import fresh, give, remove
from runner.git import NETWORK_SECONDS, OBJECT_NAME, Auth, Git, GitError
from runner.locks import POLL_SECONDS, flock
from runner.workrepo import WorkRepository

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from runner.folders import Owner

__all__ = ["DiffStat", "EmptyRepositoryError", "Entry", "ObjectStore", "PushRejectedError", "StoreError"]

TRACKING = "refs/remotes/origin/"
"""Where fetched and pushed branches are remembered."""
SALVAGE = "refs/twogate/salvage/"
"""Where unpushed work of failed runs is kept, one ref a job below its plan's name."""
FETCH_TRIES = 5
"""How often branches are looked up again that moved while they were fetched."""
LOCK_SECONDS = 300.0
"""For another job's change of refs to end."""
PUSHABLE = re.compile(r"plan/[A-Za-z0-9][A-Za-z0-9._-]*")
"""The only branches this program pushes: never a default branch, whatever is asked for."""
FSCK_MESSAGE = re.compile(r"\b[0-9a-f]{40,64}: ([a-zA-Z]+):")
"""Where git names the check that an object fails."""


def salvage_ref(plan_uid: str, job: str) -> str:
    """Return the ref that keeps a job's unpushed work."""
    return f"{SALVAGE}{plan_uid}/{job}"


class StoreError(Exception):
    """A sentence about the repository that cannot be served, and what to do."""


class EmptyRepositoryError(StoreError):
    """The remote repository has no commit yet."""


class PushRejectedError(StoreError):
    """The remote branch is not where it was expected, or the server refused the push."""


@dataclass(frozen=True)
class Checkout:
    """A fresh work tree of one commit, for the gates whose verdict counts; HOME and TMP of its own."""

    sha: str
    tree: Path
    home: Path
    tmp: Path
    writable: tuple[Path, ...]
    readonly: tuple[Path, ...]


class ObjectStore(Commits):
    """Bare ``repos/<id>.git`` below ``home``, made on first use; ``environment`` may name proxies and certificates."""

    def __init__(self, home: Path, repository_id: int, environment: Mapping[str, str] | None = None) -> None:
        super().__init__(home / "repos" / f"{repository_id}.git", environment)
        self.home, self.repository_id = home, repository_id
        self._record = home / "locks" / f"{repository_id}.refs"
        with self._locked():
            if not (self.path / "HEAD").exists():
                self._make()

    @property
    def objects(self) -> Path:
        """The folder of objects that work trees borrow."""
        return self.path / "objects"

    def _make(self, algorithm: str = "sha1") -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.parent.chmod(0o711)
        draft = self.path.with_suffix(".draft")
        remove(self.path, draft)
        Git(draft).run("init", "--quiet", "--bare", "--template=", f"--object-format={algorithm}", str(draft))
        draft.rename(self.path)
        snapshot.save(self._record, snapshot.take(self.path))

    def _suit(self, sha: str) -> None:
        """Make the empty store anew where the repository uses SHA-256."""
        if len(sha) == 64 and not self.refs("refs/"):  # noqa: PLR2004 - hexadecimal digits of SHA-256
            with self._locked():
                self._make("sha256")

    @contextmanager
    def _locked(self, what: str = "lock", seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Hold a lock of the repository, which ends with the process; raises StoreError where that takes too long."""
        self._record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self._record.parent / f"{self.repository_id}.{what}").open("w") as lock:
            end = time.monotonic() + seconds
            while not flock(lock.fileno()):
                if time.monotonic() > end:
                    raise StoreError(f"The repository's store is held by another job for {seconds:.0f} s; say /retry.")
                time.sleep(POLL_SECONDS)
            yield

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the repository's lock while refs are changed, and record how they stand afterwards."""
        with self._locked():
            self._recover()
            self._record.unlink(missing_ok=True)
            try:
                yield
            except BaseException:
                self._drop_locks()  # of a git that was ended by force; nobody else changes refs now
                raise
            finally:
                snapshot.save(self._record, snapshot.take(self.path))

    def tampered(self) -> tuple[str, ...]:
        """Return the steering files that somebody else changed since the runner's last change, and put them back.

        A record that is missing means that a runner was killed while it made a change: nothing is known then.
        """
        with self._locked():
            self._recover()
            before = snapshot.load(self._record)
            if before is None:
                snapshot.save(self._record, snapshot.take(self.path))
                return ()
            changed = snapshot.differences(before, snapshot.take(self.path))
            if changed:
                snapshot.restore(self.path, before)
            return changed

    def _recover(self) -> None:
        """Remove git's lock files where a runner was killed while it changed refs: who held them is dead."""
        if not self._record.exists():
            self._drop_locks()

    def _drop_locks(self) -> None:
        remove(*self.path.glob("*.lock"), *self.path.glob("refs/**/*.lock"))

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Hold everything that a job needs to begin with the store; for housekeeping."""
        with self._locked("fetch", NETWORK_SECONDS), self.changing():
            yield

    def set_ref(self, name: str, sha: str) -> None:
        """Point a ref to a commit."""
        with self.changing():
            self.git.run("update-ref", "--no-deref", name, sha)

    def drop_refs(self, *names: str) -> None:
        """Delete refs, absent ones included."""
        with self.changing():
            for name in names:
                self.git.run("update-ref", "--no-deref", "-d", name)

    def fetch(
        self, url: str, branches: Sequence[str], shas: Sequence[str] = (), auth: Auth | None = None
    ) -> dict[str, str]:
        """Fetch branches with their whole history and single commits; return the tips of the branches that exist.

        Raises EmptyRepositoryError for a repository without commits, StoreError for a history that fails git's checks,
        GitError for everything else (no network, no access, no such commit).
        """
        for _ in range(FETCH_TRIES):
            there = self._remote_branches(url, auth)
            if not there:
                raise EmptyRepositoryError("The repository has no commit yet; push a first one, then try again.")
            tips = {branch: there[branch] for branch in branches if branch in there}
            with self._locked("fetch", NETWORK_SECONDS):
                self._suit(next(iter(there.values())))
                self._fetch_missing(url, tips, shas, auth)
                if all(map(self.has, tips.values())):
                    self._track(tips, there)
                    return tips
        raise StoreError("The repository's branches move faster than they can be fetched; say /retry.")

    def _fetch_missing(self, url: str, tips: Mapping[str, str], shas: Sequence[str], auth: Auth | None) -> None:
        """Bring objects in; no ref moves, so that nobody has to wait who changes one."""
        here = set(self.refs("refs/").values())
        missing = [f"refs/heads/{branch}" for branch, tip in tips.items() if tip not in here]
        if missing:
            self._fetch(url, missing, auth)
            self._require_history([tip for tip in tips.values() if self.has(tip)])
        for sha in shas:
            if not self._is_whole(sha, tips.values()):
                self._fetch(url, [sha], auth)

    def _require_history(self, tips: Sequence[str]) -> None:
        """Raise StoreError where commits were fetched without their parents, as a shallow repository gives them."""
        answer = self.git.call("rev-list", "--quiet", *tips, "--not", "--all")
        if answer.returncode:
            raise StoreError(
                "The repository on the server lacks a part of its history, as a shallow clone does; push the whole of "
                f"it there (git fetch --unshallow first), then try again. {answer.stderr.strip()[-500:]}"
            )

    def _is_whole(self, sha: str, tips: Iterable[str]) -> bool:
        """Whether the commit is here with its history: a killed fetch may have left the commit alone."""
        if not self.has(sha):
            return False
        return any(self.has(tip) and self.is_ancestor(sha, tip) for tip in tips) or self.is_on_any(sha, "refs/")

    def _track(self, tips: Mapping[str, str], there: Container[str]) -> None:
        """Remember where the remote's branches are, and forget those that went; nothing is written of what is known."""
        known = self.refs(TRACKING)
        moved = {branch: tip for branch, tip in tips.items() if known.get(branch) != tip}
        left = [branch for branch in known if branch not in there]
        if moved or left:
            with self.changing():
                for branch, tip in moved.items():
                    self.git.run("update-ref", "--no-deref", TRACKING + branch, tip)
                for branch in left:
                    self.git.run("update-ref", "--no-deref", "-d", TRACKING + branch)

    def _fetch(self, url: str, specs: Sequence[str], auth: Auth | None) -> None:
        options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--end-of-options")
        try:
            self.git.run("fetch", *options, url, *specs, url=url, auth=auth)
        except GitError as error:
            check = FSCK_MESSAGE.search(error.stderr)
            if check is None:
                raise
            raise StoreError(
                f"The repository's history fails git's check {check[1]!r}, which this runner enforces. If the history "
                f"is known to be sound, allow it here: git --git-dir={self.path} config fetch.fsck.{check[1]} warn"
            ) from error

    def _remote_branches(self, url: str, auth: Auth | None) -> dict[str, str]:
        output = self.git.run("ls-remote", "--heads", "--end-of-options", url, url=url, auth=auth)
        rows = (row.split("\t", 1) for row in output.decode("utf-8", "surrogateescape").splitlines())
        return {name.removeprefix("refs/heads/"): sha for sha, name in rows}

    def remote_tip(self, url: str, branch: str, auth: Auth | None = None) -> str | None:
        """Return the commit of a remote branch, None where there is none. Raises GitError."""
        return self._remote_branches(url, auth).get(branch)

    def push(self, url: str, sha: str, branch: str, *, expect: str | None, auth: Auth | None = None) -> None:
        """Push one commit to one branch that must be at ``expect`` (None: must not exist), and read it back.

        Raises PushRejectedError, also for a push that would drop commits of the remote branch, and GitError.
        """
        if not OBJECT_NAME.fullmatch(sha):
            raise PushRejectedError(f"{sha!r} is not a full commit name; nothing was pushed.")
        if expect and not (self.has(expect) and self.is_ancestor(expect, sha)):
            raise PushRejectedError(f"{sha} does not build on {expect}, which branch {branch} is expected to be at.")
        self._push(url, f"{sha}:refs/heads/{branch}", branch, expect, auth)
        found = self.remote_tip(url, branch, auth)
        if found != sha:
            raise PushRejectedError(f"Branch {branch} was pushed to {sha} and reads {found or 'absent'} afterwards.")
        self.set_ref(TRACKING + branch, sha)

    def delete_remote_branch(self, url: str, branch: str, *, expect: str, auth: Auth | None = None) -> None:
        """Delete a remote branch that is still at ``expect``. Raises PushRejectedError, GitError."""
        self._push(url, f":refs/heads/{branch}", branch, expect, auth)
        self.drop_refs(TRACKING + branch)

    def _push(self, url: str, spec: str, branch: str, expect: str | None, auth: Auth | None) -> None:
        if not PUSHABLE.fullmatch(branch):
            raise PushRejectedError(f"Branch {branch!r} is not one that Twogate may push; only plan/… is.")
        lease = f"--force-with-lease=refs/heads/{branch}:{expect or ''}"
        options = ("--porcelain", "--no-verify", "--no-signed", "--recurse-submodules=no", lease, "--end-of-options")
        answer = self.git.call("push", *options, url, spec, url=url, auth=auth)
        refused = next((row for row in answer.stdout.decode("utf-8", "replace").splitlines() if row[:1] == "!"), None)
        if refused:
            raise PushRejectedError(f"The push to {branch} was refused: {refused[1:].strip()} {answer.stderr[-500:]}")
        if answer.returncode:
            raise GitError("push", answer.returncode, answer.stderr)

    def fresh_checkout(self, sha: str, folder: Path, owner: Owner | None = None) -> Checkout:
        """Check a commit out into ``folder`` (emptied first), with a repository of its own at a detached HEAD."""
        fresh(folder, 0o711)
        tree, home, tmp = (fresh(folder / name) for name in ("tree", "home", "tmp"))
        files = FileTree(self, tree, folder / "index")
        files.check_out(sha)
        repository = WorkRepository(self, folder / "repository.git", tree, None)
        repository.build(sha, sha, files.index)
        writable = (tree, repository.repository, home, tmp)
        give(owner, *writable)
        return Checkout(sha, tree, home, tmp, writable, (self.objects,))

    def salvaged(self) -> dict[str, str]:
        """Return the salvage refs: ``plan/job`` to commit."""
        return self.refs(SALVAGE)

    def drop_salvage(self, plan_uid: str) -> None:
        """Forget all salvaged work of a plan."""
        self.drop_refs(*(SALVAGE + name for name in self.salvaged() if name.startswith(f"{plan_uid}/")))

    def expire_salvage(self, before: float) -> tuple[str, ...]:
        """Forget salvaged work committed before a moment (epoch seconds); return which, as ``plan/job``."""
        found = self.git.run("for-each-ref", "--format=%(refname) %(committerdate:unix)", SALVAGE).decode()
        rows = (row.split(" ") for row in found.splitlines())
        old = [name for name, date in rows if float(date) < before]
        if old:
            self.drop_refs(*old)
        return tuple(name.removeprefix(SALVAGE) for name in old)
