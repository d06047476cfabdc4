"""Environment -> settings: what follows from what, and every fault at once."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.settings import Settings, from_environment
from tests.standin.keys import key_pair

PRIVATE, PUBLIC = key_pair()
SECRET = "0123456789abcdef"


def environment(**more: str) -> dict[str, str]:
    names = {
        "TWOGATE_HOME": "/var/lib/twogate",
        "TWOGATE_URL": "https://twogate.example.com/",
        "TWOGATE_APP_ID": "42",
        "TWOGATE_PRIVATE_KEY": PRIVATE,
        "TWOGATE_WEBHOOK_SECRET": SECRET,
    }
    return {**names, **{f"TWOGATE_{name}": value for name, value in more.items()}}


def faults(**more: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        from_environment(environment(**more))
    return caught.value.faults


def test_what_is_needed_and_what_follows() -> None:
    assert from_environment(environment()) == Settings(
        home=Path("/var/lib/twogate"),
        database_url="sqlite:////var/lib/twogate/twogate.db",
        url="https://twogate.example.com",
        github_url="https://github.com",
        github_api_url="https://api.github.com",
        github_api_version="2026-03-10",
        app_id=42,
        private_key=PRIVATE.strip(),
        webhook_secret=SECRET,
        client_id=None,
        client_secret=None,
        oidc_issuer="https://token.actions.githubusercontent.com",
        oidc_jwks_url="https://token.actions.githubusercontent.com/.well-known/jwks",
        workflow="twogate.yml",
        listen=("127.0.0.1", 8080),
        worker_threads=4,
        writes_per_second=1.0,
    )


@pytest.mark.parametrize(
    ("github", "api", "version", "issuer"),
    [
        ("https://ghe.corp", "https://ghe.corp/api/v3", "2022-11-28", "https://ghe.corp/_services/token"),
        ("https://x.ghe.com", "https://api.x.ghe.com", "2026-03-10", "https://token.actions.x.ghe.com"),
        ("http://127.0.0.1:5", "http://127.0.0.1:5/api/v3", "2026-03-10", "http://127.0.0.1:5/_services/token"),
    ],
)
def test_other_hosts(github: str, api: str, version: str, issuer: str) -> None:
    found = from_environment(environment(GITHUB_URL=github))
    assert (found.github_api_url, found.github_api_version, found.oidc_issuer) == (api, version, issuer)


def test_everything_can_be_said() -> None:
    found = from_environment(
        environment(
            DATABASE_URL="postgresql+psycopg://bot:hunter2@db/bot",
            GITHUB_API_URL="https://proxy.corp/github/",
            GITHUB_API_VERSION="2022-11-28",
            OIDC_ISSUER="https://issuer.corp/slug",
            OIDC_JWKS_URL="https://issuer.corp/keys",
            CLIENT_ID="Iv1",
            CLIENT_SECRET="hush",
            WORKFLOW="agents.yaml",
            LISTEN="[::1]:9000",
            WORKER_THREADS="0",
            WRITES_PER_SECOND="0.5",
            MAX_PARALLEL="6",
        )
    )
    assert found.github_api_url == "https://proxy.corp/github"
    assert (found.oidc_issuer, found.oidc_jwks_url) == ("https://issuer.corp/slug", "https://issuer.corp/keys")
    assert (found.client_id, found.client_secret, found.workflow) == ("Iv1", "hush", "agents.yaml")
    assert (found.listen, found.worker_threads, found.writes_per_second) == (("::1", 9000), 0, 0.5)
    assert found.max_parallel == 6


@pytest.mark.parametrize("text", ["0", "-1", "many"])
def test_no_slot_at_all_is_no_limit_that_can_be_set(text: str) -> None:
    assert faults(MAX_PARALLEL=text) == [f"TWOGATE_MAX_PARALLEL is {text!r}: set it to a whole number, 1 or more."]


def test_what_a_minute_of_actions_costs_is_a_sum_of_dollars() -> None:
    assert from_environment(environment(ACTIONS_USD_PER_MINUTE="0.008")).actions_rate == Decimal("0.008")
    (told,) = faults(ACTIONS_USD_PER_MINUTE="-1")
    assert told == "TWOGATE_ACTIONS_USD_PER_MINUTE is '-1': give dollars, such as 0.008; 0 for none."


def test_the_address_of_a_chat_is_a_secret() -> None:
    url = "https://hooks.example.com/services/T0/secret"
    found = from_environment(environment(CHAT_WEBHOOK=url))
    assert found.chat_webhook == url
    assert "secret" not in repr(found)
    for wrong in ("http://hooks.example.com/secret", "secret", "https://[secret"):
        assert faults(CHAT_WEBHOOK=wrong) == [
            "TWOGATE_CHAT_WEBHOOK is no address that begins with https://: copy it from the chat."
        ]


def test_the_key_may_lie_in_a_file_or_on_one_line(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_text(PRIVATE)
    by_file = environment(PRIVATE_KEY="", PRIVATE_KEY_FILE=str(file))
    assert from_environment(by_file).private_key == PRIVATE
    on_one_line = environment(PRIVATE_KEY=PRIVATE.replace("\n", "\\n"))
    assert from_environment(on_one_line).private_key == PRIVATE


def test_no_secret_is_in_the_repr() -> None:
    shown = repr(
        from_environment(environment(DATABASE_URL="postgresql://b:hunter2@db/b", CLIENT_ID="Iv1", CLIENT_SECRET="hush"))
    )
    for secret in ("PRIVATE", SECRET, "hunter2", "hush"):
        assert secret not in shown


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        from_environment({"HOME": "/root"})
    named = "\n".join(caught.value.faults)
    for name in ("TWOGATE_URL", "TWOGATE_APP_ID", "TWOGATE_PRIVATE_KEY", "TWOGATE_WEBHOOK_SECRET"):
        assert name in named
    assert len(caught.value.faults) == 4
    assert str(caught.value) == named


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOME", "relative/path"),
        ("URL", "http://twogate.example.com"),
        ("URL", "twogate.example.com"),
        ("URL", "https://[broken"),
        ("GITHUB_URL", "https://[broken"),
        ("GITHUB_API_URL", "https://[broken"),
        ("URL", "https://host:99999"),
        ("URL", "https://user:pass@host"),
        ("URL", "https://host/?a=b"),
        ("GITHUB_URL", "ftp://ghe.corp"),
        ("GITHUB_API_URL", "http://api.ghe.corp"),
        ("OIDC_ISSUER", "http://issuer.corp"),
        ("OIDC_JWKS_URL", "nonsense"),
        ("APP_ID", "0"),
        ("APP_ID", "my-app"),
        ("APP_ID", "\uff14\uff12"),
        ("APP_ID", "-1"),
        ("PRIVATE_KEY", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"),
        ("PRIVATE_KEY", PUBLIC),
        ("PRIVATE_KEY_FILE", "/no/such/file"),
        ("WEBHOOK_SECRET", "short"),
        ("WEBHOOK_SECRET", " " * 20),
        ("CLIENT_ID", "Iv1"),
        ("CLIENT_SECRET", "hush"),
        ("WORKFLOW", "../evil.yml"),
        ("WORKFLOW", "twogate"),
        ("LISTEN", "8080"),
        ("LISTEN", "127.0.0.1"),
        ("LISTEN", "host:port"),
        ("LISTEN", "user@host:1"),
        ("LISTEN", "host:1/path"),
        ("WORKER_THREADS", "many"),
        ("WORKER_THREADS", "65"),
        ("WRITES_PER_SECOND", "0"),
        ("WRITES_PER_SECOND", "-1"),
        ("WRITES_PER_SECOND", "nan"),
        ("WRITES_PER_SECOND", "inf"),
        ("WRITES_PER_SECOND", "fast"),
    ],
)
def test_a_fault_is_one_sentence_that_names_its_variable(name: str, value: str) -> None:
    found = faults(**{name: value})
    assert len(found) == 1
    assert f"TWOGATE_{name}" in found[0] or name == "PRIVATE_KEY"
    assert found[0].endswith(".")


def test_a_key_file_that_is_no_key_is_named(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(b"\xff\xfe")
    assert "can't be read" in faults(PRIVATE_KEY="", PRIVATE_KEY_FILE=str(tmp_path / "key.pem"))[0]
    (tmp_path / "key.pem").write_text("no key")
    assert "RSA" in faults(PRIVATE_KEY="", PRIVATE_KEY_FILE=str(tmp_path / "key.pem"))[0]


@pytest.mark.parametrize("github", ["https://github.com", "https://x.ghe.com"])
def test_github_is_not_written_to_faster_than_it_allows(github: str) -> None:
    assert "blocks Apps" in faults(GITHUB_URL=github, WRITES_PER_SECOND="1.5")[0]


def test_the_pace_is_judged_by_the_address_that_is_written_to() -> None:
    found = faults(GITHUB_URL="http://127.0.0.1:5", GITHUB_API_URL="https://api.github.com", WRITES_PER_SECOND="2")
    assert "blocks Apps" in found[0]


@pytest.mark.parametrize("github", ["http://127.0.0.1:5", "https://ghe.corp"])
def test_a_host_of_ones_own_may_be_written_to_faster(github: str) -> None:
    assert from_environment(environment(GITHUB_URL=github, WRITES_PER_SECOND="50")).writes_per_second == 50
