"""What people do on the dashboard and by the API: judged as their comments are, and journalled as theirs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bot import wire
from bot.lifecycle.commands import Verb
from bot.lifecycle.states import Via
from bot.web import deeds
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan
    from tests.scenarios.village import Village


NUMBERS = re.compile(r"[0-9a-f]{10,12}|#[0-9]+")


def does(
    village: Village,
    who: str,
    issue: int,
    via: Via = Via.API,
    key: str | None = None,
    plan: Plan | None = None,
    **said: object,
) -> str:
    """Let a person do something by the API to the issue's newest plan, or an earlier one; what came of it, in words."""
    onlooker = village.people_of_bot.of_token(village.country.tokens[who])
    store, plan = village.parts.store, plan or village.plan(issue)
    done = deeds.decide(store, onlooker, plan, wire.Decision.model_validate(said), via, key)
    assert done.status == "waiting" or key is not None
    village.settle()
    view = deeds.outcome(store, onlooker, village.people_of_bot.sees(onlooker), done.id)
    assert view.status == "done"
    return f"{'counted' if view.counted else 'came to nothing'}: {view.outcome}"


def told(village: Village, issue: int) -> list[tuple[object, ...]]:
    """What the journal says, but for how people said it, random names and times."""
    return [
        (e.event, e.actor_login, e.from_state, e.to_state, NUMBERS.sub("*", e.note), sorted(e.details))
        for e in village.journal(issue)
    ]


def test_a_decision_by_the_api_is_journalled_as_one_by_comment(village: Village) -> None:
    by_comment = village.reviewed(files=["shop/basket.py"])
    village.alice.comment(by_comment, "/approve")
    village.settle()
    by_api = village.planned(files=["shop/till.py"])
    assert does(village, "alice", by_api, verb="approve", saw=village.up(by_api)).startswith("counted: plan ")
    village.runner(by_api).execute({"shop/till.py": "rounded"})
    said = does(village, "alice", by_api, Via.DASHBOARD, verb="approve", saw=village.up(by_api))
    assert said.startswith("counted: diff ")
    assert told(village, by_api) == told(village, by_comment)
    assert village.stands(by_api) == village.stands(by_comment) == "pr_open, waits for merge"
    assert [e.details["via"] for e in village.journal(by_api) if e.event == "approved"] == ["api", "dashboard"]
    assert [n for n in village.thread(by_comment) if n != "alice: /approve"] == village.thread(by_api)
    assert "`alice` by the API" in village.text(by_api, "status")
    assert "`alice` on the dashboard" in village.text(by_api, "status")


def test_who_may_not_is_told_where_they_asked(village: Village) -> None:
    issue = village.planned()
    saw = village.up(issue)
    assert "`/approve` needs write permission" in does(village, "rita", issue, verb="approve", saw=saw)
    said = does(village, "alice", issue, verb="approve", saw="e" * 64)
    assert said.startswith("came to nothing: The approval does not count: what is up for decision is no longer")
    assert does(village, "alice", issue, verb="priority", text="high").startswith("counted: priority high")
    assert does(village, "alice", issue, Via.MCP, verb="budget", text="much").startswith("came to nothing: ")
    assert does(village, "alice", issue, verb="retry").startswith("came to nothing: Nothing was done with this plan")
    assert does(village, "alice", issue, verb="start").startswith("came to nothing: Nothing was done")
    assert village.thread(issue) == ["status", "plan 1"]
    assert village.stands(issue) == "draft, waits for plan_decision"
    comment = next(c for c in village.comments(issue) if c["id"] == village.plan(issue).revision.comment_id)
    village.github.faults.add("drop", event="issue_comment.edited")
    village.bob.edit_comment(comment["id"], "Delete everything.")
    assert does(village, "alice", issue, verb="approve", saw=saw).startswith("came to nothing: The approval does not")
    village.person("alice", "none")
    with pytest.raises(Refused, match="nothing here that GitHub shows"):
        does(village, "alice", issue, verb="cancel")
    assert village.notes(issue, "refused")[-1] == "alice lacks 3"
    village.person("alice", "write")


def test_a_key_makes_one_deed_of_many_and_another_persons_is_not_there(village: Village) -> None:
    issue = village.planned()
    for _ in range(2):
        said = does(village, "alice", issue, key="k-1", verb="reject", text="Not now.\n/approve")
        assert said == "counted: rejected at the plan gate"
    with pytest.raises(Refused, match="used for something else"):
        does(village, "alice", issue, key="k-1", verb="reject", text="Never.")
    assert len(village.notes(issue, "rejected")) == 1
    assert does(village, "bob", issue, key="k-1", verb="reopen") == "counted: reopened"
    people = village.people_of_bot
    bob = people.of_token(village.country.tokens["bob"])
    mine = deeds.decide(village.parts.store, bob, village.plan(issue), DECISION, Via.API)
    for who in ("alice", "rita"):
        other = people.of_token(village.country.tokens[who])
        with pytest.raises(Refused, match="nothing here"):
            deeds.outcome(village.parts.store, other, people.sees(other), mine.id)
    village.settle()


DECISION = wire.Decision(verb=Verb.CANCEL)


def test_a_new_plan_is_an_issue_of_the_persons_own(village: Village) -> None:
    village.planned()
    people, wanted = village.people_of_bot, wire.NewPlan(repository=village.repository, title="Sell", body="<!-- x -->")
    repo = village.plan(village.planned()).repo
    tom = people.of_token(village.country.tokens["tom"])
    first, again = (deeds.create(village.parts.store, people, tom, repo, wanted, "k") for _ in range(2))
    assert first == again
    assert first.labelled
    village.settle()
    plan = village.plan(first.issue)
    assert (plan.requester.login, plan.issue.title, plan.issue.author) == ("tom", "Sell", plan.requester)
    mia = people.of_token(village.country.tokens["mia"])
    assert not deeds.create(village.parts.store, people, mia, repo, wanted, "k").labelled
