"""Plans at every turn of one story, for the texts that are made of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from bot.lifecycle.approvers import Approvers, Needed
from bot.lifecycle.choices import Choices
from bot.lifecycle.ci import CiCheck, CiFailure, CiState
from bot.lifecycle.codeowners import Owned
from bot.lifecycle.costs import CostRow, PlanCost
from bot.lifecycle.figures import figures
from bot.lifecycle.histories import History, JobTime, Line, Spending, waits_of
from bot.lifecycle.hooks import Reported, Tracker
from bot.lifecycle.periods import WEEK
from bot.lifecycle.permission import Permission
from bot.lifecycle.plan import (
    Approval,
    Child,
    Failure,
    Hold,
    Job,
    Learned,
    Pending,
    Person,
    Plan,
    Recommended,
    Review,
    Revision,
    Rework,
    Split,
    Unverified,
    Wish,
)
from bot.lifecycle.policy import CiPolicy, parse_policy
from bot.lifecycle.states import Gate, HoldCause, Limit, State, Via, WaitingOn
from runner.contract import (
    Collision,
    Feedback,
    FileChange,
    GateResult,
    GateStatus,
    JobKind,
    Outcome,
    SandboxReport,
    Usage,
    UsdSource,
)
from runner.results import (
    ExecutionSummary,
    Finding,
    Inspection,
    PullRequestText,
    Recommendation,
    Unit,
    Verdict,
    WaitingLesson,
)
from runner.terms import GateSpec, Network, SandboxMode
from tests.lifecycle.makers import ALICE, BASE, HEAD, ISSUE, REPO, UID, document, work

BOB = Person(id=12, login="bob")
COMPARE = f"https://github.com/acme/shop/compare/{BASE}...{HEAD}"

POLICY = parse_policy("""
agent: {cli: claude, model: sonnet}
budget: {usd: 5, minutes: 45}
gates:
  - {name: tests, run: "pytest -q", timeout: 10m}
  - {name: types, run: "mypy . | tee out", blocking: false}
""")

DOCUMENT = document(
    title="Greet in French",
    summary="The greeter knows English alone. This adds French, chosen by the language of the request.",
    steps=(
        "Add `bonjour()` to `src/greet.py`, beside `hello()`.",
        "Choose between the two in `src/app.py`:\n\n```python\ngreet = GREETINGS[request.language]\n```",
        "Say so in the README.",
    ),
    files=("src/greet.py", "src/app.py", "README.md", "tests/**"),
    weakens=("tests/test_only_english.py",),
    tests=("`tests/test_greet.py`: both languages, and an unknown one falls back to English.",),
    risks=("Callers that compare the greeting with `Hello` see another word for French requests.",),
    questions=("Should Canadian French greet with *Bonjour hi*?",),
)

FAILED_TAIL = "E   assert 'Hello' == 'Bonjour'\n1 failed, 11 passed in 0.42s"

GATES = (
    GateResult(name="scope", blocking=True, status=GateStatus.PASSED, seconds=0.02, summary="All 2 changed paths are in the plan."),
    GateResult(name="tests", blocking=True, status=GateStatus.PASSED, seconds=12.4, summary="12 passed"),
    GateResult(name="types", blocking=False, status=GateStatus.FAILED, seconds=3.0, summary="1 error", tail="src/app.py:3: error: Missing annotation"),
    GateResult(name="docs", blocking=True, status=GateStatus.FAILED_BEFORE, seconds=75, summary="exit code 2"),
)  # fmt: skip

PATCH = """\
diff --git a/src/greet.py b/src/greet.py
--- a/src/greet.py
+++ b/src/greet.py
@@ -1,2 +1,5 @@
 def hello():
