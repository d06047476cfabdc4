"""Where a hostile agent meets the runner: it works confined, the runner goes on from what it left, and both are watched.

A trap is a program that leaves a mark outside of all that an agent can write. The mark is there only where somebody on
the runner's side ran the program. Each trap is shown to work first: :meth:`Arena.armed` does what an orchestrator does
that does not defend itself, and finds the mark.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.process import MARKER, Limits, run
from runner.sandbox import Capability, Confinement, Sandbox, agent_environment, probe
from runner.steps.commit import OUTCOMES
from runner.terms import SandboxMode
from runner.worktree import Workspace
from tests.runner.workbench import BOT, UID, Bench, sh

if TYPE_CHECKING:
    from pathlib import Path

    from runner.process import Ended
    from runner.worktree import Inspection

CAPABILITY = probe()
IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "Agent"), ("EMAIL", "a@example.org"))
}
TRUSTING = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
"""What an orchestrator sets that was stopped by git's own check of owners."""
CAP = 200_000
"""Bytes of the patch that is shown."""


def sandbox_of(layout: str) -> Sandbox:
    """Return bubblewrap, or (``bare``) what is left without it: another user where the runner is root."""
    if layout == "sandbox":
        return Sandbox(SandboxMode.REQUIRED, CAPABILITY)
    without = Capability(False, CAPABILITY.can_switch_user, "bubblewrap is not installed.")
    return Sandbox(SandboxMode.AUTO, without)


@dataclass(frozen=True)
class Seen:
    """What the runner made of it: what a reviewer is shown is what was pushed, or nothing was pushed at all."""

    inspection: Inspection
    head: str | None = None
    """None where the job ends here."""
    changes: dict[bytes, str] = field(default_factory=dict)
    lines: dict[bytes, int | None] = field(default_factory=dict)
    """Added lines a path."""
    patch: str = ""
    cut: bool = False

    @property
    def said(self) -> str:
        return " ".join(self.inspection.sentences)


class Arena:
    """One plan, one agent, one runner."""

    def __init__(self, place: Bench, sandbox: Sandbox) -> None:
        self.place, self.sandbox = place, sandbox
        self.folder = place.home.parent
        self.mark, self.output = self.folder / "mark", self.folder / "output"
        self.workspace = self.open()
        self.trap = self.workspace.tmp / "trap"

    def open(self, uid: str = UID, branch: str = "plan/7") -> Workspace:
        """Make a plan's workspace and give it to the agent's user."""
        place = self.place
        return Workspace.open(place.store, plan_uid=uid, branch=branch, base=place.base, owner=self.sandbox.owner)

    def agent(self, script: str, workspace: Workspace | None = None, *, ok: bool = True, seconds: float = 60) -> Ended:
        """Run a shell script as the agent; ``$P`` is the trap, which it has built by then."""
        at = workspace or self.workspace
        mounts = at.mounts()
        extra = {
            **IDENTITY,
            "P": str(self.trap),
            "IN_AGENT": "1",
            "STORE": str(self.place.store.path),
            MARKER: "pitfall",
        }
        build = f"""printf '#!/bin/sh\\ntest -n "$IN_AGENT" || touch {self.mark}\\ncat\\n' > "$TMPDIR/trap"; chmod +x "$TMPDIR/trap"\n"""
        ended = run(
            self.sandbox.wrap(["sh", "-ec", build + script], Confinement(mounts.cwd, mounts.writable, mounts.readonly)),
            cwd=mounts.cwd,
            env=agent_environment({"PATH": os.defpath}, home=mounts.home, tmp=mounts.tmp, extra=extra),
            stdout_path=self.output,
            deadline_seconds=seconds,
            grace_seconds=0.5,
            limits=Limits(),
        )
        assert not ok or ended.returncode == 0, self.output.read_text(errors="replace")
        return ended

    def naive(self, script: str, at: Path | None = None) -> str:
        """Do in the work tree what an orchestrator does that trusts it."""
        return sh(at or self.workspace.tree, script, ok=False, env=TRUSTING)

    def armed(self, script: str, at: Path | None = None) -> None:
        """Show that the trap would have worked."""
        self.naive(script, at)
        assert self.mark.exists(), f"the trap is not armed: {script}"
        self.mark.unlink()

    def finish(self, branch: str = "plan/7") -> Seen:
        """Go on as a job does after its agent: inspect, commit, show, check out afresh, try the merge, push."""
        workspace, store, place = self.workspace, self.place.store, self.place
        inspection = workspace.inspect()
        self.require_silence()
        if inspection.finding in OUTCOMES:
            return Seen(inspection)
        workspace.commit("work", BOT)
        head = workspace.head
        changes = {change.path: change.status for change in store.changes(workspace.base, head)}
        lines = {stat.path: stat.added for stat in store.diff_stat(workspace.base, head)}
        patch, cut = store.patch(workspace.base, head, CAP)
        store.fresh_checkout(head, self.folder / "checkout", self.sandbox.owner)
        store.merge_conflicts(place.fetch(), head)
        if head != workspace.base:
            store.push(place.url, head, branch, expect=None)
            self._judge(head, set(changes), patch if None not in lines.values() and not cut else None)
        self.require_silence()
        return Seen(inspection, head, changes, lines, patch.decode("utf-8", "surrogateescape"), cut)

    def require_silence(self) -> None:
        """Nothing of the agent's ran on this side, and the store is as the runner left it."""
        assert not self.mark.exists(), "a program of the agent's ran on the runner's side"
        assert self.place.store.tampered() == ()

    def _judge(self, head: str, paths: set[bytes], patch: bytes | None) -> None:
        """Compare what was shown with what the remote has, as a person does in a clone."""
        clone = self.folder / "clone"
        sh(
            self.folder,
            f"rm -rf clone; git clone -q {self.place.url} clone; cd clone; git checkout -q origin/plan/7 --",
        )
        assert sh(clone, "git rev-parse --verify HEAD") == head
        listing = f"git diff-tree -r -z --no-renames --name-only --ignore-submodules=none {self.place.base} HEAD --"
        names = sh(clone, f"printf '\\0'; {listing}; printf '\\0'")
        assert {os.fsencode(name) for name in names.split("\0") if name} == paths
        if patch:
            (self.folder / "patch").write_bytes(patch)
            tree = sh(clone, f"git checkout -q {self.place.base} --; git apply --cached ../patch; git write-tree")
            assert tree == sh(clone, f"git rev-parse {head}^{{tree}}"), "what was shown is not what was pushed"


def in_python(code: str) -> list[str]:
    """Return the command that runs code with a Python that every user can start."""
    return ["/usr/bin/python3", "-I", "-S", "-c", code]
