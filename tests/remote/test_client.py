"""The client of the REST API where things go wrong; where they go well, it meets the real bot in the scenarios."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from flask import Flask, Response, request

from bot import wire
from bot.errors import UserError
from bot.lifecycle.commands import Verb
from bot.remote.client import LARGEST_ANSWER, Client
from bot.remote.where import Access
from tests.web.lab import served

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = json.dumps({"items": [], "next": None})
DEED = {"id": 7, "plan": "a" * 12, "verb": "approve", "status": "waiting", "outcome": "", "counted": None}


class Script:
    """A bot that answers what it is told to, in turn, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, str]] = []
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.slept: list[float] = []
        self.app = Flask("script")
        self.app.add_url_rule("/api/v1/<path:_path>", view_func=self.answer, methods=["GET", "POST"])

    def answer(self, _path: str) -> Response:
        self.asked.append((request.method, request.full_path, dict(request.headers)))
        status, body = self.answers.pop(0)
        return Response(body, status, content_type="application/json", headers={"Location": "https://evil.example/"})


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def client(script: Script) -> Iterator[Client]:
    with served(lambda _: script.app) as url, Client(Access(url, "tok"), sleep=script.slept.append) as made:
        yield made


def problem(status: int, detail: str) -> tuple[int, str]:
    return status, wire.Problem(title="x", status=status, detail=detail).model_dump_json()


def test_trouble_that_passes_is_sat_out_and_other_refusals_are_told(script: Script, client: Client) -> None:
    script.answers = [(502, "<html>"), problem(503, "The database is away."), (200, PAGE)]
    assert client.plans(repository="acme/shop", issue=3).items == []
    assert [asked[1] for asked in script.asked] == ["/api/v1/plans?repository=acme%2Fshop&issue=3&limit=30"] * 3
    assert script.asked[0][2]["Authorization"] == "Bearer tok"
    script.answers = [problem(503, "The database is away.")] * 4
    with pytest.raises(UserError, match="The database is away"):
        client.me()
    for answer, told in (
        (problem(404, "There is nothing here."), "There is nothing here."),
        (problem(429, "Come back in an hour."), "Come back in an hour."),
        ((302, ""), "answered 302 without a word"),
        ((200, "<html>"), "none that this release knows"),
        ((200, '"' + "x" * LARGEST_ANSWER), "longer than any"),
    ):
        script.answers, before = [answer], len(script.asked)
        with pytest.raises(UserError, match=told):
            client.me()
        assert len(script.asked) == before + 1, "neither tried again nor followed elsewhere"


def test_a_decision_is_one_however_often_it_is_sent(script: Script, client: Client) -> None:
    done: dict[str, Any] = {**DEED, "status": "done", "outcome": "Approved.", "counted": True}
    script.answers = [(502, ""), (202, json.dumps(DEED)), (200, json.dumps(DEED)), (200, json.dumps(done))]
    deed = client.outcome(client.decide("a" * 12, Verb.APPROVE, saw="b" * 64))
    assert (deed.counted, deed.outcome) == (True, "Approved.")
    keys = [headers["Idempotency-Key"] for _, _, headers in script.asked[:2]]
    assert keys[0] == keys[1]
    script.answers = [(200, json.dumps(DEED))]
    waiting = wire.DeedView.model_validate(DEED)
    assert client.outcome(waiting, within=0.0).counted is None, "it is not waited for for ever"
    with pytest.raises(UserError, match="no plan's name"):
        client.plan("../me")
    asked = len(script.asked)
    for title, told in ((" ", "needs a title"), ("x" * 257, "title: String should have at most 256")):
        with pytest.raises(UserError, match=told):
            client.create("acme/shop", title)
    with pytest.raises(UserError, match="text: String should have at most"):
        client.decide("a" * 12, Verb.REJECT, "x" * 70_000)
    assert len(script.asked) == asked


def test_nobody_answering_is_told_with_the_address() -> None:
    with Client(Access("http://127.0.0.1:9", "tok"), sleep=lambda _: None) as client, pytest.raises(UserError) as told:
        client.me()
    assert "http://127.0.0.1:9 does not answer" in str(told.value)
    assert "tok" not in str(told.value).replace("token", "")