-    return "Hi"
+    return "Hello"
+
+def bonjour():
+    return "Bonjour"
"""

WORK = work(
    files=(
        FileChange(path="src/greet.py", status="modified", added=4, removed=1),
        FileChange(path="docs/flag.png", status="added", added=None, removed=None),
    ),
    files_total=2,
    commits=1,
    patch=PATCH,
    moved_base_paths=("README.md",),
    summary=ExecutionSummary(
        status="done", summary="Added French.", deviations=("`hello()` said *Hi*; it says Hello now.",)
    ),
    pull_request=PullRequestText(
        title="Greet in French",
        body="Adds `bonjour()` and chooses by language.\n\n## Notes\n\n- Unknown languages get English.\n- See **README**.",
    ),
)

SANDBOX = SandboxReport(
    asked=SandboxMode.REQUIRED,
    got="bubblewrap",
    separate_user=True,
    sentence="Confined by bubblewrap, as another user.",
)

GREEN = Review(
    number=2, work=WORK, gates=GATES, sandbox=SANDBOX, attempts=2, comment_id=903, check_run_id=77, posted_at=400.0,
    notes=("One process was still running after the agent and was ended.",),
)  # fmt: skip

CROWDED = GREEN.model_copy(
    update={
        "work": WORK.model_copy(
            update={
                "collisions": (
                    Collision(issue=15, branch="plan/15", head="e" * 40, paths=("src/greet.py",), paths_total=1),
                    Collision(
                        issue=16,
                        branch="plan/16-2",
                        head="f" * 40,
                        paths=("a.py", "b.py", "c.py", "d.py"),
                        paths_total=9,
                    ),
                ),
            }
        ),
        "gates": (
            *GATES,
            GateResult(
                name="dependencies",
                blocking=False,
                status=GateStatus.PASSED,
                seconds=0.1,
                summary="1 package is new.",
                tail="requirements.txt: httpx 0.28.1 is new.",
            ),
            GateResult(
                name="browser", blocking=True, status=GateStatus.FLAKY, seconds=31.0, summary="1 failed, then 12 passed"
            ),
        ),
        "sandbox": SANDBOX.model_copy(update={"network": Network.MODEL}),
    }
)
"""Work that gets in others' way, and passed at the second try."""

CI = (
    CiCheck(name="build", state=CiState.FAILED, conclusion="timed_out", url="https://github.com/acme/shop/actions/runs/1/job/2", app="github-actions", job_id=2, at=300.0),
    CiCheck(name="deploy", state=CiState.PENDING, app="pages", at=301.0),
    CiCheck(name="ci/lint", state=CiState.PASSED, conclusion="success", url="https://ci.example/lint?a=1&b=2", at=302.0),
    CiCheck(name="docs", state=CiState.NEUTRAL, conclusion="skipped", app="github-actions", at=303.0),
)  # fmt: skip
"""What other Apps say of the commit."""
INSPECTION = Inspection(
    summary="The greeting is chosen in one place, as planned. Two things to look at.",
    findings=(
        Finding(severity="high", path="src/app.py", line=7, text="An unknown language raises `KeyError`."),
        Finding(severity="medium", path="src/greet.py", text="Nothing tests `hello()` any more."),
        Finding(severity="low", text="The README says nothing of it."),
    ),
)

REVISIONS = (
    Revision(number=1, document=document(title="Greet in French and Spanish"), comment_id=901, posted_at=100.0, sha256="1" * 64),
    Revision(number=2, document=DOCUMENT, gates=POLICY.gates or (), comment_id=902, posted_at=200.0, sha256="2" * 64),
)  # fmt: skip

WITH_CI = POLICY.model_copy(update={"ci": CiPolicy(require=("build", "security", "CI/Lint"))})
IN_CI = GREEN.model_copy(update={"comment_id": None, "ci": CI[1:], "ci_until": 1_795_950_000.0})

PLAN_APPROVAL = Approval(gate=Gate.PLAN, by=ALICE, via=Via.REACTION, at=1_795_946_400.0, binds_to="2" * 64)
DIFF_APPROVAL = Approval(gate=Gate.DIFF, by=ALICE, via=Via.COMMAND, at=1_795_950_000.0, binds_to=HEAD)

