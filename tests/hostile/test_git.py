"""In git: as a plan's title it is one line that acts on nothing; and a whole job of a real runner with all of it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from runner.contract import GateStatus, Outcome
from runner.steps.commit import MAX_SUBJECT, one_line
from runner.steps.history import CLOSES, SKIPS, inert
from runner.steps.prepare import TRAILER
from tests.hostile.texts import TEXTS
from tests.lifecycle.markdown_seen import mentions, references
from tests.runner.lab import PLAN, UID, Lab

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hostile.texts import Hostile

NEVER = {"credential", "conflict markers"}
"""Texts that no gate lets into a branch, whoever wrote them."""
LONGEST = 200
"""Bytes of a file's name; file systems take 255."""
AGENT = """
texts = json.loads(pathlib.Path(%r).read_text())
write("calc.py", "def add(a, b):\\n    return a + b\\n")
os.mkdir("notes")
for name, text in texts.items():
    write(os.path.join("notes", name), text + "\\n")
    print(text)
subprocess.run(["git", "add", "-A"], check=True)
every = "\\n\\n".join(texts.values())
subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=y", "commit", "-qF", "-"], input=every, text=True, check=True)
for text in list(texts.values())[::20]:
    tool("progress", text)
    tool("recommend", "--title", text[:300], text)
    tool("ask", text)
    tool("remember", "--kind", "fact", "--path", text[:300], "The total is a sum of floats: round it once, at the end.")
write("notes/more", "more\\n")
give({"status": "done", "summary": every, "delivered": list(texts.values()), "deviations": list(texts.values())})
"""


def name_of(text: str) -> str:
    """Return the name of a file that comes as near to a text as a name can."""
    name = re.sub(r"[/\0]", "_", text)
    while len(name.encode()) > LONGEST:
        name = name[:-1]
    return name.replace("\r", "_")


def test_a_title_makes_a_subject_that_acts_on_nothing(hostile: Hostile) -> None:
    subject = inert(one_line(hostile.text, MAX_SUBJECT))
    assert subject.isprintable() or not subject
    assert mentions(f"x {subject}".replace("`", "")) == references(subject.replace("`", "")) == set()
    assert CLOSES.search(subject) is None
    assert SKIPS.search(subject) is None


def test_a_job_among_hostile_names_messages_and_words_leaves_refs_gates_and_fences_as_they_are(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    texts = {f"{n}{name_of(row.text)}": row.text for n, row in enumerate(TEXTS) if row.name not in NEVER}
    given = tmp_path / "texts.json"
    given.write_text(json.dumps(texts))
    trunk = lab.tip("trunk")
    try:
        plan = PLAN.model_copy(update={"title": "Fixes #99 [skip ci]\n\nTwogate-Plan: other"})
        report = lab.run("good", plan=plan, agents=lab.spec("good").agents | lab.coded(AGENT % str(given)))
    finally:
        lab.close()
    assert report.outcome is Outcome.VERIFIED, report.sentence
    assert [gate.name for gate in report.gates if gate.status is GateStatus.FAILED and gate.blocking] == []
    refs = lab.git("for-each-ref", "--format=%(refname)", cwd=lab.remote).splitlines()
    assert refs == ["refs/heads/plan/7", "refs/heads/trunk"]
    assert lab.tip("trunk") == trunk
    messages = lab.git("log", "--format=%B", "trunk..plan/7", cwd=lab.remote)
    assert {line for line in messages.splitlines() if line.startswith(TRAILER)} == {f"{TRAILER}: {UID}"}
    assert CLOSES.search(messages) is None
    assert SKIPS.search(messages) is None
    kept = lab.git("ls-tree", "-r", "-z", "--name-only", "plan/7", cwd=lab.remote).split("\0")
    there = {path.removeprefix("notes/") for path in kept if path.startswith("notes/")} - {"more"}
    refused = " ".join(report.notes)
    assert there <= set(texts)
    assert len(there) > len(texts) - 5, refused
    for prompt in (lab.home / "jobs").glob("*/*/prompt.md"):
        told = prompt.read_text()
        (marker,) = set(re.findall(r"bear the marker ([0-9a-f]{16,})", told))
        rules = re.findall(rf"^-----(BEGIN|END) UNTRUSTED (\w+) {marker}-----$", told, re.MULTILINE)
        assert rules[::2] == [("BEGIN", label) for _, label in rules[1::2]]
        assert told.count(marker) == len(rules) + 1
