"""What GitHub says of a person at the moment of decision: their permission, their teams, what they own.

Only what the policy asks for is read, and of somebody without the permission nothing else. A listed App has no
permission that GitHub would tell: naming it in the policy lets it do what a person with write may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.github.gateway import Missing
from bot.lifecycle.approvers import is_bot
from bot.lifecycle.codeowners import PLACES, owned
from bot.lifecycle.commands import Verb
from bot.lifecycle.meanings import MEANINGS
from bot.lifecycle.permission import Action, Permission
from bot.lifecycle.rights import is_counted
from bot.lifecycle.states import Frozen, Gate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.lifecycle.codeowners import Owned
    from bot.lifecycle.plan import Approval, Person, Plan, Repo
    from bot.lifecycle.policy import Policy
    from bot.lifecycle.requests import Request
    from bot.worker.context import Context

MOST_TEAMS = 50
"""Teams of CODEOWNERS in which one person is looked for; in those behind them they count as none."""


class Standing(Frozen):
    """Who a person is to a decision."""

    permission: Permission
    teams: tuple[str, ...] = ()
    owns: tuple[str, ...] = ()


def of_request(ctx: Context, request: Request, policy: Policy, files: Sequence[Owned]) -> Standing:
    """Return who said something, as far as it matters to what they said."""
    if request.bot is not None and is_bot(request.actor.login):
        listed = policy.approvers.lists(request.bot)
        return Standing(permission=Permission.WRITE if listed else Permission.NONE)
    if MEANINGS[request.command.verb].needs is not Action.DECIDE:
        return Standing(permission=ctx.gateway.permission(request.repo, request.actor))
    return of_approver(ctx, request.repo, request.actor, policy, files)


def of_approver(ctx: Context, repo: Repo, person: Person, policy: Policy, files: Sequence[Owned] = ()) -> Standing:
    """Return who a person is as one of the approvers, and of these files' owners."""
    approvers = policy.approvers
    permission = ctx.gateway.permission(repo, person)
    if permission < approvers.permission:
        return Standing(permission=permission)
    asked = () if approvers.names(person.login) else approvers.teams
    team = next((name for name in asked if _in_team(ctx, repo, name, person)), None)
    owners = {owner for file in files for owner in file.owners}
    return Standing(
        permission=permission,
        teams=(team,) if team else (),
        owns=tuple(sorted(_stands_for(ctx, repo, person, owners))),
    )


def _in_team(ctx: Context, repo: Repo, name: str, person: Person) -> bool:
    organisation, _, team = name.rpartition("/")
    return ctx.gateway.team_member(repo, organisation or repo.owner, team.lower(), person)


def _stands_for(ctx: Context, repo: Repo, person: Person, owners: set[str]) -> set[str]:
    """Return those of the owners that the person is, by login, team or public e-mail address."""
    found = owners & {f"@{person.login.lower()}"}
    teams = sorted(owner for owner in owners if owner.startswith("@") and "/" in owner)
    found |= {team for team in teams[:MOST_TEAMS] if _in_team(ctx, repo, team.removeprefix("@"), person)}
    if any(not owner.startswith("@") for owner in owners):
        found |= owners & {(ctx.gateway.public_email(repo, person) or "").lower()}
    return found


def files_to_decide(ctx: Context, request: Request, plan: Plan | None, policy: Policy, ref: str) -> tuple[Owned, ...]:
    """Return who owns the files that an approval would be about, where the policy asks for their owners.

    At the plan gate these are the planned ones, at the diff gate the touched ones. Where a report names only some of
    them, the planned ones stand for the rest: the scope check let no other pass.
    """
    if not policy.approvers.codeowners or plan is None or plan.revision is None:
        return ()
    gate = _gate(plan, request.command.verb)
    if gate is None:
        return ()
    paths = plan.revision.document.files
    if gate is Gate.DIFF and plan.review is not None:
        touched = tuple(file.path for file in plan.review.work.files)
        paths = touched if len(touched) == plan.review.work.files_total else (*touched, *paths)
    texts = (ctx.gateway.file(request.repo, place, ref) for place in PLACES)
    return owned(next((text for text in texts if text is not None), ""), paths)


def _gate(plan: Plan, verb: Verb) -> Gate | None:
    """Return the gate whose approvers such a command takes; None where one person is enough."""
    if verb is Verb.APPROVE:
        return plan.asked[0] if plan.asked else None
    return Gate.PLAN if is_counted(verb, plan) else None


def fallen(
    ctx: Context, request: Request, plan: Plan | None, policy: Policy, files: Sequence[Owned]
) -> tuple[int, ...]:
    """Return who said so before and could not do so now: without the right, no more an owner, or withdrawn."""
    if plan is None:
        return ()
    earlier = [a for a in _said_before(plan, request.command.verb) if a.by.id != request.actor.id]
    return tuple(a.by.id for a in earlier if not (_stands(ctx, plan, a) and _may_still(ctx, plan, a, policy, files)))


def _said_before(plan: Plan, verb: Verb) -> tuple[Approval, ...]:
    """Return the approvals, or the wishes, that such a command may complete."""
    if verb is Verb.APPROVE:
        return plan.halfway.approvals if plan.halfway else ()
    return tuple(said for wish in plan.wished if wish.name == verb for said in wish.approvals)


def _may_still(ctx: Context, plan: Plan, approval: Approval, policy: Policy, files: Sequence[Owned]) -> bool:
    if is_bot(approval.by.login):
        return policy.approvers.lists(approval.by.login)
    now = of_approver(ctx, plan.repo, approval.by, policy, files)
    owned_then = {owner for file in files for owner in file.owners}.intersection(approval.owns)
    return policy.approvers.admit(approval.by.login, now.permission, now.teams) and owned_then.issubset(now.owns)


def _stands(ctx: Context, plan: Plan, approval: Approval) -> bool:
    """Whether the comment or the reaction is still there as it was."""
    if approval.comment_id is None:
        return True
    if approval.reaction_id is not None:
        node = next(
            (c.node_id for c in (plan.revision, plan.review) if c and c.comment_id == approval.comment_id), None
        )
        (reacted,) = ctx.gateway.reactions(plan.repo, [node or ""])
        return reacted is not None and any(r.id == approval.reaction_id for r in reacted.reactions)
    try:
        comment = ctx.gateway.comment(plan.repo, approval.comment_id)
    except Missing:
        return False
    author = comment.author
    return author is not None and author.id == approval.by.id and comment.updated_at == comment.created_at
