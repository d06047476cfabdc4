"""List every party that sees the code in one run: does the product print that list from its actual configuration?"""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

from bot import doctor
from bot.cli import main
from bot.data_flow import of_bot, of_repository
from bot.data_flow.facts import of_file
from bot.data_flow.of_repository import Facts
from bot.lifecycle.policy import parse_policy
from bot.settings import from_environment

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.scenarios.village import Village

USUAL = "agent: {cli: claude}\nnetwork: model\n"


def listed(village: Village, capsys: pytest.CaptureFixture[str]) -> tuple[set[str], str]:
    """All addresses of the list, and the list of the repository as text."""
    assert main(["data-flow", village.repository, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"every run", village.repository}
    addresses = {address for rows in found.values() for party in rows for address in party["addresses"]}
    return addresses, json.dumps(found[village.repository])


def test_nobody_is_spoken_to_who_is_not_listed(
    village: Village, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From label to pull request, by the sockets of this process, in which bot, GitHub and the runner's script live."""
    spoken: set[str] = set()
    connect = socket.socket.connect

    def heard(self: socket.socket, address: tuple[str, int]) -> None:
        spoken.add(f"{address[0]}:{address[1]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", heard)
    village.pulled()
    for name, value in village.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(village.home)
    addresses, text = listed(village, capsys)
    assert {village.github.url.partition("://")[2], village.url.partition("://")[2]} <= spoken <= addresses
    assert "`scripted` of the repository's own agent" in text
    assert "labels self-hosted, twogate" in text

    village.set_policy("units: {CreatePr: {cli: gemini}}\ninspector: {cli: codex}\nprepare: [npm ci]\n")
    changed, text = listed(village, capsys)
    assert changed - addresses == {"api.openai.com", "generativelanguage.googleapis.com"}
    assert "codex for InspectDiff" in text
    assert "`npm ci`" in text


def test_the_doctor_lists_who_sees_the_code(village: Village) -> None:
    """GitHub's host, the machine with the runner, and the host of the model that the policy's agents talk to."""
    village.planned()
    findings = [finding.sentence for finding in doctor.examine(from_environment(village.environment))]
    (listing,) = [sentence for sentence in findings if "sees the code" in sentence or "see the code" in sentence]
    assert "127.0.0.1" in listing
    assert "the runner's machine" in listing
    assert "scripted" in listing


def rows(text: str, **known: object) -> str:
    """What a policy makes of the list."""
    facts = Facts(policy=parse_policy(text), policy_from="the file", **known)
    return "\n".join(f"{party.who} {party.addresses}" for party in of_repository.parties(facts))


def test_each_fact_of_the_configuration_moves_the_list(tmp_path: Path) -> None:
    usual = rows(USUAL)
    assert "Anthropic's model API" in usual
    assert "('api.anthropic.com',)" in usual
    assert "the network is open" not in usual
    assert "the network is open" in rows("agent: {cli: claude}")
    assert "without bubblewrap" in rows(f"{USUAL}sandbox: auto")
    assert "GitHub Copilot" in rows("agent: {cli: copilot}")
    assert "everybody: the repository is public" in rows(USUAL, public=True)
    assert "GitHub's machines for Actions (ubuntu-24.04)" in rows(USUAL, runs_on=("ubuntu-24.04",))
    assert "acme/tool@v1" in rows(USUAL, actions=("acme/tool@v1",))
    assert "jam.dev, whose reports" in rows(f"{USUAL}hooks: {{jam: true}}")
    assert "jam.dev" not in usual
    assert "build among them" in rows(f"{USUAL}ci: {{require: [build]}}")
    assert "('models.acme.test:8443',)" in rows(USUAL, reached=("https://models.acme.test:8443",))
    file = tmp_path / "policy.yml"
    file.write_text(USUAL)
    assert of_file(file).policy == parse_policy(USUAL)


def test_so_does_each_setting_of_the_bot(village: Village) -> None:
    def addresses(**more: str) -> set[str]:
        settings = from_environment({**village.environment, **more})
        return {address for party in of_bot.parties(settings) for address in party.addresses}

    usual = addresses()
    database = addresses(TWOGATE_DATABASE_URL="postgresql+psycopg://bot:secret@db.acme.test:5433/twogate")
    assert database - usual == {"db.acme.test:5433"}
    assert addresses(OTEL_EXPORTER_OTLP_ENDPOINT="http://traces.acme.test:4318") - usual == {"traces.acme.test:4318"}
    assert addresses(TWOGATE_CHAT_WEBHOOK="https://a:b@chat.acme.test/T/secret") - usual == {"chat.acme.test"}
    assert "ghe.acme.test" in addresses(TWOGATE_GITHUB_URL="https://ghe.acme.test")
