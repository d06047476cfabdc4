"""The meter over real sockets: what passes, what is counted, what is refused, what stays secret."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

from runner.contract import UsdSource
from runner.meter import LEDGER_FILE, Meter, UpstreamError, room
from runner.results import Unit
from runner.terms import AgentSpec, Api, Budget
from tests.runner.lab import wait_until
from tests.runner.meter_lab import (
    ANTHROPIC,
    CANARY,
    CHAT,
    GEMINI,
    RESPONSES,
    Lab,
    ask,
    endpoint,
    environment,
    meter_lab,
    open_at,
)
from tests.runner.upstream_on_loopback import Answer, plain, sse
from tests.runner.wires import DOLLARS, FORMATS, Format

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

each_format = pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.api.value)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with meter_lab(tmp_path) as lab:
        yield lab


@each_format
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "plain"])
def test_an_answer_passes_byte_for_byte_and_is_counted_and_priced(lab: Lab, wire: Format, stream: bool) -> None:
    answer = wire.stream() if stream else wire.plain()
    lab.api.answer = lambda _asked: answer
    with lab.meter(Budget(usd=Decimal(5))) as meter:
        tap = open_at(meter, wire)
        with tap:
            got = ask(tap, wire, stream=stream)
            assert (got.status_code, got.content) == (200, answer.whole)
            assert got.headers["content-type"] == answer.content_type
            tap.end(2.5)
        (row,) = meter.rows()
    asked = lab.api.asked[0]
    assert asked.path == (wire.stream_path if stream else wire.path)
    assert asked.headers[wire.key_header].removeprefix("Bearer ") == CANARY
    assert endpoint(tap).key not in str(asked.headers)
    counts = (row.input_tokens, row.cache_read_tokens, row.output_tokens, row.reasoning_tokens)
    assert counts == (1000, 200, 60, 10)
    assert (row.usd, row.usd_source, row.complete) == (Decimal(DOLLARS[wire.api]), UsdSource.METERED, True)
    assert (row.model, row.price_date, row.seconds) == (wire.model, "genai-prices 0.2.3", 2.5)
    assert lab.rows() == (row,), "what is on disk says the same"
    assert lab.heard, "whoever listens hears of it while the agent runs"


def test_pieces_pass_as_they_come(lab: Lab) -> None:
    gate = threading.Event()
    answer = Answer(ANTHROPIC.stream().pieces, gate=gate)
    lab.api.answer = lambda _asked: answer
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        url = f"{endpoint(tap).base(Api.ANTHROPIC)}/v1/messages"
        with httpx.stream("POST", url, json=ANTHROPIC.request, headers={"x-api-key": endpoint(tap).key}) as got:
            seen = b""
            for chunk in got.iter_raw():
                seen += chunk
                if seen == b"".join(answer.pieces[:-1]):
                    gate.set()
            assert seen == answer.whole


def test_only_a_stream_of_chat_is_asked_for_its_usage(lab: Lab) -> None:
    lab.api.answer = lambda _asked: CHAT.stream()
    with lab.meter() as meter, open_at(meter, CHAT) as tap:
        ask(tap, CHAT, body={"stream_options": {"chunk_size": 1}})
        assert json.loads(lab.api.asked[0].body)["stream_options"] == {"chunk_size": 1, "include_usage": True}
        lab.api.answer = lambda _asked: CHAT.plain()
        ask(tap, CHAT, stream=False)
        assert json.loads(lab.api.asked[1].body) == CHAT.request
    assert [call.output_tokens for call in tap.calls] == [60, 60]


def test_headers_that_the_format_does_not_need_stay_here(lab: Lab) -> None:
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        url, key = f"{endpoint(tap).base(Api.ANTHROPIC)}/v1/messages?beta=true&key=x", endpoint(tap).key
        sent = {"x-api-key": key, "anthropic-beta": "b", "cookie": "c", "x-forwarded-for": "f", "authorization": key}
        assert httpx.post(url, json=ANTHROPIC.request, headers=sent).status_code == 200
    asked = lab.api.asked[0]
    assert asked.path == "/v1/messages?beta=true"
    assert asked.headers["anthropic-beta"] == "b"
    assert not {"cookie", "x-forwarded-for", "authorization"} & asked.headers.keys()


def test_a_query_can_not_hide_what_a_call_uses(lab: Lab) -> None:
    lab.api.answer = lambda _asked: GEMINI.stream()
    with lab.meter() as meter, open_at(meter, GEMINI) as tap:
        url, head = endpoint(tap).base(Api.GEMINI) + GEMINI.path, {"x-goog-api-key": endpoint(tap).key}
        hiding = {"fields": "candidates", "$httpMethod": "GET", "$httpHeaders": "X-A: b", "alt": "proto"}
        assert httpx.post(url, json=GEMINI.request, headers=head, params=hiding).status_code == 200
    assert [asked.path for asked in lab.api.asked] == [GEMINI.path]


def test_a_request_is_json_to_both_sides(lab: Lab) -> None:
    body = json.dumps(ANTHROPIC.request)
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        url, head = endpoint(tap).base(Api.ANTHROPIC) + "/v1/messages", {"x-api-key": endpoint(tap).key}
        other = httpx.post(url, content=body, headers={**head, "content-type": "application/x-protobuf"})
        codings = ("utf-16", "utf-32", "utf-8-sig")
        odd = [httpx.post(url, content=body.encode(coding), headers=head).status_code for coding in codings]
    assert (other.status_code, odd) == (200, [400] * 3)
    assert [asked.headers["content-type"] for asked in lab.api.asked] == ["application/json"]


@pytest.mark.parametrize("size", [b"-1", b"+5", b"0x5", b"1_0", b""])
def test_a_chunk_has_a_size(lab: Lab, size: bytes) -> None:
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        place, key = urlsplit(endpoint(tap).url), endpoint(tap).key.encode()
        head = b"POST /anthropic/v1/messages HTTP/1.1\r\nx-api-key: " + key
        with socket.create_connection((place.hostname, place.port), timeout=10) as agent:
            agent.sendall(head + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + size + b"\r\n")
            assert agent.recv(1) == b"", "closed, without waiting for more"


def test_large_requests_do_not_fill_the_memory(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "ROOM_SECONDS", 0.2)
    gate = threading.Event()
    lab.api.answer = lambda asked: (asked.__setattr__("body", b""), Answer(ANTHROPIC.stream().pieces, gate=gate))[1]
    body = gzip.compress(json.dumps({**ANTHROPIC.request, "note": "x" * 28_000_000}).encode(), 1)
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap, ThreadPoolExecutor(12) as pool:
        url = f"{endpoint(tap).base(Api.ANTHROPIC)}/v1/messages"
        head = {"x-api-key": endpoint(tap).key, "content-encoding": "gzip"}
        asked = [pool.submit(httpx.post, url, content=body, headers=head, timeout=60) for _ in range(12)]
        wait_until(lambda: sum(each.done() for each in asked) == 4)
        gate.set()
        assert sorted(each.result().status_code for each in asked) == [200] * 8 + [429] * 4, "256 MB are held at once"
        assert httpx.post(url, content=body, headers=head, timeout=60).status_code == 200


def test_a_header_on_two_lines_is_refused_and_costs_nothing(lab: Lab) -> None:
    with lab.meter(Budget(usd=Decimal(5))) as meter, open_at(meter, ANTHROPIC) as tap:
        place, body = urlsplit(endpoint(tap).url), json.dumps(ANTHROPIC.request).encode()
        head = {"x-api-key": endpoint(tap).key, "anthropic-beta": "a\r\n x-evil: b", "content-length": len(body)}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        with socket.create_connection((place.hostname, place.port), timeout=10) as agent:
            agent.sendall(f"POST /anthropic/v1/messages HTTP/1.1\r\n{lines}\r\n".encode() + body)
            assert agent.recv(12) == b"HTTP/1.1 400"
        wait_until(lambda: tap.calls)
        assert meter.limits.rest().usd == 5
    assert lab.api.asked == []


@each_format
def test_a_wrong_key_is_refused_in_the_providers_own_shape(lab: Lab, wire: Format) -> None:
    with lab.meter() as meter:
        tap = open_at(meter, wire)
        url = f"{endpoint(tap).base(wire.api)}{wire.path}"
        before = httpx.post(url, json=wire.request, headers={"x-api-key": endpoint(tap).key})
        with tap:
            wrong = [
                httpx.post(url, json=wire.request),
                httpx.post(url, json=wire.request, headers={"authorization": f"Bearer {CANARY}"}),
                httpx.post(f"{url}?key=AIza", json=wire.request),
            ]
            right = httpx.post(f"{url}?key={endpoint(tap).key}", json=wire.request)
        after = httpx.post(url, json=wire.request, headers={"x-api-key": endpoint(tap).key})
    assert [answer.status_code for answer in (before, *wrong, after)] == [401] * 5
    assert "not the key of a run" in after.json()["error"]["message"]
    assert right.status_code == 200
    assert len(lab.api.asked) == 1


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/anthropic/v1/messages/batches"),
        ("POST", "/anthropic/v1/complete"),
        ("GET", "/anthropic/v1/messages"),
        ("GET", "/anthropic/v1/organizations/x"),
        ("POST", "/anthropic/../v1/messages"),
        ("POST", "/openai-chat/v1/chat/completions"),
        ("POST", "/v1/messages"),
    ],
)
def test_a_foreign_path_is_not_passed_on(lab: Lab, method: str, path: str) -> None:
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        target = endpoint(tap)
        with httpx.Client(base_url=target.url) as client:
            request = client.build_request(method, "/", json=ANTHROPIC.request, headers={"x-api-key": target.key})
            request.url = request.url.copy_with(raw_path=path.encode())
            answer = client.send(request)
    assert answer.status_code == 404
    assert "meter" in answer.text
    assert lab.api.asked == []


def test_questions_that_cost_nothing_pass_and_are_not_counted(lab: Lab) -> None:
    lab.api.answer = lambda _asked: plain({"input_tokens": 5})
    with lab.meter(Budget(usd=Decimal(0))) as meter, open_at(meter, ANTHROPIC) as tap:
        base, head = endpoint(tap).base(Api.ANTHROPIC), {"x-api-key": endpoint(tap).key}
        assert httpx.post(f"{base}/v1/messages/count_tokens", json={}, headers=head).json() == {"input_tokens": 5}
        assert httpx.get(f"{base}/v1/models", headers=head).status_code == 200
    assert tap.calls == ()


def test_the_real_key_is_nowhere_a_client_can_look(lab: Lab) -> None:
    leak = sse({"type": "message_start", "message": {"note": CANARY}})[0]
    cuts = (leak[: leak.index(b"canary") + 3], leak[leak.index(b"canary") + 3 :])
    echoes = [
        Answer(cuts, headers={"request-id": CANARY, "x-canary": CANARY}),
        plain({"error": {"message": f"Incorrect API key: {CANARY}"}}, 400),
        plain({"error": {"message": f"Incorrect API key: {CANARY[:7]}…"}}, 401),
    ]
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        for echo in echoes:
            lab.api.answer = lambda _asked, echo=echo: echo
            got = ask(tap, ANTHROPIC)
            assert got.status_code == echo.status
            assert CANARY[:7] not in got.text + str(got.headers)
            if echo.status == 200:
                assert got.content == leak.replace(CANARY.encode(), endpoint(tap).key.encode())
        kept = meter.withhold(
            {**environment("u"), "COPY": f"x{CANARY}", "CLAUDE_CODE_OAUTH_TOKEN": "t", "PATH": "/bin"}
        )
    assert kept == {"PATH": "/bin"}
    assert CANARY not in (lab.folder / LEDGER_FILE).read_text()
    assert (lab.folder / LEDGER_FILE).stat().st_mode & 0o777 == 0o600


def test_a_key_with_a_line_end_works_and_a_broken_one_is_told_of_without_it(lab: Lab) -> None:
    held = {**environment(lab.api.url), "ANTHROPIC_API_KEY": f" {CANARY}\n"}
    with Meter(lab.folder, held, Budget()) as meter, open_at(meter, ANTHROPIC) as tap:
        assert ask(tap, ANTHROPIC).status_code == 200
        assert meter.withhold({"COPY": CANARY, "OTHER": "x"}) == {"OTHER": "x"}
    broken = {**held, "ANTHROPIC_API_KEY": f"{CANARY} {CANARY}"}
    with Meter(lab.folder, broken, Budget()) as meter, pytest.raises(UpstreamError, match="ANTHROPIC_API_KEY") as told:
        open_at(meter, ANTHROPIC)
    assert CANARY not in str(told.value)


def test_without_a_key_or_an_api_there_is_no_endpoint(lab: Lab) -> None:
    with Meter(lab.folder, {}, Budget()) as meter:
        assert open_at(meter, ANTHROPIC).endpoint is None
        assert meter.open(Unit.EXECUTE_PLAN, AgentSpec(name="a"), 1, None).endpoint is None


def test_a_key_travels_over_https_or_loopback_alone(lab: Lab) -> None:
    bad = {"ANTHROPIC_API_KEY": CANARY, "ANTHROPIC_BASE_URL": "http://models.example.com"}
    with Meter(lab.folder, bad, Budget()) as meter, pytest.raises(UpstreamError, match="https://"):
        open_at(meter, ANTHROPIC)


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/responses"),
        ("/v1", "/v1/responses"),
        ("/openai/v1/", "/openai/v1/responses"),
        ("/gw", "/gw/responses"),
    ],
)
def test_a_base_address_means_what_the_providers_own_clients_take_it_for(lab: Lab, base: str, path: str) -> None:
    lab.api.answer = lambda _asked: RESPONSES.plain()
    names = {"OPENAI_API_KEY": CANARY, "OPENAI_BASE_URL": lab.api.url + base}
    with Meter(lab.folder, names, Budget()) as meter, open_at(meter, RESPONSES) as tap:
        ask(tap, RESPONSES, stream=False)
    assert [asked.path for asked in lab.api.asked] == [path]


def test_a_request_is_bounded_and_may_be_packed(lab: Lab) -> None:
    with lab.meter() as meter, open_at(meter, ANTHROPIC) as tap:
        url, head = f"{endpoint(tap).base(Api.ANTHROPIC)}/v1/messages", {"x-api-key": endpoint(tap).key}
        packed = gzip.compress(json.dumps(ANTHROPIC.request).encode())
        answers = [
            httpx.post(url, content=packed, headers={**head, "content-encoding": "gzip"}),
            httpx.post(url, content=iter([b'{"model":', b' "claude-sonnet-4-5"}']), headers=head),
            httpx.post(url, content=gzip.compress(b" " * 40_000_000), headers={**head, "content-encoding": "gzip"}),
            httpx.post(url, content=b"[" * 600_000, headers=head),
            httpx.post(url, content=b"[" * 100_000, headers=head),
            httpx.post(url, content=packed, headers={**head, "content-encoding": "zstd"}),
        ]
    assert [answer.status_code for answer in answers] == [200, 200, 413, 400, 400, 415]
    assert [json.loads(asked.body)["model"] for asked in lab.api.asked] == ["claude-sonnet-4-5"] * 2
