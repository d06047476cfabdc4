"""What the runner adds to what git and the agent cost anyway, on a generated repository of 20,000 files.

Each figure is the best of a few rounds in which runner and baseline take turns: what else the machine does slows both.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from bench.generated import BRANCHES, ENVIRONMENT, FILES, branch_off, git, grow, make
from bench.measure import Measure
from runner.contract import Branch
from runner.forecast import forecast
from runner.store import ObjectStore
from runner.worktree import Workspace
from tests.runner.lab import TESTS, Lab

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 3
"""Turns of each; the best counts."""
STARTS = 20
"""Plans that start at once."""
SMALL = 200
"""Files of the repository in which many plans start: the disk is not what is measured."""
PLAN_FILES = 2_000
"""Files of the repository in which a whole plan is carried out."""
DEADLINE = 600.0
"""Seconds for one baseline."""


def measure() -> list[Measure]:
    """Measure all of it in a folder of its own."""
    home = Path(tempfile.mkdtemp(prefix="twogate-bench-"))
    try:
        return [*_workspace(home / "large"), *_starts(home / "small"), *_plan(home / "plan")]
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _took(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _workspace(home: Path) -> list[Measure]:
    origin = home / "origin.git"
    base = make(origin)
    store = ObjectStore(home / "home", 1)
    url = f"file://{origin}"
    store.fetch(url, ["trunk"])
    raw, ready, clone = [], [], []
    for number in range(ROUNDS):
        at = str(home / "raw")
        raw.append(_took(lambda at=at: git(home, f"--git-dir={origin}", "worktree", "add", "-q", "--detach", at, base)))
        git(home, f"--git-dir={origin}", "worktree", "remove", "--force", at)
        ready.append(_took(lambda uid=f"plan{number}": _opened(store, uid, base)))
        clone.append(_took(lambda: git(home, "clone", "-q", url, str(home / "clone"))))
        shutil.rmtree(home / "clone")
    files = f"{FILES:,} files"
    return [
        Measure(f"workspace ready, {files}", min(ready), "s", min(raw), "git worktree add"),
        Measure(f"clone, {files}", min(clone), "s", min(ready), "workspace ready"),
        *_forecast(store, url, origin, base),
    ]


def _opened(store: ObjectStore, uid: str, base: str) -> None:
    Workspace.open(store, plan_uid=uid, branch=f"plan/{uid.removeprefix('plan')}", base=base).remove()


def _forecast(store: ObjectStore, url: str, origin: Path, base: str) -> list[Measure]:
    commits = branch_off(origin, base)
    store.fetch(url, list(commits))
    head = commits.pop("plan/1")
    others = [Branch(issue=int(name.removeprefix("plan/")), name=name, head=sha) for name, sha in commits.items()]

    def by_hand() -> None:
        for other in others:
            subprocess.run(
                ["git", f"--git-dir={store.path}", "merge-tree", "--write-tree", head, other.head],
                env=ENVIRONMENT,
                capture_output=True,
                timeout=DEADLINE,
                check=False,
            )

    rounds = range(ROUNDS)
    told = [(_took(lambda: forecast(store, base, head, others, time.monotonic)), _took(by_hand)) for _ in rounds]
    ours, theirs = (min(times) for times in zip(*told, strict=True))
    return [Measure(f"merge forecast over {BRANCHES} branches", ours, "s", theirs, "git merge-tree for each")]


def _starts(home: Path) -> list[Measure]:
    origin = home / "origin.git"
    base = make(origin, SMALL)
    store = ObjectStore(home / "home", 1)
    store.fetch(f"file://{origin}", ["trunk"])
    uids = [f"plan{number}" for number in range(STARTS)]

    def one_by_one() -> None:
        for uid in uids:
            _opened(store, uid, base)

    def at_once() -> None:
        with ThreadPoolExecutor(STARTS) as pool:
            list(pool.map(lambda uid: _opened(ObjectStore(home / "home", 1), uid, base), uids))

    told = [(_took(at_once), _took(one_by_one)) for _ in range(ROUNDS)]
    together, apart = (min(times) for times in zip(*told, strict=True))
    return [Measure(f"{STARTS} plans started at once", together, "s", apart, "the same one after the other")]


def _plan(home: Path) -> list[Measure]:
    home.mkdir(parents=True)
    lab = Lab(home)
    try:
        lab.base = grow(lab.remote, lab.base, PLAN_FILES)
        _script(lab)
        lab.run("good")
        told = [(_took(lambda: lab.run("good")), _took(lambda: _script(lab))) for _ in range(ROUNDS)]
    finally:
        lab.close()
    ours, theirs = (min(times) for times in zip(*told, strict=True))
    return [Measure(f"whole plan, {PLAN_FILES:,} files", ours, "s", theirs, "its steps as a shell script")]


def _script(lab: Lab) -> None:
    """The same steps by hand: fetch, work tree, agent, commit, check in a fresh checkout, push, the agent again."""
    agent = shlex.join(lab.spec("good").agents.popitem()[1].command or ())
    place = lab.folder / "by-hand"
    run = agent.replace("{attempt}", "1").replace("{prompt_file}", "/dev/null").replace("{result_file}", "/dev/null")
    work, text = (run.replace("{unit}", unit) for unit in ("ExecutePlan", "CreatePr"))
    script = f"""
        test -d {place}/store || git clone -q --bare {lab.clone_url} {place}/store
        cd {place}/store; git fetch -q {lab.clone_url} trunk
        git worktree add -q -B by-hand ../tree {lab.base}
        cd ../tree; {work}; git add -A; git commit -q -m work
        git worktree add -q --detach ../fresh HEAD
        cd ../fresh; {TESTS.run} 2> /dev/null; cd ../tree
        git push -q -f {lab.clone_url} HEAD:refs/heads/by-hand
        {text}
        cd ../store; git worktree remove --force ../tree; git worktree remove --force ../fresh
        """
    subprocess.run(["sh", "-ec", script], env=ENVIRONMENT, capture_output=True, timeout=DEADLINE, check=True)
