"""What every village is checked for at its end can fail: a journal in which one thing was changed is found out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, text, update

from bot.lifecycle.events import Approved
from bot.store.documents import dump
from bot.store.schema import journal
from tests import audit

if TYPE_CHECKING:
    from sqlalchemy import Executable

    from tests.scenarios.village import Village

C = journal.c
APPROVALS = C.event == Approved.model_fields["type"].default
BY_HAND: list[tuple[Executable, str]] = [
    (delete(journal).where(C.event == "job_claimed"), "its lines are of the versions"),
    (delete(journal), "it ends in None"),
    (update(journal).where(C.version == 1).values(from_state="failed"), "it begins in failed"),
    (update(journal).where(C.to_state == "in_review").values(to_state="failed"), "goes on from in_review"),
    (update(journal).where(C.version >= 5).values(version=C.version + 1), "its lines are of the versions"),
    (update(journal).where(C.to_state == "pr_open").values(to_state="merged"), "it ends in merged"),
    (update(journal).where(APPROVALS).values(actor_login=None), "does not say who, or how"),
    (update(journal).where(C.event == "plan_requested").values(details=dump({})), "does not say who, or how"),
    (update(journal).where(C.version == 2).values(source=""), "does not say when, or from where"),
    (update(journal).where(APPROVALS).values(actor_id=C.actor_id + 1), "nothing says that alice approved"),
    (update(journal).where(APPROVALS).values(at=C.at - 1), "nothing says that alice approved"),
    (
        text("UPDATE journal SET details = replace(details, '\"command\"', '\"reaction\"')"),
        "nothing says that alice approved",
    ),
    (update(journal).where(C.to_state == "executing").values(details=dump({})), "without an approval of its plan"),
    (update(journal).where(C.to_state == "pr_open").values(details=dump({})), "without an approval of its diff"),
]


def told(village: Village, deed: Executable) -> list[str]:
    """What the audit says of a journal after such a deed, which is taken back."""
    with village.parts.store.write() as tx, tx.connection.begin_nested() as before:
        tx.execute(deed)
        found = audit.faults(tx)
        before.rollback()
    return found


def test_a_journal_that_was_tampered_with_is_found_out(village: Village) -> None:
    village.pulled()
    assert told(village, text("SELECT 1")) == []
    for deed, sentence in BY_HAND:
        found = told(village, deed)
        assert any(sentence in fault for fault in found), f"{deed}: {found}"
