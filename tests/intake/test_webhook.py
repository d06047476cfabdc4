"""The webhook's door: who gets in, what is kept, and that nothing else happens."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import select
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from bot.intake.webhook import LARGEST_BYTES, signature
from tests.intake.conftest import SECRET

if TYPE_CHECKING:
    from pathlib import Path

    from tests.intake.conftest import Intake

REPOSITORY = {"id": 5, "name": "shop", "owner": {"id": 1, "login": "acme"}, "default_branch": "main"}
LABELED: dict[str, Any] = {
    "action": "labeled",
    "issue": {"number": 7, "title": "Fix \ud83d\ude80", "body": None, "state": "open", "something": "new"},
    "label": {"name": "agent"},
    "repository": REPOSITORY,
    "installation": {"id": 9},
    "sender": {"id": 2, "login": "mia", "type": "User"},
}
BODY = json.dumps(LABELED).encode()


def test_githubs_own_example_of_a_signature() -> None:
    expected = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert signature(b"It's a Secret to Everybody", b"Hello, World!") == expected


def test_a_delivery_becomes_one_row(intake: Intake) -> None:
    answer = intake.post(BODY)
    assert (answer.status_code, answer.json()) == (202, {"status": "stored"})
    assert [dict(row) for row in intake.rows()] == [
        {
            "guid": "guid-1",
            "source": "github",
            "event": "issues",
            "lane": "5:7",
            "installation_id": 9,
            "body": BODY.decode(),
        }
    ]


def test_the_same_delivery_again_is_seen_and_not_stored(intake: Intake) -> None:
    intake.post(BODY)
    answer = intake.post(BODY)
    assert (answer.status_code, answer.json()) == (202, {"status": "seen"})
    assert len(intake.rows()) == 1


def test_two_deliveries_with_equal_bodies_are_two(intake: Intake) -> None:
    """Label, unlabel, label again can be byte-identical; a captured body under a new id is harmless later."""
    intake.post(BODY)
    assert intake.post(BODY, X_GitHub_Delivery="guid-2").json() == {"status": "stored"}
    assert [row["guid"] for row in intake.rows()] == ["guid-1", "guid-2"]


def sha1(body: bytes) -> str:
    return f"sha1={hmac.new(SECRET.encode(), body, hashlib.sha1).hexdigest()}"


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Hub_Signature_256": ""},
        {"X_Hub_Signature_256": "sha256="},
        {"X_Hub_Signature_256": "sha256=" + "0" * 64},
        {"X_Hub_Signature_256": signature(b"another secret", BODY)},
        {"X_Hub_Signature_256": signature(SECRET.encode(), BODY + b" ")},
        {"X_Hub_Signature_256": signature(SECRET.encode(), BODY)[:-1]},
        {"X_Hub_Signature_256": signature(SECRET.encode(), BODY).upper()},
        {"X_Hub_Signature_256": signature(SECRET.encode(), BODY).removeprefix("sha256=")},
        {"X_Hub_Signature_256": "sha256=é\xff"},
        {"X_Hub_Signature_256": sha1(BODY)},
        {"X_Hub_Signature_256": "", "X_Hub_Signature": sha1(BODY)},
        {"X_Hub_Signature_256": "", "X_GitHub_Delivery": ""},
    ],
)
def test_a_forged_signature_has_no_effect(intake: Intake, headers: dict[str, str]) -> None:
    assert intake.post(BODY, **headers).status_code == 401
    assert intake.rows() == []


@pytest.mark.parametrize(
    "headers",
    [
        {"X_GitHub_Delivery": ""},
        {"X_GitHub_Delivery": "a" * 65},
        {"X_GitHub_Delivery": "x'; DROP TABLE deliveries; --"},
        {"X_GitHub_Event": ""},
    ],
)
def test_a_delivery_without_its_name_is_refused(intake: Intake, headers: dict[str, str]) -> None:
    assert intake.post(BODY, **headers).status_code == 400
    assert intake.rows() == []


def test_a_form_is_refused_with_what_to_do(intake: Intake) -> None:
    answer = intake.post(b"payload=%7B%7D", Content_Type="application/x-www-form-urlencoded")
    assert answer.status_code == 415
    assert "application/json" in answer.json()["status"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"labeled"',
        b"\xff\xfe",
        b"{" * 100_000,
        json.dumps({**LABELED, "issue": {"number": "seven"}}).encode(),
        json.dumps({**LABELED, "issue": None}).encode(),
        json.dumps({**LABELED, "repository": {"id": 5}}).encode(),
        json.dumps({**LABELED, "action": {"$ne": 1}}).encode(),
    ],
)
def test_a_body_that_can_not_be_read_is_refused_and_nothing_breaks(intake: Intake, body: bytes) -> None:
    answer = intake.post(body)
    assert answer.status_code == 422
    assert SECRET not in answer.text
    assert intake.rows() == []


def test_what_is_not_read_is_dropped_with_a_reason(intake: Intake) -> None:
    assert intake.deliver("star", {"action": "created"}).json() == {"status": "dropped: is an event that is not read"}
    answer = intake.deliver("issues", {**LABELED, "action": "pinned"})
    assert (answer.status_code, answer.json()) == (202, {"status": "dropped: is an action that is not read"})
    assert intake.deliver("ping", {"zen": "Keep it simple."}).status_code == 202
    assert intake.rows() == []


def test_an_over_large_delivery_is_refused_before_it_is_read(intake: Intake) -> None:
    """Only the head is sent: an answer proves that nobody waits for the body."""
    where = urlsplit(intake.url)
    with socket.create_connection((where.hostname, where.port), timeout=20) as sock:
        head = f"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: {LARGEST_BYTES + 1}\r\n\r\n"
        sock.sendall(head.encode())
        assert b" 413 " in sock.recv(100)
    assert intake.rows() == []


def test_an_over_large_stream_without_a_length_is_refused(intake: Intake) -> None:
    """It is read to the limit alone, and what is cut has no valid signature."""
    where = urlsplit(intake.url)
    chunk, sent = b"100000\r\n" + b"x" * 0x100000 + b"\r\n", 0
    with socket.create_connection((where.hostname, where.port), timeout=20) as sock:
        sock.sendall(b"POST /webhook HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not select.select([sock], [], [], 0)[0]:
            assert sent < 4 * LARGEST_BYTES, "it is read without end"
            with contextlib.suppress(ConnectionError):
                sock.sendall(chunk)
            sent += len(chunk)
        with contextlib.suppress(ConnectionResetError):
            assert b" 401 " in sock.recv(100)
    assert intake.rows() == []


def test_the_largest_delivery_is_taken(intake: Intake) -> None:
    padded = {**LABELED, "padding": ""}
    padded["padding"] = "x" * (LARGEST_BYTES - len(json.dumps(padded)))
    body = json.dumps(padded).encode()
    assert len(body) == LARGEST_BYTES
    assert intake.post(body).json() == {"status": "stored"}


def test_a_database_that_is_away_is_told_so_that_github_keeps_the_delivery(intake: Intake, tmp_path: Path) -> None:
    intake.store.dispose()
    for file in (tmp_path / "home").glob("twogate.db*"):
        file.rename(tmp_path / file.name)
    answer = intake.post(BODY)
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert intake.app.test_client().get("/healthz").status_code == 200
    assert intake.app.test_client().get("/readyz").status_code == 503
    intake.store.dispose()
    for file in tmp_path.glob("twogate.db*"):
        file.rename(tmp_path / "home" / file.name)
    assert intake.post(BODY).json() == {"status": "stored"}


def test_readiness_says_how_the_queues_are(intake: Intake) -> None:
    intake.post(BODY)
    found = intake.app.test_client().get("/readyz").get_json()
    assert found["status"] == "ready"
    assert found["deliveries"]["waiting"] == 1
    assert found["deliveries"]["oldest_seconds"] >= 0
    assert found["effects"] == {"waiting": 0, "oldest_seconds": 0.0, "parked": 0}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_posting_is_possible(intake: Intake, method: str) -> None:
    assert intake.app.test_client().open("/webhook", method=method).status_code == 405
