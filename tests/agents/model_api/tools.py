"""Neutral tool calls in the words of the agent that offers the tools: looked up in the schemas it sends."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

from runner.agents.mcp import SERVER
from tests.agents.model_api.script import Call, Edit, Own, Raw, Read, Shell, Tool, Write

NAMES: dict[type, tuple[str, ...]] = {
    Write: ("Write", "write_file", "write", "create"),
    Read: ("Read", "read_file", "read", "view"),
    Edit: ("Edit", "replace", "edit"),
    Shell: ("Bash", "run_shell_command", "bash", "exec_command", "shell_command", "shell"),
}
"""By which names agents offer a kind of tool."""
ARGUMENTS = {
    "path": ("file_path", "filePath", "absolute_path", "path"),
    "content": ("content", "file_text"),
    "old": ("old_string", "oldString", "old_str"),
    "new": ("new_string", "newString", "new_str"),
    "command": ("command", "cmd"),
}
"""By which names they take an argument."""
CODE = "exec"
"""Codex's tool that runs JavaScript, in which all others are functions: all that its newer models are offered."""
PREFIXES = (f"mcp__{SERVER}__", f"mcp_{SERVER}_", f"{SERVER}_", f"{SERVER}-")
"""What agents put before the name of a tool of the run's own."""
Schemas = dict[str, dict[str, Any]]
"""The tools that a request offers: the JSON Schema of its arguments by name, an empty one for free text."""


def call_of(tool: Tool, offered: Schemas, cwd: str) -> Call:
    """Return ``tool`` as the agent that offers ``offered`` knows it."""
    if isinstance(tool, Raw | Own):
        return Call(tool.name, tool.arguments) if isinstance(tool, Raw) else _own(tool, offered)
    values = dict(vars(tool))
    if "path" in values:
        values["path"] = str(Path(cwd, values["path"]))
    for name in NAMES[type(tool)]:
        if name in offered:
            return Call(name, _arguments(offered[name], values))
    if isinstance(tool, Write | Edit) and "apply_patch" in offered:
        properties = offered["apply_patch"].get("properties")
        return Call("apply_patch", {next(iter(properties)): _patch(tool, cwd)} if properties else _patch(tool, cwd))
    if CODE in offered and not isinstance(tool, Read):
        return Call(CODE, _as_code(tool, cwd))
    if isinstance(tool, Shell):
        return Call("shell", values)  # not offered: the agent has to refuse it
    return call_of(Shell(_as_shell(tool, values["path"])), offered, cwd)


def _own(tool: Own, offered: Schemas) -> Call:
    """Return a call of the run's own tool; where it is not offered, one that the agent has to refuse."""
    if name := next((prefix + tool.name for prefix in PREFIXES if prefix + tool.name in offered), None):
        return Call(name, tool.arguments)
    if CODE in offered:
        return Call(CODE, f"text(await tools.{PREFIXES[0]}{tool.name}({json.dumps(tool.arguments)}))")
    return Call(tool.name, tool.arguments)


def _arguments(schema: dict[str, Any], values: dict[str, str]) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    given: dict[str, Any] = {}
    for meaning, value in values.items():
        name = next((known for known in ARGUMENTS[meaning] if known in properties), ARGUMENTS[meaning][0])
        is_list = (properties.get(name) or {}).get("type") in {"array", "ARRAY"}
        given[name] = ["bash", "-lc", value] if is_list else value
    missing = (name for name in schema.get("required") or () if name not in given)
    return given | {
        name: "as planned" for name in missing if properties.get(name, {}).get("type") in {"string", "STRING"}
    }


def _as_code(tool: Write | Edit | Shell, cwd: str) -> str:
    """Return the JavaScript by which a model in code mode calls a tool."""
    if isinstance(tool, Shell):
        return f"text(await tools.exec_command({json.dumps({'cmd': tool.command})}))"
    return f"text(await tools.apply_patch({json.dumps(_patch(tool, cwd))}))"


def _patch(tool: Write | Edit, cwd: str) -> str:
    path = os.path.relpath(Path(cwd, tool.path), cwd)
    if isinstance(tool, Write):
        body = [f"*** Add File: {path}", *(f"+{line}" for line in tool.content.splitlines())]
    else:
        lines = [f"-{line}" for line in tool.old.splitlines()] + [f"+{line}" for line in tool.new.splitlines()]
        body = [f"*** Update File: {path}", "@@", *lines]
    return "\n".join(["*** Begin Patch", *body, "*** End Patch"])


def _as_shell(tool: Tool, path: str) -> str:
    where = shlex.quote(path)
    if isinstance(tool, Write):
        return f"printf %s {shlex.quote(tool.content)} > {where}"
    if isinstance(tool, Edit):
        code = "import sys; p, a, b = sys.argv[1:]; s = open(p).read(); open(p, 'w').write(s.replace(a, b))"
        return shlex.join(["python3", "-c", code, path, tool.old, tool.new])
    return f"cat {where}"
