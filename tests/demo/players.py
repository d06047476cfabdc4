"""Who plays the agent: the demo's script, Claude Code, or a command of the repository's own policy."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.lifecycle.policy_faults import PolicyError
from bot.lifecycle.policy_file import read as read_policy
from tests.demo.refusal import Refusal

if TYPE_CHECKING:
    from tests.demo.script import Task

HERE = Path(__file__).parent
CLAUDE_CREDENTIALS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
"""One of them has to be set."""
CLAUDE_ENVIRONMENT = (*CLAUDE_CREDENTIALS, "ANTHROPIC_BASE_URL")
SYSTEM = (Path("/usr"), Path("/bin"), Path("/sbin"))
"""What lies there is shown in every sandbox."""


@dataclass(frozen=True)
class Player:
    """An agent: what the policy file says of it, and what its machine has to offer it."""

    sentence: str
    policy: dict[str, Any]
    tools: tuple[Path, ...] = ()
    """Folders that the sandbox shows."""
    path: tuple[Path, ...] = ()
    """Folders of programs."""
    environment: dict[str, str] = field(default_factory=dict)
    scripted: bool = False


def scripted(folder: Path, tasks: tuple[Task, ...]) -> Player:
    """The demo's own agent, put into ``folder`` with its script."""
    folder.mkdir()
    shutil.copy(HERE / "agent.py", folder)
    (folder / "script.json").write_text(json.dumps(tasks))
    words = ("{unit}", "{attempt}", "{prompt_file}", "{result_file}")
    command = ["python3", f"{folder}/agent.py", f"{folder}/script.json", *words]
    agents = {"scripted": {"command": command, "output": "jsonl"}}
    sentence = "The agent of this demo is a script: it plays a coding agent and has no model."
    return Player(sentence, {"agent": {"cli": "scripted"}, "agents": agents}, tools=(folder,), scripted=True)


def claude() -> Player:
    """Claude Code with the credentials of whoever calls; raises :class:`Refusal` where one is missing."""
    program = _program("claude", "Install Claude Code (npm install -g @anthropic-ai/claude-code), or leave AGENT out.")
    offered = {name: os.environ[name] for name in CLAUDE_ENVIRONMENT if os.environ.get(name)}
    if not offered.keys() & set(CLAUDE_CREDENTIALS):
        raise Refusal(
            "Claude Code needs a credential of yours: set ANTHROPIC_API_KEY, or CLAUDE_CODE_OAUTH_TOKEN as "
            "`claude setup-token` gives it. A login kept in a home folder is out of an agent's reach."
        )
    sentence = f"The agent is Claude Code at {program}, with your credentials: this costs real money."
    return Player(sentence, {"agent": {"cli": "claude"}}, _tools(program), (program.parent,), offered)


def own(name: str, policy_file: bytes | None) -> Player:
    """An agent of the repository's own policy file; raises :class:`Refusal` where it is not defined or not there."""
    try:
        defined = read_policy((policy_file or b"").decode("utf-8", "replace")).agents
    except PolicyError as error:
        raise Refusal(f"The repository's .github/twogate.yml can't be used: {error}") from None
    if name not in defined:
        raise Refusal(
            f"No agent {name!r} is set up: claude is built in, and any other one is defined under `agents:` in the "
            "repository's .github/twogate.yml, with the command that starts it."
        )
    section = defined[name]
    program = _program(section.command[0], f"It is what starts agent {name!r}.")
    names = os.environ.get("TWOGATE_AGENT_ENV", "").replace(",", " ").split()
    offered = {n: os.environ[n] for n in names if n in os.environ} | {"TWOGATE_AGENT_ENV": ",".join(names)}
    policy = {"agent": {"cli": name}, "agents": {name: {"command": list(section.command), "output": section.output}}}
    sentence = f"The agent is {name}, that is {program}, with the variables that TWOGATE_AGENT_ENV names."
    return Player(sentence, policy, _tools(program), (program.parent,), offered)


def _program(name: str, hint: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise Refusal(f"There is no program {name!r} on PATH. {hint}")
    return Path(found).absolute()


def _tools(program: Path) -> tuple[Path, ...]:
    """Return the folders that a program needs beyond the system's: its own, its target's, and node's for a script."""
    target = program.resolve()
    folders = [program.parent, target.parent]
    folders += [parent for parent in target.parents if parent.name == "node_modules"][-1:]
    if node := shutil.which("node"):
        folders.append(Path(node).resolve().parent.parent)
    return tuple(dict.fromkeys(f for f in folders if not any(f.is_relative_to(system) for system in SYSTEM)))
