"""The policy file: what it may say, what it means, and how its faults are told."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import get_args

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import bot.lifecycle
from bot.lifecycle import policy_file, policy_keys
from bot.lifecycle.hooks import Tracker
from bot.lifecycle.policy import Action, Approvers, CiPolicy, Permission, Policy, PolicyError, may, parse_policy
from runner.results import Unit
from runner.terms import AgentSpec, Api, Budget, CheckMode, Effort, GateSpec, Network, Price, SandboxMode, Tier
from tests.lifecycle.golden_files import assert_same

SCHEMA = Path(bot.lifecycle.__file__).parent / "policy.schema.json"

EXAMPLE = """\
label: agent
agent: {cli: claude, model: sonnet}          # any of the built-in agents, or one defined under agents:
units: {CreatePlan: {cli: mytool}}
approvers: {permission: maintain, teams: [core, acme/docs], users: [ann], codeowners: true, distinct: true, count: 2,
            bots: ["renovate[bot]"]}
commands: {prefix: tg}
inspector: {cli: codex, tier: deep}
queue: {max_parallel: 2, overlap: off, max_in_review: 3}       # wait | warn | off
ci: {require: [build, "lint / ruff"], timeout: 90m, fix: 1}
branches: {keep: 7d}
pause: true
sandbox: off                                 # required | auto | off
budget: {usd: 5.50, minutes: 45, attempts: 2}
gates:
  - {name: tests, run: pytest -q, timeout: 15m}
  - {name: lint, run: ruff check .}
  - {name: types, run: mypy ., blocking: false, timeout: 90s}
protected: [".github/**", "deploy/"]
agents:
  mytool: {command: [mytool, --prompt-file, "{prompt_file}"], output: text}
