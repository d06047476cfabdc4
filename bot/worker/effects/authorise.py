"""Ask GitHub about a request at the moment of decision: who the person is, and what they were looking at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.github.gateway import Glance, Missing
from bot.lifecycle.approvers import is_bot
from bot.lifecycle.commands import Verb, parse
from bot.lifecycle.meanings import MEANINGS
from bot.lifecycle.policy import Action, Permission, may
from bot.lifecycle.requests import Reading
from bot.lifecycle.states import HoldCause, State, Via, is_pause_label
from bot.store import deliveries, plans
from bot.store.deliveries import NewDelivery
from bot.worker.context import Done, Judged
from bot.worker.effects import pull_remarks, remarks, standing
from bot.worker.effects.texts import sha256
from bot.worker.policies import POLICY_PATH
from bot.worker.poll import requests_of, up_for_decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.github.gateway import Comment
    from bot.lifecycle.effects import Authorise
    from bot.lifecycle.plan import IssueSnapshot, Plan
    from bot.lifecycle.policy import Policy
    from bot.lifecycle.requests import Request
    from bot.store.outbox import Claimed
    from bot.worker.context import Context

LEAST_TO_DECIDE = Permission.WRITE
"""No policy lets anybody decide with less; so a passer-by's reaction costs one question."""


BEGINS = frozenset({Verb.PLAN, Verb.REOPEN})
"""Commands by which a plan begins, or begins again: a pause that stands already holds it from then on."""

TAKEN_ALONG: dict[Verb, Callable[[Context, Plan | None, Policy], remarks.Gathered]] = {
    Verb.REVISE: pull_remarks.of_work,
    Verb.FIX: pull_remarks.of_checks,
    Verb.UPDATE: remarks.of_plan,
    Verb.EXPAND: remarks.of_plan,
    Verb.SPLIT: remarks.of_plan,
}
"""Commands that take along what stands beside them, and where that is."""


def authorise(ctx: Context, claimed: Claimed, effect: Authorise) -> Done:
    """Read what the decision needs and hand it, with the request, to the plan."""
    request = effect.request
    with ctx.store.read() as tx:
        plan = plans.latest(tx, claimed.lane)
    info = ctx.gateway.repository(request.repo)
    with ctx.gateway.glance(request.repo, _glance(request, plan, info.default_branch)):
        if plan is not None and request.via is Via.REACTION:
            permission = ctx.gateway.permission(request.repo, request.actor)
            if permission < LEAST_TO_DECIDE:
                return _answer(
                    claimed, Judged(request=request, reading=Reading(permission=permission, policy=plan.policy))
                )
        return _judged(ctx, claimed, request, plan, info.default_branch)


def _glance(request: Request, plan: Plan | None, default_branch: str) -> Glance:
    """Return what is looked at for any decision about a request."""
    shown = (plan.revision, plan.review) if plan else ()
    nodes = (request.comment_node, *(comment.node_id for comment in shown if comment))
    branches = (default_branch, plan.work_branch) if plan and plan.state is State.IN_REVIEW else (default_branch,)
    return Glance(issue=request.issue_number, comments=tuple(filter(None, nodes)), branches=branches, file=POLICY_PATH)


def _judged(ctx: Context, claimed: Claimed, request: Request, plan: Plan | None, default_branch: str) -> Done:
    head = ctx.gateway.branch_head(request.repo, default_branch) or default_branch
    in_force = ctx.policies.at(request.repo, head)
    policy = in_force.policy
    if request.via is Via.LABEL and not (request.pauses or policy.is_label(request.command.argument)):
        return Done(f"the label {request.command.argument!r} asks for nothing here")
    request = _objection(ctx, request, plan, policy) or request
    judged = Judged(request=request, reading=_read(ctx, request, plan, policy, head), faults=in_force.faults)
    return _answer(claimed, judged)


def _answer(claimed: Claimed, judged: Judged) -> Done:
    delivery = _delivery(claimed, "authorised", judged.model_dump_json())
    return Done(f"{judged.request.actor.login} has {judged.reading.permission.name.lower()}", (delivery,))


def _delivery(claimed: Claimed, event: str, body: str) -> NewDelivery:
    return NewDelivery(
        guid=f"effect:{claimed.key}",
        source="effect",
        event=event,
        lane=claimed.lane,
        body=body,
        installation_id=claimed.installation_id,
    )


