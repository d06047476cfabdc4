"""The dashboard as people use it: signing in, what is hidden, deciding, the keyboard, and what axe finds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bot.lifecycle.states import State, Via, WaitingOn
from bot.store import plans
from tests.browser.sights import BILLING, HIDDEN, SHOP
from tests.lifecycle import stories

if TYPE_CHECKING:
    from tests.browser.browser import Browser
    from tests.browser.sights import Sights
    from tests.scenarios.village import Village

LOOKS = [(375, False), (375, True), (1280, False), (1280, True)]
"""Widths of the window, and whether it is dark. A page that is one among many is tried in the first and the last."""
TABS = ("", "/revisions", "/checks", "/diff", "/logs", "/costs", "/decisions", "/timeline")


def test_somebody_signs_in_and_out_by_the_keyboard(browser: Browser, sights: Sights) -> None:
    wanted = f"/plans/{sights.one(State.IN_REVIEW).uid}"
    sights.sign_in(browser, "alice", wanted)
    assert "alice" in browser.part(".who").text
    browser.use("Sign out")
    assert browser.url == sights.at("/login?out")
    assert "You are signed out." in browser.text
    browser.open(sights.at(wanted))
    assert "/login?next=" in browser.url
    assert browser.complaints() == []


def test_another_persons_private_repository_is_invisible(browser: Browser, sights: Sights) -> None:
    hidden = next(plan for plan in sights.company if plan.repo == HIDDEN)
    name, address = f"{HIDDEN.owner}/{HIDDEN.name}", f"/plans/{hidden.uid}"
    sights.sign_in(browser, "alice")
    for path in ("/", "/ideas", "/costs", "/costs.csv", "/costs.json", "/runners", "/audit"):
        seen = browser.source(sights.at(path))
        assert HIDDEN.name not in seen, path
        assert SHOP.name in seen or path == "/runners", path
    nowhere = browser.source(sights.at("/plans/000000000000"))
    assert "Nothing here" in nowhere
    for path in (address, *(f"{address}{tab}" for tab in TABS), f"/?repository={name}", f"/audit?repository={name}"):
        assert browser.source(sights.at(path)).replace(' aria-current="page"', "") == nowhere, path
    browser.use("Sign out")
    sights.sign_in(browser, "eve", address)
    assert hidden.revisions[-1].document.title in browser.text
    assert SHOP.name not in browser.source(sights.at("/"))
    assert BILLING.name not in browser.source(sights.at("/audit"))


def test_deciding_on_the_page_is_deciding_by_comment(browser: Browser, sights: Sights) -> None:
    village = sights.village
    by_page, by_comment = village.planned(files=["shop/basket.py"]), village.planned(files=["shop/till.py"])
    address = f"/plans/{village.plan(by_page).uid}"
    sights.sign_in(browser, "alice", address)
    browser.use("Approve the plan")
    village.alice.comment(by_comment, "/approve")
    village.settle()
    browser.until(lambda: "Done: approve" in browser.text)
    village.runner(by_page).execute({"shop/basket.py": "rounded"})
    village.runner(by_comment).execute({"shop/till.py": "rounded"})
    browser.scripts(on=False)
    browser.open(sights.at(address))
    browser.use("Read and decide")
    browser.use("Approve the diff")
    assert "Recorded: approve" in browser.text
    village.alice.comment(by_comment, "/approve")
    village.settle()
    browser.use("Look again")
    assert "Done: approve" in browser.text
    assert village.stands(by_page) == village.stands(by_comment) == "pr_open, waits for merge"
    same(village, by_page, by_comment)


def test_ending_and_beginning_anew_on_the_page_is_doing_so_by_comment(browser: Browser, sights: Sights) -> None:
    village = sights.village
    by_page, by_comment = village.planned(), village.planned()
    address = f"/plans/{village.plan(by_page).uid}"
    sights.sign_in(browser, "alice", address)
    browser.scripts(on=False)
    browser.focus(browser.named("Why not (told to later attempts)"))
    browser.press("Too early.")
    browser.use("Reject")
    village.alice.comment(by_comment, "/reject Too early.")
    village.settle()
    browser.use("Look again")
    assert "Done: reject" in browser.text
    browser.open(sights.at(address))
    browser.use("Plan it anew")
    village.alice.comment(by_comment, "/plan")
    village.settle()
    browser.use("Look again")
    assert "Done: plan" in browser.text
    browser.use("Round the total")
    assert browser.url == sights.at(f"/plans/{village.plan(by_page).uid}"), "the new try"
    same(village, by_page, by_comment)


def same(village: Village, by_page: int, by_comment: int) -> None:
    """Compare what came of an issue on the page with what came of another by comments."""
    assert course(village, by_page) == course(village, by_comment)
    assert set(ways(village, by_page)) == {Via.DASHBOARD}
    assert set(ways(village, by_comment)) == {Via.COMMAND}
    assert [said for said in village.thread(by_comment) if not said.startswith("alice: ")] == village.thread(by_page)


def course(village: Village, issue: int) -> list[tuple[str | None, ...]]:
    """What the journal tells of an issue, but for the names that differ from plan to plan."""
    plan = village.plan(issue)
    own = re.compile(rf"#\d+|{plan.uid}|[0-9a-f]{{12,64}}|\brun \d+")
    return [(e.event, e.from_state, e.to_state, e.actor_login, own.sub("·", e.note)) for e in village.journal(issue)]


def ways(village: Village, issue: int) -> list[str]:
    """How people said what the journal has of them, after the label."""
    return [entry.details["via"] for entry in village.journal(issue) if entry.actor_id][1:]


@pytest.fixture(scope="module")
def pages(sights: Sights) -> list[str]:
    """Every page that Alice can come to."""
    reviewed, waiting = sights.one(State.IN_REVIEW), sights.one(State.DRAFT, WaitingOn.PLAN_DECISION)
    failed, merged, rejected = (sights.one(state) for state in (State.FAILED, State.MERGED, State.REJECTED))
    with sights.village.parts.store.write() as tx:
        plans.save(tx, rejected.model_copy(update={"lessons": stories.LEARNED}), rejected.version)
    shown = [f"/plans/{reviewed.uid}{tab}" for tab in TABS]
    shown += [f"/plans/{plan.uid}" for plan in (waiting, failed, merged, rejected)]
    return ["/", *shown, f"/plans/{failed.uid}/checks", "/ideas", "/costs", "/runners", "/audit", "/nowhere", "/login"]


def test_axe_finds_nothing_and_nothing_is_cut_off(browser: Browser, sights: Sights, pages: list[str]) -> None:
    sights.sign_in(browser, "alice")
    found = {}
    for path in pages:
        browser.open(sights.at(path))
        for width, dark in LOOKS if path in {"/", "/costs", "/audit"} else LOOKS[::3]:
            browser.look(width, dark=dark)
            found[path, width, dark] = browser.faults()
    assert {where: faults for where, faults in found.items() if faults} == {}
    assert [said for said in browser.complaints() if "404 (NOT FOUND)" not in said] == []


def test_everything_is_reached_by_the_keyboard_and_seen_to_be(
    browser: Browser, sights: Sights, pages: list[str]
) -> None:
    sights.sign_in(browser, "alice")
    for path in pages:
        browser.open(sights.at(path))
        assert browser.out_of_reach() == [], path
