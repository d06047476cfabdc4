"""A request on its way to the model API, and the answer on its way back: bytes as they come, read as they pass."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import httpx

from runner.meter.refusal import Refusal
from runner.meter.stream import Document, Events, Strainer
from runner.meter.upstream import SHORTEST_KEY

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Mapping

    from runner.meter.request import Request
    from runner.meter.tap import Flow, Tap
    from runner.meter.wire.base import Ask, Reader, Wire

COMMON = ("accept", "user-agent")
"""Headers of a request that go on, whatever its format."""
JSON = {"content-type": "application/json"}
"""What the meter has read a request as, and so what the API shall read it as, whatever the agent called it."""
PASSED = frozenset({"content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id", "x-should-retry"})
"""Headers of an answer that go back."""
FAMILIES = ("x-ratelimit-", "anthropic-ratelimit-", "openai-processing-")
"""Beginnings of further ones."""
UNSENDABLE = "The request has headers or a query that can't be sent on."
BAD, UNAUTHORIZED, NOT_FOUND, BAD_GATEWAY, GATEWAY_TIMEOUT = 400, 401, 404, 502, 504


class Outlet(Protocol):
    """The connection to the agent."""

    link: socket.socket

    def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head of an answer; raises OSError where the agent has hung up, as the others do."""

    def write(self, chunk: bytes) -> None:
        """Send a piece of its body."""

    def finish(self) -> None:
        """Send its end."""


class Forward:
    """Carries the requests of one run to its model API."""

    def __init__(self, http: httpx.Client, tap: Tap, wire: Wire) -> None:
        self._http, self._tap, self._wire = http, tap, wire

    def carry(self, request: Request, outlet: Outlet) -> None:
        """Answer a request; raises :class:`Refusal` before the answer has begun, else OSError or httpx.HTTPError."""
        if self._wire.is_call(request.method, request.path):
            self._call(request, outlet)
        elif self._wire.is_free(request.method, request.path):
            with self._sent(request, request.body) as response:
                self._return(response, outlet, None)
        else:
            what = f"{request.method} {request.path[:200]}"
            raise Refusal(NOT_FOUND, f"{what} is no call to a model: the meter does not pass it on.")
        outlet.finish()

    def _call(self, request: Request, outlet: Outlet) -> None:
        ask, body = self._understood(request)
        flow = self._tap.begin(ask, len(body), outlet.link)
        answer = _Answer(self._wire.reader())
        try:
            with self._sent(request, body, answer) as response:
                self._tap.carried_by(flow, _socket(response))
                self._return(response, outlet, answer.reader)
        finally:
            self._settle(flow, answer)

    def _understood(self, request: Request) -> tuple[Ask, bytes]:
        """Return what a request asks for, and its body as it goes on."""
        try:
            with self._tap.reading:
                asked = request.parsed()
                changed = self._wire.prepare(asked)
                body = request.body if changed is None else json.dumps(changed).encode()
                return self._wire.ask(request.path, asked), body
        except Refusal:
            self._tap.failed()
            raise

    def _settle(self, flow: Flow, answer: _Answer) -> None:
        self._tap.settle(flow, answer.status, answer.reader if answer.costs else None)

    @contextmanager
    def _sent(self, request: Request, body: bytes, answer: _Answer | None = None) -> Iterator[httpx.Response]:
        """Send a request on; raises :class:`Refusal` where no answer came."""
        answer, upstream = answer or _Answer(self._wire.reader()), self._tap.upstream
        names = (*COMMON, *self._wire.headers)
        headers = {name: request.headers[name] for name in names if name in request.headers}
        url = upstream.url(self._wire.first, request.path) + (f"?{request.query}" if request.query else "")
        headers |= {"accept-encoding": "identity"} | (JSON if body else {}) | upstream.sent()
        try:
            asked = self._http.build_request(request.method, url, content=body, headers=headers)
        except (ValueError, httpx.InvalidURL) as error:
            answer.costs = False
            raise Refusal(BAD, UNSENDABLE) from error
        try:
            response = self._http.send(asked, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            answer.costs = False
            raise Refusal(BAD_GATEWAY, f"The model API can't be reached from the runner: {error}.") from error
        except httpx.LocalProtocolError as error:
            answer.costs = False
            raise Refusal(BAD, UNSENDABLE) from error
        except httpx.TimeoutException as error:
            raise Refusal(GATEWAY_TIMEOUT, "The model API did not answer in time.") from error
        except httpx.HTTPError as error:
            raise Refusal(BAD_GATEWAY, f"The model API broke the connection off: {error}.") from error
        try:
            answer.status, answer.costs = response.status_code, response.is_success
            if response.status_code == UNAUTHORIZED:
                raise Refusal(UNAUTHORIZED, f"The model API refused the runner's key for {self._wire.api} (401).")
            yield response
        finally:
            response.close()

    def _return(self, response: httpx.Response, outlet: Outlet, reader: Reader | None) -> None:
        """Pass an answer on, and let ``reader`` read along."""
        key, instead = self._tap.upstream.key, self._tap.endpoint.key if self._tap.endpoint else ""
        secret = len(key) >= SHORTEST_KEY
        headers = {
            name: value
            for name, value in response.headers.items()
            if (name in PASSED or name.startswith(FAMILIES)) and not (secret and key in value)
        }
        outlet.start(response.status_code, headers)
        events = Document() if "json" in response.headers.get("content-type", "") else Events()
        strain = Strainer(key.encode(), instead.encode()) if secret else None
        for chunk in response.iter_bytes():
            self._tap.hear()
            _take(reader, events.feed(chunk))
            outlet.write(strain(chunk) if strain else chunk)
        _take(reader, events.end())
        outlet.write(strain.rest() if strain else b"")


class _Answer:
    """What has been learnt of the answer to one call."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.status: int | None = None
        self.costs = True
        """False once it is known that the provider bills nothing: it was never reached, or refused."""


def _take(reader: Reader | None, events: Iterator[dict[str, Any]]) -> None:
    for event in events:
        if reader is not None:
            reader.take(event)


def _socket(response: httpx.Response) -> Any:
    """Return the connection by which an answer comes."""
    stream = response.extensions.get("network_stream")
    return stream.get_extra_info("socket") if stream is not None else None
