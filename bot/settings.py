"""What the operator tells the bot: environment to a frozen :class:`Settings`, every fault named at once.

Read once by the command line and passed on; nothing else of the bot looks at the environment. All names but
OpenTelemetry's begin with ``TWOGATE_``. Enterprise Server and data residency follow from ``TWOGATE_GITHUB_URL`` alone,
and each address can be set by itself where that is not right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from bot.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""Hosts that may be spoken to without TLS."""
GITHUB = "github.com"
RESIDENCY = ".ghe.com"
"""Hosts of GitHub with data residency end like this."""
SECRET_CHARACTERS = 16
"""A shorter webhook secret can be guessed offline from one captured delivery."""
WRITES_PER_SECOND = 1.0
"""What GitHub asks integrators to stay below; more is allowed only on hosts of one's own."""
MOST_THREADS = 64
"""More workers than this only queue for the database and for GitHub's limits."""
TOKEN_CHARACTERS = 16
"""A shorter token of ``/metrics`` can be guessed by trying."""
TEXT, JSON = "text", "json"
"""How log records are written: a line for people, or a JSON object a line."""
NEW_API, OLD_API = "2026-03-10", "2022-11-28"
"""Versions of the REST API; Enterprise Server up to 3.20 knows only the older one."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The bot's settings; secrets are kept out of ``repr``."""

    home: Path
    """Folder of the bot's own data."""
    database_url: str = field(repr=False)
    """An SQLAlchemy URL; it may hold a password."""
    url: str
    """The bot's public address without a trailing slash; also the audience of the runners' identity tokens."""
    github_url: str
    github_api_url: str
    github_api_version: str
    app_id: int
    private_key: str = field(repr=False)
    """RSA, PEM."""
    webhook_secret: str = field(repr=False)
    client_id: str | None
    """With ``client_secret``: people can log in to the dashboard. Without: it is closed."""
    client_secret: str | None = field(repr=False)
    oidc_issuer: str
    oidc_jwks_url: str
    workflow: str
    """File name of the runner's workflow in every repository."""
    listen: tuple[str, int]
    """Host and port."""
    worker_threads: int
    """Zero: this process serves the web only."""
    writes_per_second: float
    """For each installation."""
    max_parallel: int | None = None
    """Plans executed at the same time over all repositories; None: as many as the repositories' policies allow."""
    chat_webhook: str | None = field(default=None, repr=False)
    """Address of a chat that takes each week's figures; who knows it can write there."""
    actions_rate: Decimal = Decimal(0)
    """Dollars that a minute of GitHub Actions costs."""
    metrics_token: str | None = field(default=None, repr=False)
    """Opens ``/metrics``; None: it is open on loopback alone."""
    log_format: str = TEXT
    otlp_endpoint: str | None = None
    """Where traces go; None: none are made."""

    @property
    def private(self) -> bool:
        """Whether nobody but this machine can ask: no proxy stands before an address on loopback."""
        return self.listen[0] in LOOPBACK and urlsplit(self.url).hostname in LOOPBACK


def from_environment(environ: Mapping[str, str]) -> Settings:
    """Read the settings. Raises :class:`~bot.errors.ConfigError` with every fault found."""
    reader = _Reader(environ)
    home = reader.folder("TWOGATE_HOME", Path(environ.get("HOME", "/"), ".twogate"))
    github_url = reader.address("TWOGATE_GITHUB_URL", f"https://{GITHUB}")
    hosts = _Hosts(urlsplit(github_url))
    issuer = reader.address("TWOGATE_OIDC_ISSUER", hosts.issuer)
    api_url = reader.address("TWOGATE_GITHUB_API_URL", hosts.api)
    client_id, client_secret = reader.login()
    settings = Settings(
        home=home,
        database_url=reader.get("TWOGATE_DATABASE_URL", f"sqlite:///{home}/twogate.db"),
        url=reader.address("TWOGATE_URL"),
        github_url=github_url,
        github_api_url=api_url,
        github_api_version=reader.get("TWOGATE_GITHUB_API_VERSION", hosts.api_version),
        app_id=reader.number("TWOGATE_APP_ID", least=1),
        private_key=reader.private_key(),
        webhook_secret=reader.webhook_secret(),
        client_id=client_id,
        client_secret=client_secret,
        oidc_issuer=issuer,
        oidc_jwks_url=reader.address("TWOGATE_OIDC_JWKS_URL", f"{issuer}/.well-known/jwks"),
        workflow=reader.workflow(),
        listen=reader.listen(),
        worker_threads=reader.number("TWOGATE_WORKER_THREADS", "4", least=0, most=MOST_THREADS),
        writes_per_second=reader.pace(api_url),
        max_parallel=reader.number("TWOGATE_MAX_PARALLEL", least=1) if reader.get("TWOGATE_MAX_PARALLEL") else None,
        actions_rate=reader.rate(),
        chat_webhook=reader.chat(),
        metrics_token=reader.metrics_token(),
        log_format=reader.log_format(),
        otlp_endpoint=reader.otlp_endpoint(),
    )
    if reader.faults:
        raise ConfigError(reader.faults)
    return settings


