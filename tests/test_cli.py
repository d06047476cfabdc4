"""The command line, as an operator meets it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest
import yaml

from bot.cli import main
from bot.doctor import github as of_github
from bot.doctor import machine
from bot.lifecycle.effects import Dispatch
from bot.lifecycle.plan import IssueSnapshot, Person, Plan
from bot.remote import verbs
from bot.shipped import shipped
from bot.store import deliveries, journal, outbox, plans, throttles
from bot.store.engine import open_store
from bot.store.migrate import migrate
from runner.__main__ import main as runner_main
from tests.processes import run
from tests.web.lab import GitHub, github, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["github"]

COMMANDS = ["serve", "web", "work", "migrate", "doctor", "admin", *sorted(verbs.NAMES), "init", "check-policy"]
ADMIN = ["plans", "show", "resume", "parked", "hook-secret", "costs"]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def settings(github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Settings of a bot with a migrated database, in the environment as well."""
    found = settings_of(github, "http://127.0.0.1:1", tmp_path)
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    migrate(f"sqlite:///{tmp_path}/twogate.db")
    return found


def store_plan(settings: dict[str, str], github: GitHub, issue: int) -> Plan:
    plan = Plan(
        uid=f"{issue:08x}",
        repo=github.repo,
        issue_number=issue,
        issue=IssueSnapshot(title="t", body="b", author=None),
        requester=Person(id=1, login="ann"),
        requested_at=time.time() - 2 * 86_400,
    )
    store = open_store(f"sqlite:///{settings['TWOGATE_HOME']}/twogate.db")
    with store.write() as tx:
        plans.save(tx, plan, None)
        entry = journal.Entry(
            ref=f"{plan.uid}:0",
            lane=plan.lane,
            at=0.0,
            event="plan_requested",
            source="d-1",
            plan_uid=plan.uid,
            actor_id=1,
            actor_login="ann",
            to_state="draft",
            note="asked for",
        )
        journal.append(tx, entry)
        throttles.close(tx, throttles.installation_gate(7), tx.now + 9_999, "Commit cafe is on main.")
        throttles.close(tx, throttles.installation_gate(8), tx.now + 9_999, "GitHub says wait.")
        throttles.close(tx, throttles.write_gate(7), tx.now + 9_999, "paced")
    store.dispose()
    return plan


@pytest.mark.parametrize(
    "command",
    [[], *[[name] for name in COMMANDS], *[["admin", name] for name in ADMIN], ["admin", "parked", "retry"]],
)
def test_every_command_explains_itself(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert f"usage: {' '.join(['twogate', *command])}" in said
    if not command:
        assert all(name in said for name in COMMANDS)


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["dance"],
        ["init"],
        ["admin"],
        ["admin", "show", "x"],
        ["admin", "parked", "retry", "plan", "1"],
        ["admin", "hook-secret", "shop"],
        ["serve", "--processes", "0"],
        ["plans", "--state", "open"],
    ],
)
def test_what_is_no_command_is_said(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2
    assert "usage: twogate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["show", "1", "--bogus"], "usage: twogate show "),
        (["admin", "plans", "--bogus"], "usage: twogate admin plans "),
        (["costs", "1", "--all"], "A plan's costs are those of its whole life"),
        (["costs", "1", "--days", "30"], "A plan's costs are those of its whole life"),
        (["data-flow", "--policy", "none.yml"], "none.yml can't be read: No such file"),
    ],
)
def test_what_does_not_fit_a_command_is_said_first(
    command: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = main(command)
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capsys.readouterr()
    assert (code, said.out, told in said.err) == (2, "", True), said.err


def test_an_action_that_may_be_left_out_is_shown_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["admin", "parked", "--help"])
    assert "usage: twogate admin parked [-h] [ACTION] ..." in capsys.readouterr().out


