"""From what a person said to an event: who they are, what they may, and what they were looking at.

A request is what the outside world shows before anything is checked. GitHub is asked at the moment of decision
(:class:`Reading`), and :func:`decide` turns the two into an event, or into a refusal with its sentence's topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import events
from bot.lifecycle.choices import NotUnderstoodError
from bot.lifecycle.codeowners import Owned
from bot.lifecycle.commands import NAME, Command, Verb
from bot.lifecycle.dependencies import NewestPlan, RefusedDependencyError
from bot.lifecycle.meanings import MEANINGS, Said, event_of
from bot.lifecycle.plan import IssueSnapshot, Person, Repo
from bot.lifecycle.policy import Permission, Policy
from bot.lifecycle.rights import Refusal, refused
from bot.lifecycle.states import DIRECT, SILENT, Frozen, HoldCause, Via, WaitingOn, is_pause_label
from runner.contract import Feedback

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan


class Request(Frozen):
    """What somebody said, unchecked."""

    repo: Repo
    issue_number: int
    command: Command
    actor: Person
    via: Via
    at: float
    source: str
    """Identity of the saying itself (comment, reaction or delivery): the same one acts once."""
    comment_id: int | None = None
    """The comment that holds the command."""
    comment_node: str | None = None
    """Its id in GraphQL."""
    thread: int | None = None
    """The number of the issue or pull request that the comment is on."""
    on_comment: int | None = None
    """The comment that a reaction stands on."""
    reaction_id: int | None = None
    on_head: str | None = None
    """The commit that a button stands on."""
    saw: str | None = None
    """What the person was shown who said it to the bot itself: the plan text's hash, or the head commit."""
    issue: IssueSnapshot | None = None
    """The issue as it read when this was said; None where what was said came without it."""
    bot: str | None = None
    """The bot that said it, or the App through which a person did; None: a person's own words."""

    @property
    def pauses(self) -> bool:
        """Whether a label was set that pauses the plan, rather than one that asks for it."""
        return self.via is Via.LABEL and is_pause_label(self.command.argument)


class Reading(Frozen):
    """What GitHub answered at the moment of decision."""

    permission: Permission
    teams: tuple[str, ...] = ()
    """Of the approvers' teams, those in which the person is."""
    owns: tuple[str, ...] = ()
    """Names in CODEOWNERS that the person stands for, of those below."""
    owned: tuple[Owned, ...] = ()
    """Who owns the files up for decision, where the policy asks for their owners."""
    fallen: tuple[int, ...] = ()
    """Numbers of people who said the same before and whose word no longer stands."""
    still_stands: bool = True
    """False where the comment or reaction was withdrawn, or the comment edited, before it was used."""
    policy: Policy
    issue: IssueSnapshot | None = None
    text: str = ""
    """The comment as it reads now, where what it says is no command."""
    pauses: tuple[HoldCause, ...] = ()
    """What keeps new work from being begun; read where a plan begins, or begins again."""
    plan_sha256: str | None = None
    branch_head: str | None = None
    remarks: tuple[Feedback, ...] = ()
    """What people wrote beside commands, each by somebody who may say it, where the command takes it along."""
    heard: tuple[str, ...] = ()
    """Which comments the remarks are made of, by kind and number."""
    speakers: tuple[Person, ...] = ()
    """Who wrote those that were said to the plan's text."""


def decide(
    request: Request, reading: Reading, plan: Plan | None, newest: NewestPlan = lambda _: None
) -> events.Event | Refusal:
    """Return the event a request amounts to, or why it amounts to none.

    ``newest`` looks up other plans of the repository, for what this one is to depend on.
    """
    if (refusal := _refused(request, reading, plan)) is not None:
        return refusal
    if request.pauses:
        return events.HoldPlaced(at=request.at, source=request.source, cause=HoldCause.LABEL_PAUSED, by=request.actor)
    try:
        return event_of(Said(request, reading, plan, newest))
    except NotUnderstoodError as fault:
        return Refusal(topic=None if request.via in SILENT else "not_understood", reason=str(fault))
    except RefusedDependencyError as fault:
        return Refusal(topic="dependency_refused", reason=str(fault))


def _refused(request: Request, reading: Reading, plan: Plan | None) -> Refusal | None:
    """Return why the request is not even heard: nothing was said to us, by somebody who may, about what is there."""
    if (silence := _not_said_to_us(request, reading)) is not None:
        return Refusal(topic=None, reason=silence)
    if request.via is Via.BUTTON and not _is_up(request.on_head, plan):
        return Refusal(topic=None, reason="the button of a commit that is not up for decision")
    if (refusal := refused(request, reading, plan, MEANINGS[request.command.verb].needs)) is not None:
        return refusal
    if request.via in DIRECT and request.command.verb is Verb.APPROVE and _saw_another(request, plan):
        return Refusal(topic="saw_another", reason="what was shown is not what is up for decision")
    return _stale_reaction(request, plan) if request.via is Via.REACTION else None


def _saw_another(request: Request, plan: Plan | None) -> bool:
    """Whether something else is up for decision than the person was shown."""
    return plan is not None and plan.asked is not None and plan.asked[1] != request.saw


def _not_said_to_us(request: Request, reading: Reading) -> str | None:
    """Return why what was said is no saying at all, or none to this bot."""
    if not reading.still_stands:
        return "withdrawn or edited before it was used"
    here, prefix = reading.policy.prefix, request.command.prefix
    if request.via is Via.COMMAND and prefix not in {NAME, here or ""}:
        return f"meant for /{prefix}" if prefix else f"commands begin with /{here} here"
    return None


def _is_up(head: str | None, plan: Plan | None) -> bool:
    """Whether a button's commit waits for a decision, and its check run still offers one: else it was pressed late."""
    review = plan.review if plan is not None and plan.waiting_on is WaitingOn.DIFF_DECISION else None
    return review is not None and review.work.head == head and review.buttons


def _stale_reaction(request: Request, plan: Plan | None) -> Refusal | None:
    """Refuse a reaction that is not on the comment now up for decision, or older than its text."""
    if plan is None:
        return Refusal(topic=None, reason="no plan to decide on")
    current = {c.comment_id: c.posted_at for c in (plan.revision, plan.review) if c is not None and c.comment_id}
    posted_at = current.get(request.on_comment or 0)
    if posted_at is None:
        return Refusal(topic=None, reason="on a comment that is no longer up for decision")
    if request.at < posted_at:
        return Refusal(topic=None, reason="made before the comment was posted")
    return None
