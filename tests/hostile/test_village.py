"""Over the whole bot: a plan of hostile words goes the way of a harmless one, decided by the same people at both gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.lifecycle.commands import parse
from runner.contract import Outcome
from runner.results import ExecutionSummary, Lesson, PullRequestText, Recommendation, Unit
from tests.hostile.prompts import HARMLESS, line, plan
from tests.hostile.texts import named
from tests.lifecycle.markdown_seen import mentions
from tests.scenarios.conftest import country, source, sqlite_template, sqlite_url, village
from tests.scenarios.runner import PASSED
from tests.scenarios.village import APP, MARK

if TYPE_CHECKING:
    from tests.scenarios.village import Village

__all__ = ["country", "source", "sqlite_template", "sqlite_url", "village"]

WORST = "\n\n".join(
    named(name).text
    for name in (
        "full-width command",  # first, where it is still a command
        *("mark of the bot", "mark of the bot in odd spellings", "command in a quoted reply", "folded part"),
        *("forged section of the prompt", "end of a fence", "code fence in a list", "closing words", "mentions"),
        *("voice of the bot", "colours and titles", "tag characters", "template"),
    )
)
SAID = (*(named("commands in a row").text.splitlines()[:2]), named("full-width command").text, "/remember 1")
"""What somebody says who may not: each line is a comment of its own."""


def course(village: Village, text: str) -> tuple[int, list[tuple[Any, ...]], list[str]]:
    """Lead a plan from its issue to its pull request, with the text wherever there is one.

    Returns the issue, what the journal says of it, and the bot's messages by what they are.
    """
    issue = village.mia.open_issue(line(text.replace("\n", " "))[:250], text)
    village.tom.label(issue, "agent")
    village.settle()
    village.mia.comment(issue, "\n".join(f"> {words}" for words in text.splitlines()))
    runner = village.runner(issue)
    runner.claim()
    lesson = Lesson(unit=Unit.CREATE_PLAN, kind="fact", text=text[:1_000], paths=("shop/**",))
    document = plan(text).model_copy(update={"files": ("shop/**",), "weakens": (), "questions": ()})
    runner.end(Outcome.PLANNED, plan=document, lessons=(lesson,), asked=(text,), usage=runner.usage())
    refused(village, issue)
    assert village.stands(issue) == "draft, waits for plan_decision", village.known()
    village.alice.comment(issue, "/approve")
    village.settle()
    runner = village.runner(issue)
    verified = runner.verified(runner.publish({"shop/basket.py": text}))
    done = ExecutionSummary(
        status="done", summary=text, recommendations=(Recommendation(title=line(text), reason=text),)
    )
    written = PullRequestText(title=line(text)[:256], body=text)
    work = verified["work"].model_copy(update={"summary": done, "pull_request": written})
    gate = PASSED.model_copy(update={"summary": line(text), "tail": text})
    runner.end(Outcome.VERIFIED, **verified | {"work": work, "gates": (gate,), "notes": (text,), "asked": (text,)})
    refused(village, issue)
    assert village.stands(issue) == "in_review, waits for diff_decision", village.known()
    village.alice.comment(issue, "/approve")
    village.settle()
    told = [(e.event, e.from_state, e.to_state, e.actor_login, e.details.get("via")) for e in village.journal(issue)]
    return issue, told, [name for name in village.thread(issue) if name.partition(":")[0] not in village.people]


def refused(village: Village, issue: int) -> None:
    """Let somebody say all that decides who may only read."""
    for said in SAID:
        village.rita.comment(issue, said)
    village.settle()


def test_a_plan_of_hostile_words_goes_the_way_of_a_harmless_one(village: Village) -> None:
    assert parse(WORST) != ()
    _, wanted, messages = course(village, HARMLESS)
    village.alice.call("PATCH", f"/pulls/{village.pulls()[-1]['number']}", state="closed")
    village.settle()
    issue, told, same = course(village, WORST)
    assert told == wanted
    assert same == messages
    (pull,) = (pull for pull in village.pulls() if pull["state"] == "open")
    ours = [one["body"] for one in village.comments(issue) if one["user"]["login"] == f"{APP}[bot]"]
    assert len(ours) > 2
    for body in (*ours, pull["body"]):
        assert len(MARK.findall(body)) == body.count("<!-- twogate:") <= 1
        assert mentions(MARK.sub("", body)) - {"@rita"} == set()
        assert parse(body) == ()
    assert village.labels(issue) == ["agent", "plan: pr open"]
