"""Webhook payloads against GitHub's description of webhooks (JSON Schema 2020-12), one compiled schema an event.

Each schema is compiled with only the components it reaches: with all of them a validator takes seconds and gigabytes.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from tests.standin.descriptions.trim import closure

MESSAGE_LIMIT = 200
"""Characters of a problem."""


class HookChecker:
    """Checks payloads against ``webhooks.json.gz``."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._hooks = description["hooks"]
        self._components = description["components"]
        self._validators: dict[str, Any] = {}

    def check(self, event: str, payload: dict[str, Any]) -> list[str]:
        """Where a payload is not as described."""
        name = self._name(event.replace("_", "-"), str(payload.get("action", "")).replace("_", "-"))
        if name is None:
            return ["GitHub describes no such webhook"]
        errors = self._validator(name).iter_errors(payload)
        return [f"/{'/'.join(map(str, e.instance_path))}: {e.message[-MESSAGE_LIMIT:]}" for e in errors]

    def _name(self, event: str, action: str) -> str | None:
        return next((name for name in (f"{event}-{action}", event) if name in self._hooks), None)

    def _validator(self, name: str) -> Any:
        if name not in self._validators:
            hook = self._hooks[name]
            whole = {**hook, "components": closure(self._components, hook)}
            self._validators[name] = jsonschema_rs.Draft202012Validator(whole)
        return self._validators[name]
