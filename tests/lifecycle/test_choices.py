"""What the words behind ``/agent``, ``/budget`` and ``/priority`` mean."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lifecycle.choices import (
    AgentChoice,
    BudgetChoice,
    Choices,
    NotUnderstoodError,
    PlanPriority,
    agent_command,
    budget_command,
    read_agent,
    read_budget,
    read_month,
    read_priority,
)
from bot.lifecycle.policy import Policy, parse_policy
from bot.lifecycle.policy_values import MOST_ATTEMPTS, MOST_MINUTES, MOST_TOKENS, MOST_USD
from runner.results import Unit
from runner.terms import AgentSpec, Budget, Effort, Tier

POLICY = parse_policy("agents: {mytool: {command: [mytool, '{prompt_file}'], api: openai-chat}}\nbudget: {usd: 5}")


@pytest.mark.parametrize(
    ("words", "choice"),
    [
        ("codex", AgentChoice(name="codex")),
        (" Codex  gpt-5.5 ", AgentChoice(name="codex", model="gpt-5.5")),
        ("claude opus HIGH", AgentChoice(name="claude", model="opus", effort=Effort.HIGH)),
        (
            "opencode openrouter/a-b/c_d:free@eu[1m]",
            AgentChoice(name="opencode", model="openrouter/a-b/c_d:free@eu[1m]"),
        ),
        ("claude deep", AgentChoice(name="claude", tier=Tier.DEEP)),
        ("gemini low", AgentChoice(name="gemini", effort=Effort.LOW)),
        ("mytool", AgentChoice(name="mytool")),
        ("default", None),
    ],
)
def test_an_agent_is_chosen_in_words(words, choice):
    assert read_agent(words, POLICY) == choice


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("", "The agents here are claude, codex, copilot, gemini, opencode, mytool."),
        ("devin", "The agents here are"),
        ("default codex", "The agents here are"),
        ("codex a b c", "Write the agent, then a model or a tier"),
        ("codex " + "m" * 201, "Write the agent, then a model or a tier"),
        ("gemini --yolo", "Write the agent, then a model or a tier"),
        ("mytool $(id)", "Write the agent, then a model or a tier"),
        ("mytool x;id", "Write the agent, then a model or a tier"),
        ("codex |<b>`@all`", "Write the agent, then a model or a tier"),
    ],
)
def test_what_is_no_agent_is_answered_with_what_would_be(words, told):
    with pytest.raises(NotUnderstoodError, match=told):
        read_agent(words, POLICY)


@pytest.mark.parametrize(
    ("words", "choice"),
    [
        ("8usd 90m", BudgetChoice(usd=Decimal(8), minutes=90)),
        ("$2.50, 2h", BudgetChoice(usd=Decimal("2.50"), minutes=120)),
        ("8 USD", BudgetChoice(usd=Decimal(8))),
        ("500000tokens 1attempt", BudgetChoice(tokens=500_000, attempts=1)),
        ("30min", BudgetChoice(minutes=30)),
        ("default", None),
    ],
)
def test_a_budget_is_set_in_words(words, choice):
    assert read_budget(words) == choice


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("", "Write limits behind it"),
        ("lots", "`lots` is no limit"),
        ("8", "`8` is no limit"),
        ("$8m", "`\\$8m` is no limit"),
        ("-8usd", "is no limit"),
        ("0usd", "out of range"),
        ("100001usd", "at most 100,000 usd"),
        ("25h", "at most 1,440 minutes"),
        ("1.5attempts", "out of range"),
        ("11attempts", "at most 10 attempts"),
        ("8usd 9usd", "The limit of usd is there twice"),
    ],
)
def test_what_is_no_budget_is_answered_with_what_would_be(words, told):
    with pytest.raises(NotUnderstoodError, match=told):
        read_budget(words)


def test_a_priority_is_one_of_three():
    assert read_priority(" HIGH") is PlanPriority.HIGH
    assert read_priority("default") is PlanPriority.NORMAL
    with pytest.raises(NotUnderstoodError, match="/priority high"):
        read_priority("urgent")


def test_costs_are_those_of_a_month_that_has_begun():
    assert read_month("", 3_000_000.0) == 2_678_400.0
    assert read_month(" 1970-01 ", 3_000_000.0) == 0.0
    with pytest.raises(NotUnderstoodError, match=r"has not begun: nothing can be told of it\. `/costs` alone"):
        read_month("1970-03", 3_000_000.0)


@given(
    st.builds(
        BudgetChoice,
        usd=st.none() | st.decimals("0.0001", MOST_USD, places=4),
        minutes=st.none() | st.decimals("0.006", MOST_MINUTES, places=3).map(float),
        tokens=st.none() | st.integers(1, MOST_TOKENS),
        attempts=st.none() | st.integers(1, MOST_ATTEMPTS),
    ).filter(lambda choice: choice != BudgetChoice())
)
def test_a_budget_is_told_as_the_command_that_chooses_it(choice):
    verb, _, words = budget_command(choice).partition(" ")
    assert (verb, read_budget(words)) == ("budget", choice)
    assert read_budget(budget_command(None).removeprefix("budget")) is None


@pytest.mark.parametrize("words", ["codex gpt-5.5 high", "claude deep", "mytool low", "gemini", "default"])
def test_an_agent_is_told_as_the_command_that_chooses_it(words):
    assert agent_command(read_agent(words, POLICY)) == f"agent {words}"


@given(st.text(max_size=60))
def test_any_words_are_a_choice_or_not_understood(words):
    for read in (lambda text: read_agent(text, POLICY), read_budget, read_priority):
        with suppress(NotUnderstoodError):
            assert isinstance(read(words), AgentChoice | BudgetChoice | PlanPriority | None)


def test_a_choice_wins_over_the_policy_for_every_unit():
    chosen = Choices(agent=AgentChoice(name="mytool", model="m", effort=Effort.LOW), budget=BudgetChoice(minutes=9))
    mine = AgentSpec(**POLICY.own_agents["mytool"].model_dump() | {"model": "m", "effort": Effort.LOW})
    assert mine.command == ("mytool", "{prompt_file}")
    assert chosen.agents(POLICY) == dict.fromkeys(Unit, mine)
    assert chosen.limits(POLICY) == Budget(usd=Decimal(5), minutes=9)


def test_an_agent_that_the_policy_has_dropped_is_asked_for_by_its_name():
    chosen = Choices(agent=AgentChoice(name="mytool"))
    assert set(chosen.agents(Policy()).values()) == {AgentSpec(name="mytool")}


def test_without_a_choice_the_policy_counts():
    assert Choices().agents(POLICY) == POLICY.agents
    assert Choices().limits(POLICY) == POLICY.budget
