"""The API as hostile and as careless programs meet it: every refusal a sentence, and nothing shown that GitHub hides."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from bot import serving, wire
from bot.github.gateway import Tokens
from bot.lifecycle.commands import Verb
from bot.lifecycle.plan import Person, Repo
from bot.lifecycle.states import Via
from bot.settings import from_environment
from bot.store import deliveries, jobs, journal, plans
from bot.store.engine import Store, open_store
from bot.store.journal import Entry
from bot.web import deeds
from bot.web.limits import DEEDS_AN_HOUR, HOUR, MINUTE, REQUESTS_A_MINUTE
from bot.web.people import People
from bot.web.refusal import Refused
from bot.web.rest_pages import LARGEST_BODY
from bot.web.sessions import csrf_of
from runner.contract import JobKind
from runner.results import Unit
from tests.store.databases import some_plan
from tests.web.lab import Clock, settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from tests.web.lab import GitHub

NUMBERS = itertools.count(1)
SAW = "a" * 64
NOBODYS = "fedcba98"
PROBLEM = "application/problem+json"
NUL = "cursor=WzEuMCwiYVx1MDAwMGIiXQ"
"""``[1.0,"a\\u0000b"]``, which PostgreSQL can't be asked about."""


@dataclass
class Api:
    """The bot's web, with a plan of the shop and one of a repository that GitHub shows to nobody."""

    github: GitHub
    clock: Clock
    store: Store
    parts: serving.Parts
    http: FlaskClient

    def person(self, role: str = "write") -> dict[str, str]:
        """The header of somebody new."""
        self.login = f"ro{next(NUMBERS)}"
        made = self.github.standin.control.create_user(self.login)
        self.github.standin.control.set_role("Acme/shop", self.login, role)
        self.id, self.token = made["id"], made["token"]
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str, headers: dict[str, str] | None = None, **query: str) -> TestResponse:
        return self.http.get(f"/api/v1{path}", headers=headers or {}, query_string=query)

    def decide(self, uid: str, headers: dict[str, str], said: Any, **more: str) -> TestResponse:
        body = said if isinstance(said, str | bytes) else json.dumps(said)
        kind = {"Content-Type": "application/json"}
        return self.http.post(f"/api/v1/plans/{uid}/decisions", data=body, headers={**kind, **headers, **more})

    def deeds(self) -> int:
        """How many deeds are stored; takes them out."""
        found = 0
        with self.store.write() as tx:
            while (delivery := deliveries.next_open(tx)) is not None:
                deliveries.finish(tx, delivery, "read by the test")
                found += delivery.source == "person"
        return found


