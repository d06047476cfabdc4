"""Fixtures: the intake served on loopback over a real database."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from flask import Flask
from sqlalchemy import text
from werkzeug.serving import WSGIRequestHandler, make_server

from bot.intake.webhook import blueprint, signature
from bot.store.engine import Store, open_store
from bot.store.migrate import migrate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "a secret of sixteen or more"


class Quiet(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@dataclass
class Intake:
    """A running intake and what it stored."""

    url: str
    store: Store
    app: Flask

    def post(self, body: bytes, **headers: str) -> httpx.Response:
        """A delivery as GitHub sends it, signed; a header given as "" is left out."""
        sent = {
            "Content-Type": "application/json",
            "X-GitHub-Event": "issues",
            "X-GitHub-Delivery": "guid-1",
            "X-Hub-Signature-256": signature(SECRET.encode(), body),
        }
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        kept = [(name.encode(), value.encode("latin-1")) for name, value in sent.items() if value]
        return httpx.post(f"{self.url}/webhook", content=body, headers=kept, timeout=30)

    def deliver(self, event: str, payload: dict[str, Any], guid: str = "guid-1") -> httpx.Response:
        return self.post(json.dumps(payload).encode(), X_GitHub_Event=event, X_GitHub_Delivery=guid)

    def rows(self) -> list[Any]:
        """Every stored delivery, oldest first."""
        query = text("SELECT guid, source, event, lane, installation_id, body FROM deliveries ORDER BY id")
        with self.store.read() as tx:
            return list(tx.connection.execute(query).mappings())


@pytest.fixture
def intake(tmp_path: Path) -> Iterator[Intake]:
    url = f"sqlite:///{tmp_path}/home/twogate.db"
    (tmp_path / "home").mkdir()
    migrate(url)
    store = open_store(url)
    app = Flask("intake")
    app.register_blueprint(blueprint(store, SECRET))
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield Intake(f"http://127.0.0.1:{server.server_port}", store, app)
    server.shutdown()
    thread.join(10)
    server.server_close()
    store.dispose()
