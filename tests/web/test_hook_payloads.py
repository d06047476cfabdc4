"""Reports that are hardly readable: what can't be read of one costs that part alone."""

from __future__ import annotations

from typing import Any

import pytest

from bot.lifecycle.hooks import Tracker
from bot.web.hook_payloads import read


def test_what_is_nested_too_deep_costs_its_own_line_alone() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    lines = [{"level": "error", "message": deep}, {"level": "error", "message": "it broke"}]
    found = read(Tracker.JAM, {"title": "Slow", "consoleLogs": lines})
    assert found is not None
    assert found[1].console == ("error", "error it broke")


LINEAR = {
    "action": "create",
    "type": "Issue",
    "data": {
        "id": "2174add1",
        "identifier": "SHOP-7",
        "title": "Voucher shows NaN",
        "description": "Pay with one.",
        "url": "https://linear.app/acme/issue/SHOP-7",
    },
    "url": "https://linear.app/acme/issue/SHOP-7",
    "webhookTimestamp": 1_676_056_940_508,
}
JIRA = {
    "webhookEvent": "jira:issue_created",
    "issue": {
        "id": "10002",
        "key": "SHOP-7",
        "self": "https://acme.atlassian.net/rest/api/2/issue/10002",
        "fields": {"summary": "Voucher shows NaN", "description": "Pay with one.", "environment": "Firefox 140"},
    },
}
SENTRY = {
    "action": "triggered",
    "data": {
        "event": {
            "title": "TypeError: price is undefined",
            "culprit": "total(basket.js)",
            "message": "",
            "issue_id": "1117540176",
            "web_url": "https://sentry.io/organizations/acme/issues/1117540176/",
            "request": {"url": "https://shop.example/basket?session=s3cret"},
            "contexts": {"browser": {"name": "Chrome", "version": "140"}, "os": {"name": "macOS"}, "trace": {}},
            "exception": {"values": [{"type": "TypeError", "value": "price is undefined"}, None]},
        },
        "triggered_rule": "New",
    },
}
CREATED = {"id": "1117540176", "title": "TypeError", "culprit": "total", "web_url": "https://sentry.io/issues/1/"}


@pytest.mark.parametrize(
    ("said", "name", "words"),
    [
        (LINEAR, "linear:2174add1", ["Voucher shows NaN", "Pay with one.", "https://linear.app/acme/issue/SHOP-7"]),
        (JIRA, "jira:10002", ["Voucher shows NaN", "Pay with one.", "Firefox 140", "https://acme.atlassian.net/browse/SHOP-7"]),
        (SENTRY, "sentry:1117540176", ["TypeError: price", "total(basket.js)", "shop.example/basket?…", "Chrome 140, macOS"]),
        ({"action": "created", "data": {"issue": CREATED}}, "sentry:1117540176", ["TypeError", "https://sentry.io/issues/1/"]),
    ],
    ids=["linear", "jira", "sentry alert", "sentry issue"],
)  # fmt: skip
def test_other_trackers_are_read_in_their_own_shape(said: dict[str, Any], name: str, words: list[str]) -> None:
    found = read(Tracker.ISSUE, said)
    assert found is not None
    assert found[0] == name
    told = found[1].model_dump_json()
    assert all(word in told for word in words), told
    assert "s3cret" not in told


@pytest.mark.parametrize(
    "said",
    [
        {**LINEAR, "action": "update"},
        {**LINEAR, "type": "Comment"},
        {**JIRA, "webhookEvent": "jira:issue_updated"},
        {"action": "resolved", "data": {"issue": CREATED}},
        {"action": "created", "data": {"installation": {"uuid": "a"}}},
        {"action": "triggered", "data": {"metric_alert": {"title": "Slow"}}},
    ],
)
def test_what_tells_of_no_new_report_is_none(said: dict[str, Any]) -> None:
    assert read(Tracker.ISSUE, said) is None


def test_a_link_for_recordings_of_jam_is_no_report_yet() -> None:
    link = {"recordingLinkId": "1", "publicId": "2", "url": "https://recorder.jam.dev/2", "description": "Show us."}
    assert read(Tracker.JAM, link) is None


def test_other_trackers_messages_of_any_shape_cost_what_cant_be_read_alone() -> None:
    odd: list[Any] = [None, 7, "x", [], [[]], {}, {"a": []}, True]
    for value in odd:
        for said in (
            {**LINEAR, "data": {**LINEAR["data"], "id": value, "description": value, "url": value}},
            {**JIRA, "issue": {**JIRA["issue"], "self": value, "key": value, "id": value}},
            {**SENTRY, "data": {"event": {**SENTRY["data"]["event"], "contexts": value, "exception": value, "request": value}}},
        ):  # fmt: skip
            found = read(Tracker.ISSUE, said)
            assert found is not None
            assert found[1].title
    assert read(Tracker.ISSUE, {**JIRA, "issue": {**JIRA["issue"], "self": "https://[b/rest/api"}}) is not None
