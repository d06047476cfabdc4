"""Each test that takes ``hostile`` is made for every text of the table."""

from __future__ import annotations

import pytest

from tests.hostile.texts import TEXTS


@pytest.fixture(params=TEXTS, ids=lambda row: row.name)
def hostile(request: pytest.FixtureRequest) -> object:
    return request.param
