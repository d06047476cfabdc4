"""The bot's processes: a web server with the worker inside, the web alone, or the worker alone.

What a process holds (database, GitHub, worker) is made in it, never before a fork. The embedded worker starts once its
process serves and stops after it has ceased to: what is in hand is finished, nothing new is taken.
"""

from __future__ import annotations

import signal
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from gunicorn import glogging
from gunicorn.app.base import BaseApplication

from bot.chat import Chat
from bot.crypto import SESSIONS, SIGNING_IN, HookSecrets, Vault
from bot.github.client import connect
from bot.github.clients import App
from bot.github.sign_in import AppSignIn
from bot.intake import webhook
from bot.store.engine import open_store
from bot.store.throttles import write_limits
from bot.timely import Timely
from bot.tracing import traced
from bot.web import dashboard, files, hooks, login_pages, metrics, rest_pages, runner_pages, schema
from bot.web.app import create_app
from bot.web.books import Books
from bot.web.catalogue import Catalogue
from bot.web.dashboard.frame import House
from bot.web.limits import ASKING, DOING, LOOKING, Limiter
from bot.web.login import Login
from bot.web.oidc import Keys, Verifier
from bot.web.people import People
from bot.web.rest_api import RestApi
from bot.web.runner_api import RunnerApi
from bot.web.sessions import Sessions
from bot.web.views import Views
from bot.worker.assemble import build_worker
from bot.worker.noted import Noted
from bot.worker.pace import Pace
from bot.worker.schedule import USUAL, Periods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed.wsgi import WSGIApplication

    from bot.github.client import GitHubGateway
    from bot.settings import Settings
    from bot.store.engine import Store

WEB_THREADS = 8
"""Requests served at the same time by one process; each takes milliseconds, or waits for GitHub."""
GRACE_SECONDS = 30
"""For requests and effects under way when a process is asked to end; then it is killed, which loses nothing."""


class Works(Protocol):
    """What carries out effects in the background: :class:`bot.worker.loop.Worker`."""

    def start(self) -> None:
        """Begin, in threads of its own."""

    def stop(self) -> bool:
        """Take nothing new, finish what is in hand, and tell whether that was done in time."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What one process holds."""

    settings: Settings
    store: Store
    gateway: GitHubGateway
    now: Callable[[], float] = time.time
    noted: Callable[[], None] = lambda: None
    """Writes down what GitHub said of its limits."""

    def close(self) -> None:
        """Let go of all connections."""
        self.gateway.close()
        self.store.dispose()


def open_parts(settings: Settings) -> Parts:
    """Return what a process needs; connects at first use."""
    store = open_store(settings.database_url)
    pace = Pace(store, write_limits(settings.writes_per_second))
    noted = Noted(store)
    return Parts(settings, store, connect(registration(settings), time.time, pace, noted), noted=noted.write)


@contextmanager
def opened(settings: Settings) -> Iterator[Parts]:
    """Lend what a process needs, and close it afterwards."""
    parts = open_parts(settings)
    try:
        yield parts
    finally:
        parts.close()


def registration(settings: Settings) -> App:
    """Return who the bot is to GitHub."""
    return App(
        id=settings.app_id,
        private_key=settings.private_key,
        api_url=settings.github_api_url,
        api_version=settings.github_api_version,
    )


def web(parts: Parts) -> WSGIApplication:
    """Return everything that is served over HTTP."""
    settings = parts.settings
    keys, vault = Keys(settings.oidc_jwks_url, parts.now), Vault(settings)
    api = RunnerApi(
        store=parts.store,
        gateway=parts.gateway,
        verifier=Verifier(issuer=settings.oidc_issuer, audience=settings.url, keys=keys, now=parts.now),
        workflow=settings.workflow,
        encrypt=vault.encrypt,
        decrypt=vault.decrypt,
        actions_rate=settings.actions_rate,
    )
    login, rest = sign_in(parts), _rest(parts)
    return create_app(
        webhook.blueprint(parts.store, settings.webhook_secret),
        hooks.blueprint(parts.store, HookSecrets(settings), parts.now),
        runner_pages.blueprint(api),
        schema.blueprint(),
        metrics.blueprint(parts.store, token=settings.metrics_token, private=settings.private),
        login_pages.blueprint(login),
        files.blueprint(),
        rest_pages.blueprint(rest, login, Limiter(ASKING, parts.now)),
        *([] if login is None else [dashboard.blueprint(_house(parts, login, rest))]),
    )


