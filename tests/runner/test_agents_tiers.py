"""Tiers: the order in which a model is chosen; every built-in agent has one for each, with a price."""

from __future__ import annotations

import pytest

from bot.lifecycle.policy_values import BUILT_IN_AGENTS
from runner.agents import BUILT_IN
from runner.agents.base import Call
from runner.agents.tiers import MODELS, with_model
from runner.prices import cost
from runner.terms import AgentSpec, Tier

OWN = {"claude": {Tier.FAST: "mine"}}


@pytest.mark.parametrize(
    ("spec", "model"),
    [
        (AgentSpec(name="claude", model="named", tier=Tier.FAST), "named"),
        (AgentSpec(name="claude", tier=Tier.FAST), "mine"),
        (AgentSpec(name="claude", tier=Tier.DEEP), MODELS["claude"][Tier.DEEP]),
        (AgentSpec(name="claude"), MODELS["claude"][Tier.BALANCED]),
        (AgentSpec(name="mytool", command=("mytool",)), None),
    ],
)
def test_the_model_is_the_named_one_else_that_of_the_tier(spec: AgentSpec, model: str | None) -> None:
    assert with_model(spec, Tier.BALANCED, OWN).model == model


def test_every_built_in_agent_has_a_priced_model_for_each_tier() -> None:
    assert set(MODELS) == set(BUILT_IN)
    for models in MODELS.values():
        assert set(models) == set(Tier)
        for model in models.values():
            assert cost(Call(model, 1, 1)) is not None, model


def test_the_policy_knows_the_same_agents() -> None:
    assert set(BUILT_IN_AGENTS) == set(BUILT_IN)
