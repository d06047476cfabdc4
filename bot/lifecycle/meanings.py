"""What each command means, once for all who ask: the right that it needs, the event that it amounts to, its words.

A new command is a :class:`~.commands.Verb` and a row here; the table of :mod:`.transitions` says what its event does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bot.lifecycle import events as ev
from bot.lifecycle.answers import answers_beside, read_answers
from bot.lifecycle.choices import read_agent, read_budget, read_month, read_numbers, read_priority
from bot.lifecycle.commands import Verb
from bot.lifecycle.dependencies import grant, read_dependencies
from bot.lifecycle.permission import Action
from bot.lifecycle.states import Via

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.lifecycle.dependencies import NewestPlan
    from bot.lifecycle.plan import Plan
    from bot.lifecycle.requests import Reading, Request


class Said(NamedTuple):
    """A command, with all that gives its words their meaning."""

    request: Request
    reading: Reading
    plan: Plan | None
    newest: NewestPlan

    @property
    def words(self) -> str:
        """What stands behind the command."""
        return self.request.command.argument


class Meaning(NamedTuple):
    """What a command needs and amounts to."""

    needs: Action
    event: type[ev.PlanRequested | ev.HumanEvent]
    carries: Callable[[Said], dict[str, Any]] = lambda _: {}
    """What the event says beyond who said it, when and where. Raises NotUnderstoodError or RefusedDependencyError."""
    takes_issue: bool = False
    """Whether it takes the issue's text: as it read when this was said, whoever edits it a moment later."""


def event_of(said: Said) -> ev.Event:
    """Return the event that a command amounts to. Raises NotUnderstoodError or RefusedDependencyError."""
    request, meaning = said.request, MEANINGS[said.request.command.verb]
    return meaning.event(
        at=request.at,
        source=request.source,
        by=request.actor,
        via=request.via,
        comment_id=request.comment_id,
        thread=request.thread,
        **meaning.carries(said),
    )


def _plan(said: Said) -> dict[str, Any]:
    request, reading = said.request, said.reading
    assert reading.issue is not None, "the issue is read with every request for a plan"  # noqa: S101
    where = {"repo": request.repo, "issue_number": request.issue_number, "issue": reading.issue}
    return {**where, "policy": reading.policy, "pauses": reading.pauses}


def _approval(said: Said) -> dict[str, Any]:
    request, reading = said.request, said.reading
    return {
        "on_comment": request.on_comment,
        "plan_sha256": reading.plan_sha256,
        "branch_head": reading.branch_head,
        "reaction_id": request.reaction_id,
        **_counted(reading),
    }


def _counted(reading: Reading) -> dict[str, Any]:
    """Return whose words count, for what more than one person may have to say."""
    standing = {"owns": reading.owns, "owned": reading.owned, "fallen": reading.fallen}
    return {"approvers": reading.policy.approvers, **standing}


def _agent(said: Said) -> dict[str, Any]:
    return {"agent": read_agent(said.words, said.reading.policy), **_counted(said.reading)}


def _budget(said: Said) -> dict[str, Any]:
    return {"budget": read_budget(said.words), **_counted(said.reading)}


def _rejection(said: Said) -> dict[str, Any]:
    return {"reason": said.words, "on_comment": said.request.on_comment}


def _rewrite(said: Said) -> dict[str, Any]:
    reading = said.reading
    return {"text": said.words, "remarks": reading.remarks, "heard": reading.heard, "speakers": reading.speakers}


def _update(said: Said) -> dict[str, Any]:
    return {**_rewrite(said), "issue": said.reading.issue}


def _answers(said: Said) -> dict[str, Any]:
    """Return what is said to the plan's questions; nothing where it has none."""
    questions = said.plan.questions if said.plan is not None else ()
    if not questions:
        return {"answers": ()}
    if said.request.via is Via.REPLY:
        given = answers_beside(said.reading.text, questions)
    else:
        given = read_answers(said.words, questions)
    return {"answers": tuple(ev.Answer(number=number, text=text) for number, text in given.items())}


def _further_work(said: Said) -> dict[str, Any]:
    reading = said.reading
    return {"text": said.words, "remarks": reading.remarks, "branch_head": reading.branch_head}


def _revision(said: Said) -> dict[str, Any]:
    return {**_further_work(said), "heard": said.reading.heard}


def _dependencies(said: Said) -> dict[str, Any]:
    """Return what the plan depends on from now on; without a plan nobody will ask what that would be."""
    wish = read_dependencies(said.words)
    return {"depends_on": grant(wish, said.plan, said.newest) if said.plan is not None else wish.issues}


def _costs(said: Said) -> dict[str, Any]:
    return {"repo": said.request.repo, "month": read_month(said.words, said.request.at)}


MEANINGS: dict[Verb, Meaning] = {
    Verb.PLAN: Meaning(Action.REQUEST_PLAN, ev.PlanRequested, _plan, takes_issue=True),
    Verb.APPROVE: Meaning(Action.DECIDE, ev.Approved, _approval),
    Verb.REJECT: Meaning(Action.DECIDE, ev.Rejected, _rejection),
    Verb.REOPEN: Meaning(Action.DECIDE, ev.ReopenRequested, lambda said: {"pauses": said.reading.pauses}),
    Verb.UPDATE: Meaning(Action.STEER, ev.UpdateRequested, _update, takes_issue=True),
    Verb.EXPAND: Meaning(Action.STEER, ev.ExpandRequested, _rewrite),
    Verb.SPLIT: Meaning(Action.STEER, ev.SplitRequested, _rewrite),
    Verb.ANSWER: Meaning(Action.ANSWER, ev.Answered, _answers),
    Verb.REVISE: Meaning(Action.STEER, ev.ReviseRequested, _revision),
    Verb.FIX: Meaning(Action.STEER, ev.FixRequested, _further_work),
    Verb.ACCEPT: Meaning(
        Action.STEER,
        ev.RecommendationsAccepted,
        lambda said: {"numbers": read_numbers(said.words, "recommendations", "accept")},
    ),
    Verb.REMEMBER: Meaning(
        Action.STEER, ev.LessonsAdopted, lambda said: {"numbers": read_numbers(said.words, "lessons", "remember")}
    ),
    Verb.RETRY: Meaning(
        Action.STEER, ev.RetryRequested, lambda said: {"text": said.words, "ci": said.reading.policy.ci}
    ),
    Verb.CANCEL: Meaning(Action.STEER, ev.CancelRequested),
    Verb.ICEBOX: Meaning(Action.STEER, ev.Shelved),
    Verb.THAW: Meaning(Action.STEER, ev.Thawed),
    Verb.START: Meaning(Action.STEER, ev.StartRequested),
    Verb.DEPENDS: Meaning(Action.STEER, ev.DependsChosen, _dependencies),
    Verb.PRIORITY: Meaning(Action.STEER, ev.PriorityChosen, lambda said: {"priority": read_priority(said.words)}),
    Verb.AGENT: Meaning(Action.DECIDE, ev.AgentChosen, _agent),
    Verb.BUDGET: Meaning(Action.DECIDE, ev.BudgetChosen, _budget),
    Verb.COSTS: Meaning(Action.SEE_COSTS, ev.CostsRequested, _costs),
    Verb.STATUS: Meaning(Action.ASK, ev.StatusRequested),
    Verb.HELP: Meaning(Action.ASK, ev.StatusRequested),
}
"""Every command. What ``/help`` asks for is told before its event comes to a plan."""