class _Hosts:
    """What follows from GitHub's address."""

    def __init__(self, github: SplitResult) -> None:
        host = github.hostname or ""
        shared = _is_shared(host)
        own = f"{github.scheme}://{github.netloc}"
        if host == GITHUB:
            self.api, self.issuer = "https://api.github.com", "https://token.actions.githubusercontent.com"
        elif shared:
            self.api, self.issuer = f"https://api.{host}", f"https://token.actions.{host}"
        else:
            self.api, self.issuer = f"{own}/api/v3", f"{own}/_services/token"
        self.api_version = NEW_API if shared or host in LOOPBACK else OLD_API


def _is_shared(host: str) -> bool:
    """Whether a host is GitHub's own service rather than somebody's Enterprise Server."""
    return host == GITHUB or host.endswith((f".{GITHUB}", RESIDENCY))


class _Reader:
    """Reads one variable after the other and collects what is wrong; a faulty one reads as something harmless."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.faults: list[str] = []

    def get(self, name: str, default: str = "") -> str:
        return self._environ.get(name, "").strip() or default

    def folder(self, name: str, default: Path) -> Path:
        path = Path(self.get(name) or default)
        if not path.is_absolute():
            self.faults.append(f"{name} is {str(path)!r}: give an absolute path.")
        return path

    def address(self, name: str, default: str = "") -> str:
        text = self.get(name).rstrip("/")
        if not text and default:
            return default
        try:
            parts = urlsplit(text)
            host, _port = parts.hostname, parts.port
        except ValueError:
            parts, host = urlsplit(""), None
        if parts.scheme not in {"http", "https"} or not host or parts.query or parts.fragment or parts.username:
            said = f"it is {text!r}, which has to be" if text else "set it to"
            self.faults.append(f"{name}: {said} an address such as https://twogate.example.com.")
            return ""
        if parts.scheme == "http" and host not in LOOPBACK:
            self.faults.append(f"{name} is {text!r}: secrets travel there, so it has to begin with https://.")
        return text

    def number(self, name: str, default: str = "", *, least: int, most: int | None = None) -> int:
        text = self.get(name, default)
        if text.isascii() and text.isdecimal() and least <= int(text) and (most is None or int(text) <= most):
            return int(text)
        upper = " or more" if most is None else f" to {most}"
        self.faults.append(f"{name} is {text!r}: set it to a whole number, {least}{upper}.")
        return least

    def private_key(self) -> str:
        text, file = self.get("TWOGATE_PRIVATE_KEY").replace("\\n", "\n"), self.get("TWOGATE_PRIVATE_KEY_FILE")
        if bool(text) == bool(file):
            self.faults.append("Set one of TWOGATE_PRIVATE_KEY_FILE and TWOGATE_PRIVATE_KEY: the App's private key.")
            return ""
        if file:
            try:
                text = Path(file).read_text(encoding="ascii")
            except (OSError, UnicodeDecodeError) as error:
                self.faults.append(f"TWOGATE_PRIVATE_KEY_FILE can't be read: {error}.")
                return ""
        if not _is_rsa(text):
            self.faults.append("The App's private key is no RSA key in PEM without a passphrase: download a new one.")
        return text

    def webhook_secret(self) -> str:
        text = self.get("TWOGATE_WEBHOOK_SECRET")
        if len(text) < SECRET_CHARACTERS:
            self.faults.append(
                f"TWOGATE_WEBHOOK_SECRET: set it to the App's webhook secret, {SECRET_CHARACTERS} characters or more."
            )
        return text

    def login(self) -> tuple[str | None, str | None]:
        found = self.get("TWOGATE_CLIENT_ID") or None, self.get("TWOGATE_CLIENT_SECRET") or None
        if (found[0] is None) != (found[1] is None):
            self.faults.append("Set both of TWOGATE_CLIENT_ID and TWOGATE_CLIENT_SECRET, or neither.")
        return found

    def workflow(self) -> str:
        text = self.get("TWOGATE_WORKFLOW", "twogate.yml")
        if "/" in text or not text.endswith((".yml", ".yaml")):
            self.faults.append(f"TWOGATE_WORKFLOW is {text!r}: give the name of a file in .github/workflows.")
        return text

    def listen(self) -> tuple[str, int]:
        text = self.get("TWOGATE_LISTEN", "127.0.0.1:8080")
        try:
            parts = urlsplit(f"//{text}")
            if parts.hostname and parts.port is not None and parts.netloc == text and "@" not in text:
                return parts.hostname, parts.port
        except ValueError:
            pass
        self.faults.append(f"TWOGATE_LISTEN is {text!r}: give host and port, such as 127.0.0.1:8080.")
        return "127.0.0.1", 0

    def metrics_token(self) -> str | None:
        text = self.get("TWOGATE_METRICS_TOKEN")
        if text and (len(text) < TOKEN_CHARACTERS or not text.isascii()):
            self.faults.append(f"TWOGATE_METRICS_TOKEN: set it to {TOKEN_CHARACTERS} ASCII characters or more.")
        return text or None

    def log_format(self) -> str:
        text = self.get("TWOGATE_LOG_FORMAT", TEXT)
        if text not in {TEXT, JSON}:
            self.faults.append(f"TWOGATE_LOG_FORMAT is {text!r}: set it to {TEXT} or {JSON}.")
        return text

    def otlp_endpoint(self) -> str | None:
        """Read the one name that is not ours: where OpenTelemetry looks for its collector, whoever sets it."""
        text = self.get("OTEL_EXPORTER_OTLP_ENDPOINT").rstrip("/")
        try:
            parts = urlsplit(text)
            known = not text or (parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.username is None)
        except ValueError:
            known = False
        if not known:
            self.faults.append("OTEL_EXPORTER_OTLP_ENDPOINT: set it to an address such as http://127.0.0.1:4318.")
        return text or None

    def chat(self) -> str | None:
        text = self.get("TWOGATE_CHAT_WEBHOOK")
        try:
            parts = urlsplit(text)
            host, _port = parts.hostname, parts.port
        except ValueError:
            parts, host = urlsplit(""), None
        safe = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
        if text and not (safe and host):
            self.faults.append("TWOGATE_CHAT_WEBHOOK is no address that begins with https://: copy it from the chat.")
        return text or None

    def rate(self) -> Decimal:
        text = self.get("TWOGATE_ACTIONS_USD_PER_MINUTE", "0")
        if re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{1,6})?", text):
            return Decimal(text)
        self.faults.append(f"TWOGATE_ACTIONS_USD_PER_MINUTE is {text!r}: give dollars, such as 0.008; 0 for none.")
        return Decimal(0)

    def pace(self, api_url: str) -> float:
        text = self.get("TWOGATE_WRITES_PER_SECOND", "1")
        try:
            pace = float(text)
        except ValueError:
            pace = 0.0
        if not 0 < pace <= 1000:  # noqa: PLR2004 - also refuses what is no number
            self.faults.append(f"TWOGATE_WRITES_PER_SECOND is {text!r}: give a number above 0, such as 1.")
        elif pace > WRITES_PER_SECOND and _is_shared(urlsplit(api_url).hostname or ""):
            self.faults.append("TWOGATE_WRITES_PER_SECOND is above 1: GitHub blocks Apps that write faster.")
        return pace


def _is_rsa(text: str) -> bool:
    try:
        return isinstance(load_pem_private_key(text.encode(), password=None), RSAPrivateKey)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False
