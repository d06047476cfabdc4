"""One run of an agent at the meter: its placeholder key, its calls, and why it must end."""

from __future__ import annotations

import secrets
import select
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Self

from runner.agents.base import Call
from runner.contract import Outcome
from runner.meter.bounds import Bound, broken, worst
from runner.meter.ledger import CallSent, CallSettled, RunBegun, RunEnded
from runner.meter.limits import ENDED, TOO_MANY
from runner.meter.progress import Progress
from runner.meter.refusal import Refusal, Stop
from runner.prices import cost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from runner.agents.base import Endpoint
    from runner.contract import Usage
    from runner.meter.ledger import Ledger
    from runner.meter.limits import Limits
    from runner.meter.upstream import Upstream
    from runner.meter.wire.base import Ask, Reader
    from runner.results import Unit
    from runner.terms import AgentSpec, Api, Price

LAST_WORDS_SECONDS = 0.25
"""Seconds that the end of a run leaves to calls under way, whose answers may just be read out."""
LINGER_SECONDS = 1.0
"""Seconds that the end of a run waits for calls to be settled, once they have been cut off."""
COUNTS = (
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens"),
    "reasoning_tokens",
)
"""What the ledger keeps of a call."""
INTERNAL_ERROR = 500
BAD = 400


@dataclass(frozen=True, slots=True)
class Shared:
    """What the taps of one job share."""

    ledger: Ledger
    limits: Limits
    prices: Mapping[str, Price]
    idle_calls: int
    now: Callable[[], float]
    changed: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Flow:
    """One call that has been let through."""

    key: str
    ask: Ask
    size: int
    """Bytes of the request."""
    worst: Bound
    began: float = field(default_factory=time.monotonic)
    """On the monotonic clock; it waited for leave since."""


@dataclass
class _Link:
    """The two connections of a call under way."""

    agent: socket.socket
    api: socket.socket | None = None
    """None until the API answers."""

    def abandoned(self) -> bool:
        """Return whether the agent has hung up."""
        look = select.poll()
        with suppress(OSError, ValueError):
            look.register(self.agent, select.POLLRDHUP | select.POLLHUP)
            return bool(look.poll(0))
        return True

    def cut(self) -> None:
        """End what comes from the API; whoever reads it hears of it."""
        if self.api is not None:
            with suppress(OSError):
                socket.socket.shutdown(self.api, socket.SHUT_RDWR)  # past TLS, which another thread is using


