from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bot.lifecycle.effects import Acknowledge, Dispatch, PostPlan, Priority, ShowStatus
from bot.store import deliveries, outbox, throttles
from bot.store.deliveries import NewDelivery

if TYPE_CHECKING:
    from bot.store.engine import Store
    from bot.store.outbox import Claimed
    from tests.store.databases import Clock

KINDS = ("acknowledge", "dispatch", "post_plan", "show_status")
LEASE = 60.0


def add(store: Store, *effects: Any, lane: str = "7:1", installation: int = 3) -> int:
    with store.write() as tx:
        return outbox.add(tx, effects, lane=lane, installation_id=installation, plan_uid="cafe0001")


def claim(store: Store, kinds: tuple[str, ...] = KINDS, paced: tuple[str, ...] = ()) -> Claimed | None:
    with store.read() as tx:
        ready = outbox.ready(tx, kinds, paced)
    with store.write() as tx:
        claimed = outbox.claim(tx, "me", LEASE, kinds, paced)
    assert ready == (claimed is not None)
    return claimed


def take(store: Store, **how: Any) -> Claimed:
    claimed = claim(store, **how)
    assert claimed is not None
    return claimed


def finish(store: Store, claimed: Claimed, *follow_ups: NewDelivery) -> bool:
    with store.write() as tx:
        return outbox.finish(tx, claimed, "done", follow_ups)


def test_a_key_is_taken_once(store: Store) -> None:
    assert add(store, Acknowledge(key="a"), Dispatch(key="b", job="cafe0001-1")) == 2
    assert add(store, Acknowledge(key="a")) == 0


def test_effects_of_a_lane_go_one_at_a_time_first_by_priority_then_in_order(store: Store) -> None:
    add(store, ShowStatus(key="s"), Acknowledge(key="a1"), Acknowledge(key="a2"), Dispatch(key="d", job="cafe0001-1"))
    order = []
    while (claimed := claim(store)) is not None:
        order.append(claimed.key)
        assert claim(store) is None
        finish(store, claimed)
    assert order == ["d", "a1", "a2", "s"]


def test_nothing_passes_what_is_in_hand_not_even_a_decision(store: Store) -> None:
    add(store, ShowStatus(key="s"))
    status = take(store)
    add(store, Dispatch(key="d", job="cafe0001-1"))
    assert claim(store) is None
    finish(store, status)
    assert take(store).key == "d"


def test_lanes_are_independent_and_decisions_go_first_among_them(store: Store) -> None:
    add(store, ShowStatus(key="s"), lane="a")
    add(store, Dispatch(key="d", job="cafe0001-1"), lane="b")
    assert [take(store).key, take(store).key, claim(store)] == ["d", "s", None]


def test_a_claim_carries_the_effect_and_says_whether_it_is_the_first(store: Store, clock: Clock) -> None:
    effect = PostPlan(key="p", revision=4)
    add(store, effect)
    claimed = take(store)
    assert claimed.effect == effect
    assert (claimed.attempt, claimed.first, claimed.installation_id, claimed.plan_uid) == (1, True, 3, "cafe0001")
    clock.forward(LEASE + 1)
    again = take(store)
    assert (again.attempt, again.first) == (2, False)


def test_who_lost_the_claim_can_change_nothing(store: Store, clock: Clock) -> None:
    add(store, Acknowledge(key="a"))
    zombie = take(store)
    clock.forward(LEASE + 1)
    heir = take(store)
    told = NewDelivery("g", "effect", "e", "7:1", "{}")
    with store.write() as tx:
        assert not outbox.finish(tx, zombie, "done", [told])
        assert not outbox.retry(tx, zombie, clock(), "again")
        assert not outbox.park(tx, zombie, "bad", [told])
        assert not outbox.release(tx, zombie)
        assert not outbox.may_call(tx, zombie, 0)
        outbox.renew(tx, [zombie], 10 * LEASE)
    with store.read() as tx:
        assert not deliveries.ready(tx)
        assert outbox.may_call(tx, heir, LEASE / 2)
    assert finish(store, heir, told)
    assert not finish(store, heir, told)
    with store.read() as tx:
        assert deliveries.ready(tx)


def test_a_try_that_is_given_back_is_still_looked_up(store: Store) -> None:
    """A rate limit may come with the second call of an effect: the first call has been made."""
    add(store, Acknowledge(key="a"))
    with store.write() as tx:
        claimed = outbox.claim(tx, "me", LEASE, KINDS)
        assert claimed is not None
        outbox.retry(tx, claimed, tx.now, "limit", give_back=True)
    again = take(store)
    assert (again.attempt, again.first) == (1, False)


def test_a_claim_that_was_released_leaves_no_trace(store: Store) -> None:
    add(store, Acknowledge(key="a"))
    with store.write() as tx:
        claimed = outbox.claim(tx, "me", LEASE, KINDS)
        assert claimed is not None
        assert outbox.release(tx, claimed)
    again = take(store)
    assert (again.attempt, again.first) == (1, True)


