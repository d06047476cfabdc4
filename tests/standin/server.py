"""``StandIn``: the whole of it as one object that serves HTTP on loopback from a thread."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Self

from werkzeug.serving import WSGIRequestHandler, make_server

from tests.standin.app import create_app
from tests.standin.control import Control
from tests.standin.control_http import blueprint as control_blueprint
from tests.standin.faults import Faults
from tests.standin.front import Exchange, Front
from tests.standin.limits import Limits
from tests.standin.model import Delivery, Hub
from tests.standin.pages import blueprint as pages_blueprint
from tests.standin.render import Render
from tests.standin.runs_service import Actions
from tests.standin.webhooks import Sender

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from werkzeug.serving import BaseWSGIServer

    from tests.standin.conformance import Recorder

POLL_SECONDS = 0.05
"""How soon the server notices that it is to stop."""
STOP_SECONDS = 10.0
"""How long ``stop`` waits for the server's thread."""


class QuietHandler(WSGIRequestHandler):
    """Requests are in the stand-in's own log, not on stderr; connections are kept alive."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


class StandIn:
    """A GitHub on 127.0.0.1. Use as a context manager, or ``start`` and ``stop``.

    ``control`` sets things up (see ``Control``), ``faults`` disturbs, ``journal`` is the request log, ``problems`` what
    conformance found (with ``conformance=True``; each problem is one line). ``clock`` gives epoch seconds.
    """

    def __init__(
        self, home: Path, clock: Callable[[], float] = time.time, seed: int = 0, *, conformance: bool = False
    ) -> None:
        self.hub = Hub(home, clock, seed)
        self.problems: list[str] = []
        self._checker = self._recorder() if conformance else None
        self.faults = Faults(self.hub.random)
        self.limits = Limits(self.hub)
        self.sender = Sender(self.hub, self.faults, self._observe_delivery)
        render = Render(self.hub)
        self.hub.render_context, self.hub.render_user = render.context, render.user
        app = create_app(self.hub, self.sender.redeliver, self.limits)
        observe = self._observe_exchange if conformance else None
        self.front = Front(app, self.hub, self.faults, self.limits, observe)
        self.journal = self.front.journal
        self.control = Control(self)
        app.register_blueprint(control_blueprint(self.control))
        app.register_blueprint(pages_blueprint(self.hub))
        self._server: BaseWSGIServer | None = None
        self._thread: threading.Thread | None = None

    def start(self, port: int = 0) -> Self:
        """Listen on a port (0: any free one) and begin to deliver webhooks."""
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = make_server("127.0.0.1", port, self.front, threaded=True, request_handler=QuietHandler)
        self.hub.base_url = self.url
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL_SECONDS,), name="stand-in", daemon=True
        )
        self._thread.start()
        self.sender.start()
        return self

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT``; raises RuntimeError before ``start``."""
        if self._server is None:
            raise RuntimeError("the stand-in is not started")
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def api_url(self) -> str:
        """What githubkit takes as ``base_url``."""
        return f"{self.url}/api/v3"

    def stop(self) -> None:
        """Stop serving and delivering; running jobs are stopped too."""
        self.front.stopping.set()
        self.hub.service(Actions).close()
        self.sender.stop()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join(STOP_SECONDS)
            self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def _recorder(self) -> Recorder:
        from tests.standin.conformance import Recorder

        return Recorder(self.problems)

    def _observe_exchange(self, exchange: Exchange) -> None:
        if self._checker is not None:
            self._checker.exchange(exchange)

    def _observe_delivery(self, delivery: Delivery) -> None:
        if self._checker is not None:
            self._checker.webhook(delivery)
