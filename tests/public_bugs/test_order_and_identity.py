"""News that are late, of something else, or of something that bears the same name.

packit/packit-service PR#3121 (a late "cancelled" of the old run overwrites the new one), link-assistant/hive-mind#2031
(not bound to the attempt), runs-on/runs-on#539 (arrival order), sreerevanth/repopilot PR#111 (a leftover branch),
AO#3649 and gastown#1380, #1381 (in progress, and nobody at work).

Others of the kind stand elsewhere: deliveries doubled, reordered and replayed in ``tests/scenarios/test_webhooks.py``
(atlantis#1880, test-infra#13828, kubeflow#1304, ThrillhouseBot#20, #89, gitmesh#412, loopover#789), renamed
repositories in ``test_world.py`` (dependabot/feedback#308, plan42 PR#1465), lost runners in ``test_runners.py``
(bors-ng#48), processes that die in ``tests/faults`` and ``tests/worker`` (bors-ng#206, gastown#1833, dbos#716).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.worker.schedule import RUN_GRACE

if TYPE_CHECKING:
    from tests.scenarios.village import Village


def test_the_end_of_a_stopped_run_does_not_touch_the_one_that_followed(village: Village) -> None:
    issue = village.executing()
    old = village.plan(issue).job
    assert old is not None
    village.github.faults.add("drop", event="workflow_run.completed")
    village.alice.comment(issue, "/update smaller")
    village.settle()
    assert village.run_state(old.id) == "completed cancelled"
    new = village.plan(issue).job
    assert new is not None
    village.periodically("redeliver")
    village.later(RUN_GRACE + 1)
    assert village.plan(issue).job == new.model_copy(update={"run_id": village.attempt(new.id).run.id})
    assert village.stands(issue) == "draft, waits for runner"
    village.runner(issue).write_plan()
    assert village.stands(issue) == "draft, waits for plan_decision"


def test_a_run_that_only_bears_the_name_of_a_job_is_not_the_jobs(village: Village) -> None:
    issue = village.labelled()
    job = village.plan(issue).job
    assert job is not None
    village.alice.call("POST", "/actions/workflows/twogate.yml/dispatches", ref="main", inputs={"job": job.id})
    village.settle()
    theirs = village.attempt(job.id)
    assert theirs.run.id != job.run_id
    village.finish_run(theirs, "failure")
    village.settle()
    village.later(RUN_GRACE + 1)
    assert village.plan(issue).job == job
    village.repo.runs.pop(theirs.run.id)  # the village counts doubled runs of the bot, and this one is Alice's
