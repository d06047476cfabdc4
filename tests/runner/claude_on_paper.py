"""Stands in for Claude Code where only its sessions matter. Run as a program by the tests, never imported.

It keeps its session in the file that Claude Code keeps it in, refuses to go on with one that is not there, and writes
down how it was started. In the work tree it mends add() and adds a note a run; its result is that of the unit.
"""

import json
import os
import re
import sys
from pathlib import Path

arguments = sys.argv[1:]
prompt = arguments[arguments.index("-p") + 1]
resume = "--resume" in arguments
session = arguments[arguments.index("--resume" if resume else "--session-id") + 1]
log = Path(os.environ["HOME"]) / ".claude" / "projects" / "tree" / f"{session}.jsonl"
runs = len(log.read_text().splitlines()) if log.exists() else 0
with Path(os.environ["CALLS"]).open("a") as calls:
    told = "This session has worked on this plan in an earlier job." in prompt
    calls.write(json.dumps({"resume": resume, "session": session, "runs": runs, "told": told}) + "\n")

if resume and (runs == 0 or os.environ.get("FORGETFUL")):
    print(json.dumps({"type": "result", "subtype": "error", "is_error": True, "errors": ["No such conversation"]}))
    sys.exit(1)

log.parent.mkdir(parents=True, exist_ok=True)
with log.open("a") as file:
    file.write("a run\n")
(log.parent / "settings.json").write_text("not of the session")
(Path(os.environ["HOME"]) / ".claude" / "token").write_text("not of the session")
result = re.search(r"`(/\S+/out/(\w+)/result\.json)`", prompt)
assert result
if result[2] == "ExecutePlan":
    Path("calc.py").write_text("def add(a, b):\n    return a + b\n")
    Path("notes").mkdir(exist_ok=True)
    (Path("notes") / f"{len(list(Path('notes').iterdir()))}.txt").write_text(session)
    Path(result[1]).write_text(json.dumps({"status": "done", "summary": "Mended add()."}))
else:
    Path(result[1]).write_text(os.environ["PLAN"])
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": session}))