"""


def test_the_whole_file_is_understood():
    policy = parse_policy(EXAMPLE)
    mine = AgentSpec(name="mytool", command=("mytool", "--prompt-file", "{prompt_file}"))
    sonnet = AgentSpec(name="claude", model="sonnet")
    inspector = AgentSpec(name="codex", tier=Tier.DEEP)
    assert policy == Policy(
        agents=dict.fromkeys(Unit, sonnet) | {Unit.CREATE_PLAN: mine, Unit.INSPECT_DIFF: inspector},
        own_agents={"mytool": mine},
        inspector=inspector,
        approvers=Approvers(
            permission=Permission.MAINTAIN,
            teams=("core", "acme/docs"),
            users=("ann",),
            codeowners=True,
            distinct=True,
            count=2,
            bots=("renovate[bot]",),
        ),
        prefix="tg",
        max_parallel=2,
        overlap="off",
        max_in_review=3,
        ci=CiPolicy(require=("build", "lint / ruff"), timeout_seconds=5_400, fix=1),
        keep_branch_seconds=7 * 86_400,
        paused=True,
        sandbox=SandboxMode.OFF,
        budget=Budget(usd=Decimal("5.50"), minutes=45, attempts=2),
        gates=(
            GateSpec(name="tests", run="pytest -q"),
            GateSpec(name="lint", run="ruff check ."),
            GateSpec(name="types", run="mypy .", blocking=False, timeout_seconds=90),
        ),
        protected=(".github/**", "deploy/"),
    )


@pytest.mark.parametrize("tracker", list(Tracker))
def test_a_hook_is_open_to_the_trackers_that_are_named(tracker):
    assert not any(parse_policy("").hooks.lets_in(other) for other in Tracker)
    hooks = parse_policy(f"hooks: {{{tracker}: true}}").hooks
    assert [other for other in Tracker if hooks.lets_in(other)] == [tracker]


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n", "{}"])
def test_an_empty_file_means_the_defaults(text):
    assert parse_policy(text) == Policy() == Policy.default()


def test_every_unit_has_an_agent_by_default():
    assert Policy().agents == dict.fromkeys(Unit, AgentSpec(name="claude"))
    other = AgentSpec(name="other", command=("x",))
    assert set(Policy.default(other).agents.values()) == {other}


def test_units_are_those_of_the_promptware():
    assert set(get_args(policy_keys.UnitName)) == {unit.value for unit in Unit}


def test_an_empty_list_of_gates_is_no_gates_rather_than_recognised_ones():
    assert parse_policy("gates: []").gates == ()
    assert parse_policy("label: x").gates is None


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("label: a\ncolour: red", 2, "`colour` is not a known key; known here are `label`, `agent`"),
        (
            "gates:\n  - name: a\n    run: x\n    when: now",
            4,
            "`gates[1].when` is not a known key; known here are `name`",
        ),
        ("label:\n  - x", 1, "`label` must be text"),
        ("a: 1\nlabel: x\nlabel: y", 3, "`label` is here twice; the first is on line 2"),
        ("label:", 1, "`label` has no value"),
        ("gates:\n  -", 2, "`gates[1]` has no value"),
        ("- label", 1, "the file must be keys with values"),
        ("just words", 1, "the file must be keys with values"),
        ("queue: {overlap: sometimes}", 1, "`queue.overlap` must be one of 'wait', 'warn' or 'off'"),
        ("queue: {max_parallel: 0}", 1, "`queue.max_parallel` must be at least 1"),
        ("queue: {max_parallel: many}", 1, "`queue.max_parallel` must be a whole number"),
        ("sandbox: no", 1, "`sandbox` must be one of"),
        ("gates:\n  - {name: a, run: x, blocking: yes}", 2, "`gates[1].blocking` must be true or false"),
        ("gates:\n  - {name: a, run: x, timeout: 15}", 2, "`gates[1].timeout` must be a time such as 90s, 15m or 2h"),
        ("gates:\n  - {name: a, run: x, timeout: 3h}", 2, "must be at most 2h"),
        ("gates:\n  - {run: x}", 2, "`gates[1].name` is missing"),
        ("gates:\n  - {name: a, run: x}\n  - {name: A, run: y}", 3, "is the name of another check"),
        ("gates:\n  - {name: Scope, run: x}", 2, "is the name of another check"),
        ("gates:\n  - {name: a, run: true}", 2, "`gates[1].run` must be text; put it in quotes"),
        ("gates: {name: a}", 1, "`gates` must be a list"),
        ("budget: {usd: -1}", 1, "`budget.usd` must be more than 0"),
        ("budget: {usd: true}", 1, "`budget.usd` must be a number"),
        ("budget: {usd: .inf}", 1, "`budget.usd` must be a number"),
        ("budget: {minutes: 1441}", 1, "`budget.minutes` must be at most 1440"),
        ("budget: {usd_per_day: 0}", 1, "`budget.usd_per_day` must be more than 0"),
        ("budget: {idle_calls: 1}", 1, "`budget.idle_calls` must be at least 2"),
        ("agent: {tier: strong}", 1, "`agent.tier` must be one of 'fast', 'balanced' or 'deep'"),
        ("agents: {x: {command: [x], api: smtp}}", 1, "`agents.x.api` must be one of"),
        ("checks: {weakening: off}", 1, "`checks.weakening` must be one of 'block' or 'inform'"),
        ("checks: {scope: inform}", 1, "`checks.scope` is not a known key; known here are `security`"),
        ("network: maybe", 1, "`network` must be one of 'on', 'model' or 'off'"),
        ("carry: [../secrets]", 1, "`carry[1]` must be a path within the repository"),
        ("carry: [/etc/passwd]", 1, "`carry[1]` must be a path within the repository"),
        ("carry: [a/.git/hooks]", 1, "`carry[1]` must be a path within the repository"),
        ("prices: {m: {input: -1, output: 2}}", 1, "`prices.m.input` must be at least 0"),
        ("prices: {m: {input: 1}}", 1, "`prices.m.output` is missing"),
        (
            "sandbox: off\nnetwork: model",
            2,
            "`network` can't be kept with `sandbox: off`, which leaves the network open",
        ),
        ("tiers: {devin: {fast: x}}", 1, "`tiers.devin` names no known agent"),
        ("tiers: {claude: {strong: x}}", 1, "`tiers.claude.strong` is not a known key; known here are `fast`"),
        ("label: " + "x" * 51, 1, "`label` must have at most 50 characters"),
        ("label: ''", 1, "`label` must not be empty"),
        ("protected: [/etc]", 1, "`protected[1]` must be a path pattern relative to the root"),
        ("protected: ['!a']", 1, "must be a path pattern"),
        ("protected: [a/../b]", 1, "must be a path pattern"),
        (
            "agent: {cli: devin}",
            1,
            "`agent.cli` names no known agent; there is claude, codex, copilot, gemini, opencode, or",
        ),
        ("units:\n  CreatePlan: {cli: nope}", 2, "`units.CreatePlan.cli` names no known agent"),
        ("units: {MakeTea: {}}", 1, "must be one of 'CreatePlan'"),
        ("agents: {claude: {command: [x]}}", 1, "`agents.claude` has the name of a built-in agent"),
        ("agents: {x: {command: []}}", 1, "`agents.x.command` must not be empty"),
        ("agents: {x: {command: ['{promt}']}}", 1, "{promt} is not known; there is {prompt_file}"),
        ("approvers: {permission: triage}", 1, "`approvers.permission` must be one of 'write', 'maintain' or 'admin'"),
        ("approvers: {teams: ['@core']}", 1, "`approvers.teams[1]` must be a team's name without `@`"),
        ("approvers: {users: ['@ann']}", 1, "`approvers.users[1]` must be a user name without `@`, such as octocat"),
        ("approvers: {count: 0}", 1, "`approvers.count` must be at least 1"),
        ("approvers: {users: [ann, Ann], count: 2}", 1, "`approvers.count` asks for 2 people, and `users` names 1"),
        (
            "approvers: {people: [ann]}",
            1,
            "`approvers.people` is not a known key; known here are `permission`, `teams`",
        ),
        ("commands: {prefix: plan}", 1, "`commands.prefix` is itself a command; choose another word"),
        ("commands: {prefix: /tg}", 1, "`commands.prefix` must be one word of 1 to 20 small letters without `/`"),
        ("paused: true", 1, "`paused` is not a known key; did you mean `pause`?"),
        ("ci: {required: [build]}", 1, "`ci.required` is not a known key; did you mean `require`?"),
        ("ci: {timeout: 2d}", 1, "`ci.timeout` must be a time such as 30m or 2h"),
        ("ci: {timeout: 25h}", 1, "`ci.timeout` must be at most 1d"),
        ("branches: {keep: 91d}", 1, "`branches.keep` must be at most 90d"),
        ("branches: {keep: 30m}", 1, "`branches.keep` must be a time such as 12h or 14d"),
        ("queue: {max_in_review: 0}", 1, "`queue.max_in_review` must be at least 1"),
        ("pause: yes", 1, "`pause` must be true or false"),
        ("inspector: {}", 1, "`inspector` is the agent and the model that write the change"),
        ("agent: {tier: deep}\ninspector: {effort: high}", 2, "`inspector` is the agent and the model that write"),
        ("inspector: {cli: devin}", 1, "`inspector.cli` names no known agent"),
        # an agent of one's own whose runs could only fail
        (
            "agents:\n  x: {command: [x, '{model}']}\nagent: {cli: x}",
            2,
            "`agents.x.command` asks for {model}, and unit CreatePlan has none for it",
        ),
        (
            "agents: {x: {command: [x, '{model}']}}\nunits: {CreatePr: {cli: x, tier: fast}}",
            1,
            "`agents.x.command` asks for {model}, and unit CreatePr has none for it",
        ),
        (
            "agents: {x: {command: [x, '{model}']}}\nagent: {cli: x, tier: deep}\ntiers: {x: {fast: m}}",
            1,
            "`agents.x.command` asks for {model}, and unit CreatePlan has none for it",
        ),
        ("network: model\nagents:\n  x: {command: [x]}", 3, "`agents.x` needs its `api` with `network: model`"),
        # what comes later is refused by name, never passed over
        ("publish: after_review", 1, "`publish` is not available"),
        ("stale: ask", 1, "`stale` is not available"),
        # hostile or broken YAML
        ("label: &a x", 1, "anchors and aliases"),
        ("a: &a [x]\nb: [*a, *a]", 1, "anchors and aliases"),
        ("label: x\n<<: {label: y}", 2, "is not a known key"),
        ("label: !!python/object/apply:os.system [id]", 1, "tags are not read here"),
        ("label: !x y", 1, "tags are not read here"),
        ("? [a]\n: b", 1, "a key must be a word"),
        ("1: b", 1, "a key must be a word"),
        ("label: x\n---\nlabel: y", 2, "not valid YAML"),
        ("label: [", 1, "not valid YAML"),
        ("label: x\n\tgates: y", 2, "not valid YAML"),
        ("label: x\ngates: \x00", 2, "not valid YAML: a character that is not allowed"),
        ("a: " + "[" * 500, 1, "nested more than 12 levels deep"),
        ("x" * 65_537, 1, "the file has 65,537 characters"),
    ],
)
def test_a_fault_is_told_with_its_line(text, line, reason):
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    assert caught.value.line == line
    assert reason in caught.value.reason
    assert str(caught.value) == f"line {line}: {caught.value.reason}"


def test_the_first_of_several_faults_is_told():
    with pytest.raises(PolicyError) as caught:
        parse_policy("queue: {max_parallel: 0}\nlabel: 7\n")
    assert caught.value.line == 1


@pytest.mark.parametrize("piece", ["[", "{", "- ", "a: ", "? ", "'", '"', "a:\n ", "&a ", "[a,", "|\n", "# x\n"])
def test_reading_takes_no_long_time_whatever_the_text(piece):
    before = time.process_time()
    with pytest.raises(PolicyError):
        parse_policy(piece * (60_000 // len(piece)) + "\nx: 1")
    assert time.process_time() - before < 10


@given(st.text(alphabet="abels:{}[]-&*!|>'\"\n #?,0.~", max_size=60))
def test_any_text_is_a_policy_or_a_policy_error(text):
    with suppress(PolicyError):
        assert isinstance(parse_policy(text), Policy)


def test_words_stay_words():
    """YAML 1.1 would read these as a boolean, a date and a number to the base of sixty."""
    assert parse_policy("label: off").label == "off"
    assert parse_policy("label: 2026-01-01").label == "2026-01-01"
    assert parse_policy("label: 1:30").label == "1:30"
    assert parse_policy("label: '7'").label == "7"


def test_a_model_is_not_handed_to_another_agent():
    policy = parse_policy("agent: {cli: claude, model: opus}\nagents: {x: {command: [x]}}\nunits: {CreatePr: {cli: x}}")
    assert policy.agents[Unit.CREATE_PR].model is None
    assert policy.agents[Unit.EXECUTE_PLAN].model == "opus"


def test_a_unit_can_change_the_model_alone():
    policy = parse_policy("agent: {model: opus}\nunits: {CreatePr: {model: haiku}}")
    assert policy.agents[Unit.CREATE_PR] == AgentSpec(name="claude", model="haiku")


def test_a_tier_and_an_effort_belong_to_their_agent_like_a_model():
    policy = parse_policy(
        "agent: {cli: codex, tier: deep, effort: high}\n"
        "units: {CreatePr: {tier: fast}, CreatePlan: {cli: gemini}, UpdatePlan: {model: gpt-5.5, effort: low}}"
    )
    assert policy.agents == dict.fromkeys(Unit, AgentSpec(name="codex", tier=Tier.DEEP, effort=Effort.HIGH)) | {
        Unit.CREATE_PR: AgentSpec(name="codex", tier=Tier.FAST, effort=Effort.HIGH),
        Unit.CREATE_PLAN: AgentSpec(name="gemini"),
        Unit.UPDATE_PLAN: AgentSpec(name="codex", model="gpt-5.5", effort=Effort.LOW),
    }


def test_the_inspector_has_an_agent_of_its_own():
    policy = parse_policy("agent: {cli: codex, effort: high}\ninspector: {tier: deep}")
    assert policy.inspector == AgentSpec(name="codex", tier=Tier.DEEP, effort=Effort.HIGH)
    policy = parse_policy("inspector: {effort: low}\nunits: {InspectDiff: {cli: gemini, tier: fast, effort: high}}")
    assert policy.inspector == AgentSpec(name="gemini", tier=Tier.FAST, effort=Effort.LOW)
    assert policy.agents[Unit.INSPECT_DIFF] == policy.inspector
    assert parse_policy("units: {InspectDiff: {cli: gemini}}").inspector is None


@pytest.mark.parametrize(
    "text",
    [
        "agents: {x: {command: [x, '{model}']}}\nagent: {cli: x, model: m}",
        "agents: {x: {command: [x, '{model}']}}\nagent: {cli: x, tier: deep}\ntiers: {x: {deep: m}}",
        "agents: {x: {command: [x, '{model}']}}\nagent: {cli: x}\ntiers: {x: {deep: m}}",
        "agents: {x: {command: [x, '{model}']}}",
        "agents: {x: {command: [x, '{model}']}}\nunits: {InspectDiff: {cli: x}}",
    ],
)
def test_an_agent_that_asks_for_a_model_gets_one(text):
    assert parse_policy(text).own_agents.keys() == {"x"}


def test_a_policy_that_an_older_release_stored_is_read():
    stored = json.dumps({"approver_permission": Permission.ADMIN, "max_parallel": 3})
    assert Policy.model_validate_json(stored) == Policy(
        approvers=Approvers(permission=Permission.ADMIN), max_parallel=3
    )


def test_what_a_run_may_reach_spend_and_bring_is_read():
    policy = parse_policy(
        "network: model\n"
        "budget: {usd: 5, usd_per_day: 100, tokens: 2000000, idle_calls: 8}\n"
        "prepare: [npm ci]\n"
        "carry: [.env, node_modules/]\n"
        "checks: {security: block, dependencies: 'off'}\n"
        "gates:\n  - {name: a, run: x, parallel: true}\n"
        "tiers: {claude: {deep: claude-opus-5-5}}\n"
        "prices: {house-model: {input: 1.5, output: 7, cache_read: 0}}\n"
        "agents: {mytool: {command: [mytool], api: openai-chat}}\n"
        "agent: {cli: mytool}\n"
    )
    assert policy.network is Network.MODEL
    assert policy.budget == Budget(usd=Decimal(5), usd_today=Decimal(100), tokens=2_000_000, idle_calls=8)
    assert (policy.prepare, policy.carry) == (("npm ci",), (".env", "node_modules"))
    assert policy.gates == (GateSpec(name="a", run="x", parallel=True),)
    assert policy.checks == {"security": CheckMode.BLOCK, "dependencies": CheckMode.OFF}
    assert policy.tiers == {"claude": {Tier.DEEP: "claude-opus-5-5"}}
    assert policy.prices == {"house-model": Price(input=Decimal("1.5"), output=Decimal(7), cache_read=Decimal(0))}
    assert policy.agents[Unit.EXECUTE_PLAN].api is Api.CHAT


@pytest.mark.parametrize("name", ["agent", "Agent", "AGENT", " agent "])
def test_labels_are_compared_without_case(name):
    assert Policy().is_label(name)
    assert parse_policy("label: Agent").is_label(name)


@pytest.mark.parametrize("name", ["agents", "agent:x", "", "plan: draft"])
def test_other_labels_are_others(name):
    assert not Policy().is_label(name)


def test_an_approval_covers_the_gates_and_what_is_protected():
    base = parse_policy(EXAMPLE)
    assert parse_policy(EXAMPLE.replace("max_parallel: 2", "max_parallel: 3")).gates_sha256 == base.gates_sha256
    for change in (("pytest -q", "pytest -x"), ("timeout: 15m", "timeout: 16m"), ("blocking: false", "blocking: true")):
        assert parse_policy(EXAMPLE.replace(*change)).gates_sha256 != base.gates_sha256
    assert parse_policy(EXAMPLE.replace('"deploy/"', '"deployed/"')).gates_sha256 != base.gates_sha256
    assert parse_policy("gates: []").gates_sha256 != Policy().gates_sha256


@pytest.mark.parametrize(
    ("action", "least"),
    [
        (Action.ASK, Permission.READ),
        (Action.REQUEST_PLAN, Permission.TRIAGE),
        (Action.STEER, Permission.WRITE),
        (Action.DECIDE, Permission.MAINTAIN),
    ],
)
def test_who_may_do_what(action, least):
    policy = parse_policy(EXAMPLE)
    assert [p for p in Permission if may(policy, p, action)] == [p for p in Permission if p >= least]


def test_the_policy_is_stored_and_read_back():
    policy = parse_policy(EXAMPLE)
    assert Policy.model_validate_json(policy.model_dump_json()) == policy


def test_the_published_schema_is_the_code():
    assert_same(json.dumps(policy_file.json_schema(), indent=2) + "\n", SCHEMA)


def test_the_published_schema_takes_what_the_parser_takes():
    validator = jsonschema_rs.Draft202012Validator(json.loads(SCHEMA.read_text()))
    words = yaml.safe_load(EXAMPLE.replace("overlap: off", "overlap: 'off'").replace("sandbox: off", "sandbox: 'off'"))
    validator.validate(words)
    for wrong in ({"colour": 1}, {"gates": [{"name": "a"}]}, {"budget": {"usd_per_day": 0}}, {"queue": {"overlap": 1}}):
        assert not validator.is_valid(wrong)
