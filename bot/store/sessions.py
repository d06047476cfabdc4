"""Who is signed in. A session ends where it was long unused, after a time in any case, and when it is ended.

The key is a hash of the random secret that the browser has, and the tokens are encrypted, so that whoever reads the
database is nobody. Renewing a token is done by one request at a time, wherever it runs: :func:`take_renewal`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, or_, select, update

from bot.lifecycle.plan import Person
from bot.store.schema import sessions

if TYPE_CHECKING:
    from bot.store.engine import Tx

IDLE_SECONDS = 12 * 3_600.0
"""A session that was not used for so long is over: a night."""
LONGEST_SECONDS = 7 * 86_400.0
"""No session lasts longer, however it is used: a week."""
SEEN_SECONDS = 300.0
"""Between two notes that a session is used, so that looking at pages hardly ever writes."""
RENEWAL_SECONDS = 30.0
"""How long one request has the sole right to renew a session's token; longer than GitHub's answer may take."""
MOST_SESSIONS = 20
"""Of one person; a new one ends the oldest."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A person's tokens as they lie in the database: encrypted."""

    token: bytes = field(repr=False)
    refresh_token: bytes | None = field(repr=False)
    ends_at: float | None


@dataclass(frozen=True, slots=True)
class Session:
    """One browser of one person, signed in."""

    key: str
    person: Person
    kept: Kept
    seen_at: float


def begin(tx: Tx, key: str, person: Person, kept: Kept) -> None:
    """Store a new session; the oldest of more than :data:`MOST_SESSIONS` end."""
    values = {"person_id": person.id, "login": person.login, "created_at": tx.now, "seen_at": tx.now}
    tx.execute(tx.insert(sessions).values(key=key, renewing_until=0.0, **values, **_columns(kept)))
    c = sessions.c
    newest = select(c.key).where(c.person_id == person.id).order_by(c.created_at.desc(), c.key).limit(MOST_SESSIONS)
    tx.execute(delete(sessions).where(c.person_id == person.id, c.key.not_in(newest.scalar_subquery())))


def get(tx: Tx, key: str) -> Session | None:
    """Return a session that is not over."""
    row = tx.execute(_CURRENT, key=key, **_ends(tx)).mappings().first()
    if row is None:
        return None
    kept = Kept(row["token"], row["refresh_token"], row["token_ends_at"])
    return Session(row["key"], Person(id=row["person_id"], login=row["login"]), kept, row["seen_at"])


def seen(tx: Tx, key: str) -> None:
    """Note that a session is used."""
    tx.execute(update(sessions).where(sessions.c.key == key).values(seen_at=tx.now))


def take_renewal(tx: Tx, session: Session) -> bool:
    """Take the right to renew the token that the session was read with; False where another has it or was done."""
    c = sessions.c
    same = (c.key == session.key) & (c.token_ends_at == session.kept.ends_at) & (c.renewing_until <= tx.now)
    return tx.execute(update(sessions).where(same).values(renewing_until=tx.now + RENEWAL_SECONDS)).rowcount == 1


def renewed(tx: Tx, key: str, kept: Kept) -> None:
    """Put new tokens into the place of the old ones and give the right back."""
    tx.execute(update(sessions).where(sessions.c.key == key).values(renewing_until=0.0, **_columns(kept)))


def give_back_renewal(tx: Tx, key: str) -> None:
    """Let the next request try to renew, since this one could not."""
    tx.execute(update(sessions).where(sessions.c.key == key).values(renewing_until=0.0))


def end(tx: Tx, key: str) -> None:
    """End one session; one that is over already is as wanted."""
    tx.execute(delete(sessions).where(sessions.c.key == key))


def end_of(tx: Tx, person_id: int, *, before: float) -> int:
    """End the sessions that somebody began before then, and return how many there were."""
    c = sessions.c
    return tx.execute(delete(sessions).where(c.person_id == person_id, c.created_at <= before)).rowcount


def forget(tx: Tx, limit: int) -> int:
    """Delete sessions that are over, at most so many; return how many."""
    old = select(sessions.c.key).where(_OVER).limit(limit)
    return tx.execute(delete(sessions).where(sessions.c.key.in_(old)), **_ends(tx)).rowcount


_OVER = or_(sessions.c.seen_at <= bindparam("idle_since"), sessions.c.created_at <= bindparam("begun_before"))
_CURRENT = select(sessions).where(sessions.c.key == bindparam("key"), ~_OVER)


def _ends(tx: Tx) -> dict[str, float]:
    """Return the times up to which a session was used last, or began, that is over."""
    return {"idle_since": tx.now - IDLE_SECONDS, "begun_before": tx.now - LONGEST_SECONDS}


def _columns(kept: Kept) -> dict[str, object]:
    return {"token": kept.token, "refresh_token": kept.refresh_token, "token_ends_at": kept.ends_at}
