"""Sessions of agents between two jobs of one plan: kept on this machine, for that plan alone, and never trusted.

``sessions/<repository>/<plan>/<unit>/`` holds ``about.json`` and, below ``files``, what the agent's adapter needs to go
on and nothing else. The agent wrote these files, so they are read as hostile each time: regular files at the places
that the adapter names, of a bounded size. A session belongs to the work that it ended in: it is kept when that is
pushed or reported, and gone on with where the plan's next job begins there or later, with the same agent at the same
place. Where anything does not fit there is none, and the ledger and the branch carry the work.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import StringConstraints

from runner import folders
from runner.agents.home import SESSION, put, take
from runner.contract import Sha
from runner.results import Message
from runner.terms import AgentSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from runner.results import Unit

SESSION_DAYS = 7
"""Days that a session is kept after it ended; a plan that ends takes its sessions along."""
ABOUT, FILES = "about.json", "files"


class About(Message):
    """What a session is of."""

    session: Annotated[str, StringConstraints(pattern=f"^{SESSION.pattern}$")]
    head: Sha | None
    agent: AgentSpec
    tree: str


@dataclass(frozen=True)
class Kept:
    """A session to go on with."""

    session: str
    head: str | None
    """The commit that its work ended in, None for a unit that only reads."""
    files: dict[str, bytes]
    """By path relative to HOME."""


@dataclass(frozen=True)
class Sessions:
    """The sessions of one plan's unit, by one agent in one work tree."""

    home: Path
    """``TWOGATE_HOME``."""
    repository_id: int
    plan_uid: str
    unit: Unit
    agent: AgentSpec
    tree: Path
    patterns: tuple[str, ...]
    """What the adapter keeps (:attr:`~runner.agents.base.Agent.keeps`)."""

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return place(self.home, self.repository_id, self.plan_uid) / self.unit

    def keep(self, session: str, head: str | None, agents_home: Path) -> None:
        """Keep a session that has ended well, in place of the one before. Raises OSError."""
        files = take(agents_home, self._patterns(session))
        self.forget()
        if not files:
            return
        draft = folders.fresh(self.folder.with_name(f".{self.unit}"))
        for folder in (draft.parent, draft.parent.parent, draft.parent.parent.parent):
            folder.chmod(0o700)
        folders.fresh(draft / FILES)
        put(draft / FILES, files, None)
        about = About(session=session, head=head, agent=self.agent, tree=str(self.tree))
        (draft / ABOUT).write_text(about.model_dump_json(), encoding="utf-8")
        draft.rename(self.folder)

    def recall(self) -> Kept | None:
        """Return the session to go on with, None where there is none of this agent in this place."""
        try:
            about = About.model_validate_json((self.folder / ABOUT).read_bytes())
        except (OSError, ValueError):
            return None
        if (about.agent, about.tree) != (self.agent, str(self.tree)):
            return None
        files = take(self.folder / FILES, self._patterns(about.session))
        return Kept(about.session, about.head, files) if files else None

    def forget(self) -> None:
        """Remove it."""
        folders.remove(self.folder)

    def _patterns(self, session: str) -> tuple[str, ...]:
        return tuple(pattern.replace("{session}", session) for pattern in self.patterns)


def place(home: Path, repository_id: int, plan_uid: str) -> Path:
    """Return the folder of a plan's sessions."""
    return home / "sessions" / str(repository_id) / plan_uid


def plans(home: Path, repository_id: int) -> Sequence[str]:
    """Return the plans of which sessions are kept."""
    return [folder.name for folder in (home / "sessions" / str(repository_id)).glob("*")]


def expire(home: Path, before: float) -> Iterator[str]:
    """Remove drafts and what was kept before a moment (epoch seconds), the plan's folder with the last; say so."""
    for folder in sorted((home / "sessions").glob("*/*/*")):
        about = folder / ABOUT
        if folder.name.startswith(".") or not about.exists() or about.stat().st_mtime < before:
            folders.remove(folder)
            with suppress(OSError):
                folder.parent.rmdir()
            yield f"the session of {folder.name} for plan {folder.parent.name} was removed"