FAILURE = Failure(
    outcome=Outcome.GATES_FAILED,
    sentence="`tests` still failed after 3 attempts.",
    during=JobKind.EXECUTE,
    gates=(
        GATES[0],
        GateResult(name="tests", blocking=True, status=GateStatus.FAILED, seconds=11.0, summary="1 failed", tail=FAILED_TAIL),
    ),
    output_tail="I could not find where the greeting is chosen.",
    notes=("The agent's last attempt changed nothing.",),
)  # fmt: skip


def job(kind: JobKind = JobKind.EXECUTE, unit: Unit | None = Unit.EXECUTE_PLAN, **fields: Any) -> Job:
    return Job(**{"id": f"{UID}-3", "kind": kind, "unit": unit, "number": 3, "run_id": 5551, "claimed": True, **fields})


def plan(state: State = State.DRAFT, waiting_on: WaitingOn | None = WaitingOn.PLAN_DECISION, **fields: Any) -> Plan:
    base = {
        "uid": UID,
        "repo": REPO,
        "issue_number": 12,
        "issue": ISSUE,
        "requester": ALICE,
        "requested_at": 1.0,
        "policy": POLICY,
        "state": state,
        "waiting_on": waiting_on,
        "revisions": REVISIONS,
    }
    return Plan(**{**base, **fields})


def spec(name: str = "tests", run: str = "make test", **fields: Any) -> GateSpec:
    return GateSpec(**{"name": name, "run": run, **fields})


APPROVED = {"plan_approval": PLAN_APPROVAL}
REVIEWED = {**APPROVED, "branch_head": HEAD, "review": GREEN}
REPORTED = {
    "jam": Reported(
        tracker=Tracker.JAM,
        title="Paying with a voucher shows `NaN`",
        text="The total turns into NaN once a voucher is entered.\n\n/approve and ping @acme/security",
        steps=("click #voucher", "click #pay"),
        console=("error TypeError: price is undefined", "error at total (basket.js:12)"),
        network=("POST https://api.shop.example/total?… 500",),
        facts=(("Page", "https://shop.example/basket?…"), ("Browser", "Chrome 140"), ("System", "macOS 15")),
        link="https://jam.dev/c/9573a43b-3ec9-49ab-b7e4-bf6cfc4bdfc0",
    ),
    "bare": Reported(tracker=Tracker.ISSUE, text="It is slow.", link="https://github.com/acme/shop/issues/7"),
}
"""Reports from outside, with everything and with next to nothing."""

RECOMMENDED = (
    Recommended(
        what=Recommendation(title="Greet in *Spanish* too", reason="Half of the visitors read it, see #7."), issue=41
    ),
    Recommended(what=Recommendation(title="Test the mail greeter", reason="It has no test.", paths=("src/mail.py",))),
)
MEMORY = ".twogate/promptware/ExecutePlan/Memory/2026-11-30-"
PITFALL = WaitingLesson(
    unit=Unit.EXECUTE_PLAN,
    kind="pitfall",
    text="The mail greeter compares with *Hello*: whoever changes `hello()` has to change it too.",
    paths=("src/greet.py", "src/mail.py", "tests/**", "docs/**"),
    learned_from="acme/shop#12",
)
ADOPTED = WaitingLesson(
    unit=Unit.EXECUTE_PLAN,
    kind="convention",
    text="Greetings are named by the word that they say, not by language.",
    learned_from="acme/shop#7",
    adopted_by="bob",
)
LEARNED = (Learned(what=PITFALL), Learned(what=ADOPTED))
KEPT = (Learned(what=PITFALL, path=f"{MEMORY}mail.md"), Learned(what=ADOPTED, path=f"{MEMORY}names.md"))
"""The same, once they are files of the branch."""
DONE = {
    **REVIEWED,
    "diff_approval": DIFF_APPROVAL,
    "pull_request": 34,
    "pull_request_url": "https://github.com/acme/shop/pull/34",
}

