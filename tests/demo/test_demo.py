"""The demo itself, played as a newcomer plays it: whole, over real processes, every promise checked."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.agents.model_api import model_api
from tests.demo import model, odd_repository, script, sdist
from tests.town.repository import git

ROOT = Path(__file__).parent.parent.parent
SECONDS = 1_500
"""For one demo on a busy machine; about one minute on two free cores."""
PLAN_SECONDS = 120
"""For the plan of one issue on a busy machine; some seconds on a free one."""
RELEASES = ("python-slugify==9.2.0", "toolz==1.2.0", "humanize==4.13.0")
"""Real projects with tests in their source distributions, as they were when these tests were written."""
PULL = re.compile(r"http://127\.0\.0\.1:\d+/acme/shop/pull/\d+  merged  \S.*")
TOTAL = re.compile(r"\| \*\*Total\*\* .*\$\d+\.\d+")


def demo(output: Path, *arguments: str, **environment: str) -> str:
    """Play the demo; return what it printed, once it has ended well."""
    command = [sys.executable, "-m", "tests.demo", "--output", str(output), *arguments]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def seen(output: Path) -> str:
    """Play the demo as `make demo SERVE=1` does; look at the dashboard once it has ended, and press Ctrl-C."""
    command = [sys.executable, "-u", "-m", "tests.demo", "--output", str(output), "--serve"]
    said = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as playing:
        try:
            assert playing.stdout is not None
            for line in playing.stdout:
                said.append(line)
                if "It runs until Ctrl-C." in line:
                    look(re.findall(r"The dashboard: (\S+)/", "".join(said))[0])
                    ask(**dict(re.findall(r"(TWOGATE_URL|TWOGATE_TOKEN)=(\S+)", "".join(said))))
                    playing.send_signal(signal.SIGINT)
        finally:
            playing.terminate()
        assert playing.wait(60) == 0, "".join(said)
    return "".join(said)


def look(url: str) -> None:
    """Sign in as Alice, and see what came of the demo."""
    with httpx.Client(base_url=url, follow_redirects=True) as browser:
        page = browser.get("/login/start")
        queue = browser.post(page.url, data={"decision": "authorize", "login": "alice"})
        assert queue.url.path == "/", queue.text
        plans = set(re.findall(r'href="(/plans/[0-9a-f]+)"', browser.get("/?state=merged").text + queue.text))
        assert plans
        for place in ("/costs", "/audit", "/runners", *plans):
            assert browser.get(place).status_code == 200, place


def ask(**environment: str) -> None:
    """Ask for a change by the command line, as Alice; its plan comes, and its cost."""

    def twogate(*words: str) -> str:
        command = [sys.executable, "-m", "bot", words[0], "--repo", "acme/shop", *words[1:]]
        return subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True, check=True, timeout=60
        ).stdout

    issue = str(json.loads(twogate("create", "Sell teapots", "--body", "Of stoneware.", "--json"))["issue"])
    end = time.monotonic() + PLAN_SECONDS
    while f"#{issue} " not in (waiting := twogate("plans", "--state", "draft")) or "decide" not in waiting:
        assert time.monotonic() < end, waiting
        time.sleep(0.5)
    assert "Note that something was asked for" in twogate("show", issue)
    assert "CreatePlan" in (costs := twogate("costs", issue)), costs
    assert re.search(r"\$0\.\d+", costs), costs


def three_merged(said: str) -> str:
    """Check that the last lines show three merged pull requests with their costs; return those lines."""
    story, _, end = said.partition("\nEvery promise held.\n")
    assert end, story
    assert len(PULL.findall(end)) == 3
    assert len(TOTAL.findall(end)) == 3
    return end


def require_index() -> None:
    try:
        httpx.head(sdist.DEFAULT_INDEX, timeout=10)
    except httpx.TransportError as error:
        pytest.skip(f"not tested: the package index can't be reached ({error})")


PASSED = re.compile(r"\| `tests` \| passed \| [^|]+ \| blocking \|")


@pytest.mark.slow
@pytest.mark.timeout(SECONDS)
def test_three_issues_become_three_merged_pull_requests_with_their_costs(tmp_path: Path) -> None:
    said = seen(tmp_path)
    end = three_merged(said)
    assert "The agent of this demo is a script" in said
    assert "verifying -> executing: phase agent" in said, "a check sent work back to the agent"
    assert "| ExecutePlan (2 attempts) |" in end
    assert "| UpdatePlan |" in end
    learned = re.findall(
        r"^  [0-9a-f]+ Note what was learned \(#\d+\)  merged with pull request #\d+$", said, re.MULTILINE
    )
    assert len(learned) == 1, "each change of what agents are told stands in the log, with the pull request of it"
    pages = sorted(path.name for path in tmp_path.glob("*.html"))
    assert [name.split("-")[0] for name in pages] == ["issue"] * 3 + ["pull"] * 3
    assert all("<html" in (tmp_path / name).read_text() for name in pages)


@pytest.mark.drill
@pytest.mark.timeout(SECONDS)
def test_a_repository_of_twenty_thousand_odd_files(tmp_path: Path) -> None:
    source = odd_repository.make(tmp_path / "odd")
    before = git(source, "rev-parse", "HEAD")
    end = three_merged(demo(tmp_path / "out", "--repo", str(source)))
    assert len(PASSED.findall(end)) == 3
    assert git(source, "rev-parse", "HEAD") == before
    assert git(source, "status", "--porcelain") == ""


@pytest.mark.drill
@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("release", RELEASES)
def test_a_real_project_with_its_own_tests_as_the_check(tmp_path: Path, release: str) -> None:
    require_index()
    end = three_merged(demo(tmp_path, "--repo", f"pypi:{release}"))
    assert len(PASSED.findall(end)) == 3
    assert "| ExecutePlan (2 attempts) |" in end, "the tests found the mistake"


@pytest.mark.claude
@pytest.mark.drill
@pytest.mark.skipif(shutil.which("claude") is None, reason="not tested: Claude Code is not installed")
@pytest.mark.timeout(SECONDS)
def test_claude_code_plays_the_agent_with_the_credentials_of_whoever_calls(tmp_path: Path) -> None:
    with model_api() as api:
        api.answer = lambda body: model.answer(script.TASKS, body)
        said = demo(tmp_path, "--agent", "claude", ANTHROPIC_BASE_URL=api.url, ANTHROPIC_API_KEY="sk-of-the-caller")
        assert {seen.key for seen in api.seen} == {"sk-of-the-caller"}
    end = three_merged(said)
    assert "| `claude` |" in end
    assert "The agent is Claude Code at" in said
    assert "sk-of-the-caller" not in said
