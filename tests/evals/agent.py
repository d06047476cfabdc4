"""A coding agent as small as they come: Anthropic Messages, one tool that writes files. A program, never imported.

Arguments: prompt file, model. Address and key of the API are in the environment, as the SDKs have them.
"""

import json
import os
import sys
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

TOOL = {
    "name": "write_file",
    "description": "Write a text to a file.",
    "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
}
MOST_TURNS = 20


def ask(messages: list[dict]) -> dict:
    body = {"model": sys.argv[2], "max_tokens": 8_000, "messages": messages, "tools": [TOOL]}
    headers = {
        "Content-Type": "application/json",
        "x-api-key": os.environ["ANTHROPIC_API_KEY"],
        "anthropic-version": "2023-06-01",
    }
    request = Request(f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages", json.dumps(body).encode(), headers)
    with build_opener(ProxyHandler({})).open(request, timeout=60) as answer:
        return json.load(answer)


def write(call: dict) -> dict:
    file = Path(call["input"]["path"])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(call["input"]["content"], encoding="utf-8")
    return {"type": "tool_result", "tool_use_id": call["id"], "content": "written"}


def main() -> None:
    messages = [{"role": "user", "content": Path(sys.argv[1]).read_text(encoding="utf-8")}]
    for _ in range(MOST_TURNS):
        answer = ask(messages)
        calls = [part for part in answer["content"] if part["type"] == "tool_use"]
        if not calls:
            return
        messages += [
            {"role": "assistant", "content": answer["content"]},
            {"role": "user", "content": [write(call) for call in calls]},
        ]
    raise SystemExit(f"no end after {MOST_TURNS} turns")


main()