BOB = Person(id=12, login="bob")
PARTS = (
    Child(document=document(title="Choose the language"), number=41, issue_id=9_041),
    Child(document=document(title="Greet in French"), depends_on=(1,), number=42, issue_id=9_042),
    Child(document=document(title="Say so in the README"), depends_on=(2, 1)),
)
SPLIT = Split(
    number=3, by=BOB, summary="The choice comes first; everything else builds on it.", gates=POLICY.gates or (), children=PARTS
)  # fmt: skip
MADE = SPLIT.model_copy(
    update={"children": (*PARTS[:2], PARTS[2].model_copy(update={"number": 43, "issue_id": 9_043}))}
)
ANSWER = Feedback(kind="answer", author="mia", quote="Which one is meant, `web` or `mail`?", text="Mail.")
ASKING = Revision(
    number=1,
    document=document(
        Verdict.NEEDS_INFORMATION, questions=("Which one is meant, `web` or `mail`?", "Is Swiss French different?")
    ),
    comment_id=901,
    posted_at=100.0,
    sha256="1" * 64,
)

NEXT = "9" * 40
REWORKED = {
    **DONE,
    "review": None,
    "diff_approval": None,
    "rework": Rework(on=HEAD, review=GREEN, diff_approval=DIFF_APPROVAL),
}
REWORK_SHOWN = {
    **REWORKED,
    "rework": REWORKED["rework"].model_copy(update={"head": NEXT}),
    "review": GREEN.model_copy(
        update={
            "number": 3,
            "thread": 34,
            "comment_id": 951,
            "check_run_id": 78,
            "work": WORK.model_copy(update={"head": NEXT, "since": HEAD}),
        }
    ),
}
"""Further work on the pull request, from its approved head."""
REWORK_APPROVED = {**REWORK_SHOWN, "diff_approval": DIFF_APPROVAL.model_copy(update={"binds_to": NEXT})}

