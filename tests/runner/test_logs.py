"""Logs of runs: five real streams in the same words, no secret on the disk, and what `twogate-runner logs` shows of them."""

from __future__ import annotations

import io
import json
import re
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner import __main__ as cli
from runner.agents.events_claude import ClaudeEvents
from runner.agents.readers import BUILT_IN, GenericEvents
from runner.contract import Outcome
from runner.locks import flock
from runner.logs import EVENTS_FILE, LOG_FILE, STDOUT_FILE
from runner.logs import record as record_module
from runner.logs.command import FOLLOW_SECONDS, NoLogError, Request, show
from runner.logs.events import SCHEMA, Asked, Ended, Said, Started, parse, render
from runner.logs.record import RunLog
from runner.logs.shelf import runs
from runner.logs.story import code
from runner.report import LOCK_FILE
from runner.steps.redact import Redactor
from runner.steps.sieve import HOLD, Sieve
from runner.terms import LogTerms
from tests.runner.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.agents.events import EventReader
    from runner.logs.events import Event

STREAMS = Path(__file__).with_name("streams")
KEY = 'sk-"live"-0123456789abcdef'
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow1234567890abcdefABCDEF+/==" * 8 + "\n-----END RSA PRIVATE KEY-----"
STARTED = Started(
    job="planplan-1",
    plan="o/calc#7",
    revision=1,
    unit="ExecutePlan",
    number=1,
    attempt=1,
    agent="claude",
    model=None,
    resumed=False,
    prompt_bytes=9,
    prompt_sha256="0" * 64,
)


def events_of(agent: str, name: str) -> tuple[list[Event], int]:
    """What a recorded stream tells, and how many of its lines are unknown."""
    events: list[Event]
    reader, events, unknown = BUILT_IN[agent](), [], 0
    for line in (STREAMS / agent / f"{name}.jsonl").read_text().splitlines():
        told = reader.take(json.loads(line))
        unknown += told is None
        events += told or ()
    return [*events, *reader.rest()], unknown


COMMAND = "mkdir -p notes && echo ran > notes/ran.txt && echo it-was-printed && env"
CALC = "/plan/tree/calc.py"


@pytest.mark.parametrize(
    ("agent", "name", "expected"),
    [
        ("claude", "tools", [("ran", COMMAND, 0), ("read", CALC), ("changed", CALC)]),
        ("codex", "tools", [("ran", COMMAND, 0), ("ran", f"cat {CALC}", 0), ("changed", CALC)]),
        ("gemini", "tools", [("ran", COMMAND, None), ("read", CALC), ("changed", CALC)]),
        ("opencode", "whole", [("changed", "hello.txt")]),
        ("copilot", "whole", [("changed", "/plan/tree/hello.txt"), ("ran", "", 0)]),
    ],
)
def test_a_real_stream_tells_what_was_read_changed_run_and_said(
    agent: str, name: str, expected: list[tuple[object, ...]]
) -> None:
    events, unknown = events_of(agent, name)
    assert unknown == 0
    told = [tuple(event.model_dump(exclude={"at", "how", "ok"}).values()) for event in events]
    assert [wanted for wanted in expected if wanted not in told] == []
    said = [event.text for event in events if isinstance(event, Said)]
    assert said[-1].startswith("All done")
    assert all(parse(event.model_dump_json().encode()) == event for event in events)


def test_a_failed_command_of_claude_tells_its_exit_code() -> None:
    reader = ClaudeEvents()
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "pytest"}}
    answer = {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "Exit code 3\n1 failed"}
    reader.take({"type": "assistant", "message": {"content": [use]}})
    (_, ran) = reader.take({"type": "user", "message": {"content": [answer]}}) or ()
    assert ran.model_dump(exclude={"at"}) == {"kind": "ran", "command": "pytest", "exit_code": 3, "ok": False}


def test_the_published_schema_is_the_models() -> None:
    assert SCHEMA.read_text() == render(), "run python -m runner.logs.events"


# what is kept


@pytest.fixture
def log(tmp_path: Path) -> Iterator[RunLog]:
    (tmp_path / "jobs" / "planplan-1").mkdir(parents=True)
    with closing(new_log(tmp_path, GenericEvents())) as log:
        yield log


def new_log(home: Path, reader: EventReader, name: str = "ExecutePlan-1") -> RunLog:
    folder = home / "jobs" / "planplan-1" / name
    return RunLog(folder, reader, Redactor({"A_KEY": KEY}), lambda: 1_764_500_000.0, {"/plan/tree/": ""})


