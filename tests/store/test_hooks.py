"""Repositories whose hooks take reports, on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.plan import Repo
from bot.store import hooks
from bot.store.hooks import Hook

if TYPE_CHECKING:
    from bot.store.engine import Store
    from tests.store.databases import Clock

SHOP = Repo(id=7, owner="Acme", name="Shop", installation_id=1)


def named(store: Store, owner: str, name: str) -> Hook | None:
    with store.read() as tx:
        return hooks.named(tx, owner, name)


def test_a_name_is_that_of_the_repository_that_was_opened_under_it_last(store: Store) -> None:
    first = Hook(SHOP, b"theirs", 1)
    with store.write() as tx:
        hooks.open_hook(tx, first)
    assert named(store, "acme", "shop") == first
    moved = SHOP.model_copy(update={"name": "store"})
    with store.write() as tx:
        hooks.open_hook(tx, Hook(moved, None, 2))
    assert named(store, "ACME", "STORE") == Hook(moved, b"theirs", 1), "the sender's secret stays, with its generation"
    assert named(store, "acme", "shop") is None
    namesake = SHOP.model_copy(update={"id": 8, "name": "store"})
    with store.write() as tx:
        hooks.open_hook(tx, Hook(namesake, None, 1))
    assert named(store, "acme", "store") == Hook(namesake, None, 1)


def test_an_hour_begins_with_its_first_report(store: Store, clock: Clock) -> None:
    def take() -> hooks.Taken:
        with store.write() as tx:
            return hooks.take(tx, SHOP.id, 2)

    with store.write() as tx:
        hooks.open_hook(tx, Hook(SHOP, None, 1))
    assert take().may
    clock.forward(3_000)
    assert take().may
    refused = take()
    assert (refused.may, round(refused.wait)) == (False, 600)
    clock.forward(600)
    assert take().may
