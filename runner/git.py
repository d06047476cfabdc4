"""The only caller of git in the runner: hardened environment, argument lists, byte paths, a deadline and a cap.

Git runs only in repositories that nobody but the runner can write (:mod:`runner.store`, and a work tree's repository
before it is handed out). What follows is the second line: no configuration, hook, filter, pager, editor, credential
helper or replace ref of the machine or of a repository is obeyed, and no repository is ever discovered.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit

from runner.settings import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEADLINE_SECONDS = 300.0
"""For one git command on local data."""
NETWORK_SECONDS = 1_800.0
"""For one git command that talks to the server."""
OUTPUT_CAP = 64_000_000
"""Bytes that a git command may write; more means that something is wrong."""
PROBE_SECONDS = 20.0
"""For trying what this machine has."""
READ_BYTES = 1 << 18
"""Read from git's output at once."""

ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_ASKPASS": "/bin/false",
    "GIT_SSH_COMMAND": "/bin/false",
}
"""The whole environment of git, with PATH, the protocol of the address and what a caller adds."""

SETTINGS = (
    *("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.attributesFile=/dev/null"),
    *("core.excludesFile=/dev/null", "core.sshCommand=/bin/false", "core.askPass=/bin/false"),
    *("core.autocrlf=false", "core.safecrlf=false", "core.symlinks=true", "core.fileMode=true"),
    *("core.protectHFS=true", "core.protectNTFS=true", "core.useReplaceRefs=false"),
    *("credential.helper=", "protocol.ext.allow=never", "http.followRedirects=false", "safe.bareRepository=explicit"),
    *("commit.gpgSign=false", "tag.gpgSign=false", "push.gpgSign=false", "log.showSignature=false"),
    *("gpg.program=/bin/false", "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false"),
    *("color.ui=false", "diff.noprefix=false", "diff.mnemonicPrefix=false", "status.showUntrackedFiles=all"),
    *("advice.addEmbeddedRepo=false", "init.defaultBranch=none", "transfer.fsckObjects=true"),
    # what lies beside an agent's objects is the agent's as well: objects are read, never what is said of them
    *("core.commitGraph=false", "core.multiPackIndex=false", "core.filesRefLockTimeout=2000", "checkout.workers=4"),
)
"""Given to every command with ``-c``, so that they win over a repository's own configuration."""

HARMLESS_IN_HISTORY = (
    *("zeroPaddedFilemode", "missingSpaceBeforeDate", "missingSpaceBeforeEmail", "missingNameBeforeEmail"),
    *("missingEmail", "badEmail", "badName", "badDate", "badDateOverflow", "badTimezone", "zeroPaddedDate"),
    *("missingTaggerEntry", "badTagName", "multipleAuthors"),
)
"""Messages of git-fsck(1) about careless metadata, found in the history of many old projects; they only warn."""

DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none")
"""Given to every comparison."""
BIG_FILES = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.bigFileThreshold",
    "GIT_CONFIG_VALUE_0": "1m",
}
"""Environment of comparisons that read contents: what is larger is told as binary, which keeps time and memory small
(400 MB in one line: 0.1 s and 13 MB instead of 10 s and 770 MB)."""


OBJECT_NAME = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
"""A full object name, SHA-1 or SHA-256."""


class GitError(Exception):
    """A git command failed, ran over its deadline or wrote more than its cap."""

    def __init__(self, command: str, returncode: int, stderr: str) -> None:
        super().__init__(f"git {command} ended with {returncode}: {stderr.strip()[-2_000:] or 'no message'}")
        self.command, self.returncode, self.stderr = command, returncode, stderr


@dataclass(frozen=True)
class Auth:
    """A header that git sends to addresses below ``url`` alone; never in arguments, files or ``repr``."""

    url: str
    header: str

    def __repr__(self) -> str:
        return f"Auth({self.url!r})"


@dataclass(frozen=True)
class Answer:
    """What a git command said."""

    returncode: int
    stdout: bytes
    stderr: str
    cut: bool = False
    """The output was longer than the cap, and git was ended."""


