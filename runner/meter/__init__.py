"""The meter: a proxy on loopback between an agent and its model's API, which counts, prices and stops.

The agent gets an address and a placeholder key, worth nothing anywhere else; the real key stays in this process. How a
call goes: :mod:`~runner.meter.server` takes the request and knows its run by the key; :mod:`~runner.meter.tap` asks
:mod:`~runner.meter.limits` for leave and puts the reservation into the :mod:`~runner.meter.ledger`;
:mod:`~runner.meter.forward` carries it to the API and the answer back, while a reader of the wire format reads along;
what it read is priced and settled.
"""

from __future__ import annotations

import secrets
import threading
import time
from typing import TYPE_CHECKING, Self

import httpx

from runner.agents.base import Endpoint
from runner.meter.ledger import LEDGER_FILE, Ledger, read_ledger
from runner.meter.limits import Limits
from runner.meter.refusal import Stop
from runner.meter.server import MAX_CONNECTIONS, Front, Server, UnixServer
from runner.meter.tap import Shared, Tap
from runner.meter.upstream import WITHHELD, UpstreamError, keys_in, upstream_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from decimal import Decimal
    from pathlib import Path
    from types import TracebackType

    from runner.contract import Usage
    from runner.results import Unit
    from runner.terms import AgentSpec, Api, Budget, Price

CONNECT_SECONDS = 30.0
"""Seconds for connecting to a model API."""
IDLE_SECONDS = 600.0
"""Seconds without a byte from a model API after which a call is given up: a model may think that long."""
ABANDONED_SECONDS = 1.0
"""How often the meter looks whether an agent has hung up on a call."""
SHIM_PORT = 8_377
"""The port on which a sandbox without network finds the meter, on a loopback of its own."""
PREFIX = "twogate-"
"""How placeholder keys begin, so that whoever finds one knows what it is."""

__all__ = ["LEDGER_FILE", "SHIM_PORT", "Meter", "Stop", "Tap", "UpstreamError", "read_ledger"]


class Meter:
    """The meter of one job; serves from threads of its own until the end of its ``with`` block."""

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        budget: Budget,
        *,
        prices: Mapping[str, Price] | None = None,
        now: Callable[[], float] = time.time,
        today: Callable[[], Decimal | None] = lambda: None,
        warn: Callable[[str], None] = lambda _sentence: None,
        changed: Callable[[tuple[Usage, ...]], None] = lambda _rows: None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """``folder`` gets the ledger; ``environment`` holds addresses and keys of the model APIs.

        ``today`` is asked what the job may spend in all as the repository's day stands now. ``warn`` gets a sentence
        once most of a budget is spent, ``changed`` the rows of the cost table after each settled call; both are called
        in the meter's threads. Raises OSError where the ledger can't be made.
        """
        self._environment = environment
        self.limits = Limits(budget, warn, today)
        self._ledger = Ledger(folder / LEDGER_FILE)
        self._shared = Shared(
            self._ledger, self.limits, prices or {}, budget.idle_calls, now, lambda: changed(self.rows())
        )
        self._taps: dict[str, Tap] = {}
        self._reached: set[str] = set()
        self._http = _client(idle_seconds)
        self._front = Front(self._http, self._tap_of)
        self._server: Server | None = None
        self._unix: tuple[Path, UnixServer] | None = None
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._cut_abandoned, name="meter-watch", daemon=True)
        self._watch.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._watch.join()
        for tap in list(self._taps.values()):
            tap.close()
        for server in (self._server, self._unix[1] if self._unix else None):
            if server is not None:
                server.stop()
        self._http.close()
        self._ledger.close()

    def open(self, unit: Unit, spec: AgentSpec, attempt: int, api: Api | None, *, socket: Path | None = None) -> Tap:
        """Begin a run; its endpoint is None where the agent speaks no API that the runner has a key for.

        With ``socket`` the run reaches the meter by a unix socket made at that path, through the shim of its sandbox.
        Raises :class:`UpstreamError` where the API's address can't be used, OSError where nothing can be listened at.
        """
        upstream = upstream_of(api, self._environment) if api is not None else None
        if api is None or upstream is None:
            return Tap(self._shared, unit, spec, attempt, None)
        endpoint = Endpoint(self._url(socket), PREFIX + secrets.token_urlsafe(32))
        tap = Tap(self._shared, unit, spec, attempt, (endpoint, api, upstream))
        self._taps[endpoint.key] = tap
        self._reached.add(upstream.origin)
        return tap

    def rows(self) -> tuple[Usage, ...]:
        """Return the rows of the cost table as they stand, one a run of an agent, those under way included."""
        return self._ledger.rows()

    @property
    def reached(self) -> tuple[str, ...]:
        """The model APIs that runs were pointed at: scheme, host and port."""
        return tuple(sorted(self._reached))

    def withhold(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return what of ``environment`` an agent at the meter may see: no key, and nothing that leads it past here."""
        keys = keys_in(self._environment)
        hidden = {name for name, value in environment.items() if any(key in value for key in keys)}
        return {name: value for name, value in environment.items() if name not in WITHHELD | hidden}

    def _cut_abandoned(self) -> None:
        while not self._over.wait(ABANDONED_SECONDS):
            for tap in list(self._taps.values()):
                tap.cut_abandoned()

    def _tap_of(self, key: str) -> Tap | None:
        tap = self._taps.get(key)
        return tap if tap is not None and tap.is_open else None

    def _url(self, socket: Path | None) -> str:
        if socket is None:
            self._server = self._server or Server(self._front)
            return f"http://127.0.0.1:{self._server.server_port}"
        if self._unix is None:
            self._unix = (socket, UnixServer(self._front, socket))
        return f"http://127.0.0.1:{SHIM_PORT}"


def _client(idle_seconds: float) -> httpx.Client:
    """Return what speaks to the model APIs: as patient as they are slow, straight to loopback, no redirects."""
    patience = httpx.Timeout(idle_seconds, connect=CONNECT_SECONDS, pool=CONNECT_SECONDS)
    room = httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=20)
    straight = dict.fromkeys(f"all://{host}" for host in ("127.0.0.1", "localhost", "[::1]"))
    return httpx.Client(timeout=patience, limits=room, mounts=straight, follow_redirects=False)
