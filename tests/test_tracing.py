"""Traces, received as a collector would: one trace an issue, a span for each delivery, effect and call to GitHub."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bot import trail
from bot.otlp import trace_of
from bot.settings import from_environment
from bot.tracing import traced
from tests.scenarios.conftest import country, source, sqlite_template, sqlite_url, village

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scenarios.village import Village

__all__ = ["country", "source", "sqlite_template", "sqlite_url", "village"]


class Collector(ThreadingHTTPServer):
    """An OTLP receiver on loopback, which keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Received)
        self.bodies: list[tuple[str, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def spans(self) -> list[Any]:
        assert {path for path, _ in self.bodies} == {"/v1/traces"}
        requests = [ExportTraceServiceRequest.FromString(body) for _, body in self.bodies]
        return [s for r in requests for each in r.resource_spans for scope in each.scope_spans for s in scope.spans]


class Received(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        self.server.bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        pass


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def told(span: Any) -> dict[str, str | int]:
    values = {each.key.removeprefix("twogate."): each.value for each in span.attributes}
    return {key: value.string_value or value.int_value for key, value in values.items()}


def test_a_plan_can_be_followed_from_delivery_to_delivery(village: Village) -> None:
    with collecting() as collector:
        settings = from_environment({**village.environment, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})
        with traced(settings):
            issue = village.planned()
        spans = collector.spans()
    plan = village.plan(issue)
    number = trace_of(village.url, plan.lane).to_bytes(16)
    of_plan = [span for span in spans if span.trace_id == number]
    names = {span.name for span in of_plan}
    assert {"delivery issues", "delivery event", "effect authorise", "effect dispatch"} <= names
    assert {"effect post_plan", "GitHub GET", "GitHub POST"} <= names
    assert {"plan_requested", "job_claimed"} <= {told(span).get("event") for span in of_plan}
    by_id = {span.span_id: span for span in of_plan}
    calls = [span for span in of_plan if span.name.startswith("GitHub")]
    assert all(call.parent_span_id in by_id for call in calls)
    assert "effect post_plan" in {by_id[call.parent_span_id].name for call in calls}
    assert all(
        told(span)["plan"] == plan.uid for span in of_plan if span.name in {"effect post_plan", "effect dispatch"}
    )

    delivered = {told(span)["guid"]: span for span in of_plan if span.name == "delivery issues"}
    brought = [told(span) for span in spans if span.name == "request" and told(span).get("path") == "/webhook"]
    assert delivered.keys() & {request.get("guid") for request in brought}
    assert all(span.trace_id != number for span in spans if span.name == "request")


def test_of_a_fault_the_kind_alone_is_told(village: Village) -> None:
    with collecting() as collector:
        settings = from_environment({**village.environment, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})
        with traced(settings), pytest.raises(ValueError, match="of the issue"), trail.working("x"):
            raise ValueError("a word of the issue")
        (span,) = collector.spans()
    assert (span.status.message, span.status.code, list(span.events)) == ("ValueError", 2, [])
    assert b"word of the issue" not in collector.bodies[0][1]


def test_without_a_collector_nothing_is_imported(village: Village) -> None:
    """In a process of its own, since this one has the collector's types."""
    code = (
        "import sys, bot.cli; print([name for name in ('sqlalchemy', 'flask', 'runner.job') if name in sys.modules])\n"
        "import bot.serving; print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n", "the command line alone, and then the bot"
    with traced(from_environment(village.environment)), trail.working("x"):
        assert trail._Process.tracer is None
