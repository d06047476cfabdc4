"""Who sees what because of a repository: its workflow, its policy in force, and what its runners reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.data_flow.of_bot import ON_GITHUB
from bot.data_flow.party import ALL, Party, Seen
from bot.lifecycle.hooks import Tracker
from bot.lifecycle.policy_values import BUILT_IN_AGENTS
from runner.agents import agent_for
from runner.agents.tiers import with_model
from runner.meter.upstream import PLACES
from runner.results import Unit
from runner.terms import Api, Network, SandboxMode, Tier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.lifecycle.policy import Policy
    from runner.terms import AgentSpec

TOLD = (Seen.PROMPTS, Seen.CODE)
"""What a model's maker sees: the prompt, and whatever of the code the agent reads."""
SELF_HOSTED = "self-hosted"
MAKERS = {
    Api.ANTHROPIC: "Anthropic",
    Api.RESPONSES: "OpenAI",
    Api.CHAT: "OpenAI, or who speaks as it does",
    Api.GEMINI: "Google",
}
WITHOUT_KEY = {
    "claude": "Anthropic",
    "codex": "OpenAI",
    "gemini": "Google",
    "opencode": "the maker that its model names",
    "copilot": "GitHub Copilot and the maker of the model that it chooses",
}
"""Whom a built-in agent talks to with a log-in of its own, which the meter does not carry."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a repository. ``public`` and ``runs_on`` are None where nobody was asked."""

    policy: Policy
    policy_from: str
    """Where the policy was read."""
    name: str = ""
    public: bool | None = None
    runs_on: tuple[str, ...] | None = None
    """What the workflow asks of a machine."""
    actions: tuple[str, ...] = ()
    """The programs of others that the workflow runs on it."""
    workflow_from: str = ""
    machines: tuple[str, ...] = ()
    """Runners that reported lately."""
    reached: tuple[str, ...] = ()
    """Model APIs that those were pointed at: scheme, host and port."""


def parties(facts: Facts) -> Iterator[Party]:
    """Yield them in the order in which a run comes to them."""
    yield from _readers(facts)
    yield from _reporters(facts)
    yield _machine(facts)
    yield from _actions(facts)
    yield from _agents(facts)
    yield from _reached(facts)
    yield _chosen(facts)
    yield from _network(facts)
    yield _ci(facts)


def _readers(facts: Facts) -> Iterator[Party]:
    if facts.public is not None:
        who = "everybody: the repository is public" if facts.public else "whoever may read the repository on GitHub"
        yield Party(who, ON_GITHUB, "their own account at GitHub", f"the visibility of {facts.name}")


def _reporters(facts: Facts) -> Iterator[Party]:
    """Yield who sends reports: they see what they sent, and what is said back."""
    whose = {Tracker.JAM: "jam.dev", Tracker.ISSUE: "another tracker"}
    for tracker in (each for each in Tracker if facts.policy.hooks.lets_in(each)):
        who = f"{whose[tracker]}, whose reports become issues"
        yield Party(
            who, (Seen.ISSUES,), "the secret of the repository's hooks", f"hooks.{tracker}, {facts.policy_from}"
        )


def _machine(facts: Facts) -> Party:
    if facts.runs_on is not None and SELF_HOSTED not in facts.runs_on:
        who = f"GitHub's machines for Actions ({', '.join(facts.runs_on)})"
    else:
        labels = f", labels {', '.join(facts.runs_on)}" if facts.runs_on else ""
        lately = f"; lately {', '.join(facts.machines)}" if facts.machines else ""
        who = f"the runner's machine{labels}{lately}"
    sources = [facts.workflow_from or "the workflow", *(["reports of its last jobs"] if facts.machines else [])]
    return Party(who, ALL, "the run's GITHUB_TOKEN (read), the job's key, the keys of models", ", ".join(sources))


def _actions(facts: Facts) -> Iterator[Party]:
    if facts.actions:
        who = f"the authors of what the workflow runs there: {', '.join(facts.actions)}"
        yield Party(who, ALL, "the run's GITHUB_TOKEN", facts.workflow_from)


