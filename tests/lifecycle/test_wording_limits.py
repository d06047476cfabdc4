"""The worst input for every message: GitHub takes what is made of it, and what is cut is seen to be cut."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.lifecycle.approvers import Needed
from bot.lifecycle.ci import LONGEST_LOG, MOST_CHECKS, CiCheck, CiFailure, CiState
from bot.lifecycle.codeowners import Owned
from bot.lifecycle.costs import PlanCost
from bot.lifecycle.effects import Topic
from bot.lifecycle.figures import figures
from bot.lifecycle.histories import History, Spending
from bot.lifecycle.hooks import Reported, Tracker
from bot.lifecycle.lessons import MOST_LEARNED, MOST_PATHS
from bot.lifecycle.plan import Child, Failure, Learned, Pending, Person, Revision, Split, Wish
from bot.lifecycle.policy import CiPolicy
from bot.lifecycle.states import Gate, State, WaitingOn
from bot.lifecycle.wording import limits, render
from bot.lifecycle.wording.costs_told import costs_comment
from bot.lifecycle.wording.policy_check import policy_check
from runner.contract import (
    MAX_PATCH,
    MAX_PATHS,
    MAX_TAIL,
    MAX_USD,
    Collision,
    Feedback,
    FileChange,
    GateResult,
    GateStatus,
    JobKind,
    Outcome,
    Usage,
)
from runner.results import (
    MOST_CHILDREN,
    MOST_FINDINGS,
    ExecutionSummary,
    Finding,
    Inspection,
    PullRequestText,
    Unit,
    WaitingLesson,
)
from runner.terms import AgentSpec
from tests.lifecycle import stories
from tests.lifecycle.makers import document
from tests.lifecycle.markdown_seen import outside_code

WORST = ["x", "&", "@a", "`", "\x00", "\n", "é", "\U0001d54f", "|", "<", "```\n", "`` ", "- a\n", "word "]
LONG = 65_536
WHOLE = limits.BODY


def filled(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


def worst(piece: str) -> tuple[object, PlanCost]:
    """A plan and its cost, every field as long as its type allows."""
    text, line, tail = filled(piece, LONG), filled(piece, 300), filled(piece, MAX_TAIL)
    gates = tuple(
        GateResult(name=line, blocking=True, status=GateStatus.FAILED, seconds=9e9, summary=line, tail=tail)
        for _ in range(80)
    )
    files = tuple(
        FileChange(path=text[:4_096], status="modified", added=10**9, removed=10**9) for _ in range(MAX_PATHS)
    )
    work = stories.WORK.model_copy(
        update={
            "files": files,
            "files_total": 10**6,
            "patch": filled(piece, MAX_PATCH),
            "patch_cut": True,
            "moved_base_paths": (text[:4_096],) * 200,
            "collisions": (
                Collision(issue=9, branch=line, head="e" * 40, paths=(text[:4_096],) * 20, paths_total=10**6),
            )
            * 200,
            "summary": ExecutionSummary(status="done", summary=text, deviations=(text,) * 30, missing=(text,) * 30),
            "pull_request": PullRequestText(title=line[:256] or "x", body=text),
        }
    )
    checks = tuple(
        CiCheck(name=line, state=CiState.FAILED, conclusion=line, app=line, url=f"https://x/{'a' * 190}")
        for _ in range(MOST_CHECKS)
    )
    finding = Finding(severity="high", path=line, line=10**9, text=text)
    inspection = Inspection(summary=text, findings=(finding,) * MOST_FINDINGS)
    sandbox = stories.SANDBOX.model_copy(update={"sentence": text})
    review = stories.GREEN.model_copy(
        update={
            "work": work,
            "gates": gates,
            "notes": (text,) * 30,
            "sandbox": sandbox,
            "ci": checks,
            "inspection": inspection,
            "used": (text[:300],) * 100,
            "asked": (text,) * 30,
            "ci_until": 1e9,
        }
    )
    revision = Revision(
        number=99,
        document=document(title=line, summary=text, steps=(text,) * 60, questions=(text,) * 60, changes=(text,) * 60),
        gates=(),
        comment_id=10**12,
        sha256="f" * 64,
    )
    lesson = WaitingLesson(
        unit=Unit.EXECUTE_PLAN,
        kind="convention",
        text=text[:1_000],
        paths=(line,) * MOST_PATHS,
        learned_from=line,
        adopted_by=line,
    )
    learned = Learned(what=lesson, path=text[:4_096])
    plan = stories.plan(
        State.FAILED,
        WaitingOn.PERSON,
        **{
            **stories.DONE,
            "review": review,
            "revisions": (revision,) * 200,
            "failure": Failure(
                outcome=Outcome.GATES_FAILED,
                sentence=text,
                during=JobKind.EXECUTE,
                gates=gates,
                output_tail=tail,
                notes=(text,) * 30,
                asked=(text,) * 30,
                ci=(CiFailure(check=checks[0], log=filled(piece, LONGEST_LOG)),) * 30,
            ),
            "lessons": (learned,) * MOST_LEARNED,
            "rejected_at_gate": Gate.DIFF,
            "rejections": (Feedback(kind="rejection", author=line, text=text),),
            "split": Split(
                number=1,
                by=stories.BOB.model_copy(update={"login": line}),
                summary=text,
                children=tuple(
                    Child(document=revision.document, depends_on=tuple(range(1, n)), number=10**9 + n)
                    for n in range(1, MOST_CHILDREN + 1)
                ),
            ),
            "feedback": (Feedback(kind="answer", author=line, text=text, quote=text),),
            "policy": stories.POLICY.model_copy(
                update={"ci": CiPolicy(require=(line,) * 100), "inspector": AgentSpec(name=line, model=line)}
            ),
            "waits_for": (*(f"#{n}" for n in range(500)), line),
        },
    )
    row = stories.COST.rows[0].model_copy(
        update={
            "agent": line,
            "model": line,
            "price_date": line,
            "input_tokens": 10**300,
            "output_tokens": 10**300,
            "cache_read_tokens": 10**300,
            "cache_write_tokens": 10**300,
            "usd": Decimal("9e300"),
            "seconds": 1e300,
        }
    )
    return plan, PlanCost(rows=tuple(row.model_copy(update={"job": f"j-{n}"}) for n in range(300)))


@pytest.mark.parametrize("piece", WORST)
def test_every_message_fits(piece):
    plan, cost = worst(piece)
    review = render.review_comment(plan, cost, stories.COMPARE)
    assert len(review) <= WHOLE
    assert "The patch is cut here" in outside_code(review)
    assert review.endswith("it no longer counts.")
    title, body = render.child_issue(plan, plan.split, MOST_CHILDREN)
    assert 0 < len(title) <= limits.TITLE
    assert len(body) <= WHOLE
    for waiting_on in (WaitingOn.BOT, WaitingOn.ANSWERS, WaitingOn.PLAN_DECISION):
        draft = plan.model_copy(update={"state": State.DRAFT, "waiting_on": waiting_on, "feedback": ()})
        assert len(render.status_comment(draft, cost)) <= WHOLE
    for state in (State.FAILED, State.REJECTED, State.MERGED, State.CANCELLED, State.APPROVED, State.SPLIT):
        moved = plan.model_copy(update={"state": state, "waiting_on": WaitingOn.OVERLAP})
        assert len(render.status_comment(moved, cost)) <= WHOLE
    waiting = plan.model_copy(update={"state": State.VERIFYING, "waiting_on": WaitingOn.CI})
    assert len(render.status_comment(waiting, cost)) <= WHOLE
    title, body = render.pull_request(plan, cost)
    assert 0 < len(title) <= limits.TITLE
    assert len(body) <= WHOLE
    many = (filled(piece, 300),) * 30
    report = {"title": filled(piece, 250), "text": filled(piece, LONG), "link": filled(piece, 300)}
    lists = {"steps": many, "console": many, "network": many, "facts": (("Page", filled(piece, 300)),) * 3}
    title, body = render.reported_issue(Reported(tracker=Tracker.JAM, **report, **lists), stories.POLICY)
    assert len(title) <= limits.TITLE
    assert len(body) <= WHOLE
    title, summary = render.check_run(plan, filled(piece, LONG))
    assert 0 < len(title) <= limits.TITLE
    assert len(summary.encode()) <= limits.CHECK_BYTES
    keys = (
        "needs",
        "verb",
        "what",
        "why",
        "cause",
        "paths",
        "head",
        "word",
        "line",
        "reason",
        "effect",
        "sentence",
        "command",
    )
    for topic in Topic:
        assert len(render.say(topic, dict.fromkeys(keys, filled(piece, LONG)), plan, None)) <= WHOLE


@pytest.mark.parametrize("piece", WORST)
def test_the_costs_of_very_many_models_fit(piece):
    line = filled(piece, 300)
    runs = [
        Usage(
            unit=Unit.EXECUTE_PLAN,
            agent=f"{n}{line}"[:300],
            model=f"{n}{line}"[:300],
            attempt=1,
            usd=MAX_USD,
            input_tokens=2**63 - 1,
            output_tokens=2**63 - 1,
            seconds=9e9,
            complete=False,
        )
        for n in range(500)
    ]
    found = figures([History((), [Spending(1.0, run) for run in runs])], 0.0, 2.0)
    text = costs_comment(found, stories.POLICY, to=Person(id=1, login=line))
    assert len(text) <= WHOLE
    assert "488 more cost less and are not listed." in text


def test_a_long_patch_takes_what_room_there_is():
    lines = [f"+line {n}" for n in range(20_000)]
    work = stories.WORK.model_copy(update={"patch": "\n".join(lines), "patch_cut": False})
    plan = stories.STATUS["in_review"]
    plan = plan.model_copy(update={"review": plan.review.model_copy(update={"work": work})})
    text = render.review_comment(plan, stories.COST, stories.COMPARE)
    assert WHOLE - 100 <= len(text) <= WHOLE
    shown = sum(line.startswith("+line") for line in text.split("\n"))
    assert f"{shown} lines are shown of 20000" in text
    assert f"+line {shown - 1}\n```" in text
    assert f"[Read all of it in the comparison]({stories.COMPARE})" in text


def test_a_patch_that_the_runner_cut_is_said_to_be_cut_though_all_of_the_rest_is_shown():
    work = stories.WORK.model_copy(update={"patch_cut": True})
    plan = stories.STATUS["in_review"]
    plan = plan.model_copy(update={"review": plan.review.model_copy(update={"work": work})})
    text = render.review_comment(plan, stories.COST, stories.COMPARE)
    assert "**The patch is cut here: 10 lines are shown.** An approval covers the whole commit" in text


def test_a_plan_is_shown_whole_or_not_at_all():
    room = WHOLE - len(render.plan_comment(stories.plan(), Revision(number=1, document=document(summary="x"))))
    fits = Revision(number=1, document=document(summary="x" * (room + 1)))
    whole = render.plan_comment(stories.plan(), fits)
    assert len(whole) == WHOLE
    with pytest.raises(render.TooLong, match="split the issue") as caught:
        render.plan_comment(stories.plan(), Revision(number=1, document=document(summary="x" * (room + 2))))
    assert caught.value.length > WHOLE
    assert len(render.superseded(whole, 2)) <= WHOLE
    assert len(render.outdated(whole)) <= WHOLE


def test_a_superseded_text_that_grew_too_long_is_cut_outside_of_its_code():
    long = "x\n" * 100 + "```\n" + "code\n" * 13_000 + "```\n\nthe end"
    shown = render.superseded(long[: WHOLE - 10], 2)
    assert len(shown) <= WHOLE
    assert outside_code(shown).rstrip().endswith("(The end is cut.)\n\n</details>")


def test_what_was_learned_never_keeps_a_plan_from_being_shown():
    learned = stories.LEARNED[0].model_copy(
        update={"what": stories.PITFALL.model_copy(update={"text": "&" * 1_000, "paths": ()})}
    )
    plan = stories.plan(lessons=(learned,) * 12)
    room = WHOLE - len(render.plan_comment(plan, Revision(number=1, document=document(summary="x"))))
    assert room > 0
    text = render.plan_comment(plan, Revision(number=1, document=document(summary="x" * (room + 100))))
    assert len(text) <= WHOLE
    assert "12 lessons, which become part of the branch" in text
    assert "&amp;" not in text


def test_what_changed_is_short_though_the_plan_is_shown_whole():
    many = document(changes=("x" * 3_000,) * 30)
    assert "What changed" not in render.plan_comment(stories.plan(), Revision(number=1, document=many))
    text = render.plan_comment(stories.plan(), Revision(number=2, document=many))
    changed = text.partition("**What changed**")[2].partition("Adds a greeting.")[0]
    assert "- and 15 more" in changed
    assert len(changed) < limits.STEPS * (limits.STEP + 10)


@pytest.mark.parametrize("piece", ["x", "@a", "`", "&", "é"])
def test_the_most_approvers_and_owners_fit(piece):
    name, path = filled(piece, 300), filled(piece, 4_096)
    owned = Owned(owners=(name,) * 200, paths=(path,) * 3, paths_total=10**6)
    policy = stories.TWO.model_copy(
        update={"approvers": stories.TWO.approvers.model_copy(update={"teams": (name,) * 50, "users": (name,) * 50})}
    )
    halfway = stories.HALFWAY["draft-halfway"]
    pending = Pending(
        approvals=tuple(
            a.model_copy(update={"by": Person(id=n, login=name)}) for n in range(10) for a in halfway.pending.approvals
        ),
        needed=Needed(people=9, owners=(owned,) * 200),
    )
    plan = halfway.model_copy(update={"policy": policy, "pending": pending})
    status = render.status_comment(plan, stories.COST)
    assert len(status) < 12_000
    assert "one of 45 others" in status
    assert "owners of more files" in status
    assert len(render.plan_comment(plan, plan.revisions[-1])) < 6_000
    wish = Wish(command=f"agent {name}", approvals=pending.approvals, needed=pending.needed)
    under_way = stories.WISHED.model_copy(update={"policy": policy, "wishes": (wish, wish)})
    assert len(render.status_comment(under_way, stories.COST)) < 12_000
    told = render.say(Topic.WISHED, {"command": wish.command}, under_way, None)
    assert len(told) < 12_000
    assert "one of 195 others" in told
    details = {"verb": "approve", "teams": " ".join([name] * 50), "users": " ".join([name] * 50)}
    assert len(render.say(Topic.NOT_ALLOWED, details, plan, None)) < 3_000
    title, summary = policy_check(10**9, path)
    assert len(title) <= limits.TITLE
    assert len(summary.encode()) <= limits.CHECK_BYTES