def test_only_known_kinds_are_taken_and_order_is_kept_around_the_others(store: Store) -> None:
    add(store, Dispatch(key="d", job="cafe0001-1"), Acknowledge(key="a"))
    add(store, Acknowledge(key="b"), lane="7:2")
    old_release = ("acknowledge",)
    assert take(store, kinds=old_release).key == "b"
    assert claim(store, kinds=old_release) is None
    assert take(store).key == "d"


def test_a_closed_gate_holds_back_its_installation_alone(store: Store, clock: Clock) -> None:
    add(store, Acknowledge(key="a"), lane="a", installation=3)
    add(store, Acknowledge(key="b"), lane="b", installation=33)
    with store.write() as tx:
        throttles.close(tx, throttles.installation_gate(3), clock() + 30, "told to wait")
    assert [take(store).key, claim(store)] == ["b", None]
    clock.forward(30)
    assert take(store).key == "a"


def test_just_before_the_call_gate_and_lease_are_looked_at_again(store: Store, clock: Clock) -> None:
    add(store, Acknowledge(key="a"))
    claimed = take(store)
    with store.write() as tx:
        assert outbox.may_call(tx, claimed, LEASE / 2)
        throttles.close(tx, throttles.installation_gate(3), clock() + 10, "told to wait")
        assert not outbox.may_call(tx, claimed, LEASE / 2)
    clock.forward(10)
    with store.read() as tx:
        assert outbox.may_call(tx, claimed, LEASE / 2)
    clock.forward(LEASE / 2 - 9)
    with store.read() as tx:
        assert not outbox.may_call(tx, claimed, LEASE / 2)


def test_an_installation_has_one_writer_and_any_number_of_readers(store: Store) -> None:
    for lane in "abc":
        add(store, Acknowledge(key=lane), lane=lane)
    add(store, Dispatch(key="d", job="cafe0001-1"), lane="d")
    add(store, Acknowledge(key="e"), lane="e", installation=33)
    paced = ("acknowledge",)
    taken = {take(store, paced=paced).key for _ in range(3)}
    assert taken == {"a", "d", "e"}
    assert claim(store, paced=paced) is None


def test_no_writer_is_sent_before_the_next_write_is_free(store: Store, clock: Clock) -> None:
    add(store, Acknowledge(key="a"), lane="a")
    add(store, Dispatch(key="d", job="cafe0001-1"), lane="d")
    with store.write() as tx:
        throttles.reserve_write(tx, 3)
    assert [take(store, paced=("acknowledge",)).key, claim(store, paced=("acknowledge",))] == ["d", None]
    clock.forward(1.0)
    assert take(store, paced=("acknowledge",)).key == "a"


def test_a_status_that_waits_stands_for_all_later_ones(store: Store) -> None:
    assert add(store, ShowStatus(key="s1"), ShowStatus(key="s2")) == 1
    assert add(store, ShowStatus(key="s3")) == 0
    assert add(store, ShowStatus(key="s4"), lane="7:2") == 1


def test_a_status_that_is_being_shown_does_not_stand_for_a_later_one(store: Store) -> None:
    """It may have read the plan before it changed."""
    add(store, ShowStatus(key="s1"))
    claimed = take(store)
    assert add(store, ShowStatus(key="s2")) == 1
    assert add(store, ShowStatus(key="s3")) == 0
    finish(store, claimed)
    assert take(store).key == "s2"


def test_a_parked_effect_is_seen_blocks_nothing_and_can_be_taken_up_again(store: Store) -> None:
    add(store, Dispatch(key="d", job="cafe0001-1"), Acknowledge(key="a"))
    claimed = take(store)
    with store.write() as tx:
        assert outbox.park(tx, claimed, "refused", [NewDelivery("g", "effect", "effect_failed", "7:1", "{}")])
    with store.read() as tx:
        (parked,) = outbox.parked(tx)
        assert deliveries.ready(tx)
    assert (parked.kind, parked.key, parked.error) == ("dispatch", "d", "refused")
    finish(store, take(store))
    with store.write() as tx:
        assert outbox.unpark(tx, parked.id)
        assert not outbox.unpark(tx, parked.id)
    again = take(store)
    assert (again.key, again.attempt, again.first) == ("d", 1, False)


def test_an_effect_that_fails_waits_and_its_lane_with_it(store: Store, clock: Clock) -> None:
    add(store, Acknowledge(key="a"), Acknowledge(key="b"))
    claimed = take(store)
    with store.write() as tx:
        outbox.retry(tx, claimed, clock() + 5, "away")
    assert claim(store) is None
    clock.forward(5)
    assert take(store).attempt == 2


def test_the_job_of_an_effect_is_known_without_reading_the_effect(store: Store) -> None:
    add(store, Dispatch(key="d", job="cafe0001-1"), Acknowledge(key="a"))
    dispatch = take(store)
    finish(store, dispatch)
    assert [outbox.job_of(dispatch), outbox.job_of(take(store))] == ["cafe0001-1", None]


@pytest.mark.parametrize("priority", list(Priority))
def test_priorities_are_stored_as_numbers_that_keep_their_order(priority: Priority) -> None:
    assert int(priority) == ["DECIDE", "SAY", "SHOW"].index(priority.name)