def _agents(facts: Facts) -> Iterator[Party]:
    """Yield a row for each agent with the APIs that it may speak, and the units that it carries out."""
    used: dict[Unit, AgentSpec] = {
        unit: spec for unit, spec in facts.policy.agents.items() if unit is not Unit.INSPECT_DIFF
    }
    if facts.policy.inspector is not None:
        used[Unit.INSPECT_DIFF] = facts.policy.inspector
    units: dict[tuple[str, Api | None], list[str]] = {}
    commands = {spec.name: spec.command for spec in used.values()}
    for unit, spec in used.items():
        for api in _apis(spec, facts.policy):
            units.setdefault((spec.name, api), []).append(unit.value)
    for (agent, api), carried in units.items():
        yield _model(agent, api, carried, commands[agent], facts)


def _apis(spec: AgentSpec, policy: Policy) -> set[Api | None]:
    """Return the wire formats that the agent may speak: a unit's own instructions can ask for any tier."""
    models = [with_model(spec, tier, policy.tiers) for tier in ([spec.tier] if spec.tier else Tier)]
    return {agent_for(model).api(model) for model in models}


def _model(agent: str, api: Api | None, units: list[str], command: tuple[str, ...] | None, facts: Facts) -> Party:
    for_whom = f"{agent} for {', '.join(units)}"
    key = "keys or log-ins of models on the runner's machine"
    if api is not None:
        place = PLACES[api]
        log_in = WITHOUT_KEY.get(agent, MAKERS[api])
        beside = f" (with a log-in in place of a key: {log_in})" if log_in != MAKERS[api] else ""
        who = f"{MAKERS[api]}'s model API{beside}, or what {place.variable} on the runner's machine names: {for_whom}"
        return Party(who, TOLD, key, facts.policy_from, (urlsplit(place.default).netloc,))
    if command is None:
        return Party(f"{WITHOUT_KEY[agent]}: {for_whom}", TOLD, key, facts.policy_from)
    who = f"whatever the program `{command[0]}` of the repository's own agent talks to: {for_whom}"
    return Party(who, TOLD, "what TWOGATE_AGENT_ENV lets it see", facts.policy_from)


def _reached(facts: Facts) -> Iterator[Party]:
    usual = {urlsplit(place.default).netloc for place in PLACES.values()}
    hosts = tuple(host for origin in facts.reached if (host := urlsplit(origin).netloc) not in usual)
    if hosts:
        who = "the model API that the settings of the runner's machine name"
        yield Party(who, TOLD, "the key of models on the runner's machine", "reports of its last jobs", hosts)


def _chosen(facts: Facts) -> Party:
    others = dict.fromkeys((*BUILT_IN_AGENTS, *facts.policy.own_agents))
    who = f"the maker of another agent, where somebody who may decide chooses one for a plan: {', '.join(others)}"
    return Party(who, TOLD, "keys or log-ins of models on the runner's machine", "the command /agent, the agent labels")


def _network(facts: Facts) -> Iterator[Party]:
    policy = facts.policy
    source = f"network: {policy.network}, sandbox: {policy.sandbox}, {facts.policy_from}"
    if policy.sandbox is SandboxMode.OFF or policy.network is Network.ON:
        who = "anybody whom agents and checks connect to: the network is open to them"
        yield Party(who, (Seen.CODE, Seen.PROMPTS), "none", source)
    elif policy.sandbox is SandboxMode.AUTO:
        who = "anybody whom agents and checks connect to, on machines without bubblewrap"
        yield Party(who, (Seen.CODE, Seen.PROMPTS), "none", source)
    if policy.prepare and policy.network is not Network.OFF:
        commands = ", ".join(f"`{command}`" for command in policy.prepare)
        who = f"whatever the policy's commands fetch packages from: {commands}"
        yield Party(who, (Seen.CODE,), "none of the run's", f"prepare, {facts.policy_from}")


def _ci(facts: Facts) -> Party:
    names = f", {', '.join(facts.policy.ci.require)} among them" if facts.policy.ci.require else ""
    who = f"workflows and Apps that act on pushes in the repository{names}: before anybody has approved the diff"
    source = f"ci.require, {facts.policy_from}" if names else "the branch is pushed before the review"
    return Party(who, (Seen.CODE, Seen.DIFFS), "what GitHub gives them", source)