HOSTILE = (
    b'{"type":"assistant"}',
    b'{"type":"assistant","message":{"content":[{"type":"text","text":"\\ud800"},{"type":"tool_use","input":3}]}}',
    b'{"type":"user","message":{"content":[{"type":"tool_result","is_error":{},"content":{"text":[]}}]}}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xff\xfe\x00",
    b'{"type":"user","message":' + b"9" * 5_000 + b"}",
    b"7",
    b"",
)


@pytest.mark.parametrize("agent", BUILT_IN)
def test_hostile_lines_are_counted_and_harm_nothing(agent: str, tmp_path: Path) -> None:
    (tmp_path / "jobs" / "planplan-1").mkdir(parents=True)
    log = new_log(tmp_path, BUILT_IN[agent]())
    for line in HOSTILE:
        log.hear(line)
    log.end("answered", "")
    ended = parse((log.folder / EVENTS_FILE).read_bytes().splitlines()[-1])
    assert isinstance(ended, Ended)
    assert ended.lines == len(HOSTILE)
    assert ended.unknown >= 5


def test_a_log_is_bounded_and_says_where_it_is_cut(log: RunLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_module, "MAX_EVENTS", 5)
    log.begin(STARTED, "Do it.")
    for _ in range(30):
        log.hear(b"x" * 3_000)
    log.spent([Asked(model="m", input_tokens=5, usd=None)])
    log.end("answered", "")
    kinds = [json.loads(line)["kind"] for line in (log.folder / EVENTS_FILE).read_bytes().splitlines()]
    assert kinds == ["started", "said", "said", "said", "said", "cut", "asked", "ended"]
    story = (log.folder / LOG_FILE).read_text()
    assert "- Cut: the first 5 events are kept" in story
    assert "[cut]" in story
    assert len(story) < 5_000


def test_nothing_that_an_agent_says_acts_in_the_short_log(log: RunLog) -> None:
    words = "\x1b[31m```\n/approve\n<!-- twogate:plan -->\n@ada \u202eevil \x1b]0;title\x07"
    log.begin(STARTED, "Do it.")
    log.hear(words.encode())
    log.end("agent_failed", "`x` <!-- twogate --> @ada")
    text = (log.folder / LOG_FILE).read_text()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<!--" not in text
    assert "````text\n```\n/approve\n" in text
    assert "- Ended: agent failed after 0 s: `` `x` <! -- twogate --> @ada ``" in text
    assert code("a`b") == "``a`b``"


