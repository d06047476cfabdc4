"""Repositories whose hooks take reports: named to the web, which asks GitHub nothing for whoever knocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, select, update

from bot.lifecycle.plan import Repo
from bot.store.documents import dump, load
from bot.store.schema import hooks

if TYPE_CHECKING:
    from bot.store.engine import Tx

HOUR = 3_600.0


@dataclass(frozen=True, slots=True)
class Hook:
    """A repository that can be addressed."""

    repo: Repo
    signs_with: bytes | None
    """A secret of the sender's own, encrypted, by which its reports are known as well."""
    generation: int
    """Of the policy at the time when it was told; it counts in no other."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Whether a report may come in; if not, in how many seconds the next may."""

    may: bool
    wait: float = 0.0


def open_hook(tx: Tx, hook: Hook) -> None:
    """Let the web know a repository by its names of now; whichever had these names before has them no longer.

    A secret of the sender's that was told before stays, unless there is a new one.
    """
    repo = hook.repo
    name, c = _name(repo.owner, repo.name), hooks.c
    tx.execute(delete(hooks).where(c.name == name, c.repository_id != repo.id))
    document = dump(repo.model_dump(mode="json"))
    told = {"signs_with": hook.signs_with, "generation": hook.generation} if hook.signs_with else {}
    fresh = {"generation": hook.generation, "hour_began": 0.0, "taken": 0}
    row = tx.insert(hooks).values(repository_id=repo.id, name=name, document=document, **{**fresh, **told})
    changed = {column: row.excluded[column] for column in ("name", "document", *told)}
    tx.execute(row.on_conflict_do_update(index_elements=["repository_id"], set_=changed))


def named(tx: Tx, owner: str, name: str) -> Hook | None:
    """Return the repository of these names, if its hooks were ever opened."""
    c = hooks.c
    row = tx.execute(select(c.document, c.signs_with, c.generation).where(c.name == _name(owner, name))).first()
    return None if row is None else Hook(Repo.model_validate(load(row.document)), row.signs_with, row.generation)


def take(tx: Tx, repository_id: int, most: int) -> Taken:
    """Count one report of the hour, unless there were ``most`` in it already. The hour begins with its first report."""
    c = hooks.c
    row = tx.execute(select(c.hour_began, c.taken).where(c.repository_id == repository_id).with_for_update()).one()
    began, taken = (row.hour_began, row.taken) if tx.now < row.hour_began + HOUR else (tx.now, 0)
    if taken >= most:
        return Taken(may=False, wait=began + HOUR - tx.now)
    tx.execute(update(hooks).where(c.repository_id == repository_id).values(hour_began=began, taken=taken + 1))
    return Taken(may=True)


def _name(owner: str, name: str) -> str:
    return f"{owner}/{name}".casefold()
