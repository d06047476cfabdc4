"""The pages: what they show and to whom, what they do not show, and what a form of theirs does."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, func, select, update

from bot.lifecycle.amounts import Amount
from bot.lifecycle.costs import dollars
from bot.lifecycle.deeds import Deed
from bot.lifecycle.permission import Permission
from bot.lifecycle.states import State, WaitingOn
from bot.store import deliveries, journal, plan_costs, plans, usage
from bot.store.engine import Store, open_store
from bot.store.journal import Entry
from bot.store.schema import deliveries as deliveries_table
from bot.store.schema import jobs as jobs_table
from bot.store.schema import journal as journal_table
from bot.web.limits import MINUTE, Rate
from runner.contract import GateResult, GateStatus
from tests.lifecycle import stories
from tests.web import company
from tests.web.company import ALICE, MIA, REPOS
from tests.web.looking import looks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.lifecycle.plan import Plan
    from tests.web.looking import Looker

NOW = 1_796_030_000.0
SHOP, BILLING, APP = (repo.id for repo in REPOS)
EVERYWHERE = dict.fromkeys((SHOP, BILLING, APP), Permission.WRITE)
LISTS = (
    "/",
    "/?state=merged",
    "/ideas",
    "/costs",
    "/costs?period=90d",
    "/runners",
    "/audit",
    "/audit?person=bob&event=approved",
)
TABS = ("", "/revisions", "/checks", "/checks?check=tests", "/diff", "/logs", "/costs", "/decisions", "/timeline")
HOSTILE = '<script>alert(1)</script> <img src=x onerror=alert(1)> " onmouseover="x [a](javascript:alert(1)) \u202e'


@pytest.fixture
def store(sqlite_url: str) -> Iterator[Store]:
    opened = open_store(sqlite_url, now=lambda: NOW)
    yield opened
    opened.dispose()


def looker(store: Store, permissions: dict[int, Permission] = EVERYWHERE) -> Looker:
    return looks(store, lambda: NOW, ALICE, permissions)


def one(made: list[Plan], state: State, waiting_on: WaitingOn | None = None) -> Plan:
    return next(plan for plan in made if plan.state is state and waiting_on in {None, plan.waiting_on})


@contextmanager
def counted(store: Store) -> Iterator[list[str]]:
    seen: list[str] = []

    def note(_conn: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        seen.append(statement)

    engines = (store.backend.reader, store.backend.writer)
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    yield seen
    for engine in engines:
        event.remove(engine, "before_cursor_execute", note)


def test_every_page_is_sound_and_needs_as_many_statements_at_any_size(sqlite_url: str) -> None:
    needed: dict[str, dict[int, int]] = {}
    for size in (100, 1_000):
        store = open_store(sqlite_url, now=lambda: NOW)
        if size == 100:
            made = company.found(store, size, NOW)
        else:
            company.found(store, size, NOW, first=101)
        alice = looker(store)
        stands = {plan.state: plan for plan in made}
        tabs = [(state, f"/plans/{plan.uid}{tab}") for state, plan in stands.items() for tab in TABS]
        for path in [*LISTS, *(path for state, path in tabs if size == 100 or state is State.IN_REVIEW)]:
            with counted(store) as seen:
                page = alice.get(path)
            assert (page.status, page.faults, page.count("h1")) == (200, [], 1), path
            needed.setdefault(path, {})[size] = len(seen)
        store.dispose()
    grown = {path: sizes for path, sizes in needed.items() if len(set(sizes.values())) > 1}
    assert grown == {}
    assert max(max(sizes.values()) for sizes in needed.values()) <= 20
    assert len([path for path, sizes in needed.items() if len(sizes) == 2]) == len(LISTS) + len(TABS)


def test_what_is_left_of_the_day_is_shown_where_a_policy_limits_it(store: Store) -> None:
    company.found(store, 100, NOW)
    with store.read() as tx:
        runs = usage.of_repositories(tx, [SHOP], NOW - NOW % 86_400)
    spent = sum((run.usage.usd for run in runs if run.usage.usd is not None), Decimal(0))
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t", looker(store).get("/costs?period=7d").text.partition('id="today"')[2])
    rows = [cells[at : at + 4] for at in range(4, len(cells), 4)]
    assert spent > 0
    assert rows[1] == ["acme/shop", dollars(Amount(value=50 - spent)), dollars(Amount(value=spent)), "$50"]
    assert rows[0][0] == "acme/billing"
    assert "acme/mobile-app" not in cells, "it has no limit"


def test_minutes_of_actions_stand_beside_what_agents_cost_where_they_are_paid(store: Store) -> None:
    plan = one(company.found(store, 100, NOW), State.MERGED)
    alice = looker(store)
    assert "GitHub Actions" not in alice.get(f"/plans/{plan.uid}/costs").text
    with store.write() as tx:
        tx.execute(update(jobs_table).values(actions_rate="0.008"))
        cost = plan_costs.of_plan(tx, plan)
    page = alice.get(f"/plans/{plan.uid}/costs").text
    assert f"{cost.actions_minutes.value} minutes, each job rounded up" in page
    assert all(f">{dollars(each)}<" in page for each in (cost.actions_usd, cost.usd))
    minutes, paid = re.findall(
        r">([0-9,]+) minutes, each job rounded up</td><td[^>]*>\$([0-9.]+)<", alice.get("/costs").text
    )[0]
    assert round(Decimal(minutes.replace(",", "")) * Decimal("0.008"), 2) == round(Decimal(paid), 2) > 0


def test_one_sees_what_github_shows_and_nothing_else(store: Store) -> None:
    made = company.found(store, 100, NOW)
    alice = looker(store, {SHOP: Permission.READ})
    hidden = [plan for plan in made if plan.repo.id != SHOP]
    for path in (*LISTS, "/costs.csv", "/costs.json"):
        page = alice.get(path)
        assert page.status == 200
        assert not [name for name in ("billing", "mobile-app", *(plan.uid for plan in hidden)) if name in page.text], (
            path
        )
    for path in (*(f"/plans/{hidden[0].uid}{tab}" for tab in TABS), "/?repository=acme/billing", "/plans/none"):
        page = alice.get(path)
        assert (page.status, "nothing here that GitHub shows to you" in page.text) == (404, True), path
    assert alice.say(hidden[0].uid, "cancel").status == 404


def test_who_only_reads_is_offered_nothing(store: Store) -> None:
    plan = one(company.found(store, 100, NOW), State.DRAFT, WaitingOn.PLAN_DECISION)
    reading, writing = (looker(store, {plan.repo.id: permission}) for permission in (Permission.READ, Permission.WRITE))
    page = reading.get(f"/plans/{plan.uid}")
    assert (page.count("button"), "Nothing for you to do here" in page.text) == (1, True), "to sign out alone"
    page = writing.get(f"/plans/{plan.uid}")
    assert plan.revision is not None
    assert [found["value"] for tag, found in page.elements if found.get("name") == "saw"] == [plan.revision.sha256]
    assert {"approve", "reject", "update", "cancel", "icebox"} <= {
        found["value"] for tag, found in page.elements if found.get("name") == "verb"
    }


def test_of_what_was_learned_and_recommended_one_ticks_what_is_meant(store: Store) -> None:
    made = company.found(store, 100, NOW)
    rejected, merged = one(made, State.REJECTED), one(made, State.MERGED)
    with store.write() as tx:
        plans.save(tx, rejected.model_copy(update={"lessons": stories.LEARNED}), rejected.version)
        plans.save(tx, merged.model_copy(update={"recommended": stories.RECOMMENDED}), merged.version)
    alice = looker(store)
    for plan, verb, open_ones in ((rejected, "remember", ["1", "2"]), (merged, "accept", ["2"])):
        page = alice.get(f"/plans/{plan.uid}")
        said = [found["value"] for _, found in page.elements if found.get("name") == "verb"]
        ticks = [found["value"] for _, found in page.elements if found.get("type") == "checkbox"]
        assert (page.faults, {verb, "plan"} <= set(said)) == ([], True)
        assert ticks == open_ones
    assert alice.say(rejected.uid, "remember", text=["1", "2"]).status == 303
    assert alice.say(merged.uid, "plan", key="another").status == 303
    with store.read() as tx:
        bodies = tx.execute(select(deliveries_table.c.body)).scalars()
        deeds = [Deed.model_validate_json(body) for body in bodies]
    assert [(deed.verb, deed.text) for deed in deeds] == [("remember", "1 2"), ("plan", "")]


def test_a_form_becomes_a_deed_of_that_person(store: Store) -> None:
    plan = one(company.found(store, 100, NOW), State.DRAFT, WaitingOn.PLAN_DECISION)
    assert plan.revision is not None
    alice, saw = looker(store), plan.revision.sha256 or ""
    refused = alice.say(plan.uid, "approve", csrf="0" * 64, saw=saw)
    assert (refused.status, "nothing was done" in refused.text) == (403, True)
    with store.read() as tx:
        assert deliveries.next_open(tx) is None
    said = [alice.say(plan.uid, "approve", saw=saw, text="") for _ in range(2)]
    assert [page.status for page in said] == [303, 303]
    assert said[0].answer.location == said[1].answer.location, "the same form twice is one deed"
    page = alice.get(said[0].answer.location)
    assert (page.status, page.faults, "Recorded: approve" in page.text) == (200, [], True)
    with store.write() as tx:
        (found,) = [found] if (found := deliveries.next_open(tx)) else []
        deliveries.finish(tx, found, "read by the test")
        assert deliveries.next_open(tx) is None
    deed = Deed.model_validate(json.loads(found.body))
    assert (deed.plan, deed.by, deed.via, deed.verb, deed.saw) == (plan.uid, ALICE, "dashboard", "approve", saw)
    assert looks(store, lambda: NOW, MIA, EVERYWHERE).get(said[0].answer.location).status == 404
    for form in ({"verb": "nonsense"}, {"verb": "approve", "saw": "x"}, {"verb": "update", "text": "x" * 70_000}):
        assert alice.say(plan.uid, **form).status == 400, form


def test_hostile_text_is_text_on_every_page(store: Store) -> None:
    made = company.found(store, 100, NOW)
    plan = one(made, State.IN_REVIEW, WaitingOn.DIFF_DECISION)
    assert plan.revision is not None
    assert plan.review is not None
    text = plan.revision.document.model_copy(
        update={"title": HOSTILE, "summary": HOSTILE, "steps": (HOSTILE,), "files": (HOSTILE,), "questions": (HOSTILE,)}
    )
    patch = f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/{HOSTILE}.py\n@@ -1 +1 @@ {HOSTILE}\n-{HOSTILE}\n+{HOSTILE}\n"
    gate = GateResult(name=HOSTILE, blocking=True, status=GateStatus.PASSED, seconds=1, summary=HOSTILE, tail=HOSTILE)
    work = plan.review.work.model_copy(update={"patch": patch})
    evil = plan.model_copy(
        update={
            "revisions": (plan.revision, plan.revision.model_copy(update={"number": 2, "document": text})),
            "review": plan.review.model_copy(update={"work": work, "gates": (gate,)}),
        }
    )
    with store.write() as tx:
        plans.save(tx, evil, plan.version)
    alice = looker(store)
    for path in ("/", "/ideas", "/runners", *(f"/plans/{plan.uid}{tab}" for tab in TABS)):
        page = alice.get(path)
        assert (page.status, page.faults, page.count("img")) == (200, [], 0), path
        assert not [address for address in page.values("href") if address.startswith("javascript")], path
        assert "\u202e" not in page.text, path
    assert "⟨U+202E⟩" in alice.get(f"/plans/{plan.uid}/diff").text


def test_the_headers_of_pages_and_files(store: Store) -> None:
    company.found(store, 10, NOW)
    alice = looker(store)
    page = alice.get("/")
    assert page.answer.headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in page.answer.headers["Content-Security-Policy"]
    files = [
        found[name]
        for tag, found in page.elements
        for name in ("href", "src")
        if tag in {"link", "script"} and name in found
    ]
    assert len(files) == 3
    for file in files:
        with alice.browser.get(file) as answer:
            assert "immutable" in answer.headers["Cache-Control"], file


def test_what_is_said_where_there_is_no_page(store: Store) -> None:
    made = company.found(store, 10, NOW)
    alice = looker(store)
    for path, status, words in (
        ("/nowhere", 404, "There is no such page"),
        ("/?state=odd", 404, "know no such state"),
        ("/costs?period=2026-13", 400, "is no month"),
        ("/audit?since=tomorrow", 400, "Write a day as"),
        ("/audit?cursor=x", 400, "none of ours"),
        ("/costs?period=%D9%A3d", 400, "is no month"),
        ("/audit?person=a%00b", 400, "zero byte"),
        ("/plans/a%00b", 400, "zero byte"),
        (f"/plans/{made[0].uid}/said/{10**30}", 404, "There is no such page"),
    ):
        page = alice.get(path)
        assert (page.status, page.faults, words in page.text) == (status, [], True), path
    assert alice.browser.get("/nowhere").json is not None, "programs are told in JSON"
    alice.browser.delete_cookie("twogate", domain="localhost")
    away = alice.get("/costs?period=90d")
    assert (away.status, away.answer.location) == (303, "/login?next=%2Fcosts%3Fperiod%3D90d")


def test_who_loads_pages_without_end_is_told_when_to_come_back(store: Store) -> None:
    now, few = [NOW], Rate(3, MINUTE, "pages a minute")
    alice = looks(store, lambda: now[0], ALICE, EVERYWHERE, few)
    assert [alice.get(path).status for path in ("/", "/plans/none", "/runners")] == [200, 404, 200]
    page = alice.get("/")
    assert (page.status, page.faults, page.answer.headers["Retry-After"]) == (429, [], "60")
    assert "more than 3 pages a minute: come back in 60 seconds" in page.text
    now[0] += MINUTE
    assert alice.get("/").status == 200


def test_an_empty_house_says_what_to_do(store: Store) -> None:
    alice = looker(store)
    for path, words in (
        ("/", "Label an issue"),
        ("/ideas", "The icebox is empty"),
        ("/costs", "Nothing was spent in this period"),
        ("/runners", "Register a self-hosted runner"),
        ("/audit", "Nothing has happened yet"),
    ):
        page = alice.get(path)
        assert (page.status, page.faults, words in page.text) == (200, [], True), path


def test_pages_lead_on_to_every_line(store: Store) -> None:
    plan = company.found(store, 100, NOW)[0]
    with store.write() as tx:
        for number in range(250):
            journal.append(tx, Entry(f"line {number}", plan.lane, NOW, "status_posted", "s", plan.uid))
    alice, c = looker(store), journal_table.c
    for start, row, mine in (
        ("/audit?event=approved", '<th scope="row"', c.event == "approved"),
        (f"/plans/{plan.uid}/timeline", "<strong>", c.plan_uid == plan.uid),
    ):
        seen, path = 0, start
        while path:
            page = alice.get(path)
            seen += page.text.count(row)
            path = next((found["href"] for _, found in page.elements if found.get("rel") == "next"), "")
        with store.read() as tx:
            assert seen == tx.execute(select(func.count()).where(mine)).scalar_one() > 50, start
