"""Figures of operation: read with the official parser, held against what was stored."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import event

from bot import serving
from bot.settings import from_environment
from bot.store import deliveries, rate_limits, throttles
from bot.store.deliveries import NewDelivery
from bot.store.engine import Store, open_store
from bot.store.rate_limits import Left
from bot.web import metrics
from bot.web.app import create_app
from bot.worker.noted import Noted
from bot.worker.schedule import Periods
from tests.scenarios.conftest import country, source, sqlite_template, sqlite_url, village

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scenarios.village import Village

__all__ = ["country", "source", "sqlite_template", "sqlite_url", "village"]

Figures = dict[str, dict[tuple[str, ...], float]]


@pytest.fixture
def store(sqlite_url: str) -> Iterator[Store]:
    made = open_store(sqlite_url, now=lambda: 1_800_000_000.0)
    yield made
    made.dispose()


def scraped(store: Store) -> Figures:
    client = create_app(metrics.blueprint(store, token=None, private=True)).test_client()
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    found: Figures = {}
    for family in text_string_to_metric_families(answer.text):
        meaning, labels = metrics.FAMILIES[family.name.removeprefix("twogate_")]
        assert (family.type, family.documentation) == ("gauge", meaning)
        for sample in family.samples:
            assert set(sample.labels) == set(labels)
            found.setdefault(family.name, {})[tuple(sample.labels[label] for label in labels)] = sample.value
    return found


def test_a_village_in_figures(village: Village) -> None:
    village.pulled()
    village.planned()
    found = scraped(village.parts.store)
    assert found["twogate_plans"] == {("pr_open", "merge", "no"): 1, ("draft", "plan_decision", "no"): 1}
    assert found["twogate_deliveries_last_hour"]["runner", "event", "done"] >= 4
    assert found["twogate_effects_last_hour"]["open_pull_request", "done"] == 1
    assert found["twogate_effect_retries_last_hour"]["open_pull_request",] == 0
    assert found["twogate_deliveries_oldest_seconds"] == {(): 0}
    assert found["twogate_spend_today_usd"][str(village.repository_id),] > 0
    assert found["twogate_spend_today_at_least"] == {(str(village.repository_id),): 0}
    assert "twogate_jobs_open" not in found


def stored(store: Store, number: int) -> None:
    """Deliveries of several kinds: open, done, given up."""
    with store.write() as tx:
        for n in range(number):
            new = NewDelivery(f"g{n}", "github", "issues", f"lane:{n % 7}", "{}", 7)
            deliveries.add(tx, new)
        for _ in range(2):
            taken = deliveries.next_open(tx)
            assert taken is not None
            deliveries.finish(tx, taken, "well")
        taken = deliveries.next_open(tx)
        assert taken is not None
        deliveries.park(tx, taken, "broken")
        throttles.close(tx, throttles.installation_gate(7), tx.now + 60, "GitHub says wait.")
        throttles.close(tx, throttles.write_gate(8), tx.now + 60, "writes are paced")
        throttles.close(tx, "turn:poll", tx.now - 300, "done")
        rate_limits.note(tx, [Left("installation:7", "core", 5_000, 4_000, tx.now + 60)])
        rate_limits.note(tx, [Left("installation:7", "core", 5_000, 3_999, tx.now + 60)])
        rate_limits.note(tx, [Left("app", "core", 5_000, 1, tx.now - 1)])


def test_what_waits_what_was_given_up_and_what_is_left(store: Store) -> None:
    stored(store, 10)
    found = scraped(store)
    assert found["twogate_deliveries_open"] == {("github", "issues"): 7}
    assert found["twogate_deliveries_last_hour"] == {
        ("github", "issues", "done"): 2,
        ("github", "issues", "parked"): 1,
    }
    assert found["twogate_deliveries_parked"] == {(): 1}
    assert found["twogate_installation_paused"] == {("7",): 1}
    assert found["twogate_writes_paced"] == {("8",): 1}
    assert found["twogate_worker_overdue_seconds"] == {(): 300}
    assert found["twogate_rate_limit_left"] == {("installation:7", "core"): 3_999, ("app", "core"): 5_000}


def test_a_scrape_takes_as_many_statements_however_much_there_is(store: Store) -> None:
    statements: list[str] = []
    event.listen(store.backend.reader, "before_cursor_execute", lambda _c, _k, text, *_: statements.append(text))
    scraped(store)
    before = len(statements)
    stored(store, 300)
    statements.clear()
    scraped(store)
    assert len(statements) == before < 20


def test_a_worker_writes_down_what_github_says_is_left(store: Store) -> None:
    noted = Noted(store)
    noted("installation:7", {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "1"})
    noted("installation:7", {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "x", "x-ratelimit-reset": "1"})
    noted.write()
    said = {"x-ratelimit-limit": "5000", "x-ratelimit-reset": "1800000060", "x-ratelimit-resource": "graphql"}
    for left in ("4000", "3000"):
        noted("installation:7", {**said, "x-ratelimit-remaining": left})
    noted.write()
    with store.read() as tx:
        assert rate_limits.known(tx) == [Left("installation:7", "graphql", 5_000, 3_000, 1_800_000_060.0)]


def test_however_many_install_the_app_the_lines_stay_few(store: Store) -> None:
    with store.write() as tx:
        rate_limits.note(tx, [Left("app", "core", 5_000, 5_000, tx.now + 60)])
        for number in range(metrics.MOST_GATES + 5):
            gate = throttles.installation_gate(number)
            rate_limits.note(tx, [Left(gate, "core", 5_000, 4_000 - number, tx.now + 60)])
            throttles.close(tx, gate, tx.now + 60, "GitHub says wait.")
    found = scraped(store)
    left = found["twogate_rate_limit_left"]
    assert (len(left), left["app", "core"], min(left.values())) == (metrics.MOST_GATES, 5_000, 3_896)
    assert len(found["twogate_installation_paused"]) == metrics.MOST_GATES


def test_who_may_look(store: Store) -> None:
    def asked(token: str | None, *, private: bool, **headers: str) -> tuple[int, str]:
        client = create_app(metrics.blueprint(store, token=token, private=private)).test_client()
        answer = client.get("/metrics", headers=headers)
        return answer.status_code, answer.text

    assert asked(None, private=True)[0] == 200
    status, said = asked(None, private=False)
    assert (status, "TWOGATE_METRICS_TOKEN" in said) == (403, True)
    token = "a-token-of-some-length"
    assert asked(token, private=True)[0] == 401
    assert asked(token, private=False, Authorization="Bearer wrong")[0] == 401
    assert asked(token, private=False, Authorization=f"Bearer {token}")[0] == 200
    openmetrics = asked(token, private=False, Authorization=f"Bearer {token}", Accept="application/openmetrics-text")
    assert openmetrics[1].endswith("# EOF\n")


def test_only_so_many_repositories_have_a_line(monkeypatch: pytest.MonkeyPatch, village: Village) -> None:
    monkeypatch.setattr(metrics, "MOST_REPOSITORIES", 0)
    village.planned()
    assert list(scraped(village.parts.store)["twogate_spend_today_usd"]) == [("other",)]


def test_what_github_leaves_reaches_the_figures_through_a_worker(village: Village) -> None:
    """The parts as ``twogate serve`` opens them, with a worker whose heart beats fast."""
    parts = serving.open_parts(from_environment(village.environment))
    beats = threading.Event()

    def beat() -> None:
        parts.noted()
        beats.set()

    worker = serving.worker(replace(parts, noted=beat), Periods(lease=0.3))
    try:
        parts.gateway.identity()
        worker.start()
        assert beats.wait(20)
        found = scraped(parts.store)
    finally:
        worker.stop()
        parts.close()
    assert found["twogate_rate_limit"]["app", "core"] >= found["twogate_rate_limit_left"]["app", "core"] > 0
    assert found["twogate_worker_overdue_seconds"][()] < 60
