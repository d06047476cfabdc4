"""A model that plays the demo's script for a real agent: it answers each prompt with one command, and then is done.

For :mod:`tests.agents.model_api`, so that ``AGENT=claude`` can be tested without a model and without its price.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.agents.model_api import Shell, Tokens, Turn
from tests.demo.agent import play

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.demo.script import Task

RESULT = re.compile(r"(/[^\s`'\"]+/out/(\w+)/result\.json)")
"""Where a prompt says that the result goes, and of which unit it is."""
EDITS = Path(__file__).with_name("agent.py").read_text().partition("\ndef play(")[0]
"""The part of the scripted agent that edits files."""


def answer(tasks: Sequence[Task], body: dict[str, Any]) -> Turn:
    """Return the model's turn in a conversation of Anthropic's Messages API."""
    prompts = [text for message in body["messages"] if (text := _prompt(message))]
    if not prompts or _has_result(body["messages"]):
        return Turn(text="Done.", tokens=Tokens(100, 5, cache_read=900))
    path, unit = RESULT.findall(prompts[-1])[-1]
    task = next(task for task in tasks if task["title"] in prompts[0])
    attempts = task["attempts"]
    number = min(len(prompts), len(attempts))
    changes = attempts[number - 1] if unit == "ExecutePlan" else []
    result = json.dumps(play({**task, "attempts": [[]]}, unit, 1))
    script = f"{EDITS}\nfor change in json.loads({json.dumps(changes)!r}):\n    edit(**change)\n"
    script += f"Path({path!r}).write_text({result!r})\n"
    return Turn(tools=(Shell(f"python3 - <<'PLAYED'\n{script}PLAYED\n"),), tokens=Tokens(1_000, 300))


def _has_result(messages: list[dict[str, Any]]) -> bool:
    """Whether the command was run since the last prompt."""
    since = messages[max(i for i, message in enumerate(messages) if _prompt(message)) :]
    parts = [part for message in since if isinstance(message["content"], list) for part in message["content"]]
    return any(part.get("type") == "tool_result" for part in parts)


def _prompt(message: dict[str, Any]) -> str:
    """Return the text of a message if it is a prompt of the runner, else nothing; the agent's own reminders are none."""
    content = message["content"]
    texts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    own = [text for text in texts if not text.lstrip().startswith("<system-reminder>")]
    return next((text for text in own if message["role"] == "user" and RESULT.search(text)), "")
