"""List every party that sees the code in one run: does the product print that list from its actual configuration?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot import doctor
from bot.settings import from_environment

if TYPE_CHECKING:
    from tests.scenarios.village import Village


@pytest.mark.xfail(strict=True, reason="the listing of who sees the code comes with the issue about data flow")
def test_the_doctor_lists_who_sees_the_code(village: Village) -> None:
    """GitHub's host, the machine with the runner, and the host of the model that the policy's agents talk to."""
    findings = [finding.sentence for finding in doctor.examine(from_environment(village.environment))]
    (listing,) = [sentence for sentence in findings if "sees the code" in sentence or "see the code" in sentence]
    assert "127.0.0.1" in listing
    assert "scripted" in listing
