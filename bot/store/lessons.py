"""Lessons that people adopted from rejected plans: each waits for the first plan on its paths that starts.

They are taken in the transaction in which that plan starts, so that each goes with one plan alone.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from bot.lifecycle.lessons import concerns
from bot.store.documents import dump, load
from bot.store.schema import lessons
from runner.results import WaitingLesson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.store.engine import Tx

MOST_LOOKED_AT = 200
"""Lessons of one repository, the oldest, that a start looks at."""


def keep(tx: Tx, repository_id: int, lesson: WaitingLesson) -> None:
    """Keep a lesson until a plan takes it; the same one is kept once."""
    sha256 = hashlib.sha256(f"{lesson.unit}\n{lesson.text}".encode()).hexdigest()
    document = dump(lesson.model_dump(mode="json"))
    row = tx.insert(lessons).values(repository_id=repository_id, sha256=sha256, document=document, at=tx.now)
    tx.execute(row.on_conflict_do_nothing(index_elements=["repository_id", "sha256"]))


def take(tx: Tx, repository_id: int, files: Sequence[str], most: int) -> tuple[WaitingLesson, ...]:
    """Return at most so many lessons about these files, the oldest first; they wait no longer."""
    c = lessons.c
    rows = tx.execute(
        select(c.id, c.document).where(c.repository_id == repository_id).order_by(c.id).limit(MOST_LOOKED_AT)
    )
    known = [(number, WaitingLesson.model_validate(load(text))) for number, text in rows]
    taken = [(number, lesson) for number, lesson in known if concerns(lesson, files)][: max(most, 0)]
    if taken:
        tx.execute(delete(lessons).where(c.id.in_([number for number, _ in taken])))
    return tuple(lesson for _, lesson in taken)