class Tap:
    """One run; made by :meth:`runner.meter.Meter.open`, over at the end of its ``with`` block."""

    def __init__(
        self, shared: Shared, unit: Unit, spec: AgentSpec, attempt: int, route: tuple[Endpoint, Api, Upstream] | None
    ) -> None:
        """``route`` is None where the run goes past the meter; then its cost is told to :meth:`end`."""
        self._shared, self._route = shared, route
        self.endpoint = route[0] if route else None
        self.run = secrets.token_hex(8)
        self.stopped: Stop | None = None
        """Why the run must end, once it must; the first reason stays."""
        self.heard = time.monotonic()
        """When something passed last, on the monotonic clock."""
        self.reading = threading.Lock()
        """Held while a request is taken apart: one at a time, for the sake of memory."""
        self._open, self._live = False, dict[str, _Link]()
        self._settled = threading.Condition()
        self._progress = Progress(shared.idle_calls)
        self._begun = RunBegun(
            run=self.run,
            unit=unit,
            agent=spec.name,
            model=spec.model,
            attempt=attempt,
            metered=route is not None,
            subscription=spec.subscription,
            at=shared.now(),
        )

    def __enter__(self) -> Self:
        """Begin the run: from here on its key is worth something. Raises OSError where the ledger can't be written."""
        self._shared.ledger.write(self._begun)
        self._open, self.heard = True, time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether its key is still worth something."""
        return self._open

    @property
    def upstream(self) -> Upstream:
        """Where its calls go."""
        assert self._route is not None  # noqa: S101 - the meter hands a tap out by its key, which only a route has
        return self._route[2]

    @property
    def api(self) -> Api:
        """The wire format that its key is for."""
        assert self._route is not None  # noqa: S101 - as above
        return self._route[1]

    @property
    def calls(self) -> tuple[CallSettled, ...]:
        """The calls that are settled, with what each cost."""
        return self._shared.ledger.calls(self.run)

    def end(self, seconds: float, row: Usage | None = None) -> None:
        """Note that the agent has ended; ``row`` tells the cost of a run that went past the meter."""
        self.close()
        if row is not None:
            self._shared.limits.charge(row)
        with suppress(OSError):
            self._shared.ledger.write(RunEnded(run=self.run, seconds=seconds, row=row, at=self._shared.now()))

    def close(self) -> None:
        """Make the key worth nothing, cut off what is under way, and wait a moment until it is settled."""
        with self._settled:
            if not self._open:
                return
            self._open = False
            self._settled.wait_for(lambda: not self._live, LAST_WORDS_SECONDS)
            for link in self._live.values():
                link.cut()
            self._settled.wait_for(lambda: not self._live, LINGER_SECONDS)

    def cut_abandoned(self) -> None:
        """Cut off the calls whose agent has hung up: nobody reads what they would still cost."""
        with self._settled:
            for link in self._live.values():
                if link.abandoned():
                    link.cut()

    def stop(self, stop: Stop) -> None:
        """Ask that the run be ended."""
        self.stopped = self.stopped or stop

    def begin(self, ask: Ask, size: int, agent: socket.socket) -> Flow:
        """Let a call through whose request has ``size`` bytes, or raise :class:`Refusal`."""
        if ask.refusal is not None:
            self._learn(None)
            raise Refusal(BAD, ask.refusal)
        flow = Flow(secrets.token_hex(8), ask, size, worst(ask, size, self._shared.prices))
        try:
            self._shared.limits.admit(flow.worst, ask.model, lambda: self._open)
        except Refusal as refusal:
            if refusal.stop:
                self.stop(refusal.stop)
            raise
        with self._settled:
            if self._open:
                self._live[flow.key] = _Link(agent)
        if flow.key not in self._live:
            self._shared.limits.settle(flow.worst, Bound(None, 0))
            raise Refusal(TOO_MANY, ENDED)
        self._announce(flow)
        return flow

    def failed(self) -> None:
        """Note a request that could not be understood."""
        self._learn(None)

    def hear(self) -> None:
        """Note that something passed."""
        self.heard = time.monotonic()

    def carried_by(self, flow: Flow, link: socket.socket | None) -> None:
        """Note the connection to the model API by which a call goes, so that it can be cut off."""
        with self._settled:
            self._live[flow.key].api = link

    def settle(self, flow: Flow, status: int | None, reader: Reader | None) -> None:
        """Note what a call brought and cost. ``reader`` is None where the API refused it, which costs nothing."""
        call: Call | None = Call(flow.ask.model, 0, 0)
        complete = True
        if reader is not None:
            call, complete = reader.call(flow.ask), reader.complete
        try:
            self._record(flow, status, call, complete=complete)
        finally:
            with self._settled:
                self._live.pop(flow.key, None)
                self._settled.notify_all()
        brought = reader is not None and complete and not reader.failed and call is not None and call.output_tokens
        self._learn(reader.digest() if reader is not None and brought else None)
        self._shared.changed()

    def _record(self, flow: Flow, status: int | None, call: Call | None, *, complete: bool) -> None:
        prices = self._shared.prices
        priced = cost(call, prices, flow.ask.model) if call is not None else None
        usd = priced.usd if priced else None
        counts = {} if call is None else {name: getattr(call, name) for name in COUNTS}
        if call is not None and not call.all_input and not call.output_tokens:
            usd = Decimal(0)
        whole = complete and (priced is None or priced.whole)
        settled = CallSettled(
            call=flow.key,
            run=self.run,
            model=(call.model if call else None) or flow.ask.model,
            status=status,
            **counts,
            usd=usd,
            priced_by=priced.source if priced and usd else None,
            complete=whole,
            at=self._shared.now(),
        )
        with suppress(OSError):  # a full disk: the figures of this process stay right
            self._shared.ledger.write(settled)
        tokens = call.all_input + call.output_tokens if call else 0
        seconds = time.monotonic() - flow.began
        most = None if complete else broken(flow.ask, flow.size, call, seconds, prices)
        self._shared.limits.settle(flow.worst, Bound(usd, tokens), most)

    def _announce(self, flow: Flow) -> None:
        """Put the reservation on disk before anything is spent."""
        sent = CallSent(
            call=flow.key,
            run=self.run,
            model=flow.ask.model,
            usd=flow.worst.usd,
            tokens=flow.worst.tokens,
            at=self._shared.now(),
        )
        try:
            self._shared.ledger.write(sent)
        except OSError as error:
            self.settle(flow, None, None)
            raise Refusal(INTERNAL_ERROR, f"The ledger of calls can't be written: {error.strerror}.") from error

    def _learn(self, digest: str | None) -> None:
        sentence = self._progress.learn(digest)
        if sentence is not None:
            self.stop(Stop(Outcome.NO_PROGRESS, sentence))
