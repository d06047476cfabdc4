"""The webhook's address: verify, store one row, answer. GitHub waits ten seconds and never sends twice by itself.

    GitHub ──▶ size ──▶ signature over the raw bytes ──▶ the table of :mod:`.accept` ──▶ one row ──▶ 202

A delivery answered with 2xx is stored or was dropped by the table; with 4xx it is not GitHub's or not readable; with
503 the database was away, GitHub lists the delivery as failed, and the bot asks for it again.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING

from flask import Blueprint, Response, jsonify, request
from pydantic import ValidationError

from bot import trail
from bot.intake.accept import Dropped, judge
from bot.intake.payloads import Payload
from bot.store import deliveries, health
from bot.store.engine import StoreUnavailable

if TYPE_CHECKING:
    from bot.store.engine import Store

LARGEST_BYTES = 25 * 1024 * 1024
"""GitHub sends nothing larger; more is refused before it is read."""
DELIVERY_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
RETRY_AFTER_SECONDS = "30"


def blueprint(store: Store, secret: str) -> Blueprint:
    """Return ``POST /webhook``, ``GET /healthz`` and ``GET /readyz``."""
    pages = Blueprint("intake", __name__)

    @pages.post("/webhook")
    def webhook() -> tuple[Response, int]:
        request.max_content_length = LARGEST_BYTES
        return _receive(store, secret.encode(), request.get_data())

    @pages.get("/healthz")
    def alive() -> tuple[Response, int]:
        return _answer(200, "alive")

    @pages.get("/readyz")
    def ready() -> tuple[Response, int]:
        return _ready(store)

    @pages.errorhandler(StoreUnavailable)
    def away(_error: StoreUnavailable) -> tuple[Response, int]:
        answer, status = _answer(503, "The database can't be used just now: try again.")
        answer.headers["Retry-After"] = RETRY_AFTER_SECONDS
        return answer, status

    return pages


def signature(secret: bytes, body: bytes) -> str:
    """Return what GitHub puts into ``X-Hub-Signature-256`` for a body."""
    return f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"


def _receive(store: Store, secret: bytes, body: bytes) -> tuple[Response, int]:
    given = request.headers.get("X-Hub-Signature-256", "")
    if not hmac.compare_digest(given.encode(errors="replace"), signature(secret, body).encode()):
        return _answer(401, "The signature is missing or wrong: the secret has to be the App's webhook secret.")
    event, guid = request.headers.get("X-GitHub-Event", ""), request.headers.get("X-GitHub-Delivery", "")
    if not event or not DELIVERY_ID.fullmatch(guid):
        return _answer(400, "X-GitHub-Event or X-GitHub-Delivery is missing: GitHub sends both.")
    if not request.is_json:
        return _answer(415, "The body is not JSON: set the webhook's content type to application/json.")
    return _keep(store, event, guid, body)


def _keep(store: Store, event: str, guid: str, body: bytes) -> tuple[Response, int]:
    try:
        verdict = judge(event, body)
        if isinstance(verdict, Dropped):
            return _answer(202, f"dropped: {verdict.reason}")
        installation = Payload.model_validate_json(body).installation
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False))
        return _answer(422, f"The payload of {event!r} can't be read: {faults}")
    new = deliveries.NewDelivery(
        guid=guid,
        source="github",
        event=event,
        lane=verdict.lane,
        body=body.decode(),
        installation_id=installation.id if installation else None,
    )
    trail.note(guid=guid, event=event, lane=new.lane, installation=new.installation_id)
    with store.write() as tx:
        stored = deliveries.add(tx, new)
    return _answer(202, "stored" if stored else "seen")


def _ready(store: Store) -> tuple[Response, int]:
    """Say how the queues are, after a look into the database."""
    with store.read() as tx:
        found = health.look(tx)
    queues = {"deliveries": found.deliveries, "effects": found.effects}
    shown = {
        name: {"waiting": q.waiting, "oldest_seconds": round(q.oldest_seconds, 3), "parked": q.parked}
        for name, q in queues.items()
    }
    return jsonify({"status": "ready", **shown}), 200


def _answer(status: int, sentence: str) -> tuple[Response, int]:
    return jsonify({"status": sentence}), status
