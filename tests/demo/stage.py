"""Where the demo plays: the built-in repository, any local one, or a project from the package index.

A local repository is cloned and never touched. What stands on the stage is a repository that this demo may change, the
checks that guard it, the tasks for it, and the machine that its checks need.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.gates.detect import detect
from tests.demo import script, sdist, toolchain
from tests.demo.refusal import Refusal
from tests.demo.sight import Sight
from tests.demo.tasks import Places, make_tasks
from tests.town.repository import clone, git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.demo.script import Task

HERE = Path(__file__).parent
PYTEST = "python -m pytest"
PROGRAMS = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
"""Where the programs of a recognised check have to be: what else there is on this machine, a sandbox does not show."""
WORD = re.compile(r"(?:\w+=\S* )*(\S+)")
BUILT_IN_GATES = (
    {"name": "tests", "run": "python3 -m unittest discover -s tests", "timeout": "5m"},
    {"name": "syntax", "run": "python3 -m compileall -q shop tests", "blocking": False, "timeout": "1m"},
)


@dataclass(frozen=True)
class Stage:
    """See the module's docstring."""

    source: Path
    """A folder with the first commit's files, or a bare repository."""
    gates: tuple[dict[str, Any], ...]
    tasks: tuple[Task, ...]
    venv: Path | None = None
    """A virtual environment for the checks."""
    sound: bool = True
    """Whether all checks pass before anything is changed; a local repository may be in any state."""
    policy_file: bytes | None = None
    """The repository's own policy, of which the demo's takes the place."""


def built_in() -> Stage:
    """The small shop that comes with the demo."""
    return Stage(HERE / "repository", BUILT_IN_GATES, script.TASKS)


def set_stage(repo: str, home: Path, tell: Callable[[str], None]) -> Stage:
    """Set the stage for ``REPO``; raises :class:`Refusal`."""
    if shutil.which("git") is None:
        raise Refusal("git is not on PATH: install git 2.38 or newer.")
    if not repo:
        return built_in()
    home = home / "stage"
    home.mkdir()
    return from_index(repo, home, tell) if repo.startswith("pypi:") else from_folder(Path(repo), home, tell)


def from_folder(folder: Path, home: Path, tell: Callable[[str], None]) -> Stage:
    """Clone a local repository at the branch that it is on."""
    top = _top_of(folder)
    if is_dirty(top):
        tell(f"{top} has changes that are in no commit; the demo takes the last commit and leaves them alone.")
    bare = _clone(top, home)
    sight = Sight(bare)
    gates = [gate.model_dump(include={"name", "run"}) for gate in detect(sight.read)]
    for gate in [gate for gate in gates if not _can_run(gate["run"])]:
        tell(f"The check `{gate['run']}` is left out: its program is not in {PROGRAMS}.")
        gates.remove(gate)
    tests = any(gate["run"].startswith(PYTEST) for gate in gates)
    venv = _venv_for(home / "venv", toolchain.declared(sight.read("pyproject.toml")), tell) if tests else None
    places = Places.of(sight)
    tasks = make_tasks(places, break_module=tests)
    checks = (*_checks(gates, sight), places.own_check())
    policy_file = sight.read(".github/twogate.yml")
    return Stage(bare, checks, tasks, venv, sound=False, policy_file=policy_file)


def from_index(repo: str, home: Path, tell: Callable[[str], None]) -> Stage:
    """Make a repository of a release's source distribution; its tests are the check, and have to be there."""
    name, version = sdist.parse_pin(repo)
    python = toolchain.make_venv(home / "venv")
    tell(f"downloading the source distribution of {name} {version}")
    root = sdist.unpack(sdist.download(sdist.index_url(python), name, version, home), home / "unpacked")
    git(root, "init", "--quiet", "-b", "main")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "-m", f"{name} {version}, as its source distribution has it")
    bare = _clone(root, home)
    sight = Sight(bare)
    places = Places.of(sight)
    if places.module is None:
        raise Refusal(f"The source distribution of {name} {version} has no tests that import it; name another version.")
    tell("installing what its tests need")
    toolchain.install(python, toolchain.released(name, version, sight.read("PKG-INFO"), sight.read("pyproject.toml")))
    found = [gate.model_dump(include={"name", "run"}) for gate in detect(sight.read) if gate.run.startswith(PYTEST)]
    gates = found or [{"name": "tests", "run": f"{PYTEST} -q"}]
    tasks = make_tasks(places, break_module=True)
    return Stage(bare, tuple(_checks(gates, sight)), tasks, python.parent.parent)


def _checks(gates: list[dict[str, Any]], sight: Sight) -> list[dict[str, Any]]:
    """Return the checks as the policy has them: blocking, with a time, and with ``src`` where the code lies there."""
    below_src = any(re.fullmatch(r"src/[^/]+(/__init__)?\.py", path) for path in sight.paths)
    prefix = "PYTHONPATH=src " if below_src else ""
    return [
        {**gate, "run": f"{prefix}{gate['run']}" if gate["run"].startswith(PYTEST) else gate["run"], "timeout": "15m"}
        for gate in gates
    ]


def _can_run(command: str) -> bool:
    found = WORD.match(command)
    return found is not None and (found[1] == "python" or shutil.which(found[1], path=PROGRAMS) is not None)


def _venv_for(folder: Path, requirements: list[str], tell: Callable[[str], None]) -> Path:
    """Make a local project's environment; where its needs can't be installed, its checks tell what they lack."""
    tell(f"installing what the repository's tests need: {', '.join(requirements)}")
    python = toolchain.make_venv(folder)
    try:
        toolchain.install(python, requirements)
    except Refusal as fault:
        tell(f"{fault} The tests run without; what fails before a change is told apart.")
    return folder


def _clone(source: Path, home: Path) -> Path:
    try:
        return clone(source, home / "clone.git")
    except subprocess.CalledProcessError as error:
        raise Refusal(f"{source} can't be cloned: {error.stderr.strip()} `git fsck` may tell more.") from None


def _top_of(folder: Path) -> Path:
    """Return the repository that a folder is of; raises :class:`Refusal` where it can't be used."""
    if not folder.is_dir():
        raise Refusal(f"{folder} is no folder: REPO names a local git repository, or pypi:NAME==VERSION.")
    top = _ask(folder, "rev-parse", "--show-toplevel") or _ask(folder, "rev-parse", "--absolute-git-dir")
    if not top:
        raise Refusal(f"{folder} is no git repository: make it one with `git init`, or name another folder.")
    where = Path(top)
    if _ask(where, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
        raise Refusal(f"{where} has no commit yet: make a first one, then try again.")
    if _ask(where, "symbolic-ref", "--short", "--quiet", "HEAD") is None:
        raise Refusal(f"{where} is on no branch: check one out (git switch BRANCH), then try again.")
    if _ask(where, "rev-parse", "--is-shallow-repository") == "true":
        raise Refusal(f"{where} is a shallow clone: complete it with `git fetch --unshallow`, then try again.")
    return where


def is_dirty(folder: Path) -> bool:
    """Whether a work tree has changes that are in no commit, and so not in the demo."""
    return bool(_ask(folder, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"))


def _ask(folder: Path, *question: str) -> str | None:
    """Ask git about somebody's repository without changing anything; None where it has no answer."""
    options = ["-c", "safe.directory=*", "-c", "core.fsmonitor=false", "--no-optional-locks"]
    asked = subprocess.run(
        ["git", *options, "-C", folder, *question], capture_output=True, text=True, errors="replace", check=False
    )
    return asked.stdout.strip() if asked.returncode == 0 else None
