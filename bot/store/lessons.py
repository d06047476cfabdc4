"""Lessons that people adopted from rejected plans: each waits for the first plan on its paths that starts.

They are taken in the transaction in which that plan starts, so that each goes with one plan alone. All that wait are
looked at, the oldest first, so that none holds up another however long it finds no plan.
"""

from __future__ import annotations

import hashlib
from itertools import islice
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from bot.lifecycle.lessons import concerns
from bot.store.documents import dump, load
from bot.store.schema import lessons
from runner.results import WaitingLesson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.store.engine import Tx

MOST_KEPT = 1_000
"""Lessons that wait in one repository; where another is adopted, the oldest is forgotten."""
PAGE = 500
"""Lessons that are read at once."""


def keep(tx: Tx, repository_id: int, lesson: WaitingLesson) -> None:
    """Keep a lesson until a plan takes it; the same one is kept once."""
    c = lessons.c
    sha256 = hashlib.sha256(f"{lesson.unit}\n{lesson.text}".encode()).hexdigest()
    document = dump(lesson.model_dump(mode="json"))
    row = tx.insert(lessons).values(repository_id=repository_id, sha256=sha256, document=document, at=tx.now)
    tx.execute(row.on_conflict_do_nothing(index_elements=["repository_id", "sha256"]))
    newest = select(c.id).where(c.repository_id == repository_id).order_by(c.id.desc())
    too_old = tx.execute(newest.offset(MOST_KEPT).limit(1)).scalar()
    if too_old is not None:
        tx.execute(delete(lessons).where(c.repository_id == repository_id, c.id <= too_old))


def take(tx: Tx, repository_id: int, files: Sequence[str], most: int) -> tuple[WaitingLesson, ...]:
    """Return at most so many lessons about these files, the oldest first; they wait no longer."""
    about = ((number, lesson) for number, lesson in _waiting(tx, repository_id) if concerns(lesson, files))
    taken = list(islice(about, max(most, 0)))
    if taken:
        tx.execute(delete(lessons).where(lessons.c.id.in_([number for number, _ in taken])))
    return tuple(lesson for _, lesson in taken)


def _waiting(tx: Tx, repository_id: int) -> Iterator[tuple[int, WaitingLesson]]:
    """Yield what waits, page by page, the oldest first."""
    c, last = lessons.c, 0
    page = select(c.id, c.document).where(c.repository_id == repository_id).order_by(c.id).limit(PAGE)
    while rows := tx.execute(page.where(c.id > last)).all():
        for number, text in rows:
            yield number, WaitingLesson.model_validate(load(text))
        last = rows[-1].id
