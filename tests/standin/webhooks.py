"""Sending webhooks: one background thread, in order, signed, with GitHub's headers, ten seconds each, never retried."""

from __future__ import annotations

import hashlib
import hmac
import queue
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.standin.entities import Delivery
    from tests.standin.faults import Fault, Faults
    from tests.standin.model import Hub

DEADLINE = 10.0
"""Seconds GitHub waits for the answer to a webhook."""
RESPONSE_LIMIT = 2000
"""Characters of an answer that the log keeps."""


def sign(secret: str, raw: bytes, algorithm: str = "sha256") -> str:
    """The value of X-Hub-Signature-256 (or with "sha1" of the legacy header)."""
    return f"{algorithm}={hmac.new(secret.encode(), raw, algorithm).hexdigest()}"


def headers(delivery: Delivery) -> dict[str, str]:
    """The headers of a delivery."""
    app = delivery.app
    return {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/" + hashlib.sha256(app.slug.encode()).hexdigest()[:7],
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Hook-ID": str(app.id * 10),
        "X-GitHub-Hook-Installation-Target-ID": str(app.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature": sign(app.webhook_secret, delivery.raw, "sha1"),
        "X-Hub-Signature-256": sign(app.webhook_secret, delivery.raw),
    }


class Sender:
    """Delivers what the hub emits. ``observe`` sees every delivery before it goes out (conformance)."""

    def __init__(self, hub: Hub, faults: Faults, observe: Callable[[Delivery], None]) -> None:
        self._hub = hub
        self._faults = faults
        self._observe = observe
        self._queue: queue.Queue[Delivery | None] = queue.Queue()
        self._held: list[Delivery] = []
        self._timers: list[threading.Timer] = []
        self._idle = threading.Condition()
        self._pending = 0
        self._client = httpx.Client(timeout=DEADLINE, trust_env=False)
        self._thread = threading.Thread(target=self._work, name="webhooks", daemon=True)
        hub.sender = self.put

    def start(self) -> None:
        """Begin to deliver."""
        self._thread.start()

    def stop(self) -> None:
        """End after the delivery under way; what waits is not sent."""
        for timer in self._timers:
            timer.cancel()
        self._queue.put(None)
        self._thread.join(DEADLINE * 2)
        self._client.close()

    def put(self, delivery: Delivery) -> None:
        """Queue a delivery."""
        with self._idle:
            self._pending += 1
        self._queue.put(delivery)

    def drain(self, seconds: float = 30.0) -> bool:
        """Wait until everything queued has been sent; False if that takes longer than ``seconds``."""
        with self._idle:
            return self._idle.wait_for(lambda: self._pending == 0, seconds)

    def redeliver(self, delivery: Delivery, *, new_guid: bool = False) -> Delivery:
        """Send a delivery again: as GitHub does under the same guid, or as a fault under a new one."""
        with self._hub.lock:
            guid = self._hub.new_guid() if new_guid else delivery.guid
            fresh = replace(delivery, id=self._hub.next_id("delivery"), guid=guid, redelivery=not new_guid)
            fresh.status, fresh.delivered_at = "pending", None
            self._hub.deliveries.append(fresh)
        with self._idle:
            self._pending += 1
        self._queue.put(fresh)
        return fresh

    def _work(self) -> None:
        while (delivery := self._queue.get()) is not None:
            self._handle(delivery)

    def _handle(self, delivery: Delivery) -> None:
        action = str(delivery.payload.get("action", ""))
        fault = None if delivery.redelivery else self._faults.for_delivery(delivery.event, action)
        if fault is None:
            self._send(delivery)
        else:
            self._disturb(delivery, fault)
        held, self._held = self._held, []
        for late in held:
            if late is delivery:
                self._held.append(late)
            else:
                self._send(late)

    def _disturb(self, delivery: Delivery, fault: Fault) -> None:
        if fault.kind == "drop":
            self._finish(delivery, "failed to connect to host", 0, "")
        elif fault.kind == "reorder":
            self._held.append(delivery)
        elif fault.kind == "delay":
            timer = threading.Timer(fault.seconds, self._send, (delivery,))
            timer.daemon = True
            self._timers.append(timer)
            timer.start()
        else:
            self._send(delivery)
            if fault.kind == "duplicate":
                self._post(delivery)
            else:
                self.redeliver(delivery, new_guid=True)

    def _send(self, delivery: Delivery) -> None:
        self._observe(delivery)
        began = time.monotonic()
        status, code, text = self._post(delivery)
        delivery.duration = time.monotonic() - began
        self._finish(delivery, status, code, text)

    def _post(self, delivery: Delivery) -> tuple[str, int, str]:
        url = delivery.app.webhook_url
        if not url:
            return "no webhook URL", 0, ""
        try:
            answer = self._client.post(url, content=delivery.raw, headers=headers(delivery))
        except httpx.TimeoutException:
            return "timed out", 504, ""
        except httpx.HTTPError:
            return "failed to connect to host", 502, ""
        text = answer.text[:RESPONSE_LIMIT]
        return "OK" if answer.is_success else f"Invalid HTTP Response: {answer.status_code}", answer.status_code, text

    def _finish(self, delivery: Delivery, status: str, code: int, text: str) -> None:
        with self._hub.lock:
            delivery.delivered_at = self._hub.clock()
            delivery.status, delivery.status_code, delivery.response = status, code, text
        with self._idle:
            self._pending -= 1
            self._idle.notify_all()
