"""The runner's environment, read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.settings import SECRETS, SettingsError, from_environment

GOOD = {"TWOGATE_URL": "https://bot.example/", "HOME": "/home/ada", "PATH": "/bin"}


def test_defaults() -> None:
    settings = from_environment(GOOD)
    assert settings.url == "https://bot.example"
    assert settings.home == Path("/home/ada/.twogate")
    assert settings.identity is None
    assert settings.github_token is None


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(SettingsError) as fault:
        from_environment(
            {"TWOGATE_HOME": "here", "TWOGATE_TOOLS": "/nowhere/at/all", "TWOGATE_AGENT_ENV": "LANG,GITHUB_TOKEN"}
        )
    text = str(fault.value)
    for name in ("TWOGATE_URL", "TWOGATE_HOME", "TWOGATE_TOOLS", "GITHUB_TOKEN"):
        assert name in text
    assert len(text.splitlines()) == 4


@pytest.mark.parametrize("url", ["http://bot.example", "ftp://bot.example", "bot.example", "https://", "http://["])
def test_addresses_that_would_leak_or_lead_nowhere_are_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="TWOGATE_URL"):
        from_environment({**GOOD, "TWOGATE_URL": url})


def test_loopback_may_do_without_tls() -> None:
    assert from_environment({**GOOD, "TWOGATE_URL": "http://127.0.0.1:8000"}).url == "http://127.0.0.1:8000"


def test_commands_that_work_offline_need_no_address() -> None:
    assert from_environment({"HOME": "/home/ada"}, offline=True).url == ""


def test_secrets_do_not_show() -> None:
    environ = {name: f"secret-{name}" for name in SECRETS}
    settings = from_environment({**GOOD, **environ, "TWOGATE_AGENT_ENV": "MODEL_KEY", "MODEL_KEY": "secret-model"})
    assert settings.github_token == "secret-GITHUB_TOKEN"
    assert settings.agent_env == ("MODEL_KEY",)
    assert settings.environment["MODEL_KEY"] == "secret-model"
    assert not set(settings.environment) & {"TWOGATE_URL", *SECRETS}
    assert "secret-GITHUB_TOKEN" not in repr(settings)
    assert "secret-model" not in repr(settings)
    assert "secret-ACTIONS_ID_TOKEN_REQUEST_TOKEN" not in repr(settings)
