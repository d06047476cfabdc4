"""What the log says: which work each record is of, in lines that nothing forges, and never a secret."""

from __future__ import annotations

import io
import json
import logging
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bot import trail
from bot.logs import Json, Text, secrets_of, set_up
from bot.settings import from_environment
from tests.scenarios.conftest import country, source, sqlite_template, sqlite_url, village

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scenarios.village import Village

__all__ = ["country", "source", "sqlite_template", "sqlite_url", "village"]

LOG = logging.getLogger("bot.of.this.test")
TOKENS = (
    "ghs_" + "a1B2" * 9,
    "github_pat_" + "x" * 40,
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.c2lnbmF0dXJlLWlzLWhlcmU",
)


@contextmanager
def written(formatter: logging.Formatter) -> Iterator[io.StringIO]:
    """What any logger says in the block, down to DEBUG."""
    stream, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(stream), root.level
    handler.setFormatter(formatter)
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield stream
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def records(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("kind", [Text, Json])
def test_no_secret_passes(kind: type[logging.Formatter]) -> None:
    secret = "the webhook's secret"
    with written(kind([secret])) as stream, trail.working("x", path=f"/hooks/{secret}"):  # type: ignore[call-arg]
        for word in (*TOKENS, secret):
            LOG.warning("GitHub answered with %s", word)
            try:
                int(f"postgresql://bot:hunter-two@db/x: {word}")
            except ValueError:
                LOG.exception("it failed with %r", {"token": word})
    said = stream.getvalue()
    assert "***" in said
    assert not [word for word in (*TOKENS, secret, "hunter-two") if word in said]


def test_a_line_is_a_record_whatever_is_said() -> None:
    forged = "/x\n2026-11-30T08:00:00.000Z ERROR bot: all is lost\x1b[2J"
    with written(Text()) as stream, trail.working("request", path=forged):
        LOG.info("GET %s: 404", forged)
        LOG.error("it failed", exc_info=ValueError(forged))
    assert len([line for line in stream.getvalue().splitlines() if not line.startswith("  ")]) == 2
    assert "\x1b" not in stream.getvalue()
    with written(Json()) as stream, trail.bearing(message="mine", level="FATAL", delivery=7):
        LOG.info("theirs %s", forged)
    (record,) = records(stream)
    assert (record["level"], record["delivery"]) == ("INFO", 7)
    assert record["message"].startswith("theirs ")
    assert trail.fields() == {}


def test_each_record_says_whose_work_it_is_and_none_tells_a_secret(village: Village) -> None:
    """From label to pull request, all loggers at DEBUG: every secret of the App, of GitHub's tokens, of the jobs."""
    settings = from_environment(village.environment)
    with written(Json(secrets_of(settings))) as cleaned, written(logging.Formatter("%(message)s")) as raw:
        issue = village.pulled()
    plan, said = village.plan(issue), records(cleaned)
    effects = [record for record in said if record["logger"] == "bot.worker.deliver"]
    assert len(effects) > 10
    assert all({"effect", "key", "lane", "installation", "attempt"} <= record.keys() for record in effects)
    assert {record["plan"] for record in effects if record["message"].startswith(plan.uid)} == {plan.uid}
    requests = [record for record in said if record["logger"] == "bot.web.app"]
    assert plan.lane in {record["lane"] for record in requests if record["path"] == "/webhook" and "guid" in record}
    assert {record["plan"] for record in requests if record["path"].endswith("/report")} == {plan.uid}
    hub = village.github.hub
    known = {*village.country.tokens.values(), *hub.tokens, str(village.app["webhook_secret"])}
    known |= set(str(village.app["private_key"]).splitlines()[1:-1])
    assert len(known) > 10
    assert not [secret for secret in known if secret in raw.getvalue()]


def test_the_log_is_set_up_as_asked(village: Village, monkeypatch: pytest.MonkeyPatch) -> None:
    root, stream = logging.getLogger(), io.StringIO()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(sys, "stderr", stream)
    set_up(from_environment({**village.environment, "TWOGATE_LOG_FORMAT": "json"}))
    LOG.warning("well")
    assert json.loads(stream.getvalue())["message"] == "well"
