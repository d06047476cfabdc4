"""A meter before a scripted upstream, and an agent that asks it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from runner.meter import LEDGER_FILE, Meter, read_ledger
from runner.results import Unit
from runner.terms import AgentSpec, Api, Budget
from tests.runner.upstream_on_loopback import KEY, Upstream, upstream
from tests.runner.wires import FORMATS, Format

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.agents.base import Endpoint
    from runner.contract import Usage
    from runner.meter import Tap

CANARY = KEY
ANTHROPIC, RESPONSES, CHAT, GEMINI = FORMATS


def environment(url: str) -> dict[str, str]:
    names = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")
    bases = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL")
    return dict.fromkeys(names, CANARY) | dict.fromkeys(bases, url)


class Lab:
    """A meter before an upstream."""

    def __init__(self, folder: Path, api: Upstream) -> None:
        self.folder, self.api = folder, api
        self.warnings: list[str] = []
        self.heard: list[tuple[Usage, ...]] = []

    def meter(self, budget: Budget | None = None, **options: Any) -> Meter:
        budget = budget or Budget()
        options = {"warn": self.warnings.append, "changed": self.heard.append, **options}
        return Meter(self.folder, environment(self.api.url), budget, **options)

    def rows(self) -> tuple[Usage, ...]:
        return read_ledger(self.folder / LEDGER_FILE)


@contextmanager
def meter_lab(folder: Path) -> Iterator[Lab]:
    """Make one whose upstream answers in Anthropic's format until a test says otherwise."""
    with upstream(lambda _asked: ANTHROPIC.stream()) as api:
        yield Lab(folder, api)


def open_at(meter: Meter, wire: Format, **options: Any) -> Tap:
    return meter.open(Unit.EXECUTE_PLAN, AgentSpec(name="a", model=wire.model), 1, wire.api, **options)


def endpoint(tap: Tap) -> Endpoint:
    assert tap.endpoint is not None
    return tap.endpoint


def ask(
    tap: Tap, wire: Format, *, stream: bool = True, body: dict[str, Any] | None = None, **options: Any
) -> httpx.Response:
    """Ask as an agent does, with the placeholder key."""
    body = {**wire.request, **({"stream": True} if stream and wire.api is not Api.GEMINI else {}), **(body or {})}
    key = endpoint(tap).key
    sent = {**wire.headers, wire.key_header: f"Bearer {key}" if wire.key_header == "authorization" else key}
    path = wire.stream_path if stream else wire.path
    return httpx.post(f"{endpoint(tap).base(wire.api)}{path}", json=body, headers=sent, timeout=20, **options)
