"""``GET /metrics``: how the bot does, as Prometheus reads it.

Every value is read from the database at the scrape, so that whichever process answers, the answer is the same, and
nothing is lost by a restart. Hence gauges: what happened is counted over the last hour, not since some start.
"""

from __future__ import annotations

import hmac
from importlib.metadata import version
from typing import TYPE_CHECKING

from flask import Blueprint, Response, request
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from bot.lifecycle.amounts import Amount
from bot.store import gauges
from bot.store.engine import StoreUnavailable
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bot.store.engine import Store
    from bot.store.gauges import Gauges
    from bot.store.rate_limits import Left

MOST_REPOSITORIES = 100
"""Repositories with a line of their own, those that spent most today; what others spent is one line, ``other``."""
MOST_GATES = 100
"""Windows of GitHub's limits with lines of their own, those with the least left, and installations that stand still:
whoever installs the App has some."""
OTHER = "other"
APP, INSTALLATION = "app", "installation:"

FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "build_info": ("The release that answers; always 1.", ("version",)),
    "worker_overdue_seconds": (
        "By how much a worker's turn is overdue; 0 while one lives, absent before.",
        (),
    ),
    "deliveries_open": ("Deliveries that wait to be thought about.", ("source", "event")),
    "deliveries_last_hour": ("Deliveries that ended within the last hour.", ("source", "event", "outcome")),
    "deliveries_oldest_seconds": ("Age of the oldest delivery that waits: the lag; 0 where none does.", ()),
    "deliveries_parked": ("Deliveries that were given up, for a person to look at.", ()),
    "effects_open": ("Effects that are not done: waiting, in_hand, or retrying after a failure.", ("kind", "state")),
    "effects_last_hour": ("Effects that ended within the last hour.", ("kind", "outcome")),
    "effects_oldest_seconds": ("Age of the oldest effect that is not done; 0 where none is.", ()),
    "effects_parked": ("Effects that were given up, for a person to look at.", ()),
    "effect_retries_last_hour": ("Tries beyond the first that effects of the last hour took.", ("kind",)),
    "rate_limit": ("What GitHub allows in a window, as its last answers said.", ("gate", "resource")),
    "rate_limit_left": ("What is left of it.", ("gate", "resource")),
    "installation_paused": (
        "Installations that stand still, by a limit or an alarm; always 1.",
        ("installation",),
    ),
    "writes_paced": ("Installations whose next write waits for its turn; always 1.", ("installation",)),
    "jobs_open": ("Jobs under way: preparing, dispatched (no runner yet), or running.", ("kind", "state")),
    "plans": ("Plans by state, what they wait for, and whether they are held.", ("state", "waiting_on", "held")),
    "spend_today_usd": ("Known dollars that agents cost in the UTC day, of jobs that reported.", ("repository",)),
    "spend_today_at_least": ('1 where a part of it is unknown, so that it reads "at least".', ("repository",)),
}
"""Name behind ``twogate_`` -> meaning and labels."""


def blueprint(store: Store, *, token: str | None, private: bool) -> Blueprint:
    """Return the page. ``private``: nobody but this machine can ask, so that no token is needed."""
    pages = Blueprint("metrics", __name__)
    registry = CollectorRegistry()
    registry.register(Figures(store))

    @pages.get("/metrics")
    def metrics() -> Response:
        _check(token, private=private)
        encoder, kind = choose_encoder(request.headers.get("Accept", ""))
        return Response(encoder(registry), content_type=kind, headers={"Cache-Control": "no-store"})

    @pages.errorhandler(Refused)
    def refused(refusal: Refused) -> Response:
        return Response(f"{refusal.sentence}\n", refusal.status, mimetype="text/plain")

    @pages.errorhandler(StoreUnavailable)
    def away(_error: StoreUnavailable) -> Response:
        return Response("The database can't be used just now: ask again in a moment.\n", 503, mimetype="text/plain")

    return pages


def _check(token: str | None, *, private: bool) -> None:
    """Raise :class:`~bot.web.refusal.Refused` for whoever may not look."""
    if token is None:
        if not private:
            raise Refused(403, "Figures are closed: set TWOGATE_METRICS_TOKEN, and send it as `Authorization: Bearer`.")
        return
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(errors="replace"), token.encode()):
        raise Refused(401, "Figures ask for `Authorization: Bearer` and the value of TWOGATE_METRICS_TOKEN.")


class Figures(Collector):
    """Reads them all in one transaction at each scrape."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Return nothing: what there is needs no look at the database to be registered."""
        return ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the families."""
        with self._store.read() as tx:
            found = gauges.look(tx)
        for name, values in _values(found).items():
            meaning, labels = FAMILIES[name]
            family = GaugeMetricFamily(f"twogate_{name}", meaning, labels=labels)
            for words, value in values.items():
                family.add_metric(words, value)
            yield family


def _values(found: Gauges) -> dict[str, Mapping[tuple[str, ...], float]]:
    """Return each family's values by its labels."""
    queues = found.queues
    dollars, limits = _spend(found), _scarcest(found)
    return {
        "build_info": {(version("twogate"),): 1},
        "worker_overdue_seconds": {} if found.worker_overdue is None else {(): found.worker_overdue},
        "deliveries_open": found.deliveries_open,
        "deliveries_last_hour": found.deliveries_recent,
        "deliveries_oldest_seconds": {(): queues.deliveries.oldest_seconds},
        "deliveries_parked": {(): queues.deliveries.parked},
        "effects_open": found.effects_open,
        "effects_last_hour": found.effects_recent,
        "effects_oldest_seconds": {(): queues.effects.oldest_seconds},
        "effects_parked": {(): queues.effects.parked},
        "effect_retries_last_hour": found.retries_recent,
        "rate_limit": {(left.gate, left.resource): left.allowed for left in limits},
        "rate_limit_left": {(left.gate, left.resource): left.remaining for left in limits},
        "installation_paused": _closed(found, INSTALLATION),
        "writes_paced": _closed(found, "writes:"),
        "jobs_open": found.jobs,
        "plans": found.plans,
        "spend_today_usd": {(where,): float(amount.value or 0) for where, amount in dollars.items()},
        "spend_today_at_least": {(where,): int(_is_partial(amount)) for where, amount in dollars.items()},
    }


def _closed(found: Gauges, gate: str) -> dict[tuple[str, ...], float]:
    names = [each.name.removeprefix(gate) for each in found.gates if each.name.startswith(gate)]
    return {(name,): 1 for name in names[:MOST_GATES]}


def _scarcest(found: Gauges) -> list[Left]:
    """Return the App's own windows, and of the others those of which the least is left."""
    return sorted(found.limits, key=lambda left: (left.gate != APP, left.remaining / max(left.allowed, 1)))[:MOST_GATES]


def _spend(found: Gauges) -> dict[str, Amount]:
    """Return the dollars by repository, those of many others in one."""
    each = list(found.spent_today.items())
    named = {str(repository): amount for repository, amount in each[:MOST_REPOSITORIES]}
    rest = [amount for _, amount in each[MOST_REPOSITORIES:]]
    return {**named, OTHER: Amount.sum(rest)} if rest else named


def _is_partial(amount: Amount) -> bool:
    """Whether dollars are missing; what a subscription covers has none."""
    return amount.at_least or (amount.value is None and not amount.covered)
