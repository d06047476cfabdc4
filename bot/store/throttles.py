"""Throttles: what is closed until when, for all processes at once.

* ``installation:<id>``: GitHub said to wait; no effect of the installation is claimed before.
* ``writes:<id>``: the installation's next write would come too soon; no effect that writes is claimed before.
* ``turn:<name>``: a periodic task that one of the processes has just done.

Writes are counted one by one over the last hour, so that the limits hold in every window and not only in fixed ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select

from bot.store.documents import note
from bot.store.schema import throttles, writes

if TYPE_CHECKING:
    from bot.store.engine import Tx

Limits = tuple[tuple[int, float], ...]
"""(writes, seconds): how many writes of one installation fit any such stretch of time."""
WRITE_LIMITS: Limits = ((1, 1.0), (80, 60.0), (500, 3_600.0))
"""What GitHub asks of those who create content."""
MOST_WRITES, LONGEST_WINDOW = max(WRITE_LIMITS)


@dataclass(frozen=True, slots=True)
class Throttle:
    """One closed gate, for people to see."""

    name: str
    until: float
    reason: str


def installation_gate(installation_id: int) -> str:
    """Return the name of the gate that every call of an installation passes."""
    return f"installation:{installation_id}"


def write_gate(installation_id: int) -> str:
    """Return the name of the gate that the writes of an installation pass besides."""
    return f"writes:{installation_id}"


def close(tx: Tx, name: str, until: float, reason: str) -> None:
    """Close a gate until then, or leave it closed for longer where it already is."""
    later = func.max if tx.connection.dialect.name == "sqlite" else func.greatest
    insertion = tx.insert(throttles).values(name=name, until=until, reason=note(reason))
    tx.execute(
        insertion.on_conflict_do_update(
            index_elements=["name"],
            set_={"until": later(throttles.c.until, insertion.excluded.until), "reason": insertion.excluded.reason},
        )
    )


def lift(tx: Tx, name: str) -> bool:
    """Open a gate before its time, as when a person lifts a pause. False where it was not closed."""
    closed_now = (throttles.c.name == name) & (throttles.c.until > tx.now)
    found = tx.execute(delete(throttles).where(closed_now)).rowcount == 1
    tx.wake()
    return found


def is_open(tx: Tx, name: str) -> bool:
    """Tell whether nothing is known against going on."""
    c = throttles.c
    return tx.execute(select(c.name).where(c.name == name, c.until > tx.now)).first() is None


def closed(tx: Tx) -> list[Throttle]:
    """Return all that is closed now, without the turns of periodic tasks."""
    c = throttles.c
    query = select(c.name, c.until, c.reason).where(c.until > tx.now, c.name.not_like("turn:%")).order_by(c.name)
    return [Throttle(*row) for row in tx.execute(query)]


def paused(tx: Tx, installation_id: int | None = None) -> list[Throttle]:
    """Return the installations that stand still, or the given one if it does; pacing their writes is no pause."""
    gates = [gate for gate in closed(tx) if gate.name.startswith("installation:")]
    return [gate for gate in gates if installation_id is None or gate.name == installation_gate(installation_id)]


def take_turn(tx: Tx, name: str, every: float) -> bool:
    """Take the turn at a periodic task for the next ``every`` seconds. False where another process has it."""
    tx.exclusive("turns")
    if not is_open(tx, f"turn:{name}"):
        return False
    close(tx, f"turn:{name}", tx.now + every, "done by one of the processes")
    return True


def write_limits(per_second: float) -> Limits:
    """Return the limits for so many writes a second; above one, as a host of one's own bears, no others hold."""
    return ((1, 1 / per_second), *(WRITE_LIMITS[1:] if per_second <= 1 else ()))


def reserve_write(tx: Tx, installation_id: int, *, patience: float = 0.0, limits: Limits = WRITE_LIMITS) -> float:
    """Return when the installation's next write may go out; it is reserved where that is within ``patience`` seconds.

    Where it is later, nothing is reserved: put the effect off until then.
    """
    tx.exclusive(write_gate(installation_id))
    c = writes.c
    query = select(c.at).where(c.installation_id == installation_id).order_by(c.at.desc()).limit(MOST_WRITES)
    written = list(tx.execute(query).scalars())
    at = max(tx.now, _free_at(written, limits))
    if at <= tx.now + patience:
        tx.execute(insert(writes).values(installation_id=installation_id, at=at))
        tx.execute(delete(writes).where(c.installation_id == installation_id, c.at < at - LONGEST_WINDOW))
        close(tx, write_gate(installation_id), _free_at([at, *written], limits), "writes are paced")
    return at


def _free_at(written: list[float], limits: Limits) -> float:
    """Return when the limits allow one more write after these, the latest first."""
    return max((written[count - 1] + seconds for count, seconds in limits if len(written) >= count), default=0.0)