@pytest.mark.parametrize("main_of", [main, runner_main])
def test_both_programs_say_which_they_are(
    main_of: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main_of(["--version"])
    assert (ended.value.code, capsys.readouterr().out.split()[1]) == (0, version("twogate"))


TALKATIVE = r"""
import sys
from bot.arguments import add_command, program, run_command
def run(_):
    for number in range(100_000):
        print(number, "\u2026")
    return 0
parser = program()
add_command(parser.add_subparsers(), "talk", run, "talk")
sys.exit(run_command(parser, ["talk"]))
"""


@pytest.mark.parametrize(
    ("way", "code", "told"),
    [
        ("| head -1", 0, ""),
        ("> /dev/full", 2, "twogate: [Errno 28] No space left on device\n"),
        (">&-", 0, ""),
        ("> /dev/null", 0, ""),
    ],
)
def test_whoever_reads_may_stop(way: str, code: int, told: str) -> None:
    line = f'"$0" -c "$1" {way}; exit ${{PIPESTATUS[0]}}'
    poor = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        ["bash", "-c", line, sys.executable, TALKATIVE],
        env=poor,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, told)
    assert done.stdout in ("", "0 \\u2026\n"), "what can't be shown does not keep the rest back"


def test_the_commands_of_people_start_without_the_bot() -> None:
    code = (
        "import sys; sys.argv = ['twogate', 'show', '--help']\n"
        "from bot.entry import main\n"
        "try: main()\n"
        "except SystemExit: print({'sqlalchemy', 'flask', 'githubkit', 'mcp'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.splitlines()[-1] == "set()"
    assert "usage: twogate show" in done.stdout


def test_every_fault_of_the_settings_is_said_at_once(tmp_path: Path) -> None:
    done = run("serve", settings={"TWOGATE_APP_ID": "x", "TWOGATE_HOME": "here"}, cwd=tmp_path)
    assert done.returncode == 2
    for name in ("TWOGATE_URL", "TWOGATE_APP_ID", "TWOGATE_PRIVATE_KEY", "TWOGATE_WEBHOOK_SECRET", "TWOGATE_HOME"):
        assert f"twogate: {name}" in done.stderr or name in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_of_settings_is_read_and_the_environment_wins(
    tmp_path: Path, github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = settings_of(github, "http://127.0.0.1:1", tmp_path / "home")
    key = found.pop("TWOGATE_PRIVATE_KEY").replace("\n", "\\n")
    lines = [f"{name}={value}" for name, value in found.items()]
    (tmp_path / ".env").write_text("\n".join([*lines, f"TWOGATE_PRIVATE_KEY='{key}'", "TWOGATE_LISTEN=nonsense"]))
    assert main(["migrate"]) == 2
    monkeypatch.setenv("TWOGATE_LISTEN", "127.0.0.1:1")
    assert main(["migrate"]) == 0
    assert (tmp_path / "home" / "twogate.db").exists()
    assert main(["migrate"]) == 0


@pytest.mark.parametrize("command", [["migrate"], ["admin", "plans"], ["serve"]])
def test_a_database_that_is_away_is_said(
    settings: dict[str, str], command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TWOGATE_DATABASE_URL", f"sqlite:///{settings['TWOGATE_HOME']}/no/such/folder/x.db")
    assert main(command) == 2
    assert capsys.readouterr().err.startswith("twogate: ")


def test_work_needs_threads(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TWOGATE_WORKER_THREADS", "0")
    assert main(["work"]) == 2
    assert "TWOGATE_WORKER_THREADS" in capsys.readouterr().err


# doctor


def cure(settings: dict[str, str], github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """What people set up beside the bot: webhook, ruleset, sign-in; and a worker's turn."""
    control, number = github.standin.control, int(github.app["app_id"])
    control.set_webhook_url(number, "http://127.0.0.1:1/webhook")
    control.set_rules("Acme/shop", [["main", "pull_request"]])
    monkeypatch.setenv("TWOGATE_CLIENT_ID", github.app["client_id"])
    monkeypatch.setenv("TWOGATE_CLIENT_SECRET", github.app["client_secret"])
    store = open_store(f"sqlite:///{settings['TWOGATE_HOME']}/twogate.db")
    with store.write() as tx:
        throttles.take_turn(tx, "poll", 60)
    store.dispose()


def test_a_healthy_bot(
    settings: dict[str, str], github: GitHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cure(settings, github, monkeypatch)
    assert github.standin.sender.drain(20)
    main(["doctor"])
    assert "FAULT  Within the last hour 1 webhooks did not arrive" in capsys.readouterr().out  # of the installation
    github.standin.hub.deliveries.clear()
    code, said = main(["doctor"]), capsys.readouterr().out
    assert (code, "FAULT" in said) == (0, False), said
    for words in (
        "settings are valid",
        "up to date",
        "Nothing is given up",
        "App twogate-demo",
        "grants all",
        "signing keys",
        "GB are free",
        "database is whole",
        "A worker is alive",
        "clock agrees",
        "Webhooks arrive",
        "Default branches are guarded (1 looked at)",
        "People can sign in",
    ):
        assert words in said


def test_what_people_set_up_and_what_wears_out_is_looked_at(
    settings: dict[str, str], github: GitHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cure(settings, github, monkeypatch)
    control, number = github.standin.control, int(github.app["app_id"])
    control.set_webhook_url(number, "http://127.0.0.1:2/webhook")
    control.set_rules("Acme/shop", [["release", "pull_request"]])
    monkeypatch.setenv("TWOGATE_CLIENT_SECRET", "another")
    monkeypatch.setattr(machine, "LEAST_FREE", 10**18)
    monkeypatch.setattr(of_github, "CLOCK_SKEW", -1)
    monkeypatch.setattr(machine, "WORKER_SILENT", -1)
    monkeypatch.setattr("bot.tracing.find_spec", lambda _name: None)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    for fault in (
        "GB are free for",
        "No worker has been heard of for",
        "This machine's clock is",
        "GitHub sends webhooks to http://127.0.0.1:2/webhook: set the App's webhook address to http://127.0.0.1:1/webhook",
        "Nothing keeps a plain push from the default branch of Acme/shop",
        "GitHub refuses to sign anybody in: incorrect_client_credentials",
        "OTEL_EXPORTER_OTLP_ENDPOINT is set, and no trace is made",
    ):
        assert re.search(rf"FAULT  .*{re.escape(fault)}", said), said
    monkeypatch.setenv("TWOGATE_CLIENT_ID", "Iv1.another")
    main(["doctor"])
    assert "TWOGATE_CLIENT_ID is not this App's client" in capsys.readouterr().out


def test_every_ailment_is_named(
    settings: dict[str, str], github: GitHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    control = github.standin.control
    control.create_organization("poor")
    control.create_organization("gone")
    app = control.create_app("twogate-poor", "poor", permissions={"contents": "read", "metadata": "read"})
    control.suspend(control.install("twogate-poor", "gone")["installation_id"])
    monkeypatch.setenv("TWOGATE_APP_ID", str(app["app_id"]))
    monkeypatch.setenv("TWOGATE_PRIVATE_KEY", app["private_key"])
    monkeypatch.setenv("TWOGATE_OIDC_JWKS_URL", f"{github.standin.url}/nothing")
    monkeypatch.setenv("TWOGATE_DATABASE_URL", f"sqlite:///{settings['TWOGATE_HOME']}/new.db")
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "run `twogate migrate`" in said
    assert "(poor) does not grant actions: write, checks: write, contents: write" in said
    assert "metadata" not in said
    assert "(gone) is suspended" in said
    assert "FAULT  GitHub's signing keys can't be used" in said


def test_a_bot_that_was_never_started(
    settings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TWOGATE_HOME", str(tmp_path / "none"))
    assert main(["doctor"]) == 1
    assert (
        f"FAULT  The bot's folder {tmp_path / 'none'} is not there yet: run `twogate migrate`."
        in capsys.readouterr().out
    )


def test_an_app_that_github_does_not_know(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TWOGATE_APP_ID", "999999")
    assert main(["doctor"]) == 1
    assert "FAULT  GitHub can't be used" in capsys.readouterr().out


# plans


def test_the_table_of_plans(settings: dict[str, str], github: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["admin", "plans"]) == 0
    assert capsys.readouterr().out.split() == ["REPOSITORY", "ISSUE", "STATE", "WAITS", "FOR", "VERSION", "AGE"]
    store_plan(settings, github, 12)
    main(["admin", "plans"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["Acme/shop", "#12", "draft", "runner", "0", "2", "d"]
    assert lines[2:] == [
        "installation:7 is paused: Commit cafe is on main.",
        "installation:8 is paused: GitHub says wait.",
    ]


def test_one_plan_and_its_history(settings: dict[str, str], github: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    plan = store_plan(settings, github, 12)
    assert main(["admin", "show", "12"]) == 0
    said = capsys.readouterr().out
    assert plan.uid in said
    assert "1970-01-01 00:00:00Z  plan_requested by ann: new -> draft  asked for" in said
    assert main(["admin", "show", "13"]) == 1


def test_pauses_are_lifted(settings: dict[str, str], github: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    store_plan(settings, github, 12)
    assert main(["admin", "resume", "--installation", "7"]) == 0
    said = capsys.readouterr().out
    assert "installation:7 is open again. It was closed: Commit cafe is on main." in said
    assert "installation:8" not in said
    main(["admin", "resume"])
    assert "installation:8 is open again" in capsys.readouterr().out
    main(["admin", "resume"])
    assert "Nothing is paused" in capsys.readouterr().out
    store = open_store(f"sqlite:///{settings['TWOGATE_HOME']}/twogate.db")
    with store.read() as tx:
        assert [gate.name for gate in throttles.closed(tx)] == ["writes:7"]
    store.dispose()


# parked


def park(settings: dict[str, str], error: str) -> tuple[int, int]:
    """Give up a delivery and an effect, and return their numbers."""
    store = open_store(f"sqlite:///{settings['TWOGATE_HOME']}/twogate.db")
    with store.write() as tx:
        deliveries.add(tx, deliveries.NewDelivery("g", "github", "issues.labeled", "7:12", "{}"))
        taken = deliveries.next_open(tx)
        assert taken is not None
        deliveries.park(tx, taken, error)
        outbox.add(tx, [Dispatch(key="d", job="a" * 32)], lane="7:12", installation_id=7)
        claimed = outbox.claim(tx, "me", 60.0, ["dispatch"])
        assert claimed is not None
        outbox.park(tx, claimed, error)
    store.dispose()
    return taken.id, claimed.id


def test_what_was_given_up_is_listed_and_put_back(settings: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["admin", "parked"]) == 0
    assert capsys.readouterr().out == "Nothing is given up.\n"
    delivery, effect = park(settings, "refused:\n\x1b[2Jby a rule " + "x" * 1_000)
    assert main(["admin", "parked"]) == 0
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == ["QUEUE", "ID", "WHAT", "LANE", "SINCE", "ERROR"]
    assert first.split()[:6] == ["delivery", str(delivery), "issues.labeled", "7:12", "0", "s"]
    assert second.split()[:6] == ["effect", str(effect), "dispatch", "7:12", "0", "s"]
    assert first.index("refused:") == second.index("refused:") == head.index("ERROR")
    assert first.endswith("x\N{HORIZONTAL ELLIPSIS}")
    assert "\x1b" not in first
    for queue, number in (("delivery", delivery), ("effect", effect)):
        assert main(["admin", "parked", "retry", queue, str(number)]) == 0
        assert main(["admin", "parked", "retry", queue, str(number)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == [
        f"Delivery {delivery} is tried afresh.",
        f"Delivery {delivery} is not given up: `twogate admin parked` lists what is.",
    ]
    main(["admin", "parked"])
    assert capsys.readouterr().out == "Nothing is given up.\n"


def test_the_doctor_counts_what_was_given_up(settings: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    delivery, _ = park(settings, "refused")
    assert main(["doctor"]) == 1
    assert "FAULT  Given up: deliveries 1, effects 1. `twogate admin parked` lists them" in capsys.readouterr().out
    main(["admin", "parked", "retry", "delivery", str(delivery)])
    main(["doctor"])
    assert "Given up: deliveries 0, effects 1." in capsys.readouterr().out


# init and check-policy


def test_init_writes_the_pinned_workflow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["init", "--owner", "ACME", "--commit", COMMIT, "--path", str(tmp_path)]
    assert main(command) == 0
    file = tmp_path / ".github" / "workflows" / "twogate.yml"
    workflow = yaml.safe_load(file.read_text())
    assert workflow["jobs"]["run"]["steps"][0]["uses"] == f"ACME/twogate/.github/actions/run@{COMMIT}"
    assert "OWNER" not in file.read_text()
    assert main(command) == 0
    capsys.readouterr()
    file.write_text("mine")
    assert main(command) == 2
    assert "exists and differs" in capsys.readouterr().err
    assert file.read_text() == "mine"


@pytest.mark.parametrize(("owner", "commit"), [("ACME", "v1"), ("ACME", COMMIT[:7]), ("a/b", COMMIT), ("-", COMMIT)])
def test_init_takes_whole_commits_and_real_owners(owner: str, commit: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["init", "--owner", owner, "--commit", commit, "--path", str(tmp_path)])
    assert ended.value.code == 2
    assert list(tmp_path.iterdir()) == []


def test_check_policy_names_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "twogate.yml"
    file.write_text("label: robot\n")
    assert main(["check-policy", str(file)]) == 0
    file.write_text("label: robot\nnonsense: 1\n")
    assert main(["check-policy", str(file)]) == 1
    assert f"{file}:2: " in capsys.readouterr().out
    file.write_bytes(b"\xff\xfe")
    assert main(["check-policy", str(file)]) == 1
    assert main(["check-policy", str(tmp_path / "none.yml")]) == 2
    assert f"{tmp_path / 'none.yml'} can't be read: No such file" in capsys.readouterr().err


def test_what_is_shipped_is_what_lies_at_the_top() -> None:
    assert "default_permissions" in shipped("app.yml")
    assert "OWNER/twogate/.github/actions/run@" in shipped(".github/workflows/twogate.yml")


@pytest.mark.parametrize("command", [["admin", name] for name in ADMIN if name not in {"show", "hook-secret"}])
def test_a_database_without_tables_is_told_with_its_cure(
    settings: dict[str, str], command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TWOGATE_DATABASE_URL", f"sqlite:///{settings['TWOGATE_HOME']}/new.db")
    assert main(command) == 2
    assert "run `twogate migrate`" in capsys.readouterr().err


def test_costs_of_a_bot_without_plans_are_certainly_nothing(
    settings: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["admin", "costs"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^all +\$0 +0 +- +- +\$0$", told, re.MULTILINE), told
    assert "Too little happened to tell what plans wait for." in told


def test_costs_are_told_to_programs_and_of_a_month(
    settings: dict[str, str], github: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = store_plan(settings, github, 12)
    assert main(["admin", "costs", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    name = f"{plan.repo.owner}/{plan.repo.name}"
    assert told["repositories"].keys() == {name}
    assert told["total"]["denial_rate"] == {"part": 0, "of": 0, "share": None}
    assert told["total"]["spent_usd"] == {"usd": "0", "at_least": False, "covered": False}
    assert main(["admin", "costs", "--month", "2026-02"]) == 0
    assert "From 2026-02-01 00:00 to 2026-03-01 00:00 (UTC)" in capsys.readouterr().out
    assert main(["admin", "costs", "--month", "February"]) == 2
    assert "write it as 2026-11" in capsys.readouterr().err
