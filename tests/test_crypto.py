"""What the bot keeps encrypted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.crypto import Vault
from bot.errors import Permanent
from bot.settings import Settings, from_environment
from tests.standin.keys import key_pair

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    names = {"TWOGATE_HOME": str(tmp_path), "TWOGATE_URL": "http://127.0.0.1:1", "TWOGATE_APP_ID": "1"}
    secrets = {"TWOGATE_PRIVATE_KEY": key_pair()[0], "TWOGATE_WEBHOOK_SECRET": "x" * 16}
    return from_environment({**names, **secrets})


def test_what_is_kept_can_be_read_by_the_same_app_alone(settings: Settings) -> None:
    kept = Vault(settings).encrypt("ghs_secret")
    assert b"ghs_secret" not in kept
    assert Vault(settings).decrypt(kept) == "ghs_secret"
    with pytest.raises(Permanent, match="private key was replaced"):
        Vault(replace(settings, private_key=key_pair()[0])).decrypt(kept)
    with pytest.raises(Permanent):
        Vault(settings).decrypt(kept[:-8])
