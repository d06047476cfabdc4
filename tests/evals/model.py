"""A scripted model that follows instructions: of two answers it gives the good one where its instructions ask for it.

What asks for it is a sentence of the unit (a regular expression of :mod:`tests.evals.script`), looked for in the part
of the prompt that no fence surrounds: what an issue says moves it to nothing. So two versions of a Program.md differ
here as the sentences do that are in them, and tokens as their lengths do.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.agents.model_api import Tokens, Turn, Write
from tests.demo.model import RESULT, _has_result, _prompt
from tests.evals.script import SCRIPT, Answer

FENCED = re.compile(r"-----BEGIN UNTRUSTED .*?-----END UNTRUSTED [^\n]*", re.DOTALL)
TITLE = re.compile(r"^Title: ([^\n]*)", re.MULTILINE)
MENDING = "## Checks that failed"
"""The heading by which a prompt tells of failed checks."""


def answer(body: dict[str, Any]) -> Turn:
    """Return the model's turn in a conversation of Anthropic's Messages API."""
    prompts = [text for message in body["messages"] if (text := _prompt(message))]
    if not prompts or _has_result(body["messages"]):
        return Turn(text="Done.", tokens=Tokens(_tokens(str(body["messages"])), 5))
    path, unit = RESULT.findall(prompts[-1])[-1]
    played = _answer(unit, prompts)
    result = json.dumps(played.result)
    files = [Write(name, content) for name, content in played.files.items()]
    tokens = Tokens(_tokens("".join(prompts)), _tokens(result + "".join(played.files.values())))
    return Turn(tools=(*files, Write(path, result)), tokens=tokens)


def _answer(unit: str, prompts: list[str]) -> Answer:
    first, trusted = prompts[0], " ".join(FENCED.sub("", prompts[0]).split())
    title = TITLE.findall(first)[-1]
    part = SCRIPT[unit, title]
    if part.first is not None and not any(MENDING in prompt for prompt in prompts):
        return part.first
    return part.good if re.search(part.follows, trusted, re.IGNORECASE) else part.otherwise


def _tokens(text: str) -> int:
    return len(text) // 4
