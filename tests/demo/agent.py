"""The demo's scripted agent: a program that plays a coding agent. It has no model; it follows a script.

Called as a repository's policy calls any agent::

    agent.py SCRIPT UNIT ATTEMPT PROMPT_FILE RESULT_FILE

The script (JSON) is a list of tasks; the one whose title the prompt quotes is played. Edits are made in the current
folder, the typed result is written where the prompt says, and one made-up usage record is printed a call.
"""

import json
import re
import sys
from pathlib import Path

CONFLICT = re.compile(r"<{7}[^\n]*\n(.*?)(?:\|{7}[^\n]*\n.*?)?={7}\n(.*?)>{7}[^\n]*\n", re.DOTALL)


def edit(path, find=None, replace="", content=None, append=None):
    """Make one edit of a file: replace a passage once, set the whole, or add to the end."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    if content is not None:
        file.write_text(content)
        return
    text = file.read_text() if file.exists() else ""
    if append is not None:
        file.write_text(text + append)
        return
    if find not in text:
        raise SystemExit(f"{path} does not hold the passage to replace: {find!r}")
    file.write_text(text.replace(find, replace, 1))


def settle_conflicts():
    """Keep both sides of every conflict below the current folder; return whether there was one."""
    settled = False
    for file in Path().rglob("*"):
        if ".git" in file.parts or not file.is_file() or file.is_symlink():
            continue
        text = file.read_text(errors="surrogateescape")
        if "<<<<<<< " in text:
            file.write_text(CONFLICT.sub(lambda found: found[1] + found[2], text), errors="surrogateescape")
            settled = True
    return settled


def play(task, unit, attempt):
    """Do what the task's script says for a unit and attempt, and return the typed result."""
    if unit == "ExecutePlan":
        if not settle_conflicts():
            attempts = task["attempts"]
            for change in attempts[min(attempt, len(attempts)) - 1]:
                edit(**change)
        return {"status": "done", "summary": task["summary"]}
    return task[{"CreatePlan": "plan", "UpdatePlan": "updated_plan", "CreatePr": "pull_request"}[unit]]


def main():
    """Play one run."""
    script, unit, attempt, prompt_file, result_file = sys.argv[1:]
    prompt = Path(prompt_file).read_text()
    task = next((t for t in json.loads(Path(script).read_text()) if t["title"] in prompt), None)
    if task is None:
        raise SystemExit("no task of the script is quoted in the prompt")
    result = play(task, unit, int(attempt))
    Path(result_file).write_text(json.dumps(result))
    tokens = len(prompt) // 4
    print(f"scripted agent: {unit} of {task['title']!r}, attempt {attempt}")
    usage = {"input_tokens": tokens, "output_tokens": 200 + len(json.dumps(result)) // 4, "model": "scripted"}
    price = (tokens * 3 + usage["output_tokens"] * 15) / 1_000_000
    print(json.dumps({"type": "usage", "id": f"{unit}-{attempt}", "usd": round(price, 6), **usage}))


if __name__ == "__main__":
    main()
