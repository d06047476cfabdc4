"""The documentation names what there is: links, commands, targets, settings, keys, limits, permissions.

``UPDATE_DOCS=1`` writes the generated parts anew.
"""

from __future__ import annotations

import argparse
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml

from bot import cli
from bot.lifecycle.policy import parse_policy
from bot.lifecycle.policy_values import BUILT_IN_AGENTS, PLACEHOLDERS
from bot.store.sessions import IDLE_SECONDS, LONGEST_SECONDS, MOST_SESSIONS
from bot.web.login import CALLBACK
from runner import __main__ as runner_cli
from runner.agents.base import TOOLBOX, count, dollars, json_lines
from runner.agents.claude import CREDENTIALS, MAX_TURNS
from runner.contract import MAX_PATCH, MAX_TAIL
from tests.reference import GENERATED, ROOT, limits, renewed

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))])
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def code(text: str) -> str:
    """Everything of a page that is code, a line each."""
    blocks = [block for _, block in FENCE.findall(text)]
    return "\n".join([*blocks, *CODE.findall(FENCE.sub("", text))])


def blocks(page: str, language: str) -> list[str]:
    return [block for kind, block in FENCE.findall((ROOT / page).read_text()) if kind == language]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        if target.startswith(("https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.is_relative_to(ROOT), target
        assert there.exists(), f"{target} leads nowhere"
        if anchor:
            assert anchor in anchors(there), target


def test_every_page_is_in_the_index() -> None:
    linked = {(DOCS / target).resolve() for target in LINK.findall((DOCS / "README.md").read_text())}
    pages = {page for page in DOCS.rglob("*.md") if page.parent != DOCS / "decisions" and page != DOCS / "README.md"}
    assert pages <= linked


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(actions[0].choices) if actions else {}


PROGRAMS = {"twogate": cli._parser(), "twogate-runner": runner_cli._parser()}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_exists(page: Path) -> None:
    for line in re.findall(r"(?:^|\s|bin/)(twogate(?:-runner)? [a-z][^\n]*)", code(page.read_text()), re.MULTILINE):
        words = line.split("#")[0].split()
        parser = PROGRAMS[words[0]]
        for word in words[1:]:
            if word.startswith("-"):
                assert word in parser._option_string_actions, line
            elif (below := subcommands(parser)) and re.fullmatch(r"[a-z-]+", word):
                assert word in below, f"`{line}`: there is no {word}"
                parser = below[word]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_target_of_make_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in re.findall(r"(?:^|\s)make ([a-z-]+)", code(page.read_text()), re.MULTILINE):
        assert line in targets, f"make {line}"


@pytest.mark.parametrize(("page", "parts"), GENERATED.items(), ids=list(GENERATED))
def test_generated_parts_are_what_the_code_says(page: str, parts) -> None:
    path = ROOT / page
    text = wanted = path.read_text()
    for part, make in parts.items():
        wanted = renewed(wanted, part, make())
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(wanted)
    assert text == wanted, "run it with UPDATE_DOCS=1 and commit the page"


def test_the_limits_are_all_there() -> None:
    text = limits()
    for known in (
        "JOB_SILENCE",
        "LARGEST_BYTES",
        "MAX_PATCH",
        "LEASE",
        "CHECK_BYTES",
        "MAX_ATTEMPTS",
        "KEEP_DONE_DAYS",
    ):
        assert f"`{known}`" in text
    assert "| 300 | Seconds without a heartbeat" in text


def named(path: str) -> set[str]:
    return set(re.findall(r"TWOGATE_[A-Z_]*[A-Z]", (ROOT / path).read_text()))


def described(section: str) -> set[str]:
    text = (DOCS / "reference/settings.md").read_text()
    part = text[text.index(f"## {section}") :].split("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE))


def test_every_setting_is_described_and_no_other() -> None:
    assert described("The bot") == named("bot/settings.py")
    assert described("People") == named("bot/remote/where.py")
    assert described("The runner") == named("runner/settings.py") | named(".github/actions/run/action.yml")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_names_an_unknown_setting(page: Path) -> None:
    files = ("bot/settings.py", "bot/remote/where.py", "runner/settings.py", ".github/actions/run/action.yml")
    known = set().union(*map(named, files))
    of_tests = {"TWOGATE_GOLDEN", "TWOGATE_CHROMIUM", "TWOGATE_CHROMEDRIVER"}
    assert named(name(page)) <= known | {TOOLBOX} | of_tests


POLICIES = ["docs/reference/policy.md", "docs/how-to/agents.md", "docs/how-to/repository.md"]


@pytest.mark.parametrize("page", POLICIES)
def test_the_examples_are_valid_policies(page: str) -> None:
    found = blocks(page, "yaml")
    assert found
    for example in found:
        parse_policy(example)


def test_the_registration_fills_in_what_the_manifest_lists() -> None:
    (address,) = re.findall(r"https://github\.com/settings/apps/new\?\S+", (DOCS / "how-to/install.md").read_text())
    manifest = yaml.safe_load((ROOT / "app.yml").read_text())
    query = parse_qsl(urlsplit(address).query)
    events = [value for key, value in query if key == "events[]"]
    named = {"events[]", "callback_urls[]", "name", "url", "webhook_url", "public"}
    other = {key: value for key, value in query if key not in named}
    assert events == manifest["default_events"]
    assert other == manifest["default_permissions"]
    assert dict(query)["webhook_url"].endswith("/webhook")
    assert dict(query)["callback_urls[]"] == dict(query)["url"] + CALLBACK


def test_the_page_of_security_is_right_about_sessions() -> None:
    text = " ".join((DOCS / "explanation/security.md").read_text().split())
    assert (IDLE_SECONDS, LONGEST_SECONDS) == (12 * 3_600, 7 * 86_400)
    assert "ends** 12 hours after it was last used, a week after it began" in text
    assert f"more than {MOST_SESSIONS} of one person" in text


def test_the_page_of_agents_is_right_about_them() -> None:
    text = (DOCS / "how-to/agents.md").read_text()
    assert set(re.findall(r"^\| `\{(\w+)\}` \|", text, re.MULTILINE)) == set(PLACEHOLDERS)
    assert all(f"`{agent}`" in text for agent in BUILT_IN_AGENTS)
    assert f"for {MAX_TURNS} turns" in text
    (record,) = json_lines(block.encode() for block in blocks("docs/how-to/agents.md", "json"))
    assert all(count(record, key) is not None for key in record if key.endswith("_tokens"))
    assert dollars(record, "usd") is not None
    assert all(f"`{key}`" in (DOCS / "reference/settings.md").read_text() for key in CREDENTIALS)


def test_the_page_of_security_is_right_about_sizes() -> None:
    text = (DOCS / "explanation/security.md").read_text()
    assert f"({MAX_TAIL:,} characters each)" in text
    assert f"(up to {MAX_PATCH:,} characters)" in text


def test_sentences_that_people_meet_are_those_of_the_code() -> None:
    """Each quotation in the table of cures is found where such sentences are made."""
    page = (DOCS / "how-to/repository.md").read_text()
    quoted = re.findall(r"^\| (?:a job's log: )?\*([^*|]+)\* \|", page, re.MULTILINE)
    assert len(quoted) > 8
    folders = ("bot", "runner")
    files = [f for folder in folders for kind in ("*.py", "*.j2") for f in (ROOT / folder).rglob(kind)]
    code_ = "\n".join(" ".join(f.read_text().split()) for f in files)
    for sentence in quoted:
        parts = [part.strip() for part in re.split(r"…|\d+|`[^`]*`|triage", sentence) if len(part.strip()) > 8]
        for part in parts:
            assert part in code_, f"nothing says {part!r}"