STATUS = {
    "draft-runner": plan(waiting_on=WaitingOn.RUNNER, revisions=(), job=job(JobKind.PLAN, Unit.CREATE_PLAN, claimed=False)),
    "draft-rewriting": plan(waiting_on=WaitingOn.RUNNER, job=job(JobKind.PLAN, Unit.UPDATE_PLAN), issue_stale=True),
    "draft-decision": plan(),
    "draft-answers": plan(waiting_on=WaitingOn.ANSWERS, revisions=(ASKING,)),
    "draft-answered-in-part": plan(waiting_on=WaitingOn.ANSWERS, revisions=(ASKING,), feedback=(ANSWER,)),
    "draft-decision-answered": plan(feedback=(ANSWER,), part_of=7),
    "draft-asked-to-split": plan(waiting_on=WaitingOn.RUNNER, job=job(JobKind.PLAN, Unit.SPLIT_PLAN)),
    "draft-splitting": plan(waiting_on=WaitingOn.BOT, split=SPLIT, issue_stale=True),
    "draft-person": plan(waiting_on=WaitingOn.PERSON),
    "draft-bot": plan(waiting_on=WaitingOn.BOT),
    "approved-slot": plan(State.APPROVED, WaitingOn.SLOT, waits_for=("#3", "#5"), place=2, limit=Limit.REPOSITORY, most=4, **APPROVED),
    "approved-host": plan(State.APPROVED, WaitingOn.SLOT, place=11, limit=Limit.HOST, **APPROVED),
    "approved-just-now": plan(State.APPROVED, WaitingOn.SLOT, **APPROVED),
    "approved-overlap": plan(State.APPROVED, WaitingOn.OVERLAP, waits_for=("#7",), place=1, **APPROVED),
    "approved-reviewers": plan(State.APPROVED, WaitingOn.REVIEWERS, waits_for=("#3", "#5", "#6"), place=1, most=3, **APPROVED),
    "approved-reviewers-far": plan(State.APPROVED, WaitingOn.REVIEWERS, place=11, most=8, **APPROVED),
    "approved-dependency": plan(
        State.APPROVED,
        WaitingOn.DEPENDENCY,
        waits_for=("#8", "#9", "#10"),
        choices=Choices(depends_on=(7, 8, 9, 10)),
        place=3,
        **APPROVED,
    ),
    "approved-in-vain": plan(
        State.APPROVED,
        WaitingOn.DEPENDENCY,
        waits_for=("#8", "#9"),
        in_vain=("#9",),
        choices=Choices(depends_on=(8, 9)),
        place=1,
        **APPROVED,
    ),
    "executing": plan(State.EXECUTING, WaitingOn.RUNNER, job=job(), **APPROVED),
    "executing-again": plan(State.EXECUTING, WaitingOn.RUNNER, job=job(head=HEAD), **REVIEWED),
    "executing-again-waiting": plan(State.EXECUTING, WaitingOn.RUNNER, job=job(head=HEAD, claimed=False), **REVIEWED),
    "executing-conflict": plan(State.EXECUTING, WaitingOn.RUNNER, job=job(merge_base_in=True), **REVIEWED),
    "verifying": plan(State.VERIFYING, WaitingOn.RUNNER, job=job(), **APPROVED),
    "verifying-ci": plan(State.VERIFYING, WaitingOn.CI, **{**REVIEWED, "policy": WITH_CI, "review": IN_CI}),
    "verifying-bot": plan(State.VERIFYING, WaitingOn.BOT, **REVIEWED),
    "in_review": plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **REVIEWED),
    "in_review-merging": plan(State.IN_REVIEW, WaitingOn.RUNNER, job=job(JobKind.CHECK_BASE, None), diff_approval=DIFF_APPROVAL, **REVIEWED),
    "in_review-opening": plan(State.IN_REVIEW, WaitingOn.BOT, diff_approval=DIFF_APPROVAL, **REVIEWED),
    "in_review-posting": plan(State.IN_REVIEW, WaitingOn.BOT, **REVIEWED),
    "pr_open": plan(State.PR_OPEN, WaitingOn.MERGE, **DONE),
    "rework-executing": plan(State.EXECUTING, WaitingOn.RUNNER, job=job(), **REWORKED),
    "rework-itself": plan(
        State.EXECUTING,
        WaitingOn.RUNNER,
        job=job(),
        **{**REWORKED, "rework": REWORKED["rework"].model_copy(update={"by_itself": True})},
        policy=POLICY.model_copy(update={"ci": CiPolicy(fix=2)}),
        fixes=1,
    ),
    "rework-waiting": plan(State.EXECUTING, WaitingOn.RUNNER, job=job(claimed=False), **REWORKED),
    "rework-conflict": plan(State.EXECUTING, WaitingOn.RUNNER, job=job(merge_base_in=True), **REWORKED),
    "rework-verifying": plan(State.VERIFYING, WaitingOn.RUNNER, job=job(), **REWORKED),
    "rework-posting": plan(State.IN_REVIEW, WaitingOn.BOT, **REWORK_SHOWN),
    "rework-in_review": plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **REWORK_SHOWN),
    "rework-merging": plan(State.IN_REVIEW, WaitingOn.RUNNER, job=job(JobKind.CHECK_BASE, None), **REWORK_APPROVED),
    "rework-joining": plan(State.IN_REVIEW, WaitingOn.BOT, **REWORK_APPROVED),
    "rework-failed": plan(State.FAILED, WaitingOn.PERSON, failure=FAILURE, **REWORKED),
    "pr_open-unverified": plan(
        State.PR_OPEN,
        WaitingOn.MERGE,
        **{**DONE, "branch_head": "d" * 40},
        unverified=Unverified(head="d" * 40, by=BOB),
        in_merge_queue=True,
    ),
    "merged": plan(State.MERGED, None, **DONE),
    "failed": plan(State.FAILED, WaitingOn.PERSON, failure=FAILURE, **APPROVED),
    "failed-planning": plan(
        State.FAILED,
        WaitingOn.PERSON,
        revisions=(),
        failure=Failure(outcome=Outcome.LOST, sentence="Its run ended without a report.", during=JobKind.PLAN),
    ),
    "failed-ci": plan(
        State.FAILED,
        WaitingOn.PERSON,
        policy=WITH_CI,
        failure=Failure(
            outcome=Outcome.GATES_FAILED,
            sentence=f"The required check build did not pass on commit {HEAD[:12]}.",
            during=JobKind.EXECUTE,
            ci=(CiFailure(check=CI[0], log="Run make\nmake: *** [all] Error 2\n"),),
        ),
        **REVIEWED,
    ),
    "failed-ci-late": plan(
        State.FAILED,
        WaitingOn.PERSON,
        policy=WITH_CI,
        failure=Failure(
            outcome=Outcome.GATES_FAILED,
            sentence=f"The required checks build, security did not end on commit {HEAD[:12]} within 60 minutes.",
            during=JobKind.EXECUTE,
            awaited=("build", "security"),
        ),
        **REVIEWED,
    ),
    "failed-before-pr": plan(
        State.FAILED,
        WaitingOn.PERSON,
        failure=Failure(outcome=Outcome.RUNNER_FAILED, sentence="GitHub refused it.", during=JobKind.CHECK_BASE),
        **REVIEWED,
    ),
    "icebox": plan(State.ICEBOX, WaitingOn.PERSON),
    "rejected": plan(
        State.REJECTED,
        None,
        rejected_at_gate=Gate.DIFF,
        rejections=(Feedback(kind="rejection", author="bob", text="Ask @carol first, see #99."),),
        **REVIEWED,
    ),
    "rejected-pr": plan(State.REJECTED, None, keep_branch_until=1_796_000_000.0, **DONE),
    "cancelled": plan(State.CANCELLED, None),
    "cancelled-splitting": plan(State.CANCELLED, None, split=SPLIT),
    "failed-splitting": plan(
        State.FAILED,
        WaitingOn.PERSON,
        failure=Failure(outcome=Outcome.RUNNER_FAILED, sentence="GitHub refused it.", during=JobKind.PLAN),
        split=SPLIT,
    ),
    "split": plan(State.SPLIT, None, waits_for=("#41", "#42", "#43"), split=MADE),
    "split-elsewhere": plan(State.SPLIT, None, waits_for=("#20", "#21")),
    "paused": plan(hold=Hold(causes=(HoldCause.LABEL_PAUSED, HoldCause.POLICY_PAUSED), at=5.0)),
    "paused-before-planning": plan(
        waiting_on=WaitingOn.RUNNER,
        revisions=(),
        hold=Hold(causes=(HoldCause.POLICY_PAUSED,), at=5.0, interrupted=job(JobKind.PLAN, Unit.CREATE_PLAN)),
    ),
    "paused-at-work": plan(State.EXECUTING, WaitingOn.RUNNER, job=job(), hold=Hold(causes=(HoldCause.LABEL_PAUSED,), at=5.0), **APPROVED),
    "paused-between": plan(
        State.EXECUTING,
        WaitingOn.RUNNER,
        hold=Hold(causes=(HoldCause.LABEL_PAUSED,), at=5.0, interrupted=job()),
        **APPROVED,
    ),
    "held": plan(
        State.EXECUTING,
        WaitingOn.RUNNER,
        hold=Hold(causes=(HoldCause.ISSUE_CLOSED, HoldCause.LABEL_REMOVED), at=5.0),
        **APPROVED,
    ),
}  # fmt: skip

