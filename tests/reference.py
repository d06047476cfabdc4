"""The generated parts of the reference pages: limits, policy keys, commands. Made of the code, so they can't drift."""

from __future__ import annotations

import ast
import importlib
import json
import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from bot.lifecycle import policy_faults, policy_file, policy_keys
from bot.lifecycle.commands import Verb
from bot.lifecycle.meanings import MEANINGS
from bot.lifecycle.policy import Action, Policy
from bot.lifecycle.policy_values import in_words
from bot.lifecycle.states import State
from bot.lifecycle.transitions import TABLE
from bot.web.metrics import FAMILIES
from runner.program import load
from runner.results import Unit
from runner.terms import Tool
from runner.tools.arguments import DESCRIPTIONS

ROOT = Path(__file__).parent.parent
AREAS = {
    "bot/lifecycle/wording": "Texts on GitHub",
    "bot/lifecycle": "Plans, commands, policy",
    "bot/worker": "The bot's engine",
    "bot/web/dashboard": "The dashboard",
    "bot/web": "What runners may send and how they are known",
    "bot/intake": "Webhooks",
    "bot/github": "Calls to GitHub",
    "bot/store": "The database",
    "bot": "The bot's processes",
    "runner/agents": "Agents: what is read of them",
    "runner/gates": "Checks",
    "runner/steps": "One job",
    "runner/tools": "Tools of agents",
    "runner/evals": "Measuring instructions",
    "runner": "The runner",
}
"""Folders in order, the deeper before the shallower: a module belongs to the first that holds it."""
NOT_LIMITS = re.compile(r"^(MINUTE|NOBODY|FORMAT|CONTRACT_VERSION|MODE_|SERVER_ERROR|TOO_MANY|PR_SET_|KIND_|SPEAKS_ON)")
"""Numbers that bound nothing."""


