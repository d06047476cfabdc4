"""How a change is told to who decides on it."""

from __future__ import annotations

from runner.git import Change
from runner.steps.describe import instructions_first


def test_what_agents_are_told_is_never_what_a_long_list_leaves_out() -> None:
    paths = [b".github/x", b".twogate/promptware/ExecutePlan/Program.md", b"a", b"promptware/CreatePr/Tools/ask", b"z"]
    changes = [Change(path, "M", "100644", "100644", "1", "2") for path in paths]
    assert [change.path for change in instructions_first(changes)] == [paths[1], paths[3], paths[0], paths[2], paths[4]]