DOCUMENTS = {
    "plan": DOCUMENT,
    "already_done": document(
        Verdict.ALREADY_DONE,
        title="French is there",
        summary="`bonjour()` exists since version 2.",
        reason="`src/greet.py`, line 14, and its test in `tests/test_greet.py`.",
    ),
    "needs_information": document(
        Verdict.NEEDS_INFORMATION,
        title="Greet in French",
        summary="There are two greeters.",
        questions=("Which one is meant, `web` or `mail`?", "Is Swiss French different?"),
        reason="They are sold to different customers.",
    ),
    "duplicate": document(
        Verdict.DUPLICATE,
        title="Greet in French",
        summary="Both ask for `bonjour()`.",
        reason="The plan of the other issue adds it to `src/greet.py`.",
        duplicate_of=9,
    ),
    "refuse": document(
        Verdict.REFUSE,
        title="Switch off the login",
        summary="The issue asks to let everybody in.",
        reason="That would open every account.",
    ),
}


def usage(number: int, kind: JobKind, unit: Unit, usd: str | None, **fields: Any) -> CostRow:
    base = {
        "job": f"{UID}-{number}",
        "kind": kind,
        "unit": unit,
        "outcome": Outcome.PLANNED if kind is JobKind.PLAN else Outcome.VERIFIED,
        "agent": "claude",
        "model": "sonnet",
        "attempt": 1,
        "input_tokens": 1_200,
        "output_tokens": 800,
        "cache_read_tokens": 45_000,
        "cache_write_tokens": 6_000,
        "usd": None if usd is None else Decimal(usd),
        "usd_source": UsdSource.UNKNOWN if usd is None else UsdSource.REPORTED,
        "seconds": 90.0,
    }
    return CostRow(**{**base, **fields})