def limits() -> str:
    """Every named limit and period with its value and its sentence, an area a table."""
    found: dict[str, list[str]] = {title: [] for title in AREAS.values()}
    for folder in ("bot", "runner"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            found[_area(path)] += [_row(*constant) for constant in _constants(path)]
    head = "| name | value | meaning |\n|---|---|---|\n"
    return "\n\n".join(f"### {title}\n\n{head}" + "\n".join(rows) for title, rows in found.items() if rows)


def _area(path: Path) -> str:
    below = path.relative_to(ROOT).as_posix()
    return next(title for folder, title in AREAS.items() if below.startswith(f"{folder}/"))


def _constants(path: Path) -> list[tuple[Path, list[str], str]]:
    """Documented numbers of a module; names that stand together share the sentence behind the last."""
    found, names = [], []
    for node in ast.parse(path.read_text()).body:
        name = _assigned(node)
        if name and re.fullmatch(r"[A-Z][A-Z0-9_]*", name) and not NOT_LIMITS.match(name):
            names.append(name)
            continue
        if names and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.append((path, names, str(node.value.value)))
        names = []
    return [entry for entry in found if all(_is_number(_value(path, name)) for name in entry[1])]


def _assigned(node: ast.stmt) -> str | None:
    target = (
        node.target if isinstance(node, ast.AnnAssign) else node.targets[0] if isinstance(node, ast.Assign) else None
    )
    return target.id if isinstance(target, ast.Name) else None


def _value(path: Path, name: str) -> Any:
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    return getattr(importlib.import_module(module), name)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and type(value).__module__ != "enum"


def _row(path: Path, names: list[str], sentence: str) -> str:
    where = path.relative_to(ROOT).as_posix()
    shown = "<br>".join(f"`{name}`" for name in names)
    values = "<br>".join(_number(_value(path, name)) for name in names)
    return f"| {shown}<br><sub>{where}</sub> | {values} | {_plain(sentence)} |"


def _number(value: float | Decimal) -> str:
    return f"{value:,}" if isinstance(value, int) or value != int(value) else f"{int(value):,}"


def _plain(text: str) -> str:
    """A docstring as one line of Markdown."""
    line = " ".join(text.split()).replace("|", "\\|")
    line = re.sub(r":[a-z]+:`~?\.?([^`]*)`", lambda m: f"`{m[1].split('.')[-1]}`", line)
    return line.replace("``", "`")


def keys_of_the_policy() -> str:
    """Every key of the policy file with its default and meaning, and those that are refused until they are honoured."""
    rows = ["| key | values | default | meaning |", "|---|---|---|---|", *_keys(policy_keys.PolicyFile, "")]
    rows += ["", "Known and refused, so that nobody relies on them:", "", "| key | why |", "|---|---|"]
    rows += [f"| `{'.'.join(map(str, path))}` | {why} |" for path, why in policy_faults.LATER.items()]
    return "\n".join(rows)


SECTIONS: dict[str, tuple[type[BaseModel], str]] = {
    "agent": (policy_keys.AgentSection, "agent."),
    "units": (policy_keys.UnitSection, "units.<Unit>."),
    "agents": (policy_keys.OwnAgentSection, "agents.<name>."),
    "inspector": (policy_keys.UnitSection, "inspector."),
    "approvers": (policy_keys.ApproversSection, "approvers."),
    "commands": (policy_keys.CommandsSection, "commands."),
    "queue": (policy_keys.QueueSection, "queue."),
    "ci": (policy_keys.CiSection, "ci."),
    "branches": (policy_keys.BranchesSection, "branches."),
    "hooks": (policy_keys.HooksSection, "hooks."),
    "logs": (policy_keys.LogsSection, "logs."),
    "budget": (policy_keys.BudgetSection, "budget."),
    "gates": (policy_keys.GateSection, "gates[]."),
    "tiers": (policy_keys.TierSection, "tiers.<agent>."),
    "prices": (policy_keys.PriceSection, "prices.<model>."),
    "checks": (policy_keys.ChecksSection, "checks."),
}


def _keys(model: type[BaseModel], prefix: str) -> list[str]:
    schema, rows = policy_file.json_schema(), []
    properties = (
        schema["properties"] if model is policy_keys.PolicyFile else schema["$defs"][model.__name__]["properties"]
    )
    for name, field in model.model_fields.items():
        path = (*(part for part in prefix.rstrip(".").split(".") if part), name)
        if not prefix and name in SECTIONS:
            section, below = SECTIONS[name]
            text = _plain(field.description or section.__doc__ or "")
            rows.append(f"| `{name}` |  | {_default(name, field.default)} | {text} |")
            rows += _keys(section, below)
        elif path not in policy_faults.LATER:
            values = _values(properties[name])
            value = in_words(field.default) if values.startswith("a time") else field.default
            default = "required" if field.is_required() else _default(name, value)
            rows.append(f"| `{prefix}{name}` | {values} | {default} | {_plain(field.description or '')} |")
    return rows


def _default(name: str, value: Any) -> str:
    if value is None:
        return "none" if name != "gates" else "recognised"
    if isinstance(value, BaseModel) or value == {}:
        return ""
    return f"`{json.dumps(value) if isinstance(value, list | bool) else value}`"


def _values(schema: dict[str, Any]) -> str:
    schema = next((part for part in schema.get("anyOf", ()) if part.get("type") != "null"), schema)
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "pattern" in schema and "examples" in schema:
        return "a time: " + ", ".join(f"`{example}`" for example in schema["examples"])
    bounds = [schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")]
    if None not in bounds:
        return f"{'above ' if 'exclusiveMinimum' in schema else ''}{bounds[0]} to {bounds[1]:,}"
    words = {"string": "text", "boolean": "`true`, `false`", "array": "a list", "object": "keys", "integer": "a number"}
    most = schema.get("maxLength")
    return words.get(schema.get("type", ""), "") + (f", up to {most:,} characters" if most else "")


NEEDS = {
    Action.ASK: "read",
    Action.REQUEST_PLAN: "triage",
    Action.STEER: "write",
    Action.ANSWER: "triage, and the issue's author",
    Action.DECIDE: "`approvers.permission` (write)",
    Action.SEE_COSTS: "write",
}


def commands() -> str:
    """Who may say each command, and in which states it does something."""
    rows = ["| command | who may | does something in |", "|---|---|---|"]
    for verb, meaning in MEANINGS.items():
        if Policy().needs(meaning.needs).name.lower() not in NEEDS[meaning.needs]:
            raise ValueError(f"{verb} needs another permission than this page says")
        rows.append(f"| `/{verb}` | {NEEDS[meaning.needs]} | {_states(verb)} |")
    return "\n".join(rows)


def _states(verb: Verb) -> str:
    event = MEANINGS[verb].event
    if verb in {Verb.HELP, Verb.COSTS}:
        return "every state, and without a plan"
    if verb is Verb.PLAN:
        return "an issue without a plan, or whose plan has ended: a new try"
    states = [state for state in State if TABLE[state, event].move]
    return "every state" if len(states) == len(State) else ", ".join(states)


def said() -> str:
    """The rules by which commands are found in a comment, from the file of comments that are tested by them."""
    rules = tomllib.loads((ROOT / "tests/lifecycle/said.toml").read_text())["rule"]
    return "\n".join(f"- {rule['says']}" for rule in rules)


USAGE = {
    Tool.PROGRESS: "TEXT",
    Tool.SUBMIT: "FILE",
    Tool.REMEMBER: "--kind KIND [--path GLOB]… [--unit UNIT] [--replaces FILE] TEXT",
    Tool.RECOMMEND: "--title TITLE [--path PATH]… REASON",
    Tool.ASK: "TEXT",
}


def tools() -> str:
    """Each tool with its arguments, what its agent is told of it, and the units whose agents have it."""
    heads = {unit: load(unit, lambda _: None).front for unit in Unit}
    rows = ["| tool | what its agent is told | who has it |", "|---|---|---|"]
    for tool in Tool:
        units = [unit for unit, front in heads.items() if tool in front.tools]
        who = "every unit" if len(units) == len(Unit) else ", ".join(units)
        rows.append(f"| `{tool} {USAGE[tool]}` | {DESCRIPTIONS[tool]} | {who} |")
    return "\n".join(rows)


def metrics() -> str:
    """Every family of /metrics."""
    rows = ["| name | labels | meaning |", "|---|---|---|"]
    for name, (meaning, labels) in FAMILIES.items():
        named = ", ".join(f"`{label}`" for label in labels)
        rows.append(f"| `twogate_{name}` | {named} | {_plain(meaning)} |")
    return "\n".join(rows)


GENERATED = {
    "docs/reference/metrics.md": {"metrics": metrics},
    "docs/reference/tools.md": {"tools": tools},
    "docs/reference/limits.md": {"limits": limits},
    "docs/reference/policy.md": {"keys": keys_of_the_policy},
    "docs/reference/commands.md": {"commands": commands, "rules": said},
}
"""Page -> the parts between its markers."""


def renewed(text: str, name: str, new: str) -> str:
    """The page with one generated part put in place."""
    start, end = f"<!-- {name}: generated -->\n", f"<!-- {name}: end -->"
    head, rest = text.split(start)
    return f"{head}{start}{new}\n{rest[rest.index(end) :]}"
