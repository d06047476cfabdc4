"""Approvals that came to cover what nobody had read, and work that met a repository which had gone on.

erwins-enkel/shepherd#2224, PR#2223 (edited after the approval), arul28/ADE PR#605 (exactly the bytes that were
reviewed), rorkai/App-Store-Connect-CLI PR#1718 (a tampered row), anthropics/claude-code-action#512, #1385 (an edit
within the same second), claude-code-action#1143 (the default branch is not ``main``), microsoft/vstest#16422,
JKamsker/JKToolKit.CodexSDK#129, #135, #139, #142, rust-lang/homu#213 (a failure that comes back by itself),
smithy-ai/smithy-ai PR#47 (one approval, many times), humanlayer#954, #835, #594 (a state without a way out: that every
open state has one is in ``tests/lifecycle/test_transitions.py``).

Others of the kind stand in ``tests/scenarios/test_plan_gate.py`` and ``test_diff_gate.py``: edits between approval and
dispatch, branches that move between approval and pull request (homu#174, bors-ng#1519, phoenix#3769, tend PR#884,
unidoc/isms#197), withdrawn reactions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.store import plans
from runner.contract import Outcome
from tests.scenarios.conftest import CODE, POLICY
from tests.scenarios.village import Country, Village
from tests.town.repository import prepare

if TYPE_CHECKING:
    from pathlib import Path

PLANNED = ["status", "plan 1"]


@pytest.mark.parametrize(
    "change",
    [lambda text: f"{text} ", lambda text: text.replace("\n", "\r\n"), lambda text: text.replace(" ", "\u00a0", 1)],
    ids=["a blank at the end", "other line ends", "another kind of blank"],
)
def test_a_change_that_nobody_sees_is_a_change(village: Village, change) -> None:
    village.set_policy("queue: {max_parallel: 1, overlap: warn}\ngates: [{name: tests, run: 'true'}]\n")
    village.executing()
    issue = village.planned()
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "approved, waits for slot"
    revision = village.plan(issue).revision
    assert revision is not None
    village.github.faults.add("drop", event="issue_comment.edited", count=None)
    (body,) = (c["body"] for c in village.comments(issue) if c["id"] == revision.comment_id)
    village.bob.edit_comment(revision.comment_id or 0, change(body))
    village.alice.comment(village.plan(issue).issue_number - 1, "/cancel")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == [*PLANNED, "alice: /approve", "approval_void", "plan 2"]


def test_a_stored_plan_that_somebody_changed_is_not_carried_out(village: Village) -> None:
    village.set_policy("queue: {max_parallel: 1, overlap: warn}\ngates: [{name: tests, run: 'true'}]\n")
    first = village.executing()
    issue = village.planned()
    village.alice.comment(issue, "/approve")
    village.settle()
    with village.parts.store.write() as tx:
        plan = plans.get(tx, village.plan(issue).uid)
        assert plan is not None
        assert plan.revision is not None
        document = plan.revision.document.model_copy(update={"steps": ("Delete everything.",)})
        changed = plan.revision.model_copy(update={"document": document})
        plans.save(tx, plan.model_copy(update={"revisions": (changed,), "version": plan.version + 1}), plan.version)
    village.tampered = {issue}
    village.alice.comment(first, "/cancel")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.runs()[-1] != f"twogate {village.plan(issue).uid}-2" or village.plan(issue).job is None
    assert "Delete everything." in village.text(issue, "plan 2"), "whoever decides now sees what is stored"


def test_a_command_edited_within_its_own_second_is_void(village: Village) -> None:
    issue = village.planned()
    hub = village.github.hub
    now = hub.clock()
    hub.clock, before = (lambda: now), hub.clock
    comment = village.alice.comment(issue, "/approve")
    village.alice.edit_comment(comment, "/reject it is wrong")
    (found,) = (c for c in village.comments(issue) if c["id"] == comment)
    assert found["created_at"] == found["updated_at"]
    village.settle()
    hub.clock = before
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.notes(issue, "refused") == ["withdrawn or edited before it was used"]


def test_the_default_branch_may_have_any_name(
    country: Country, tmp_path: Path, sqlite_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    source = prepare(CODE, tmp_path_factory.mktemp("trunk") / "shop", POLICY, branch="trunk")
    with Village(country, tmp_path, source, sqlite_url) as village:
        issue = village.pulled()
        (pull,) = village.pulls()
        assert (pull["base"]["ref"], pull["head"]["ref"]) == ("trunk", "plan/1")
        assert pull["user"]["login"] == "twogate-demo[bot]", "a pull request of the Actions token would start no checks"
        village.alice.merge(pull["number"])
        village.settle()
        assert village.stands(issue) == "merged"
        village.check()


@pytest.mark.parametrize("outcome", [Outcome.OVER_BUDGET, Outcome.TIMED_OUT, Outcome.RUNNER_FAILED])
def test_a_failure_stays_one_until_a_person_says_otherwise(village: Village, outcome: Outcome) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    runner.end(outcome, sentence="The budget is spent: $5.01 of $5.00.", usage=runner.usage())
    assert village.stands(issue) == "failed, waits for person"
    ran = village.runs()
    for _ in range(3):
        village.later(86_400)
        village.periodically("reconcile")
    assert village.stands(issue) == "failed, waits for person"
    assert village.runs() == ran


def test_many_approvals_at_once_start_one_run(village: Village) -> None:
    issue = village.planned()
    revision = village.plan(issue).revision
    assert revision is not None
    for person in (village.alice, village.bob):
        person.react(revision.comment_id or 0)
        person.comment(issue, "/approve\n/approve")
    village.settle()
    village.look()
    assert village.stands(issue) == "executing, waits for runner"
    assert village.path(issue) == ["draft", "approved", "executing"]
    assert len(village.runs()) == 2


def test_two_plans_dispatched_in_the_same_second_keep_their_own_runs(village: Village) -> None:
    """cli/cli#4001, Codex-/return-dispatch#183: which run is whose."""
    issues = [village.opened(), village.opened()]
    for issue in issues:
        village.tom.label(issue, "agent")
    village.settle()
    runs = {run.title: run.id for run in village.repo.runs.values()}
    for issue in issues:
        job = village.plan(issue).job
        assert job is not None
        assert runs[f"twogate {job.id}"] == job.run_id