COST = PlanCost(
    rows=(
        usage(1, JobKind.PLAN, Unit.CREATE_PLAN, "0.0412"),
        usage(2, JobKind.PLAN, Unit.UPDATE_PLAN, "0.0290"),
        usage(3, JobKind.EXECUTE, Unit.EXECUTE_PLAN, "0.2101"),
        usage(3, JobKind.EXECUTE, Unit.EXECUTE_PLAN, "0.1302", attempt=2),
        usage(3, JobKind.EXECUTE, Unit.CREATE_PR, "0.0077", usd_source=UsdSource.PRICES, price_date="2026-11-01", seconds=12.0),
    )
)  # fmt: skip
COST_IN_PART = PlanCost(rows=(*COST.rows, usage(4, JobKind.EXECUTE, Unit.EXECUTE_PLAN, None, outcome=Outcome.LOST, complete=False)))  # fmt: skip

TWO = POLICY.model_copy(
    update={
        "approvers": Approvers(
            teams=("core", "acme/docs"),
            users=("ann",),
            codeowners=True,
            distinct=True,
            count=2,
            permission=Permission.MAINTAIN,
        )
    }
)
"""Approvals as strict as they can be asked for."""
OWNERS = (
    Owned(owners=("@acme/docs", "bea@example.com"), paths=("README.md", "docs/a.md", "docs/b.md"), paths_total=7),
    Owned(owners=("@carl",), paths=("tests/test_greet.py",), paths_total=1),
)


def first_of_two(approval: Approval, at: float) -> Pending:
    return Pending(approvals=(approval.model_copy(update={"at": at}),), needed=Needed(people=1, owners=OWNERS))


