"""Which model stands for a tier, agent by agent.

Names and order of ability as the agents' own lists give them (``codex debug models``, ``/model`` of Claude Code and
Gemini CLI, ``opencode models``, ``copilot help``) and the price table knows them, read on 2026-11-29. Models come and
go faster than releases: a repository puts its own under ``tiers:`` in its policy file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.terms import Tier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.terms import AgentSpec

MODELS: dict[str, dict[Tier, str]] = {
    "claude": {Tier.FAST: "claude-haiku-5-5", Tier.BALANCED: "claude-sonnet-5-5", Tier.DEEP: "claude-opus-5-5"},
    "codex": {Tier.FAST: "gpt-6-luna", Tier.BALANCED: "gpt-6.1-sol", Tier.DEEP: "gpt-6-astra"},
    "gemini": {
        Tier.FAST: "gemini-3.5-flash-lite",
        Tier.BALANCED: "gemini-3.8-flash",
        Tier.DEEP: "gemini-3.1-pro-preview",
    },
    "opencode": {
        Tier.FAST: "anthropic/claude-haiku-5-5",
        Tier.BALANCED: "anthropic/claude-sonnet-5-5",
        Tier.DEEP: "anthropic/claude-opus-5-5",
    },
    "copilot": {Tier.FAST: "claude-haiku-5-5", Tier.BALANCED: "claude-sonnet-5-5", Tier.DEEP: "claude-opus-5-5"},
}
"""The model of each built-in agent by tier."""


def with_model(spec: AgentSpec, wanted: Tier, own: Mapping[str, Mapping[Tier, str]]) -> AgentSpec:
    """Return ``spec`` with its model named: its own, else that of its tier, else of the tier that the unit asks for.

    ``own`` are the repository's models, which win over :data:`MODELS`. An agent of which neither knows a model keeps
    none, and takes its own default.
    """
    if spec.model is not None:
        return spec
    tier = spec.tier or wanted
    model = own.get(spec.name, {}).get(tier) or MODELS.get(spec.name, {}).get(tier)
    return spec.model_copy(update={"model": model})
