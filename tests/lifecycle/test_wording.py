"""Every text as people read it, compared with a file each; see ``golden/``."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.lifecycle.allowance import Day
from bot.lifecycle.amounts import Amount
from bot.lifecycle.ci import CiState
from bot.lifecycle.commands import parse
from bot.lifecycle.costs import PlanCost
from bot.lifecycle.effects import Topic
from bot.lifecycle.figures import figures
from bot.lifecycle.plan import Person, Plan, Revision
from bot.lifecycle.policy import Policy
from bot.lifecycle.states import HoldCause, State, WaitingOn
from bot.lifecycle.wording import engine, render, verdicts, words
from bot.lifecycle.wording.costs_told import costs_comment, costs_message
from bot.lifecycle.wording.policy_check import policy_check
from runner.contract import FileChange, GateStatus, Outcome, UsdSource
from runner.results import ExecutionSummary, IssueText
from runner.terms import AgentSpec, Budget
from tests.lifecycle import stories
from tests.lifecycle.golden_files import GOLDEN, assert_same
from tests.lifecycle.makers import ALICE, HEAD, document
from tests.lifecycle.markdown_seen import mentions

REVIEWABLE = stories.STATUS["in_review"]
OPENED = stories.STATUS["pr_open"]
UNVERIFIED = stories.STATUS["pr_open-unverified"]

DETAILS = {
    Topic.NEEDS_TRIAGE: {"needs": "triage"},
    Topic.NOT_ALLOWED: {"needs": "write", "verb": "approve"},
    Topic.NEEDS_ANOTHER: {"what": "requester"},
    Topic.THROUGH_APP: {"app": "chat-ops"},
    Topic.APPROVAL_VOID: {"what": "plan_comment"},
    Topic.NOT_UNDERSTOOD: {"verb": "budget", "why": "Write limits behind it, such as `/budget 8usd 90m`."},
    Topic.DEPENDENCY_REFUSED: {"why": "The wait would have no end: #4 waits for #7, #7 for #9, #9 for #4."},
    Topic.DEPENDENCY_ENDED: {"issue": "#7", "how": "rejected"},
    Topic.NOT_NOW: {"why": "it failed; /retry, /update or /reject it"},
    Topic.PLAN_HELD: {"cause": "issue_closed"},
    Topic.BASE_CONFLICT: {"paths": "src/greet.py\nREADME.md"},
    Topic.BRANCH_MOVED: {"head": HEAD},
    Topic.POLICY_INVALID: {
        "where": ".github/twogate.yml",
        "line": "3",
        "instead": "last",
        "reason": "`queue.overlap` must be one of 'wait', 'warn' or 'off'",
    },
    Topic.WISHED: {"command": "budget 8usd 90m"},
    Topic.UNJUDGED: {"sentence": "GitHub answered 403: Forbidden."},
}


def revision(verdict: str, **fields) -> Revision:
    return Revision(number=2, document=stories.DOCUMENTS[verdict], gates=stories.POLICY.gates or (), **fields)


def texts_of_the_policy() -> dict[str, str]:
    """What is said of approvers, and of policy files."""
    found: dict[str, str] = {}
    found["answer-needs_another-author"] = render.say(Topic.NEEDS_ANOTHER, {"what": "author"}, None, ALICE)
    named = {"needs": "write", "verb": "approve", "teams": "core acme/docs", "users": "ann"}
    found["answer-not_allowed-approvers"] = render.say(Topic.NOT_ALLOWED, named, None, ALICE)
    for name, plan in stories.HALFWAY.items():
        found[f"status-{name}"] = render.status_comment(plan, stories.COST)
    found["status-wished"] = render.status_comment(stories.WISHED, stories.COST)
    found["answer-wished-owners"] = render.say(Topic.WISHED, {"command": "budget 8usd 90m"}, stories.WISHED, ALICE)
    found["plan-approvers"] = render.plan_comment(stories.HALFWAY["draft-halfway"], revision("plan"))
    found["pull-request-approvers"] = "\n\n".join(render.pull_request(stories.APPROVED_BY_TWO, stories.COST))
    for instead in ("defaults", "nothing", "before"):
        details = DETAILS[Topic.POLICY_INVALID] | {"instead": instead}
        found[f"answer-policy_invalid-{instead}"] = render.say(Topic.POLICY_INVALID, details, None, None)
    found["policy-check"] = "\n\n".join(policy_check(0, ""))
    found["policy-check-broken"] = "\n\n".join(policy_check(4, "`budged` is not a known key; known here are `label`"))
    return found


def after_the_pull_request() -> dict[str, str]:
    """The texts of further work, of pushes by people, of merge queues."""
    found = {}
    accepted = OPENED.model_copy(update={"recommended": stories.RECOMMENDED})
    found["pull-request-recommended"] = "\n\n".join(render.pull_request(accepted, stories.COST))
    found["status-accepted"] = render.status_comment(accepted, stories.COST)
    told = {"known": "1 41", "on_its_way": "2", "unknown": "7, 9"}
    found["answer-accepted"] = render.say(Topic.ACCEPTED, told, accepted, ALICE)
    found["answer-accepted-none"] = render.say(Topic.ACCEPTED, {"unknown": "1"}, OPENED, ALICE)
    found["answer-accepted_made"] = render.say(Topic.ACCEPTED_MADE, {"number": "2", "issue": "42"}, accepted, None)
    failed = {"number": "2", "sentence": "The runner fell silent."}
    found["answer-accepted_failed"] = render.say(Topic.ACCEPTED_FAILED, failed, accepted, None)
    text = IssueText(title="Test the mail greeter", body="It has no test.\n\n- Add one, @bob.")
    found["recommended-issue"] = "\n\n".join(render.recommended_issue(accepted, text))
    for name, report in stories.REPORTED.items():
        found[f"reported-issue-{name}"] = "\n\n".join(render.reported_issue(report, stories.POLICY))
    reworked = stories.STATUS["rework-in_review"]
    found["review-rework"] = render.review_comment(reworked, stories.COST, stories.COMPARE)
    found["check-run-rework"] = "\n\n".join(render.check_run(reworked))
    found["answer-branch_moved-rework"] = render.say(Topic.BRANCH_MOVED, {"head": "d" * 40}, reworked, ALICE)
    dropped = {"head": "d" * 40, "by": "bob", "dropped": "yes"}
    found["answer-branch_moved-pr-dropped"] = render.say(Topic.BRANCH_MOVED, dropped, UNVERIFIED, None)
    pushed = {"head": "d" * 40, "by": "bob"}
    found["answer-branch_moved-pr"] = render.say(Topic.BRANCH_MOVED, pushed, UNVERIFIED, None)
    found["answer-branch_moved-pr-gone"] = render.say(Topic.BRANCH_MOVED, {"head": "", "by": ""}, OPENED, None)
    found["answer-why_closed"] = render.say(Topic.WHY_CLOSED, {}, stories.STATUS["rejected-pr"], None)
    found["check-unverified"] = "\n\n".join(verdicts.unverified_check(UNVERIFIED))
    found["check-group"] = "\n\n".join(verdicts.group_check([]))
    found["check-group-foreign"] = "\n\n".join(verdicts.group_check([UNVERIFIED, OPENED]))
    return found


def lessons() -> dict[str, str]:
    """What is said of lessons: those that wait, that are adopted, that agents were told, that become files."""
    found = {}
    told = (f"{stories.MEMORY}tests.md", f"{stories.MEMORY}layout.md")
    learned = stories.plan(lessons=stories.LEARNED)
    found["plan-learned"] = render.plan_comment(learned, revision("plan", used=told))
    ended = stories.STATUS["rejected"].model_copy(
        update={"lessons": (stories.LEARNED[0], stories.LEARNED[1].model_copy(update={"given": True}))}
    )
    found["status-rejected-learned"] = render.status_comment(ended, stories.COST)
    kept = {"kept": "1, 3", "known": "2", "unknown": "7, 9", "known_in_all": "3"}
    found["answer-remembered-all"] = render.say(Topic.REMEMBERED, kept, ended, ALICE)
    merged = stories.STATUS["merged"].model_copy(update={"lessons": (stories.KEPT[0], stories.LEARNED[1])})
    found["status-merged-learned"] = render.status_comment(merged, stories.COST)
    found["answer-remembered-merged"] = render.say(Topic.REMEMBERED, {"kept": "2", "merged": "1"}, merged, ALICE)
    nothing = {"unknown": "1", "known_in_all": "0"}
    found["answer-remembered-none"] = render.say(Topic.REMEMBERED, nothing, ended, ALICE)
    review = stories.GREEN.model_copy(update={"used": told, "work": instructing().review.work})
    opened = OPENED.model_copy(update={"lessons": stories.KEPT, "review": review})
    found["pull-request-learned"] = "\n\n".join(render.pull_request(opened, stories.COST))
    asking = stories.STATUS["failed"]
    failure = asking.failure.model_copy(update={"asked": ("Which mail greeter is meant, @bob?",)})
    asking = asking.model_copy(update={"failure": failure})
    found["status-failed-asked"] = render.status_comment(asking, stories.COST)
    return found


def instructing() -> Plan:
    """A plan whose work changes what agents are told, with many findings and without a policy of checks."""
    lesson = f"{stories.MEMORY}mail.md"
    program = "promptware/ExecutePlan/Program.md"
    header = f"diff --git a/{lesson} b/{lesson}\nnew file mode 100644\n--- /dev/null\n+++ b/{lesson}\n@@ -0,0 +1 @@\n"
    work = stories.WORK.model_copy(
        update={
            "files": (
                *stories.WORK.files,
                FileChange(path=lesson, status="added", added=1, removed=0),
                FileChange(path=program, status="modified", added=2, removed=1),
            ),
            "files_total": 4,
            "patch": f"{stories.PATCH}{header}+Greet politely.\n",
            "summary": ExecutionSummary(
                status="done", summary="Added French.", delivered=("`bonjour()`",), missing=("The README: no time.",)
            ),
        }
    )
    findings = stories.INSPECTION.findings * 2
    inspection = stories.INSPECTION.model_copy(update={"findings": findings})
    review = stories.GREEN.model_copy(update={"work": work, "gates": (), "notes": (), "inspection": inspection})
    review = review.model_copy(update={"asked": ("Is *Salut* too familiar?",), "used": (f"{stories.MEMORY}tests.md",)})
    return REVIEWABLE.model_copy(update={"review": review, "lessons": stories.KEPT})


def diff_texts() -> dict[str, str]:
    """The texts of verified work."""
    found: dict[str, str] = {}
    found["review"] = render.review_comment(REVIEWABLE, stories.COST, stories.COMPARE)
    crowded = REVIEWABLE.model_copy(update={"review": stories.CROWDED})
    found["review-with-collisions"] = render.review_comment(crowded, stories.COST, stories.COMPARE)
    told = {"ci": stories.CI, "inspection": stories.INSPECTION}
    checked = stories.GREEN.model_copy(update=told)
    inspecting = stories.WITH_CI.model_copy(update={"inspector": AgentSpec(name="codex", model="gpt-5")})
    shown = REVIEWABLE.model_copy(update={"review": checked, "policy": inspecting})
    found["review-with-checks-and-inspection"] = render.review_comment(shown, stories.COST, stories.COMPARE)
    found["review-of-instructions"] = render.review_comment(instructing(), PlanCost(), stories.COMPARE)
    found["pull-request"] = "\n\n".join(render.pull_request(OPENED, stories.COST))
    found["pull-request-cost-in-part"] = "\n\n".join(render.pull_request(OPENED, stories.COST_IN_PART))
    timed = stories.COST.model_copy(update={"times": stories.HISTORIES[0].jobs, "waits": stories.WAITED})
    found["pull-request-actions"] = "\n\n".join(render.pull_request(OPENED, timed))
    covered = stories.COST.rows[0].model_copy(update={"usd": None, "usd_source": UsdSource.SUBSCRIPTION})
    paid = PlanCost(rows=(covered, *stories.COST.rows[1:]))
    found["pull-request-subscription"] = "\n\n".join(render.pull_request(OPENED, paid))
    found["status-subscription"] = render.status_comment(REVIEWABLE, PlanCost(rows=(covered,)))
    found["pull-request-no-usage"] = "\n\n".join(render.pull_request(OPENED, PlanCost()))
    found["check-run"] = "\n\n".join(render.check_run(REVIEWABLE))
    rewriting = REVIEWABLE.model_copy(update={"review": None})
    found["check-run-of-older-work"] = "\n\n".join(render.check_run(rewriting, "Sent back by bob.", shown=False))
    found["check-run-decided"] = "\n\n".join(render.check_run(REVIEWABLE, "Rejected by bob."))
    return found


def texts() -> dict[str, str]:
    """Every kind of text, by the name of its file."""
    found = {f"plan-{verdict}": render.plan_comment(stories.plan(), revision(verdict)) for verdict in stories.DOCUMENTS}
    detected = stories.plan(policy=Policy())
    gates = (stories.spec(detected=True),)
    found["plan-recognised-gates"] = render.plan_comment(detected, Revision(number=1, document=document(), gates=gates))
    found["plan-no-gates"] = render.plan_comment(detected, Revision(number=1, document=document(files=())))
    changed = stories.DOCUMENT.model_copy(
        update={"changes": ("French only: Spanish is left out.", "Says so in the README.")}
    )
    found["plan-rewritten"] = render.plan_comment(stories.plan(), Revision(number=3, document=changed))
    again = Revision(number=4, document=changed, repeats=3)
    found["plan-posted-again"] = render.plan_comment(stories.plan(), again)
    found["child-issue"] = "\n\n".join(render.child_issue(stories.plan(split=stories.SPLIT), stories.SPLIT, 3))
    found["superseded"] = render.superseded(found["plan-plan"], 3)
    found["outdated"] = render.outdated(render.review_comment(REVIEWABLE, stories.COST, stories.COMPARE))
    found["superseded-by-parts"] = render.superseded(found["plan-plan"], None)
    for name, plan in stories.STATUS.items():
        found[f"status-{name}"] = render.status_comment(plan, stories.COST)
    found["status-nothing-spent"] = render.status_comment(stories.plan(), PlanCost(), web="http://127.0.0.1:8000/")
    found["status-cost-in-part"] = render.status_comment(REVIEWABLE, stories.COST_IN_PART)
    found |= diff_texts()
    for topic in Topic:
        plan = None if topic in {Topic.NO_PLAN, Topic.POLICY_INVALID} else stories.plan(split=stories.MADE)
        found[f"answer-{topic}"] = render.say(topic, DETAILS.get(topic, {}), plan, ALICE)
    found["answer-approval_void-policy"] = render.say(Topic.APPROVAL_VOID, {"what": "policy"}, stories.plan(), None)
    found["answer-branch_moved-gone"] = render.say(Topic.BRANCH_MOVED, {"head": ""}, stories.plan(), None)
    found["answer-help-slip"] = render.say(Topic.HELP, {"word": "aprove"}, stories.plan(), ALICE)
    found |= _waits()
    found |= after_the_pull_request() | lessons()
    found["answer-help-unknown"] = render.say(Topic.HELP, {"word": "frobnicate"}, stories.plan(), ALICE)
    found["answer-issue_edited-approved"] = render.say(Topic.ISSUE_EDITED, {}, stories.STATUS["draft-bot"], None)
    return found | texts_of_the_policy() | costs_told()


def _waits() -> dict[str, str]:
    """What is said of plans that wait for others."""
    split = {"issue": "#7", "how": "split", "children": "#20 #21"}
    return {
        "answer-dependency_ended-split": render.say(Topic.DEPENDENCY_ENDED, split, stories.plan(), None),
        "answer-status-queued": render.say(Topic.STATUS, {}, stories.STATUS["approved-slot"], ALICE),
    }


def costs_told() -> dict[str, str]:
    """What a period cost, in an issue and in a chat."""
    nothing = figures((), stories.WEEK_BEGAN, stories.WEEK_BEGAN + 3_600)
    day = Day(since=stories.WEEK_BEGAN, limit=Decimal(10), spent=Amount(value=Decimal("3.25"), at_least=True))
    return {
        "costs": costs_comment(stories.FIGURES, Policy(), to=ALICE, day=day),
        "costs-of-nothing": costs_comment(nothing, Policy(), to=ALICE),
        "costs-of-a-week": costs_comment(stories.FIGURES, Policy()),
        "costs-in-a-chat": costs_message(stories.FIGURES, "acme/shop"),
    }


TEXTS = texts()


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_reads_as_agreed(name):
    assert_same(TEXTS[name] + "\n", GOLDEN / f"{name}.md")


def test_no_golden_file_is_left_over():
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(TEXTS)


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_of_ours_is_a_command(name):
    assert parse(TEXTS[name]) == ()


# every state, cause, outcome and result has its words


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("waiting_on", [*WaitingOn, None])
def test_there_is_a_status_for_every_state_and_wait(state, waiting_on):
    for fields in ({}, stories.REVIEWED, stories.DONE, {"failure": stories.FAILURE}):
        text = render.status_comment(stories.plan(state, waiting_on, **fields), PlanCost())
        assert text.startswith(f"### Twogate: {words.STATES[state]}")
    first = stories.plan(state, waiting_on, revisions=(), job=stories.job(claimed=False, run_id=None))
    assert render.status_comment(first, PlanCost())


@pytest.mark.parametrize("cause", HoldCause)
def test_every_hold_says_what_lifts_it(cause):
    held = stories.plan(hold=stories.Hold(causes=(cause,), at=1.0))
    assert words.HOLDS[cause] in render.status_comment(held, PlanCost())
    assert words.HOLDS[cause] in render.say(Topic.PLAN_HELD, {"cause": cause}, held, None)


@pytest.mark.parametrize("outcome", Outcome)
def test_every_failure_says_what_it_was_and_what_to_do(outcome):
    failure = stories.FAILURE.model_copy(update={"outcome": outcome})
    text = render.status_comment(stories.plan(State.FAILED, WaitingOn.PERSON, failure=failure), PlanCost())
    assert words.OUTCOMES[outcome] in text
    assert all(command in text for command in ("`/retry`", "`/update`", "`/reject`", "`/cancel`"))


def test_every_result_and_source_has_a_word():
    assert set(words.RESULTS) == set(GateStatus)
    assert set(words.SOURCES) == set(UsdSource)
    assert set(words.CI_STATES) == set(CiState)


@pytest.mark.parametrize("topic", Topic)
def test_an_answer_needs_no_details_and_no_plan(topic):
    assert render.say(topic, {}, None, None)


def test_only_the_person_answered_is_mentioned_and_only_once():
    text = render.say(Topic.NOT_NOW, {"why": "ask @carol"}, stories.plan(), ALICE)
    assert text.startswith("@alice ")
    assert mentions(text) == {"@alice"}
    for login in ("dependabot[bot]", "a b", "a/b", "", "@x"):
        assert mentions(render.say(Topic.HELP, {}, None, Person(id=1, login=login))) == set()


@pytest.mark.parametrize("name", [name for name in TEXTS if not name.startswith("answer-")])
def test_nobody_else_is_ever_mentioned(name):
    assert mentions(TEXTS[name]) == set()


def test_the_same_plan_has_the_same_text():
    assert texts() == TEXTS


def test_work_or_plan_that_is_not_there_is_not_shown():
    with pytest.raises(ValueError, match="no work to show"):
        render.review_comment(stories.plan(), PlanCost(), "x")
    with pytest.raises(ValueError, match="no written plan"):
        render.pull_request(REVIEWABLE.model_copy(update={"revisions": ()}), PlanCost())


def test_a_change_without_text_says_so():
    review = stories.GREEN.model_copy(update={"work": stories.WORK.model_copy(update={"patch": ""})})
    text = render.review_comment(REVIEWABLE.model_copy(update={"review": review}), PlanCost(), "x")
    assert "There is no text to show" in text
    assert "```diff" not in text


def test_an_unconfined_agent_is_said_in_so_many_words():
    sandbox = stories.SANDBOX.model_copy(update={"got": "none", "sentence": "No bubblewrap here."})
    plan = REVIEWABLE.model_copy(update={"review": stories.GREEN.model_copy(update={"sandbox": sandbox})})
    assert "No bubblewrap here. **The agent ran unconfined.**" in render.review_comment(plan, PlanCost(), "x")


def test_the_pull_request_without_a_text_of_the_agent_tells_the_plan():
    review = stories.GREEN.model_copy(update={"work": stories.WORK.model_copy(update={"pull_request": None})})
    title, body = render.pull_request(OPENED.model_copy(update={"review": review}), PlanCost())
    assert title == stories.DOCUMENT.title
    assert body.startswith(f"Closes #12\n\n{stories.DOCUMENT.summary}")


def test_a_plan_of_one_attempt_and_an_old_price():
    one = stories.plan(policy=stories.POLICY.model_copy(update={"budget": Budget(attempts=1, minutes=45)}))
    assert "in at most 1 attempt, 45 min" in render.plan_comment(one, revision("plan"))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.02, "0 s"),
        (0.42, "0.4 s"),
        (9, "9 s"),
        (12.4, "12 s"),
        (75, "75 s"),
        (120, "2 min"),
        (900, "15 min"),
        (3_600, "1 h"),
        (5_400, "1 h 30 min"),
        (7_200, "2 h"),
    ],
)
def test_times_read_well(seconds, text):
    assert engine.duration(seconds) == text


def test_names_in_a_sentence_read_well():
    assert engine.spelled(["#1"]) == "#1"
    assert engine.spelled(["#1", "#2", "@bob"]) == "#1, #2 and `@bob`"
    many = engine.spelled([f"#{n}" for n in range(15)])
    assert many.startswith("#0, #1, ")
    assert many.endswith("#9 and 5 more")


def test_the_record_of_a_pull_request_is_brought_up_to_date_between_its_marks_alone():
    _, body = render.pull_request(OPENED, PlanCost())
    written = f"Above.\n{body}\nBelow."
    fresh = render.with_record(written, OPENED, stories.COST)
    assert fresh == f"Above.\n{render.pull_request(OPENED, stories.COST)[1]}\nBelow."
    assert render.with_record(fresh, OPENED, stories.COST) == fresh
    assert render.with_record("All else.", OPENED, stories.COST) is None
    assert render.with_record(f"{render.RECORD[0]} and no end", OPENED, stories.COST) is None