def _read(ctx: Context, request: Request, plan: Plan | None, policy: Policy, ref: str) -> Reading:
    if request.bot is not None and is_bot(request.actor.login) and not policy.approvers.lists(request.bot):
        return Reading(permission=Permission.NONE, policy=policy)
    comment = _comment(ctx, request)
    owned = standing.files_to_decide(ctx, request, plan, policy, ref)
    who = standing.of_request(ctx, request, policy, owned)
    reading = Reading(
        permission=who.permission,
        teams=who.teams,
        owns=who.owns,
        owned=owned,
        fallen=standing.fallen(ctx, request, plan, policy, owned),
        still_stands=_still_stands(ctx, request, plan, comment),
        policy=policy,
        issue=_issue(ctx, request) if MEANINGS[request.command.verb].takes_issue else None,
        text=comment.body if comment is not None and request.via is Via.REPLY else "",
        pauses=_pauses(ctx, request, policy) if request.command.verb in BEGINS else (),
    )
    if request.command.verb in TAKEN_ALONG and may(policy, reading.permission, Action.STEER):
        taken = TAKEN_ALONG[request.command.verb](ctx, plan, policy)
        beside = {"remarks": taken.said, "heard": taken.heard, "speakers": taken.speakers}
        return reading.model_copy(update={**beside, "branch_head": _pull_head(ctx, plan)})
    if request.command.verb is not Verb.APPROVE or plan is None:
        return reading
    return reading.model_copy(
        update={"plan_sha256": plan_comment_sha256(ctx, plan), "branch_head": _branch_head(ctx, plan)}
    )


def _pauses(ctx: Context, request: Request, policy: Policy) -> tuple[HoldCause, ...]:
    labels = ctx.gateway.issue(request.repo, request.issue_number).labels
    by_label = any(is_pause_label(name) for name in labels)
    causes = {HoldCause.POLICY_PAUSED: policy.paused, HoldCause.LABEL_PAUSED: by_label}
    return tuple(cause for cause, stands in causes.items() if stands)


def _issue(ctx: Context, request: Request) -> IssueSnapshot:
    return request.issue or ctx.gateway.issue(request.repo, request.issue_number).snapshot


def _comment(ctx: Context, request: Request) -> Comment | None:
    """Return the comment that says it; None where there is none (any more)."""
    if request.comment_id is None:
        return None
    try:
        return ctx.gateway.comment(request.repo, request.comment_id)
    except Missing:
        return None


def _still_stands(ctx: Context, request: Request, plan: Plan | None, comment: Comment | None) -> bool:
    """Whether the words or the reaction are still there; commands as they were first said, answers as they read now.

    GitHub's times are whole seconds: an edit within the second of the comment shows in the words alone.
    """
    if request.via is Via.REACTION:
        return _reaction_stands(ctx, request, plan)
    if request.via is Via.LABEL:
        labels = ctx.gateway.issue(request.repo, request.issue_number).labels
        return request.command.argument.casefold() in {name.casefold() for name in labels}
    if request.comment_id is None:
        return True
    if comment is None or comment.author is None or comment.author.id != request.actor.id:
        return False
    unedited = comment.updated_at == comment.created_at and request.command in parse(comment.body)
    return unedited or request.via is Via.REPLY


def _objection(ctx: Context, request: Request, plan: Plan | None, policy: Policy) -> Request | None:
    """Return the rejection that stands beside an approval and that no look at the reactions has found yet: it wins."""
    if plan is None or plan.waiting_on not in plans.POLLED or request.command.verb is not Verb.APPROVE:
        return None
    shown = up_for_decision(plan)
    if shown is None:
        return None
    (reacted,) = ctx.gateway.reactions(plan.repo, [shown.node_id or ""])
    found = requests_of(plan, shown, reacted) if reacted is not None else []
    with ctx.store.read() as tx:
        new = [r for r in found if r.command.verb is Verb.REJECT and not deliveries.is_known(tx, r.source)]
    return next((r for r in new if _may_decide(ctx, r, policy)), None)


def _may_decide(ctx: Context, request: Request, policy: Policy) -> bool:
    who = standing.of_approver(ctx, request.repo, request.actor, policy)
    return policy.approvers.admit(request.actor.login, who.permission, who.teams)


def _reaction_stands(ctx: Context, request: Request, plan: Plan | None) -> bool:
    shown = (plan.revision, plan.review) if plan else ()
    node = next((c.node_id for c in shown if c and c.comment_id == request.on_comment and c.node_id), None)
    if node is None:
        return True  # decide() refuses it: its comment is no longer up for decision
    (reacted,) = ctx.gateway.reactions(request.repo, [node])
    return reacted is not None and any(r.id == request.reaction_id for r in reacted.reactions)


def plan_comment_sha256(ctx: Context, plan: Plan) -> str | None:
    """Return the hash of the current plan comment as it reads now; None where there is none (any more)."""
    revision = plan.revision
    if revision is None or revision.comment_id is None:
        return None
    try:
        return sha256(ctx.gateway.comment(plan.repo, revision.comment_id).body)
    except Missing:
        return None


def _branch_head(ctx: Context, plan: Plan) -> str | None:
    return ctx.gateway.branch_head(plan.repo, plan.work_branch) if plan.state is State.IN_REVIEW else None


def _pull_head(ctx: Context, plan: Plan | None) -> str | None:
    """Return where the branch of an open pull request is."""
    is_open = plan is not None and plan.state is State.PR_OPEN
    return ctx.gateway.branch_head(plan.repo, plan.branch) if plan is not None and is_open else None