APPROVED_BY_TWO = plan(
    State.PR_OPEN,
    WaitingOn.MERGE,
    **{**DONE, "plan_approval": PLAN_APPROVAL.model_copy(update={"by": BOB, "earlier": (PLAN_APPROVAL,)})},
)
HALFWAY = {
    "draft-halfway": plan(policy=TWO, pending=first_of_two(PLAN_APPROVAL, 250.0)),
    "in_review-halfway": plan(
        State.IN_REVIEW, WaitingOn.DIFF_DECISION, policy=TWO, pending=first_of_two(DIFF_APPROVAL, 450.0), **REVIEWED
    ),
    "rework-halfway": plan(
        State.IN_REVIEW,
        WaitingOn.DIFF_DECISION,
        policy=TWO,
        pending=first_of_two(DIFF_APPROVAL.model_copy(update={"binds_to": NEXT}), 450.0),
        **REWORK_SHOWN,
    ),
    "approved-by-two": APPROVED_BY_TWO,
}
WISHED = plan(
    State.EXECUTING,
    WaitingOn.RUNNER,
    policy=TWO,
    wishes=(
        Wish(
            command="budget 8usd 90m",
            approvals=(PLAN_APPROVAL.model_copy(update={"at": 450.0, "binds_to": "budget 8usd 90m"}),),
            needed=Needed(people=1, owners=OWNERS),
        ),
    ),
    **APPROVED,
)
"""Half of the people have asked for another budget than the approved one."""

WEEK_BEGAN = 1_795_392_000.0
"""Monday, 23 November 2026."""
HISTORIES = (
    History(
        lines=(
            Line(WEEK_BEGAN + 60, "plan_requested", None, State.DRAFT, WaitingOn.RUNNER),
            Line(WEEK_BEGAN + 300, "plan_posted", State.DRAFT, State.DRAFT, WaitingOn.PLAN_DECISION),
            Line(WEEK_BEGAN + 5_700, "approved", State.DRAFT, State.APPROVED, WaitingOn.SLOT),
            Line(WEEK_BEGAN + 6_600, "branch_confirmed", State.VERIFYING, State.IN_REVIEW, WaitingOn.BOT),
            Line(WEEK_BEGAN + 6_620, "review_posted", State.IN_REVIEW, State.IN_REVIEW, WaitingOn.DIFF_DECISION),
            Line(WEEK_BEGAN + 90_000, "approved", State.IN_REVIEW, State.IN_REVIEW, WaitingOn.BOT),
            Line(WEEK_BEGAN + 90_100, "pull_request_opened", State.IN_REVIEW, State.PR_OPEN, WaitingOn.MERGE),
            Line(WEEK_BEGAN + 99_000, "pull_request_merged", State.PR_OPEN, State.MERGED, None),
        ),
        spending=tuple(
            Spending(
                WEEK_BEGAN + 3_000,
                Usage.model_validate(
                    {**row.model_dump(), "seconds": row.seconds or 0, "usd": row.usd and row.usd * 10}, extra="ignore"
                ),
            )
            for row in COST.rows
        ),
        jobs=(JobTime(WEEK_BEGAN + 3_000, 1_234.0, 200.0, rate=Decimal("0.008")),),
    ),
    History(
        lines=(
            Line(WEEK_BEGAN + 1_000, "plan_requested", None, State.DRAFT, WaitingOn.RUNNER),
            Line(WEEK_BEGAN + 2_000, "plan_posted", State.DRAFT, State.DRAFT, WaitingOn.PLAN_DECISION),
            Line(WEEK_BEGAN + 9_000, "rejected", State.DRAFT, State.REJECTED, None),
        ),
        spending=(
            Spending(
                WEEK_BEGAN + 1_900, Usage(unit=Unit.CREATE_PLAN, agent="codex", model=None, attempt=1, seconds=99)
            ),
        ),
    ),
    History(lines=(Line(WEEK_BEGAN + 9_999, "plan_posted", State.DRAFT, State.DRAFT, WaitingOn.PLAN_DECISION),)),
)
"""A week of three plans: one merged, one rejected, one that waits; of one run nobody knows the price."""
FIGURES = figures(HISTORIES, WEEK_BEGAN, WEEK_BEGAN + WEEK)
WAITED = tuple(waits_of(HISTORIES[0].lines))
