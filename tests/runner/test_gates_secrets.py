"""Gate secrets: real forms are found, hashes and placeholders are not, and nothing is printed.

Every credential here is made up at run time, so that no file holds one.
"""

from __future__ import annotations

import base64
import json
import random
import string
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import from_regex

from runner.contract import GateResult, GateStatus
from runner.gates.change import MODE_ABSENT, MODE_FILE, Change, Changed
from runner.gates.secrets import FORMATS, MAX_CONTENT, _possible, secrets

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping
    from pathlib import Path

RANDOM = random.Random(7)


def _made(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(RANDOM.choice(alphabet) for _ in range(length))


def _jwt() -> str:
    parts = [json.dumps({"alg": "HS256", "typ": "JWT"}), json.dumps({"sub": _made(12)})]
    return ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts) + "." + _made(43)


CREDENTIALS = {
    "GitHub": "gh" + "p_" + _made(36),
    "installation": "gh" + "s_" + _made(36),
    "fine-grained": "github_" + "pat_" + _made(82),
    "AWS": "AK" + "IA" + _made(16, string.ascii_uppercase + string.digits),
    "Anthropic": "sk-" + "ant-api03-" + _made(95),
    "OpenAI": "sk-" + "proj-" + _made(64),
    "Google": "AI" + "za" + _made(35),
    "Slack": "xo" + "xb-" + _made(11, string.digits) + "-" + _made(11, string.digits) + "-" + _made(24),
    "Stripe": "sk_" + "live_" + _made(24),
    "JWT": _jwt(),
    "password": f"https://admin:{_made(14)}7a@db.internal/x",
}


def _check(now: Mapping[str, str], before: Mapping[str, str] | None = None) -> GateResult:
    old = before or {}
    files = tuple(
        Changed(path.encode(), MODE_FILE if path in old else MODE_ABSENT, MODE_FILE if path in now else MODE_ABSENT)
        for path in sorted({*now, *old})
    )
    return secrets(
        Change(
            files,
            (),
            read=lambda path: now[path.decode()].encode(),
            read_base=lambda path: old[path.decode()].encode() if path.decode() in old else None,
            tree=(),
        )
    )


@pytest.mark.parametrize("name", CREDENTIALS)
def test_a_credential_is_found_and_not_printed(name: str) -> None:
    value = CREDENTIALS[name]
    result = _check({"src/conf.py": f"import os\nTOKEN = '{value}'\n"})
    assert result.status is GateStatus.FAILED
    assert "src/conf.py:2" in result.summary
    assert value[-12:] not in result.model_dump_json()


def test_a_private_key_is_found(tmp_path: Path) -> None:
    subprocess.run(
        ["openssl", "genrsa", "-out", str(tmp_path / "k"), "2048"], check=True, capture_output=True, timeout=60
    )
    key = (tmp_path / "k").read_text(encoding="utf-8")
    assert "a.pem:1: looks like a credential (private key)" in _check({"a.pem": key}).summary
    assert _check({"a.py": f"KEY = {key!r}\n"}).holds_back, "also with its line ends escaped"
    assert not _check({"a.pem": key, "b": "x"}, {"a.pem": key}).holds_back
    assert not _check({"b.pem": key}, {"a.pem": key}).holds_back, "moved, not added"


@pytest.mark.parametrize(
    "line",
    [
        "sha256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'",
        '"integrity": "sha512-' + base64.b64encode(bytes(range(64))).decode() + '"',
        "key = 'AKIAIOSFODNN7EXAMPLE'",
        "token = 'ghp_" + "x" * 36 + "'",
        "url = 'https://user:password@example.com/'",
        "url = f'https://x-access-token:{token}@github.com/a/b'",
        "url = 'postgresql://app:${DB_PASSWORD_1}@db/app'",
        'if "-----BEGIN RSA PRIVATE KEY-----" in text:',
        "id = '123e4567-e89b-12d3-a456-426614174000'",
        "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
        "sk-learn and sk-ant- are words",
    ],
)
def test_what_only_looks_like_one(line: str) -> None:
    assert _check({"a.txt": line + "\n"}).status is GateStatus.PASSED


def test_what_was_there_before_is_not_held_against_the_change() -> None:
    value = CREDENTIALS["GitHub"]
    assert not _check({"a": f"x = '{value}'\nnew\n"}, {"a": f"x = '{value}'\n"}).holds_back
    assert not _check({"b": f"y='{value}'\n"}, {"a": f"x = '{value}'\n"}).holds_back, "moved and reformatted"
    assert _check({"a": f"x = '{value}'\n"}, {"a": "x = 1\n"}).holds_back
    assert not _check({}, {"a": f"x = '{value}'\n"}).holds_back, "taking one out is welcome"


def test_binary_content_is_searched_too() -> None:
    assert _check({"a.bin": "\x00\x01" + CREDENTIALS["Stripe"] + "\x00"}).holds_back


def test_what_is_too_large_to_search_is_refused() -> None:
    assert "too large" in _check({"big": "x" * (MAX_CONTENT + 1)}).summary


@pytest.mark.parametrize("place", [0, 5_000, 7_990, 50_000])
def test_a_long_line_is_searched_to_its_end(place: int) -> None:
    assert _check({"min.js": "x=1;" * (place // 4) + f"t='{CREDENTIALS['GitHub']}';" + "y=2;" * 9_000}).holds_back


HOSTILE = [
    "://a:",
    "//x/",
    "//x/:_authToken=",
    "eyJ",
    "eyJa.",
    "eyJaaaaaaaaaaaa.eyJaaa.",
    "-----BEGIN PRIVATE KEY-----\\n,",
    "-----BEGIN PRIVATE KEY-----Version: ",
    "-----BEGIN PRIVATE KEY-----\n",
    "aws_secret_key ",
    "0" * 32,
    "xoxb-1",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_content_takes_no_time(unit: str) -> None:
    start = time.process_time()
    _check({"a": unit * (300_000 // len(unit))})
    assert time.process_time() - start < 10


@pytest.mark.parametrize(("kind", "pattern"), FORMATS, ids=[kind for kind, _ in FORMATS])
def test_a_hint_stands_in_every_find(kind: str, pattern: re.Pattern[str]) -> None:
    @settings(max_examples=20, database=None, suppress_health_check=list(HealthCheck))
    @given(from_regex(pattern))
    def of(find: str) -> None:
        assert (kind, pattern) in _possible(find)

    of()
