"""The page about agents says what the suite says. ``UPDATE_DOCS=1`` writes its generated parts anew."""

from __future__ import annotations

import os
import re

from runner.agents import BUILT_IN
from tests.agents.clis import CLIS
from tests.agents.differences import DIFFERENCES
from tests.agents.page import PACKAGES, PARTS
from tests.agents.scenarios import SCENARIOS
from tests.reference import ROOT, renewed

PAGE = ROOT / "docs/reference/agents.md"


def test_the_generated_parts_are_those_of_the_code() -> None:
    text = wanted = PAGE.read_text()
    for name, made in PARTS.items():
        wanted = renewed(wanted, name, made())
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(wanted)
        return
    assert text == wanted, "run it with UPDATE_DOCS=1 and commit the page"


def test_every_built_in_agent_is_in_the_suite_and_on_the_page() -> None:
    assert {cli.name for cli in CLIS} == set(BUILT_IN) == set(PACKAGES)
    headings = re.findall(r"^### (\w+)$", PAGE.read_text(), re.MULTILINE)
    assert headings == list(BUILT_IN)


def test_every_difference_names_a_scenario_of_an_agent() -> None:
    assert set(DIFFERENCES) <= {(cli.name, scenario.name) for cli in CLIS for scenario in SCENARIOS}