def _rest(parts: Parts) -> RestApi:
    """Return what the API answers with."""
    return RestApi(
        store=parts.store,
        catalogue=Catalogue(parts.store, Views(parts.settings.github_url)),
        books=Books(parts.store, parts.now),
        people=People(parts.store, parts.gateway.of_people(), parts.now),
        doing=Limiter(DOING, parts.now),
    )


def _house(parts: Parts, login: Login, rest: RestApi) -> House:
    """Return what the dashboard's pages are made of: what a person has done by the API counts here as well."""
    return House(
        store=parts.store,
        catalogue=rest.catalogue,
        books=rest.books,
        people=rest.people,
        login=login,
        looking=Limiter(LOOKING, parts.now),
        doing=rest.doing,
        github=parts.settings.github_url,
        now=parts.now,
    )


def sign_in(parts: Parts) -> Login | None:
    """Return how people sign in to the dashboard; None where the App's OAuth client is not set."""
    settings, app = parts.settings, sign_in_client(parts)
    if app is None or settings.client_id is None:
        return None
    return Login(
        sessions=Sessions(parts.store, app, Vault(settings, SESSIONS), parts.now),
        sign_in=app,
        gateway=parts.gateway.of_people(),
        vault=Vault(settings, SIGNING_IN),
        now=parts.now,
        client_id=settings.client_id,
        url=settings.url,
        github_url=settings.github_url,
    )


def sign_in_client(parts: Parts) -> AppSignIn | None:
    """Return the App's OAuth client; None where it is not set."""
    settings = parts.settings
    if settings.client_id is None or settings.client_secret is None:
        return None
    return AppSignIn(
        settings.client_id,
        settings.client_secret,
        github_url=settings.github_url,
        api_url=settings.github_api_url,
        now=parts.now,
    )


def worker(parts: Parts, periods: Periods = USUAL) -> Works:
    """Return the worker of this process, not yet started."""
    settings = parts.settings
    return build_worker(
        parts.store,
        parts.gateway,
        workflow=settings.workflow,
        web=settings.github_url,
        now=parts.now,
        decrypt=Vault(settings).decrypt,
        threads=settings.worker_threads,
        host_slots=settings.max_parallel,
        periods=periods,
        beat=parts.noted,
        chat=Chat(settings.chat_webhook).say if settings.chat_webhook else None,
    )


class Plain(glogging.Logger):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's log through the handlers of all others, without a line a request: the application writes that."""

    def setup(self, cfg: Any) -> None:
        """Leave the handlers alone."""
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn with our settings; ``make_worker`` is None for the web alone."""

    def __init__(
        self, settings: Settings, *, make_worker: Callable[[Parts], Works] | None = worker, processes: int = 1
    ) -> None:
        self._settings = settings
        self._make_worker = make_worker
        self._processes = processes
        self._parts: Parts | None = None
        self._worker: Works | None = None
        self._tracing = ExitStack()
        super().__init__()

    def load_config(self) -> None:
        """Set gunicorn up: neither its own environment variables and files count, nor what headers say of a proxy."""
        host, port = self._settings.listen
        options: dict[str, Any] = {
            "bind": f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
            "workers": self._processes,
            "worker_class": Timely,
            "threads": WEB_THREADS,
            "forwarded_allow_ips": "",
            "max_requests": 0,
            "graceful_timeout": GRACE_SECONDS,
            "control_socket_disable": True,
            "logger_class": Plain,
            "proc_name": "twogate",
            "post_worker_init": self._start_worker,
            "worker_exit": self._stop_worker,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> WSGIApplication:
        """Return the application of a process, in that process."""
        self._tracing.enter_context(traced(self._settings))
        self._parts = open_parts(self._settings)
        return web(self._parts)

    def _start_worker(self, _process: Any) -> None:
        if self._make_worker is not None and self._parts is not None:
            self._worker = self._make_worker(self._parts)
            self._worker.start()

    def _stop_worker(self, _server: Any, _process: Any) -> None:
        if self._worker is not None:
            self._worker.stop()
        if self._parts is not None:
            self._parts.close()
        self._tracing.close()


def work(settings: Settings, make_worker: Callable[[Parts], Works] = worker) -> bool:
    """Run the worker alone until SIGTERM or SIGINT; tell whether all that was in hand was finished."""
    asked = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked.set())
    with traced(settings), opened(settings) as parts:
        running = make_worker(parts)
        running.start()
        asked.wait()
        return running.stop()