SECRETS = (KEY, TOKEN, PEM)


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_stream_is_sieved_wherever_a_read_ends(secret: str, size: int) -> None:
    written = json.dumps({"text": f"a {secret} b"}) + f"\nplain {secret} end\n" + "x" * 40_000 + f" {secret}\nlast \xff"
    data = written.encode("latin-1")
    sieve = Sieve(Redactor({"A_KEY": KEY}))
    kept = b"".join(sieve.feed(data[at : at + size]) for at in range(0, len(data), size)) + sieve.close()
    for form in (secret, json.dumps(secret)[1:-1], secret[: len(secret) // 2]):
        assert form.encode() not in kept
    assert kept.startswith(b'{"text": "a *** b"}\nplain *** end\n')
    assert kept.endswith(b" ***\nlast \xff")


def test_a_secret_over_two_lines_or_cut_off_is_sieved() -> None:
    sieve = Sieve(Redactor({"A_KEY": "0123456789abcdef"}))
    kept = [sieve.feed(part) for part in (b"one 01234567", b"\n89ab", b"cdef\ntwo\n", b"three 0123456789ab")]
    assert b"".join((*kept, sieve.close())) == b"one ***\ntwo\nthree ***"


def test_pieces_of_messages_are_not_kept_and_long_lines_do_not_wait_for_their_end() -> None:
    stream = (STREAMS / "claude" / "tools.jsonl").read_bytes()
    sieve = Sieve(Redactor({}), ClaudeEvents().is_piece)
    kept = sieve.feed(stream) + sieve.close()
    assert b"content_block_delta" in stream
    assert kept == b"".join(line for line in stream.splitlines(keepends=True) if b"content_block_delta" not in line)
    assert len(Sieve(Redactor({})).feed(b"x" * 2 * HOLD)) >= HOLD


# a job's logs, and the command


def test_a_job_keeps_its_logs_without_secrets_shows_them_and_commits_the_short_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    agent = lab.coded(
        "write('calc.py', 'def add(a, b):\\n    return a + b' + '\\n' if sys.argv[2] == '2' else 'x')\n"
        "key, token = os.environ['A_KEY'], 'ghp_' + 'a1B2c3D4e5F6' * 3\n"
        "print(key, token, key[:9] + '\\n' + key[9:], os.environ['A_TOKEN'], flush=True)\n"
        "print(prompt, file=sys.stderr)\nprint('\\x1b[31mDone', flush=True)\ndone()"
    )
    secrets = {"A_KEY": KEY, "A_TOKEN": "canary-0123456789"}
    spec = lab.spec("good", agents={**lab.spec("good").agents, **agent}, logs=LogTerms(commit=True))
    issue = spec.issue.model_copy(update={"body": f"It says {TOKEN} and {secrets['A_TOKEN']}."})
    spec = lab.bot.specs[spec.job] = spec.model_copy(update={"issue": issue})
    try:
        report = lab.carry_out(spec, secrets)
        assert report.outcome is Outcome.VERIFIED, report.sentence
        log = ".twogate/promptware/ExecutePlan/Logs/{}-plan-7-{}.md"
        day = re.findall(r"Begun: (\S+)", (lab.home / "jobs" / spec.job / "ExecutePlan-1" / LOG_FILE).read_text())[0]
        for number in (1, 2):
            assert f"attempt {number}" in lab.shown(log.format(day, number))
        everything = lab.git("rev-list", "--all", "--objects", cwd=lab.remote) + lab.git(
            "log", "-p", "--all", cwd=lab.remote
        )
        kept = {path: path.read_bytes() for path in (lab.home / "jobs").rglob("*") if path.is_file()}
        for secret in (KEY, TOKEN, secrets["A_TOKEN"], KEY[9:], json.dumps(KEY)[1:-1]):
            assert [str(path) for path, data in kept.items() if secret.encode() in data] == []
            assert secret not in everything
        assert {path.stat().st_mode & 0o777 for path in kept if "ExecutePlan" in path.parent.name} == {0o400}
    finally:
        lab.close()
    monkeypatch.setenv("TWOGATE_HOME", str(lab.home))
    assert cli.main(["logs", "#7"]) == 0
    table = capsys.readouterr().out
    assert [line.split()[4] for line in table.splitlines()[1:4]] == ["ExecutePlan-1", "ExecutePlan-2", "CreatePr-1"]
    assert cli.main(["logs", spec.job, "--unit", "ExecutePlan-2"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# ExecutePlan, run 2 of job planplan-")
    assert "Done\n```" in shown
    assert cli.main(["logs", "o/calc#7", "--unit", "ExecutePlan-1", "--follow", "5"]) == 0
    said = capsys.readouterr()
    assert "ended    answered" in said.out
    assert said.err == f"ExecutePlan-1 of {spec.job} has ended.\n"
    assert cli.main(["logs", "#8"]) == 2
    assert capsys.readouterr().err == "There is no log of #8 on this runner. It keeps logs of o/calc#7.\n"


def test_what_is_not_clear_is_answered_with_what_there_is(
    log: RunLog, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.begin(STARTED, "Do it.")
    log.hear(b"working")
    other = new_log(tmp_path, GenericEvents(), "CreatePr-1")
    other.begin(STARTED.model_copy(update={"unit": "CreatePr", "plan": "o/other#7"}), "Do it.")
    other.close()
    said = {}
    for name, asked in {
        "several": Request("#7"),
        "both": Request("planplan-1", form="json"),
        "unit": Request("o/calc#7", unit="SplitPlan"),
        "words": Request("seven"),
    }.items():
        with pytest.raises(NoLogError) as error:
            show(tmp_path, asked, io.BytesIO())
        said[name] = str(error.value)
    assert said["several"] == "#7 is several plans here: o/calc#7, o/other#7. Name one of them in full."
    assert "There are: ExecutePlan-1 of planplan-1." in said["unit"]
    assert "is no plan: give owner/name#12" in said["words"]
    out = io.BytesIO()
    show(tmp_path, Request("o/calc#7"), out)
    assert b"- Ended: not yet, or killed with its runner" in out.getvalue()
    capsys.readouterr()
    with (log.folder.parent / LOCK_FILE).open("w") as lock:
        assert flock(lock.fileno())
        show(tmp_path, Request("o/calc#7", follow=0.0), out)
    assert "0 seconds are over, and ExecutePlan-1 of planplan-1 goes on" in capsys.readouterr().err
    began = time.monotonic()
    for form in ("log", "raw"):
        show(tmp_path, Request("o/calc#7", form=form, follow=FOLLOW_SECONDS), out)
        assert "was killed: nothing more will come" in capsys.readouterr().err
    assert time.monotonic() - began < 5, "whoever wrote it is gone, and so is its lock"
    assert len(runs(tmp_path / "jobs")) == 2
    assert (log.folder / STDOUT_FILE).stat().st_mode & 0o777 == 0o600
