"""Can anything reach a branch without the first checkpoint, or a pull request without the second? (no)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.contract import Outcome
from tests.scenarios.runner import PASSED, Runner, plan_document

if TYPE_CHECKING:
    from tests.scenarios.village import Village


def require_untouched(village: Village) -> None:
    """Nothing was pushed and nothing proposed."""
    assert village.branches() == []
    assert village.pulls() == []
    assert village.workshop.tip("main") == village.first_commit


def try_everything(village: Village, runner: Runner) -> None:
    """What a hostile runner can try without an approval: each is refused, and nothing comes of it."""
    base = village.workshop.tip("main") or ""
    head = village.workshop.commit(base, {"shop/basket.py": "evil"})
    runner.progress("publish")
    assert runner.try_push_token(head).status_code in {403, 409}
    assert runner.try_report(Outcome.VERIFIED, **verified(village, runner, base, head)).status_code in {200, 422}
    run_token = village.github.hub.create_workflow_token(village.repo, {"contents": "read"}).raw
    for target in (f"plan/{issue_of(village)}", "main"):
        url = f"{village.github.url}/{village.repository}.git".replace("://", f"://x-access-token:{run_token}@")
        assert not village.workshop.push(url, head, target)
    village.settle()
    require_untouched(village)


def issue_of(village: Village) -> int:
    return min(number for number in village.repo.issues)


def verified(village: Village, runner: Runner, base: str, head: str) -> dict[str, object]:
    shop = village.workshop
    files = shop.changes(base, head)
    fields = {"base": base, "head": head, "tree": shop.tree(head), "commits": 1, "files": files, "patch": "x"}
    work = {**fields, "files_total": len(files), "patch_cut": False, "summary": None, "pull_request": None}
    return {"work": work, "gates": (PASSED,)}


def test_without_the_first_checkpoint_nothing_reaches_a_branch(village: Village) -> None:
    issue = village.labelled()
    planner = village.runner(issue)
    planner.claim()
    try_everything(village, planner)
    planner.report(Outcome.PLANNED, plan=plan_document())
    village.settle()
    for person, words in ((village.rita, "/approve"), (village.tom, "/approve"), (village.mia, "/approve")):
        person.comment(issue, words)
        village.settle()
    revision = village.plan(issue).revision
    assert revision is not None
    village.rita.react(revision.comment_id or 0)
    village.look()
    require_untouched(village)
    assert len(village.runs()) == 1
    assert planner.try_push_token("a" * 40).status_code in {403, 409}


def test_without_the_second_checkpoint_nothing_reaches_a_pull_request(village: Village) -> None:
    issue = village.reviewed()
    revision = village.plan(issue).revision
    assert revision is not None
    village.alice.react(revision.comment_id or 0)
    for person in (village.rita, village.tom, village.mia):
        person.comment(issue, "/approve")
    village.look()
    village.periodically("reconcile")
    village.later(86_400)
    assert village.pulls() == []
    assert village.workshop.tip("main") == village.first_commit
    village.push("bob", {"shop/basket.py": "other"}, f"plan/{issue}")
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.pulls() == []


def test_with_both_there_is_one_pull_request_of_what_was_approved(village: Village) -> None:
    issue = village.reviewed()
    review = village.plan(issue).review
    assert review is not None
    village.alice.comment(issue, "/approve")
    village.settle()
    (pull,) = village.pulls()
    assert pull["head"]["sha"] == review.work.head
    gates = [(e.event, e.actor_login) for e in village.journal(issue) if e.event == "approved"]
    assert gates == [("approved", "alice"), ("approved", "alice")]
    assert village.workshop.tip("main") == village.first_commit
