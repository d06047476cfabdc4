"""What is too long, too much or too many for GitHub.

devops-thiago/ThrillhouseBot#462, gh-aw PR#43911, octopus#511, renovate#2032 (a paid result lost to a limit of length),
github/docs#35252, dorny/test-reporter#57 (bytes against characters), anthropics/claude-code-action#1781, #1629 (a new
status from the thirty-first comment on), kubernetes/test-infra#22143, knative/test-infra#2847 (one thing written over
and over).

Others of the kind: limits of rate in ``tests/scenarios/test_trouble.py``, pages and lost answers in ``tests/github``,
paced writes in ``tests/store/test_throttles.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.lifecycle.wording.limits import CHECK_BYTES, COMMENT
from runner.contract import MAX_PATCH, Outcome

if TYPE_CHECKING:
    from tests.scenarios.village import Village


@pytest.mark.parametrize("sign", ["x", "ü", "🙂", "`", "@a "], ids=["ascii", "two bytes", "four", "fences", "mentions"])
def test_a_long_patch_is_cut_where_people_see_it(village: Village, sign: str) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    head = runner.publish({"shop/basket.py": (sign * (90 // len(sign)) + "\n") * 1_500})
    fields = runner.verified(head)
    patch = fields["work"].patch
    assert len(patch) > COMMENT
    fields["work"] = fields["work"].model_copy(update={"patch": patch[:MAX_PATCH], "patch_cut": len(patch) > MAX_PATCH})
    runner.end(Outcome.VERIFIED, **fields)
    assert village.stands(issue) == "in_review, waits for diff_decision"
    text = village.text(issue, "review 2")
    assert len(text) <= COMMENT
    assert "/compare/" in text
    assert head[:12] in text
    for check in village.repo.checks.values():
        assert len(check.fields["output"]["summary"].encode()) <= CHECK_BYTES


def test_a_failure_with_much_to_say_is_shown(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    notes = tuple(f"{n}: " + "Something @everybody should know. " * 100 for n in range(50))
    runner.end(Outcome.AGENT_FAILED, sentence="x" * 4_000, output_tail="`" * 4_000, notes=notes)
    assert village.stands(issue) == "failed, waits for person"
    assert len(village.text(issue, "status")) <= COMMENT


def test_the_status_is_one_comment_however_long_the_thread(village: Village) -> None:
    issue = village.planned()
    for number in range(40):
        village.mia.comment(issue, f"And another thing, {number}.")
    village.github.faults.add("error_after", method="PATCH", path="/issues/comments/")
    village.alice.comment(issue, "/approve")
    village.settle()
    village.later(10)
    assert village.thread(issue).count("status") == 1
    assert "executing" in village.text(issue, "status")


def test_what_has_not_changed_is_not_written_again(village: Village) -> None:
    issue = village.planned()
    before = len(village.github.control.log())
    for _ in range(5):
        village.later(600)
        village.periodically("reconcile")
    writes = [entry for entry in village.github.control.log(before) if entry["method"] in {"PATCH", "PUT", "DELETE"}]
    assert writes == []
    assert village.stands(issue) == "draft, waits for plan_decision"
