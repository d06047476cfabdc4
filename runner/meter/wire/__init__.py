"""The wire formats that the meter understands, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.meter.wire.anthropic import Anthropic
from runner.meter.wire.chat import Chat
from runner.meter.wire.gemini import Gemini
from runner.meter.wire.responses import Responses
from runner.terms import Api

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.meter.wire.base import Wire

WIRES: Mapping[Api, Wire] = {
    Api.ANTHROPIC: Anthropic(),
    Api.RESPONSES: Responses(),
    Api.CHAT: Chat(),
    Api.GEMINI: Gemini(),
}