@dataclass(frozen=True)
class Change:
    """One row of ``git diff-tree --raw``; modes and blobs are zeros where there is none."""

    path: bytes
    status: str
    """A, D, M or T (the kind of file changed), and R where renames were asked for."""
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    source: bytes | None = None
    """Where a renamed file came from."""


@cache
def program() -> str:
    """Return the path of git; raise GitError where there is none."""
    found = shutil.which("git")
    if found is None:
        raise GitError("--version", 127, "git is not installed; install git 2.38 or later")
    return found


@cache
def leash() -> tuple[str, ...]:
    """Return what ends git in good order when its runner is killed (setpriv(1), prctl(2)), where that can be had."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return ()
    prefix = (setpriv, "--pdeathsig", "TERM")
    tried = subprocess.run([*prefix, program(), "--version"], capture_output=True, timeout=PROBE_SECONDS, check=False)
    return prefix if tried.returncode == 0 else ()


class Git:
    """Runs git on one explicit repository; never discovers one."""

    def __init__(
        self,
        git_dir: Path,
        *,
        work_tree: Path | None = None,
        index: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.git_dir, self.work_tree = git_dir, work_tree
        self._cwd = work_tree or git_dir.parent
        self._environment = ENVIRONMENT | {"PATH": f"{Path(program()).parent}:/usr/bin:/bin"} | dict(environment or {})
        if index:
            self._environment["GIT_INDEX_FILE"] = str(index)

    def run(
        self,
        command: str,
        *arguments: str | bytes,
        stdin: bytes | BinaryIO = b"",
        stdout: BinaryIO | None = None,
        url: str | None = None,
        auth: Auth | None = None,
        environment: Mapping[str, str] | None = None,
        cap: int = OUTPUT_CAP,
    ) -> bytes:
        """Run one git command and return its standard output; raise GitError unless it ends with 0, below the cap."""
        answer = self.call(
            command,
            *arguments,
            stdin=stdin,
            stdout=stdout,
            url=url,
            auth=auth,
            environment=environment,
            cap=cap,
        )
        if answer.cut:
            raise GitError(command, answer.returncode, f"more than {cap} bytes of output")
        if answer.returncode:
            raise GitError(command, answer.returncode, answer.stderr)
        return answer.stdout

    def call(
        self,
        command: str,
        *arguments: str | bytes,
        stdin: bytes | BinaryIO = b"",
        stdout: BinaryIO | None = None,
        url: str | None = None,
        auth: Auth | None = None,
        environment: Mapping[str, str] | None = None,
        cap: int = OUTPUT_CAP,
    ) -> Answer:
        """Run one git command and return what it said, whatever it ended with.

        ``url`` is the address it will talk to (it must also be among the arguments), ``stdout`` takes the output where
        it may be large. Raises GitError where the deadline passes.
        """
        env = self._environment | _network(url, auth) | dict(environment or {})
        deadline = time.monotonic() + (NETWORK_SECONDS if url else DEADLINE_SECONDS)
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as stderr:
            if isinstance(stdin, bytes):
                given.write(stdin)
                given.seek(0)
            process = subprocess.Popen(
                [*self._options(), command, *arguments],
                cwd=self._cwd,
                env=env,
                stdin=given if isinstance(stdin, bytes) else stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
                close_fds=False,
            )
            output = bytearray()
            try:
                cut = _read(process, stdout.write if stdout else output.extend, cap, deadline)
                code = process.wait(max(deadline - time.monotonic(), 0))
            except (TimeoutError, subprocess.TimeoutExpired):
                raise GitError(command, -signal.SIGKILL, "the deadline passed and it was ended") from None
            finally:
                _end(process)
            stderr.seek(0)
            return Answer(code, bytes(output), stderr.read(1_000_000).decode("utf-8", "replace"), cut)

    def _options(self) -> list[str]:
        options = [*leash(), program(), "--no-pager", "--literal-pathspecs", f"--git-dir={self.git_dir}"]
        settings = [*SETTINGS, *(f"fetch.fsck.{message}=warn" for message in HARMLESS_IN_HISTORY)]
        if self.work_tree:
            options.append(f"--work-tree={self.work_tree}")
            settings.append("core.bare=false")
        return [*options, *(part for setting in settings for part in ("-c", setting))]


def _network(url: str | None, auth: Auth | None) -> dict[str, str]:
    """Return what lets git talk to one address: its protocol alone, and a header for that address alone."""
    if url is None:
        return {"GIT_ALLOW_PROTOCOL": ""}
    parts = urlsplit(url)
    plain = parts.scheme == "http" and parts.hostname in LOOPBACK
    if not (parts.scheme in {"https", "file"} or plain or url.startswith("/")):
        raise GitError("fetch", 128, f"{parts.scheme}: is not a protocol that is spoken here; the address needs https")
    allowed = {"GIT_ALLOW_PROTOCOL": parts.scheme or "file"}
    if auth is None:
        return allowed
    pair = {"GIT_CONFIG_KEY_0": f"http.{auth.url}.extraHeader", "GIT_CONFIG_VALUE_0": auth.header}
    return allowed | {"GIT_CONFIG_COUNT": "1"} | pair


def _read(process: subprocess.Popen[bytes], write: Callable[[bytes], object], cap: int, deadline: float) -> bool:
    """Move the output to ``write``; return whether it was more than ``cap``. Raises TimeoutError."""
    if process.stdout is None:
        return False
    count = 0
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(deadline - time.monotonic(), 0)):
                raise TimeoutError
            chunk = os.read(process.stdout.fileno(), READ_BYTES)
            if not chunk:
                return False
            write(chunk[: cap - count])
            count += len(chunk)
            if count > cap:
                _end(process)
                return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and what it started, where it still runs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout:
        process.stdout.close()


def split(output: bytes) -> list[bytes]:
    """Split NUL-terminated output."""
    return output.split(b"\0")[:-1]


def parse_raw(output: bytes) -> tuple[Change, ...]:
    """Read ``--raw -z`` output (git-diff-tree(1), "Raw output format")."""
    fields = iter(split(output))
    changes = []
    for head in fields:
        old_mode, new_mode, old_blob, new_blob, status = head.decode("ascii").removeprefix(":").split(" ")
        source = next(fields) if status[0] in "RC" else None
        changes.append(Change(next(fields), status[0], old_mode, new_mode, old_blob, new_blob, source))
    return tuple(changes)


def display(path: bytes) -> str:
    r"""Return the path as UTF-8 text, undecodable bytes escaped as ``\xNN``."""
    return path.decode("utf-8", "backslashreplace")


def discover(folder: Path) -> tuple[Path, Path | None]:
    """Return the git directory that a person's ``folder`` belongs to, and the root of its work tree where it has one.

    Asked in the person's own environment, for commands on their own checkout alone. Raises GitError, OSError.
    """
    git_dir = Path(_own(folder, "rev-parse", "--absolute-git-dir"))
    try:
        return git_dir, Path(_own(folder, "rev-parse", "--show-toplevel"))
    except GitError:
        return git_dir, None


def identity(git_dir: Path) -> dict[str, str]:
    """Return who the person is by their own configuration, as git's environment; raises GitError where nobody is."""
    found = re.fullmatch(r"(.*) <(.*)> \d+ [+-]\d{4}", _own(git_dir, "var", "GIT_AUTHOR_IDENT"))
    if found is None:
        raise GitError("var", 1, "git does not know who you are; set user.name and user.email")
    return {
        f"GIT_{role}_{what}": found[n] for role in ("AUTHOR", "COMMITTER") for n, what in ((1, "NAME"), (2, "EMAIL"))
    }


def _own(folder: Path, command: str, *arguments: str) -> str:
    asked = [program(), "-C", str(folder), command, *arguments]
    answer = subprocess.run(asked, capture_output=True, timeout=PROBE_SECONDS, check=False)
    if answer.returncode:
        raise GitError(command, answer.returncode, answer.stderr.decode("utf-8", "replace"))
    return os.fsdecode(answer.stdout).removesuffix("\n")
