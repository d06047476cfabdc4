"""Who sees what because of the bot's settings, whatever repository a run is of."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.data_flow.party import WORK, Party, Seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.settings import Settings

ON_GITHUB = (Seen.CODE, *WORK)


def parties(settings: Settings) -> Iterator[Party]:
    """Yield them, GitHub first."""
    yield _github(settings)
    yield Party(
        f"the bot's machine ({socket.gethostname()})",
        WORK,
        "the App's private key, the webhook secret, the keys of jobs",
        "what runners report and GitHub delivers",
    )
    yield Party(
        "what answers at the bot's address: a proxy or load balancer before the bot, where there is one",
        WORK,
        "its certificate for that name",
        "TWOGATE_URL",
        (_host(settings.url),),
    )
    yield from _database(settings)
    yield from _people(settings)
    yield from _watching(settings)


def _github(settings: Settings) -> Party:
    return Party(
        "GitHub",
        ON_GITHUB,
        "the App's tokens; the run's own GITHUB_TOKEN for the code; one token for each push",
        "TWOGATE_GITHUB_URL, TWOGATE_GITHUB_API_URL",
        tuple(dict.fromkeys((_host(settings.github_url), _host(settings.github_api_url)))),
    )


def _database(settings: Settings) -> Iterator[Party]:
    parts = urlsplit(settings.database_url)
    if parts.scheme.startswith("sqlite"):
        return  # a file of the bot's machine
    yield Party(
        "the database's machine",
        WORK,
        "the user and password of the database",
        "TWOGATE_DATABASE_URL",
        (_host(settings.database_url),) if parts.hostname else (),
    )


def _people(settings: Settings) -> Iterator[Party]:
    """Whoever looks at the bot's own pages; GitHub's are GitHub's."""
    log_in = "a log-in at GitHub, or a token of GitHub" if settings.client_id else "a token of GitHub"
    yield Party(
        "people, and the programs that they give their token to, over the bot's pages, REST and MCP",
        WORK,
        f"{log_in}: each sees the repositories that GitHub shows to that person",
        "TWOGATE_CLIENT_ID" if settings.client_id else "TWOGATE_URL",
    )


def _watching(settings: Settings) -> Iterator[Party]:
    """Yield who gets figures alone."""
    if settings.metrics_token is not None:
        who = "whoever scrapes /metrics"
        yield Party(who, (Seen.FIGURES,), "the token of TWOGATE_METRICS_TOKEN", "TWOGATE_METRICS_TOKEN")
    if settings.chat_webhook is not None:
        yield Party(
            "the chat that gets a week's figures, where a policy's `summary.chat` asks for them",
            (Seen.FIGURES,),
            "the address itself, which is a secret",
            "TWOGATE_CHAT_WEBHOOK",
            (_host(settings.chat_webhook),),
        )
    if settings.otlp_endpoint is not None:
        yield Party(
            "the collector of traces",
            (Seen.FIGURES,),
            "what OTEL_EXPORTER_OTLP_HEADERS holds",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            (_host(settings.otlp_endpoint),),
        )


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