@pytest.fixture
def api(github: GitHub, sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    clock = Clock()
    more = {"TWOGATE_CLIENT_ID": "Iv1.of-the-tests", "TWOGATE_CLIENT_SECRET": "s" * 40}
    settings = from_environment(settings_of(github, "http://127.0.0.1:1", tmp_path, **more))
    store = open_store(sqlite_url, now=clock)
    parts = serving.Parts(settings, store, github.gateway, clock)
    hidden = Repo(id=4_444_444, owner="Acme", name="hidden", installation_id=1)
    with store.write() as tx:
        for uid, repo in (("cafe0001", github.repo), ("cafe0002", hidden)):
            plan = some_plan(uid, repo=repo)
            plans.save(tx, plan, None)
            where = {"repository_id": repo.id, "lane": plan.lane, "installation_id": repo.installation_id}
            jobs.open_job(
                tx, job=f"{uid}-1", plan_uid=uid, kind=JobKind.PLAN, unit=Unit.CREATE_PLAN, deadline_at=1.0, **where
            )
    yield Api(github, clock, store, parts, serving.web(parts).test_client())  # type: ignore[attr-defined]
    store.dispose()


def refused(answer: TestResponse, status: int) -> str:
    """The sentence of a refusal, which is a problem document that no cache keeps."""
    assert (answer.status_code, answer.content_type) == (status, PROBLEM), answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    said = wire.Problem.model_validate_json(answer.data)
    assert said.status == status
    assert said.detail.endswith((".", "!", "?")) or ". " in said.detail, said.detail
    return said.detail


def test_what_github_hides_is_not_there_whatever_is_guessed(api: Api) -> None:
    stranger, ann = api.person("none"), api.person()
    assert api.get("/plans/cafe0001", ann).status_code == 200
    for who, uid in ((stranger, "cafe0001"), (ann, "cafe0002"), (ann, NOBODYS)):
        paths = [f"/plans/{uid}{tab}" for tab in ("", "/diff", "/gates", "/costs", "/journal")]
        sentences = {refused(api.get(path, who), 404) for path in (*paths, f"/jobs/{uid}-1")}
        sentences.add(refused(api.decide(uid, who, {"verb": "cancel"}), 404))
        assert len(sentences) == 1
    for path in ("/plans", "/jobs", "/journal", "/runners", "/costs", "/overview"):
        refused(api.get(path, ann, repository="Acme/hidden"), 404)
        refused(api.get(path, stranger, repository="Acme/shop"), 404)
        assert "hidden" not in api.get(path, ann).text
    assert [plan["uid"] for plan in api.get("/plans", ann).json["items"]] == ["cafe0001"]
    assert api.get("/plans", stranger).json == {"items": [], "next": None}
    assert api.get("/jobs", ann, plan="cafe0002").json["items"] == []
    assert api.deeds() == 0


def test_a_plans_journal_is_read_page_by_page_from_its_beginning(api: Api) -> None:
    ann, query = api.person(), {"limit": "2"}
    with api.store.write() as tx:
        for number, uid in enumerate(("cafe0001", "cafe0002") * 5):
            journal.append(tx, Entry(f"line {number}", "7:1", number, "approved", "s", uid))
    found = []
    while query:
        page = api.get("/plans/cafe0001/journal", ann, **query).json
        found += page["items"]
        assert len(page["items"]) <= 2
        query = {"limit": "2", "cursor": page["next"]} if page["next"] else {}
    assert [line["at"][17:19] for line in found] == ["00", "02", "04", "06", "08"]


def test_nobody_is_told_anything_without_a_proof(api: Api) -> None:
    for headers in ({}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer "}, {"Cookie": "twogate=guess"}):
        answer = api.get("/plans", headers)
        refused(answer, 401)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    refused(api.get("/plans", {"Authorization": "Bearer ghp_unknown"}), 401)
    assert api.get("/openapi.json").status_code == 200


def test_a_session_decides_only_from_its_own_pages(api: Api) -> None:
    api.person()
    login = serving.sign_in(api.parts)
    assert login is not None
    tokens = Tokens(token=api.token, ends_at=None, refresh_token=None)
    secret = login.sessions.begin(Person(id=api.id, login=api.login), tokens)
    api.http.set_cookie("twogate", secret, domain="localhost")
    assert api.get("/me").json["by"] == "dashboard"
    said = {"verb": "cancel"}
    refused(api.decide("cafe0001", {}, said), 403)
    refused(api.decide("cafe0001", {"X-CSRF-Token": "guess"}, said), 403)
    refused(api.decide("cafe0001", {"X-CSRF-Token": csrf_of(secret), "Origin": "https://evil.example"}, said), 403)
    assert api.deeds() == 0
    done = api.decide("cafe0001", {"X-CSRF-Token": csrf_of(secret)}, {**said, "via": "mcp"})
    assert done.status_code == 202
    with api.store.read() as tx:
        kept = deliveries.kept(tx, source="person", number=done.json["id"])
    assert kept is not None
    assert json.loads(kept.body)["via"] == "dashboard"


BOMBS = {
    "nesting": ("[" * 100_000, 400),
    "no json": ("{'verb': 'cancel'}", 400),
    "nothing": ("", 400),
    "not utf-8": (b'{"verb": "\xff"}', 400),
    "half a character": ('{"verb": "reject", "text": "\\ud800"}', 400),
    "a number without end": ('{"verb": ' + "9" * 5_000 + "}", 400),
    "something else": ("[]", 422),
    "an unknown word": ({"verb": "merge"}, 422),
    "what is answered on the issue alone": ({"verb": "help"}, 422),
    "an unknown field": ({"verb": "cancel", "force": True}, 422),
    "an approval of nothing": ({"verb": "approve"}, 422),
    "an approval of no hash": ({"verb": "approve", "saw": "HEAD"}, 422),
    "another way": ({"verb": "cancel", "via": "dashboard"}, 422),
    "too long a text": ({"verb": "reject", "text": "x" * 65_537}, 422),
    "too large": ("x" * (LARGEST_BODY + 1), 413),
}


@pytest.mark.parametrize("said", BOMBS.values(), ids=list(BOMBS))
def test_what_is_no_decision_is_refused_with_a_sentence(api: Api, said: tuple[Any, int]) -> None:
    refused(api.decide("cafe0001", api.person(), *said[:1]), said[1])
    assert api.deeds() == 0


def test_the_longest_text_of_any_letters_is_taken(api: Api) -> None:
    ann = api.person()
    text = "\u202e@everyone\n/approve <!-- twogate:cafe0001:plan:1 -->\0".ljust(65_536, "é")
    assert api.decide("cafe0001", ann, json.dumps({"verb": "reject", "text": text})).status_code == 202
    answer = api.decide("cafe0001", ann, {"verb": "cancel"}, **{"Content-Type": "text/plain"})
    refused(answer, 415)
    assert api.deeds() == 1


def test_addresses_are_read_to_the_letter(api: Api) -> None:
    ann = api.person()
    for query in (
        "limit=0",
        "limit=101",
        "limit=x",
        "state=open",
        "stat=draft",
        "held=maybe",
        "cursor=W10",
        NUL,
        "issue=0",
    ):
        refused(api.http.get(f"/api/v1/plans?{query}", headers=ann), 400)
    refused(api.http.get("/api/v1/plans?limit=3&limit=4", headers=ann), 400)
    for query in ("month=2026-13", "month=9999-01", "days=0", "days=367"):
        refused(api.http.get(f"/api/v1/costs?{query}", headers=ann), 400)
    said = refused(api.http.get("/api/v1/costs?month=2026-13", headers=ann), 400)
    assert said == "'2026-13' is no month: write it as 2026-11."
    for path in (
        "/plans/CAFE0001",
        "/deeds/0",
        "/deeds/1e3",
        "/deeds/99999999999999999999",
        "/nothing",
    ):
        refused(api.http.get(f"/api/v1{path}", headers=ann), 404)
    answer = api.http.delete("/api/v1/plans/cafe0001", headers=ann)
    refused(answer, 405)
    assert "GET" in answer.headers["Allow"]


def test_what_has_not_changed_is_not_sent_again(api: Api) -> None:
    ann = api.person()
    first = api.get("/plans/cafe0001", ann)
    assert (first.headers["Cache-Control"], first.headers["Vary"]) == ("private, no-cache", "Authorization, Cookie")
    again = api.get("/plans/cafe0001", {**ann, "If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    refused(api.get("/plans/cafe0001", {"If-None-Match": first.headers["ETag"]}), 401)


def test_a_key_makes_one_deed_of_many(api: Api) -> None:
    ann, key = api.person(), {"Idempotency-Key": "the-first"}
    said = {"verb": "reject", "text": "Not now."}
    answers = [api.decide("cafe0001", ann, said, **key) for _ in range(3)]
    assert {(answer.status_code, answer.json["id"]) for answer in answers} == {(202, answers[0].json["id"])}
    refused(api.decide("cafe0001", ann, {"verb": "cancel"}, **key), 422)
    assert api.decide("cafe0001", api.person(), said, **key).json["id"] != answers[0].json["id"]
    refused(api.decide("cafe0001", ann, said, **{"Idempotency-Key": "x" * 201}), 400)
    assert api.deeds() == 2
    refused(api.get(f"/deeds/{answers[0].json['id']}", api.person()), 404)


def test_who_asks_too_often_is_told_when_to_come_back(api: Api) -> None:
    ann, bob = api.person(), api.person()
    for _ in range(REQUESTS_A_MINUTE):
        assert api.get("/overview", ann).status_code == 200
    answer = api.get("/overview", ann)
    assert "come back in 60 seconds" in refused(answer, 429)
    assert answer.headers["Retry-After"] == "60"
    assert api.get("/overview", bob).status_code == 200
    api.clock.at += MINUTE
    for _ in range(DEEDS_AN_HOUR):
        assert api.decide("cafe0001", ann, {"verb": "icebox"}).status_code == 202
    refused(api.decide("cafe0001", ann, {"verb": "icebox"}), 429)
    api.clock.at += HOUR
    assert api.decide("cafe0001", ann, {"verb": "icebox"}).status_code == 202


def test_a_token_that_only_names_somebody_decides_nothing(api: Api) -> None:
    api.person()
    people = People(api.store, api.github.gateway.of_people(), api.clock)
    mute = replace(people.of_token(api.token), speaks=False)
    with api.store.read() as tx:
        plan = plans.get(tx, "cafe0001")
    assert plan is not None
    new = wire.NewPlan(repository="Acme/shop", title="t")
    for deed in (
        lambda: deeds.decide(api.store, mute, plan, wire.Decision(verb=Verb.CANCEL), Via.API),
        lambda: deeds.create(api.store, people, mute, plan.repo, new),
    ):
        with pytest.raises(Refused, match="may not comment for you") as refusal:
            deed()
        assert refusal.value.status == 403
