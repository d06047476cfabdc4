"""Moves that the checks of other Apps make: a pushed commit waits for them, passes or fails by them, and shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.ci import failures, latest, outlook, same
from bot.lifecycle.lessons import in_branch
from bot.lifecycle.moves.common import Step, at_head, changed, fail, moved
from bot.lifecycle.plan import Failure
from bot.lifecycle.states import State, WaitingOn
from runner.contract import JobKind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.lifecycle import events
    from bot.lifecycle.plan import Plan, Review

MINUTE = 60
SETTLE_SECONDS = 5.0
"""Checks that end within this time of each other are asked about, and shown, at once."""


def read_ci(plan: Plan) -> fx.ReadCi:
    """Return the effect that asks what other Apps say of the pushed commit."""
    return fx.ReadCi(key=f"{plan.uid}:ci:{plan.version + 1}")


def show_diff(plan: Plan, review: Review) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Put the diff up for decision, once the checks that are required of its commit have passed."""
    plan = changed(plan, state=State.IN_REVIEW, waiting_on=WaitingOn.BOT)
    return plan, (fx.PostReview(key=f"{plan.uid}:review:{review.number}", head=review.work.head),)


def await_ci(plan: Plan, review: Review, at: float) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Wait for the checks that the policy requires, from now on until their time is up."""
    if not plan.policy.ci.require:
        return show_diff(plan, review)
    review = review.model_copy(update={"ci_until": at + plan.policy.ci.timeout_seconds})
    plan = changed(plan, state=State.VERIFYING, waiting_on=WaitingOn.CI, review=review, failure=None)
    return plan, (read_ci(plan),)


def wait_again(plan: Plan, event: events.RetryRequested) -> Step | None:
    """Wait once more for checks that did not end in time, by the policy of now; None where that is not what failed.

    Words are for the agent, which then goes on with the work instead.
    """
    failure, review = plan.failure, plan.review
    if failure is None or review is None or not failure.awaited or event.text:
        return None
    policy = plan.policy.model_copy(update={"ci": event.ci or plan.policy.ci})
    plan, effects = await_ci(changed(plan, policy=policy, failure=None), review, event.at)
    return moved(plan, "waiting for the checks once more", *effects)


def branch_confirmed(plan: Plan, event: events.BranchConfirmed) -> Step:
    """Show the work, for the branch is what was verified; or wait for the checks of other Apps first."""
    review = plan.review
    if review is None or review.work.head != event.head:
        return Step(plan, (), "read back of an older push")
    plan = changed(at_head(plan, event.head), lessons=in_branch(plan, review.work))
    plan, effects = await_ci(plan, review, event.at)
    return moved(plan, f"branch read back at {event.head[:12]}", *effects)


def ci_due(plan: Plan, event: events.CiDue) -> Step:
    """Ask once more: nobody may have told, and the time may be up."""
    waits = plan.waiting_on is WaitingOn.CI or plan.mends_itself
    if not waits or plan.review is None or plan.review.work.head != event.head:
        return Step(plan, (), "nothing waits for these checks")
    return Step(plan, (read_ci(plan),), "asking what the checks say")


def ci_reported(plan: Plan, event: events.CiReported) -> Step:
    """Take in what other Apps say. Before the diff is shown it decides; afterwards it informs, and disturbs nothing."""
    review = plan.review
    if review is None or review.work.head != event.head:
        return Step(plan, (), "checks of another commit")
    checks = latest(event.checks)
    news = not same(checks, review.ci)
    plan = changed(plan, review=review.model_copy(update={"ci": checks}))
    if plan.waiting_on is WaitingOn.CI and plan.hold is None:
        return _judged(plan, event, news=news)
    if not news or review.comment_id is None:
        return Step(plan, (), "the checks are noted" if news else "the checks say what they said")
    refresh = fx.RefreshReview(key=f"{plan.uid}:refresh:{plan.version + 1}", settle=SETTLE_SECONDS)
    return Step(plan, (refresh,), "the checks changed: showing it in the review")


def _judged(plan: Plan, event: events.CiReported, *, news: bool) -> Step:
    """Go on, fail, or keep waiting, by the checks that are required."""
    review, required = plan.review, plan.policy.ci.require
    assert review is not None, "only a pushed commit waits for checks"  # noqa: S101
    found = outlook(required, event.checks)
    if found.failed:
        sentence = f"{_counted(check.name for check in found.failed)} did not pass on commit {event.head[:12]}."
        return _failed(plan, sentence, "a required check failed", ci=failures(found.failed, event.logs))
    if not found.awaited:
        plan, effects = show_diff(plan, review)
        return moved(plan, "the required checks passed", *effects)
    if event.at >= (review.ci_until or event.at):
        minutes = plan.policy.ci.timeout_seconds / MINUTE
        sentence = f"{_counted(found.awaited)} did not end on commit {event.head[:12]} within {minutes:g} minutes."
        return _failed(plan, sentence, "required checks never came", awaited=found.awaited)
    return moved(plan, "still waiting for checks") if news else Step(plan, (), "still waiting for checks")


def _counted(names: Iterable[str]) -> str:
    found = list(names)
    return f"The required {'check' if len(found) == 1 else 'checks'} {', '.join(found)}"


def _failed(plan: Plan, sentence: str, note: str, **more: object) -> Step:
    given = {"outcome": Outcome.GATES_FAILED, "sentence": sentence, "during": JobKind.EXECUTE, **more}
    return fail(plan, Failure.model_validate(given), note)
