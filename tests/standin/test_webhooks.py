"""Webhooks as they arrive: signature, order, faults, redelivery; and faults of the API."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from tests.standin.conftest import Hooks, World


def open_issues(world: World, count: int) -> None:
    with world.client("rob") as rob:
        for n in range(count):
            rob.post("/issues", json={"title": f"t{n}"})


def titles(hooks: Hooks) -> list[str]:
    rows = [json.loads(body) for headers, body in hooks.received if headers["x-github-event"] == "issues"]
    return [row["issue"]["title"] for row in rows]


def test_signed_and_in_order(world: World, hooks: Hooks) -> None:
    open_issues(world, 3)
    received = hooks.wait(4)
    for headers, body in received:
        secret = world.app["webhook_secret"].encode()
        assert headers["x-hub-signature-256"] == "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
        assert headers["x-github-hook-installation-target-id"] == str(world.app["app_id"])
    assert len({headers["x-github-delivery"] for headers, _ in received}) == 4
    assert titles(hooks) == ["t0", "t1", "t2"]
    payload = json.loads(received[-1][1])
    assert payload["installation"]["id"] == world.app["installation_id"]
    assert payload["repository"]["full_name"] == "acme/shop"
    assert payload["sender"]["login"] == "rob"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("drop", ["t1"]),
        ("duplicate", ["t0", "t0", "t1"]),
        ("redeliver", ["t0", "t1", "t0"]),
        ("reorder", ["t1", "t0"]),
    ],
)
def test_faults_of_delivery(world: World, hooks: Hooks, kind: str, expected: list[str]) -> None:
    world.standin.control.drain()
    world.standin.control.add_fault(kind, event="issues.opened")
    open_issues(world, 2)
    hooks.wait(1 + len(expected))
    world.standin.control.drain()
    got = titles(hooks)
    if kind == "redeliver":
        assert sorted(got) == sorted(expected)
        guids = {
            h["x-github-delivery"] for h, b in hooks.received if json.loads(b).get("issue", {}).get("title") == "t0"
        }
        assert len(guids) == 2
    else:
        assert got == expected
    assert world.standin.control.faults()[0]["hits"] == 1


def test_dropped_delivery_is_listed_and_redelivered(world: World, hooks: Hooks) -> None:
    world.standin.control.drain()
    world.standin.control.add_fault("drop")
    open_issues(world, 1)
    world.standin.control.drain()
    apps = world.github().rest.apps
    failed = apps.list_webhook_deliveries(status="failure").parsed_data
    assert [(row.event, row.action, row.status != "OK") for row in failed] == [("issues", "opened", True)]
    apps.redeliver_webhook_delivery(failed[0].id)
    hooks.wait(2)
    world.standin.control.drain()
    again = apps.list_webhook_deliveries().parsed_data[0]
    assert (again.guid, again.redelivery, again.status) == (failed[0].guid, True, "OK")


def test_delayed_delivery_is_overtaken(world: World, hooks: Hooks) -> None:
    world.standin.control.drain()
    world.standin.control.add_fault("delay", event="issues", seconds=0.3)
    open_issues(world, 2)
    hooks.wait(3)
    assert titles(hooks) == ["t1", "t0"]


def test_faults_of_the_api(world: World) -> None:
    control = world.standin.control
    with world.client("rob") as rob:
        control.add_fault("error", method="POST", path="/issues$", status=503)
        assert rob.post("/issues", json={"title": "a"}).status_code == 503
        control.add_fault("error_after", method="POST", path="/issues$", status=502)
        assert rob.post("/issues", json={"title": "b"}).status_code == 502
        control.add_fault("reset", method="POST")
        with pytest.raises(httpx.HTTPError):
            rob.post("/issues", json={"title": "c"})
        control.add_fault("reset_after", method="POST")
        with pytest.raises(httpx.HTTPError):
            rob.post("/issues", json={"title": "d"})
        control.add_fault("secondary", seconds=7, status=429)
        limited = rob.get("/issues")
        assert (limited.status_code, limited.headers["retry-after"]) == (429, "7")
        control.add_fault("primary", seconds=30)
        assert rob.get("/issues").headers["x-ratelimit-remaining"] == "0"
        control.add_fault("slow", seconds=0.05)
        assert [row["title"] for row in rob.get("/issues").json()] == ["d", "b"]
    faults = [entry["fault"] for entry in control.log() if entry["fault"]]
    assert faults == ["error", "error_after", "reset", "reset_after", "secondary", "primary", "slow"]


def test_an_app_hears_of_its_own_deeds_and_of_nothing_when_suspended(world: World, hooks: Hooks) -> None:
    world.installation().rest.issues.create("acme", "shop", title="mine")
    assert json.loads(hooks.wait(2)[-1][1])["sender"]["login"] == "twogate[bot]"
    world.standin.control.suspend(world.app["installation_id"])
    open_issues(world, 1)
    world.standin.control.drain()
    assert [headers["x-github-event"] for headers, _ in hooks.received] == ["installation", "issues", "installation"]
