"""The demo's scripted agent: a program that plays a coding agent. It has no model; it follows a script.

Called as a repository's policy calls any agent::

    agent.py SCRIPT UNIT ATTEMPT PROMPT_FILE RESULT_FILE

The script (JSON) is a list of tasks; the one whose title the prompt's issue bears is played, and for an issue of
somebody who tries the demo out :data:`ANYTHING`. Edits are made in the current folder, the typed result is written where
the prompt says, and one made-up usage record is printed a call.
"""

import json
import re
import sys
from pathlib import Path

ISSUE = re.compile(r"BEGIN UNTRUSTED ISSUE(.*)END UNTRUSTED ISSUE", re.DOTALL)
PLAN = {
    "verdict": "plan",
    "title": "Note that something was asked for",
    "summary": "The demo's agent is a script: what it was not written for, it notes in a file instead of doing it.",
    "steps": ["Add a line to `ASKED.md`."],
    "files": ["ASKED.md"],
    "tests": ["What passes today still does."],
}
ANYTHING = {
    "title": "anything else",
    "plan": PLAN,
    "updated_plan": PLAN,
    "attempts": [[{"path": "ASKED.md", "append": "Somebody asked for something that the script does not know.\n"}]],
    "summary": "The file says that something was asked for.",
    "pull_request": {"title": PLAN["title"], "body": PLAN["summary"]},
}
CONFLICT = re.compile(r"<{7}[^\n]*\n(.*?)(?:\|{7}[^\n]*\n.*?)?={7}\r?\n(.*?)>{7}[^\n]*\n", re.DOTALL)


def read(file):
    """Return a file's text with its line ends as they are, and nothing where there is no file."""
    return file.read_bytes().decode("utf-8", "surrogateescape") if file.is_file() else ""


def write(file, text):
    """Write a text with its line ends as they are."""
    file.write_bytes(text.encode("utf-8", "surrogateescape"))


def edit(path, find=None, replace="", content=None, append=None, prepend=None):
    """Make one edit of a file: replace a passage once, set the whole, or add at either end, on lines of its own."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = read(file)

    def ended(added):
        return added.replace("\n", "\r\n") if "\r\n" in text else added

    if content is not None:
        write(file, content)
    elif append is not None:
        gap = "" if not text or text.endswith("\n") else ended("\n")
        write(file, text + gap + ended(append))
    elif prepend is not None:
        write(file, ended(prepend) + text)
    elif ended(find) in text:
        write(file, text.replace(ended(find), ended(replace), 1))
    else:
        raise SystemExit(f"{path} does not hold the passage to replace: {find!r}")


def settle_conflicts(paths):
    """Keep both sides of every conflict in the files; return whether there was one."""
    settled = False
    for file in map(Path, paths):
        text = read(file)
        if "<<<<<<< " in text:
            write(file, CONFLICT.sub(lambda found: found[1] + found[2], text))
            settled = True
    return settled


def play(task, unit, attempt):
    """Do what the task's script says for a unit and attempt, and return the typed result."""
    if unit == "ExecutePlan":
        if not settle_conflicts(task["plan"]["files"]):
            attempts = task["attempts"]
            for change in attempts[min(attempt, len(attempts)) - 1]:
                edit(**change)
        return {"status": "done", "summary": task["summary"], "lessons": task.get("lessons", [])}
    return task[{"CreatePlan": "plan", "UpdatePlan": "updated_plan", "CreatePr": "pull_request"}[unit]]


def task_of(script, prompt):
    """Return the task of the issue that the prompt quotes; other issues are named in it as well."""
    quoted = ISSUE.search(prompt)
    if quoted is None:
        raise SystemExit("the prompt quotes no issue")
    tasks = json.loads(Path(script).read_text(encoding="utf-8"))
    return next((task for task in tasks if task["title"] in quoted[1]), ANYTHING)


def main():
    """Play one run."""
    script, unit, attempt, prompt_file, result_file = sys.argv[1:]
    prompt = Path(prompt_file).read_text(encoding="utf-8")
    task = task_of(script, prompt)
    result = play(task, unit, int(attempt))
    Path(result_file).write_text(json.dumps(result))
    tokens = len(prompt) // 4
    print(f"scripted agent: {unit} of {task['title']!r}, attempt {attempt}")
    usage = {"input_tokens": tokens, "output_tokens": 200 + len(json.dumps(result)) // 4, "model": "scripted"}
    price = (tokens * 3 + usage["output_tokens"] * 15) / 1_000_000
    print(json.dumps({"type": "usage", "id": f"{unit}-{attempt}", "usd": round(price, 6), **usage}))


if __name__ == "__main__":
    main()
