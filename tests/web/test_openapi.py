"""The API keeps to its document, whatever it is asked; and the document that is shipped is the one that is served."""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from bot import wire
from bot.lifecycle.commands import Verb
from bot.lifecycle.states import State, Via, WaitingOn
from bot.store import jobs, journal, plans, usage
from bot.store.engine import open_store
from bot.store.journal import Entry
from bot.web import deeds, rest_pages
from bot.web.app import create_app
from bot.web.books import Books
from bot.web.catalogue import Catalogue
from bot.web.limits import Limiter, Rate
from bot.web.openapi import PARAMETER, PREFIX, document, operations
from bot.web.people import People
from bot.web.rest_api import RestApi
from bot.web.views import Views
from runner.contract import JobKind, Outcome
from runner.results import Unit
from tests.lifecycle import stories
from tests.lifecycle.makers import UID
from tests.reference import ROOT
from tests.web import drawing
from tests.web.lab import report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.lifecycle.plan import Repo
    from bot.store.engine import Store
    from bot.web.openapi import Operation
    from tests.web.lab import GitHub

DOCUMENT = ROOT / "docs" / "reference" / "openapi.json"
EXAMPLES = 8
"""Requests drawn for each operation: the same ones each time."""


def test_the_document_that_is_shipped_is_the_one_that_is_served() -> None:
    text = json.dumps(document(operations(RestApi)), indent=1) + "\n"
    if os.environ.get("UPDATE_DOCS"):
        DOCUMENT.write_text(text)
    assert DOCUMENT.read_text() == text, "write it anew with UPDATE_DOCS=1"


UNLIMITED = Rate(10**9, 1.0, "requests a second")
BEYOND = ("cursor", "month")
"""What a schema can't say of a parameter: that the bot gave it out, or that it has begun."""
KNOWN = {"uid": UID, "job": f"{UID}-1", "deed": 1}


@pytest.fixture(scope="module")
def api(github: GitHub, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The API before a stand-in, with one plan that is in review, as somebody asks who may decide on it."""
    path = tmp_path_factory.mktemp("api") / "store.db"
    shutil.copy(sqlite_template, path)
    store, people_gateway = open_store(f"sqlite:///{path}"), github.gateway.of_people()
    people = People(store, people_gateway, time.time)
    token = github.standin.control.create_user("oda")["token"]
    github.standin.control.set_role("Acme/shop", "oda", "write")
    fill(store, github.repo)
    catalogue, books = Catalogue(store, Views(github.standin.url)), Books(store, time.time)
    rest = RestApi(store, catalogue, books, people, Limiter(UNLIMITED, time.time))
    app = create_app(rest_pages.blueprint(rest, None, Limiter(UNLIMITED, time.time)))
    schema = schemathesis.openapi.from_wsgi(f"{PREFIX}/openapi.json", app)
    drawing.mend()
    who = people.of_token(token)
    with store.read() as tx:
        plan = plans.get(tx, UID)
    assert plan is not None
    assert deeds.decide(store, who, plan, wire.Decision(verb=Verb.CANCEL), Via.API).id == KNOWN["deed"]
    yield schema, {"Authorization": f"Bearer {token}"}
    store.dispose()


def fill(store: Store, repo: Repo) -> None:
    """Store a plan with everything that one can have."""
    plan = stories.plan(
        State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REVIEWED, repo=repo, recommended=stories.RECOMMENDED
    )
    with store.write() as tx:
        plans.save(tx, plan, None)
        where = {"repository_id": repo.id, "lane": plan.lane, "installation_id": repo.installation_id}
        jobs.open_job(
            tx, job=KNOWN["job"], plan_uid=UID, kind=JobKind.EXECUTE, unit=Unit.EXECUTE_PLAN, deadline_at=1.0, **where
        )
        job = jobs.get(tx, KNOWN["job"])
        assert job is not None
        told = report(job, Outcome.AGENT_FAILED)
        jobs.report(tx, job.id, told)
        usage.add(tx, job, told.usage, final=True)
        details = {"head": "a" * 40}
        journal.append(
            tx, Entry(UID, plan.lane, tx.now, "approved", "s", UID, 1, 7, "ann", "draft", "approved", "", details)
        )


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("each", operations(RestApi), ids=lambda each: each.name)
def test_the_api_keeps_to_its_document(api: Any, each: Operation, mode: schemathesis.GenerationMode) -> None:
    schema, headers = api
    strategy = schema[f"{PREFIX}{each.path}"][each.method].as_strategy(generation_mode=mode)

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def asked(case: schemathesis.Case) -> None:
        if mode is schemathesis.GenerationMode.POSITIVE:
            for name in BEYOND:
                case.query.pop(name, None)
            case.path_parameters.update({name: KNOWN[name] for name in case.path_parameters})
        case.call_and_validate(headers=headers)

    asked()


def test_what_is_there_is_shown_as_the_document_says(api: Any) -> None:
    schema, headers = api
    for path, methods in document(operations(RestApi))["paths"].items():
        if "get" in methods:
            names = {name: KNOWN[name] for name in PARAMETER.findall(path)}
            response = schema[path]["GET"].Case(path_parameters=names).call_and_validate(headers=headers)
            assert response.status_code == 200, (path, response.text)
