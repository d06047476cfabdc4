"""What is wrong with a policy file, in words: of one key, and of keys that contradict each other."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, get_args

from pydantic import BaseModel

from bot.lifecycle.commands import Verb
from bot.lifecycle.policy_keys import EXECUTING, INSPECTING, PolicyFile, TierSection, UnitName
from bot.lifecycle.policy_values import BUILT_IN_AGENTS, BUILT_IN_GATES, FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

    from bot.lifecycle.strict_yaml import Path

    Fault = tuple[Path, str]

LATER: dict[Path, str] = {
    ("publish",): "the branch is always pushed before the review in this release; take it out",
    ("stale",): "files that changed since planning are always listed in the review in this release; take it out",
}
"""Keys whose meaning comes later. A limit that is not kept would mislead, so each is refused with its sentence."""


class PolicyError(ValueError):
    """What is wrong with a policy file, and on which line (counted from 1)."""

    def __init__(self, line: int, reason: str) -> None:
        """Keep both; a reason quotes the file, so that it is told in what can be printed and stored alone."""
        self.line = line
        self.reason = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in reason)
        super().__init__(f"line {line}: {self.reason}")


def named(path: Path) -> str:
    """Return a path as people write it: ``gates[2].run``."""
    text = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"`{text.removeprefix('.')}`" if text else "the file"


def without_value(data: object, path: Path = ()) -> Iterator[Path]:
    """Yield the keys behind which nothing is written."""
    if data is None:
        yield path
    elif isinstance(data, dict | list):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        for key, value in items:
            yield from without_value(value, (*path, key))


def in_words(error: ErrorDetails) -> Fault:
    """Return where one key is wrong, and what of it."""
    path = tuple(part for part in error["loc"] if part != "[key]")
    kind, context = error["type"], error.get("ctx", {})
    if path in LATER:
        return path, f"is not available: {LATER[path]}"
    match kind:
        case "extra_forbidden":
            return path, f"is not a known key; {_meant(str(path[-1]), _known(path[:-1]))}"
        case "string_pattern_mismatch" if context["pattern"] in FORMS:
            return path, f"must be {FORMS[context['pattern']]}"
        case "literal_error" | "enum":
            return path, f"must be one of {context['expected']}"
        case "value_error":
            return path, str(context["error"])
    return path, _REASONS.get(kind, error["msg"]).format(**context)


_REASONS = {
    "missing": "is missing",
    "string_type": "must be text; put it in quotes",
    "string_pattern_mismatch": "must match {pattern}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "too_short": "must not be empty",
    "too_long": "must have at most {max_length} entries",
    "dict_type": "must be keys with values",
    "model_type": "must be keys with values",
}
"""What is wrong, by pydantic's name for it."""


def _known(path: Path) -> list[str]:
    """Return the keys of the section at a path."""
    section: type[BaseModel] = PolicyFile
    if path:
        section = next(_sections(PolicyFile.model_fields[str(path[0])].annotation))
    return list(section.model_fields)


def _meant(written: str, known: list[str]) -> str:
    """Name the known key that is near to what was written; where none is, all of them."""
    near = get_close_matches(written, known, n=1)
    names = ", ".join(f"`{name}`" for name in known)
    return f"did you mean `{near[0]}`?" if near else f"known here are {names}"


def _sections(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the sections within a type: ``list[GateSection] | None`` holds one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _sections(part)


def contradictions(file: PolicyFile) -> Iterator[Fault]:
    """Yield what no key alone can show."""
    yield from _agents(file)
    yield from _models(file)
    yield from _approvers(file)
    if file.sandbox == "off" and file.network != "on":
        yield ("network",), "can't be kept with `sandbox: off`, which leaves the network open; choose another sandbox"
    if file.commands.prefix in set(Verb):
        yield ("commands", "prefix"), "is itself a command; choose another word"
    seen = {name.casefold() for name in BUILT_IN_GATES}
    for index, gate in enumerate(file.gates or ()):
        if gate.name.casefold() in seen:
            yield ("gates", index, "name"), "is the name of another check; each needs its own"
        seen.add(gate.name.casefold())


def _agents(file: PolicyFile) -> Iterator[Fault]:
    known = {*BUILT_IN_AGENTS, *file.agents}
    there_is = f"there is {', '.join(sorted(known))}"
    for name in BUILT_IN_AGENTS:
        if name in file.agents:
            yield ("agents", name), "has the name of a built-in agent; choose another"
    chosen: list[tuple[Path, str | None]] = [(("agent", "cli"), file.agent.cli)]
    chosen += [(("units", unit, "cli"), section.cli) for unit, section in file.units.items()]
    if file.inspector is not None:
        chosen.append((("inspector", "cli"), file.inspector.cli))
    for path, cli in chosen:
        if cli is not None and cli not in known:
            yield path, f"names no known agent; {there_is}, or define it under `agents`"
    for name in file.tiers:
        if name not in known:
            yield ("tiers", name), f"names no known agent; {there_is}"


def _models(file: PolicyFile) -> Iterator[Fault]:
    for name, own in file.agents.items():
        if file.network == "model" and own.api is None:
            yield ("agents", name), "needs its `api` with `network: model`, which opens the way to a model's API alone"
        asks = any("{model}" in word for word in own.command)
        unit = next((unit for unit in get_args(UnitName) if asks and _lacks_model(file, unit, name)), None)
        if unit is not None:
            yield ("agents", name, "command"), f"asks for {{model}}, and unit {unit} has none for it"
    if file.inspector is not None:
        inspects, writes = (file.agent_of(unit).model_copy(update={"effort": None}) for unit in (INSPECTING, EXECUTING))
        if inspects == writes:
            yield ("inspector",), "is the agent and the model that write the change; choose another of either"


def _lacks_model(file: PolicyFile, unit: UnitName, agent: str) -> bool:
    """Whether a unit is carried out by this agent and neither it nor a tier names a model; units have tiers too."""
    if unit == INSPECTING and file.inspector is None:
        return False
    uses, tiers = file.agent_of(unit), file.tiers.get(agent, TierSection()).model_dump(exclude_none=True)
    return uses.cli == agent and uses.model is None and not (uses.tier in tiers if uses.tier else tiers)


def _approvers(file: PolicyFile) -> Iterator[Fault]:
    section = file.approvers
    people = {login.casefold() for login in section.users}
    if people and not section.teams and section.count > len(people):
        yield ("approvers", "count"), f"asks for {section.count} people, and `users` names {len(people)}"
