"""Deliveries that are forged, nameless, doubled, out of order, or come again: what comes of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bot.intake.webhook import signature
from tests.standin.webhooks import headers

if TYPE_CHECKING:
    import httpx

    from tests.scenarios.village import Village


def send(village: Village, payload: dict[str, Any], secret: str | None = None, **changes: str | None) -> httpx.Response:
    """Send a delivery as GitHub would, with some headers changed or (None) left out."""
    body = json.dumps(payload).encode()
    sent = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "issues",
        "X-GitHub-Delivery": "0b989ba4-242f-11e5-81e1-c7b6966d2516",
        "X-Hub-Signature-256": signature((secret or str(village.app["webhook_secret"])).encode(), body),
        **{name.replace("_", "-"): value for name, value in changes.items()},
    }
    named = {name: value for name, value in sent.items() if value is not None}
    return village.http.post("/webhook", content=body, headers=named)


def an_unsent_label(village: Village) -> tuple[int, dict[str, Any]]:
    """An issue that Tom labelled, and the delivery about it, which never arrived."""
    village.github.faults.add("drop", event="issues.labeled")
    issue = village.opened()
    village.tom.label(issue, "agent")
    village.settle()
    return issue, village.last_delivery("issues.labeled")["payload"]


def test_a_forged_signature_leaves_no_trace(village: Village) -> None:
    issue, payload = an_unsent_label(village)
    kept = village.inbox()
    answer = send(village, payload, secret="somebody-elses-secret")
    assert answer.status_code == 401
    assert "secret" in answer.json()["status"]
    assert send(village, payload, X_Hub_Signature_256=None).status_code == 401
    assert send(village, payload, X_Hub_Signature_256="sha256=").status_code == 401
    village.settle()
    assert village.inbox() == kept
    assert village.thread(issue) == []
    assert village.plan_or_none(issue) is None
    assert village.runs() == []


def test_a_delivery_without_an_id_or_event_is_refused(village: Village) -> None:
    issue, payload = an_unsent_label(village)
    for missing in ({"X_GitHub_Delivery": None}, {"X_GitHub_Delivery": "../../x"}, {"X_GitHub_Event": None}):
        answer = send(village, payload, **missing)
        assert answer.status_code == 400
        assert "X-GitHub-Delivery" in answer.json()["status"]
    village.settle()
    assert village.thread(issue) == []


def test_an_event_nobody_reads_is_answered_and_not_kept(village: Village) -> None:
    _, payload = an_unsent_label(village)
    kept = village.inbox()
    answer = send(village, payload, X_GitHub_Event="sponsorship")
    assert (answer.status_code, answer.json()["status"]) == (202, "dropped: is an event that is not read")
    answer = send(village, {**payload, "action": "invented_tomorrow"})
    assert (answer.status_code, answer.json()["status"]) == (202, "dropped: is an action that is not read")
    assert send(village, {"action": "labeled"}).status_code == 422
    assert village.inbox() == kept


def test_a_delivery_that_comes_twice_acts_once(village: Village) -> None:
    village.github.faults.add("duplicate", count=None)
    issue = village.planned()
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]
    assert village.path(issue) == ["draft", "approved", "executing"]
    assert len(village.runs()) == 2


def test_a_delivery_under_a_new_id_acts_once(village: Village) -> None:
    issue = village.planned()
    village.alice.comment(issue, "/approve")
    village.alice.comment(issue, "/status")
    village.settle()
    village.redeliver_all()
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "alice: /status", "status"]
    assert len(village.notes(issue, "plan_requested")) == 1
    assert len(village.notes(issue, "approved")) == 1
    assert len(village.notes(issue, "status_requested")) == 1


def test_an_old_label_that_is_delivered_again_asks_for_nothing(village: Village) -> None:
    issue = village.labelled()
    village.alice.comment(issue, "/cancel")
    village.settle()
    village.github.control.redeliver(village.last_delivery("issues.labeled")["id"], new_guid=True)
    village.settle()
    assert village.thread(issue) == ["status", "alice: /cancel"]
    assert village.stands(issue) == "cancelled"
    assert village.plan(issue).try_number == 1


def test_a_lost_delivery_is_asked_for_again(village: Village) -> None:
    issue, _ = an_unsent_label(village)
    assert village.plan_or_none(issue) is None
    village.periodically("redeliver")
    assert village.thread(issue) == ["status"]
    assert village.stands(issue) == "draft, waits for runner"


def test_deliveries_that_overtake_each_other_end_as_they_would_in_order(village: Village) -> None:
    issue = village.planned()
    village.github.faults.add("reorder", event="issues.unlabeled")
    village.tom.unlabel(issue, "agent")
    village.tom.label(issue, "agent")
    village.settle()
    village.periodically("reconcile")
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == ["status", "plan 1"]


def test_a_label_set_twice_within_a_second_makes_one_plan(village: Village) -> None:
    issue = village.opened()
    village.tom.label(issue, "agent")
    village.tom.unlabel(issue, "agent")
    village.alice.label(issue, "agent")
    village.settle()
    assert village.thread(issue) == ["status"]
    assert village.notes(issue, "plan_requested") == ["a plan was asked for", "a plan of this issue exists"]
    assert len(village.runs()) == 1


def test_a_label_that_is_taken_off_at_once_asks_for_nothing(village: Village) -> None:
    issue = village.opened()
    village.tom.label(issue, "agent")
    village.tom.unlabel(issue, "agent")
    village.settle()
    assert village.thread(issue) == []
    assert village.notes(issue, "refused") == ["withdrawn or edited before it was used"]
    assert village.runs() == []


def test_the_stand_in_signs_as_github_does(village: Village) -> None:
    """The refusals above are worth something only if what GitHub really sends passes."""
    village.labelled()
    delivery = next(d for d in reversed(village.github.hub.deliveries) if d.app.id == village.app["app_id"])
    sent = headers(delivery)
    assert sent["X-Hub-Signature-256"] == signature(str(village.app["webhook_secret"]).encode(), delivery.raw)
