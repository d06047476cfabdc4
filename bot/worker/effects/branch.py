"""Read a pushed branch back, compare it with the default branch, open the pull request, clean up."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from bot.errors import Permanent
from bot.github.gateway import Glance
from bot.lifecycle import events as ev
from bot.lifecycle.states import State
from bot.lifecycle.wording import render as wording
from bot.store import jobs, throttles
from bot.worker import push_tokens
from bot.worker.context import Done, found, plan_of
from bot.worker.effects.posts import costs_of
from bot.worker.effects.texts import sha256
from bot.worker.schedule import ALARM_PAUSE

if TYPE_CHECKING:
    from bot.lifecycle.effects import (
        AdvanceBranch,
        CheckBase,
        DeleteBranch,
        DeleteNext,
        OpenPullRequest,
        ReadBack,
        UpdatePull,
    )
    from bot.lifecycle.plan import Plan
    from bot.store.outbox import Claimed
    from bot.worker.context import Context

log = logging.getLogger(__name__)


def read_back(ctx: Context, claimed: Claimed, effect: ReadBack) -> Done:
    """Compare the branch with what was verified, the default branch with what may not be on it; revoke the token."""
    plan = plan_of(ctx, claimed)
    default = ctx.gateway.repository(plan.repo).default_branch
    with ctx.gateway.glance(plan.repo, Glance(branches=(plan.work_branch, default))):
        head = ctx.gateway.branch_head(plan.repo, plan.work_branch)
        alarm = _on_default_branch(ctx, plan, effect, default)
    with ctx.store.read() as tx:
        job = jobs.get(tx, effect.job)
    push_tokens.revoke(ctx, job)
    if alarm:
        with ctx.store.write() as tx:
            gate = throttles.installation_gate(plan.repo.installation_id)
            throttles.close(tx, gate, ctx.now() + ALARM_PAUSE, alarm)
        log.error("%s The installation is paused.", alarm)
        raise Permanent(alarm)
    said = {"at": ctx.now(), "source": claimed.key}
    if head != effect.head:
        return found(claimed, ev.BranchMoved(**said, head=head, branch=plan.work_branch), "the branch is elsewhere")
    return found(claimed, ev.BranchConfirmed(**said, head=effect.head), "the branch is as verified")


def _on_default_branch(ctx: Context, plan: Plan, effect: ReadBack, default: str) -> str | None:
    """Return an alarm where work that nobody approved is on the default branch already.

    It can't be where that is still at the commit which the work begins at.
    """
    with ctx.store.read() as tx:
        spec = jobs.spec(tx, effect.job)
    if spec is not None and effect.head != spec.base == ctx.gateway.branch_head(plan.repo, default):
        return None
    if ctx.gateway.compare(plan.repo, default, effect.head).ahead_by > 0:
        return None
    return (
        f"Commit {effect.head[:12]} of plan #{plan.issue_number} is on {default} before its diff was approved. "
        "Look at who pushed it; then lift the pause with `twogate admin resume`."
    )


def check_base(ctx: Context, claimed: Claimed, effect: CheckBase) -> Done:
    """Say whether anything can conflict: only files that both sides changed since they parted can."""
    plan = plan_of(ctx, claimed)
    review = plan.review
    if review is None:
        return Done("no review any more")
    info = ctx.gateway.repository(plan.repo)
    theirs = ctx.gateway.compare(plan.repo, effect.head, info.default_branch)
    before = plan.rework.review if plan.rework else None
    works = [each.work for each in (before, review) if each is not None]
    mine = {change.path for work in works for change in work.files}
    all_known = theirs.complete and all(len(work.files) == work.files_total for work in works)
    clean = theirs.ahead_by == 0 or (all_known and not mine & set(theirs.paths))
    event = ev.BaseChecked(at=ctx.now(), source=claimed.key, head=effect.head, clean=clean)
    return found(claimed, event, "clean" if clean else "the same files changed")


def open_pull_request(ctx: Context, claimed: Claimed, effect: OpenPullRequest) -> Done:
    """Open the pull request for the approved commit, unless the branch is elsewhere now."""
    plan = plan_of(ctx, claimed)
    approval = plan.diff_approval
    if approval is None or approval.binds_to != effect.head:
        return Done("no approval for this commit any more")
    said = {"at": ctx.now(), "source": claimed.key}
    head = ctx.gateway.branch_head(plan.repo, plan.branch)
    if head != effect.head:
        return found(claimed, ev.BranchMoved(**said, head=head), "the branch is elsewhere")
    info = ctx.gateway.repository(plan.repo)
    cost = costs_of(ctx, plan)
    title, body = wording.pull_request(plan, cost, web=ctx.web)
    pull = ctx.gateway.ensure_pull(
        plan.repo, branch=plan.branch, base=info.default_branch, title=title, body=body, first=claimed.first
    )
    event = ev.PullRequestOpened(
        **said, number=pull.number, url=pull.url, record_sha256=sha256(wording.record(plan, cost, web=ctx.web))
    )
    return found(claimed, event, f"#{pull.number}")


def advance_branch(ctx: Context, claimed: Claimed, effect: AdvanceBranch) -> Done:
    """Bring the pull request's branch on to the approved commit, from exactly where it was when that was begun."""
    plan = plan_of(ctx, claimed)
    approval, rework = plan.diff_approval, plan.rework
    if approval is None or approval.binds_to != effect.head or rework is None or rework.on != effect.expected:
        return Done("no approval for this commit any more")
    said = {"at": ctx.now(), "source": claimed.key}
    here = ctx.gateway.branch_head(plan.repo, plan.branch)
    if here not in {effect.expected, effect.head}:
        return found(claimed, ev.BranchMoved(**said, head=here), "the pull request is elsewhere")
    there = ctx.gateway.branch_head(plan.repo, plan.work_branch)
    if there != effect.head:
        moved = ev.BranchMoved(**said, head=there, branch=plan.work_branch)
        return found(claimed, moved, "the further work is elsewhere")
    ctx.gateway.advance_branch(plan.repo, plan.branch, effect.head, expected=effect.expected)
    return found(claimed, ev.BranchAdvanced(**said, head=effect.head), f"{plan.branch} is at {effect.head[:12]}")


def update_pull(ctx: Context, claimed: Claimed, _effect: UpdatePull) -> Done:
    """Bring the record in the pull request's text up to date; whatever people wrote around it stays."""
    plan = plan_of(ctx, claimed)
    if plan.pull_request is None:
        return Done("no pull request")
    cost = costs_of(ctx, plan)
    if sha256(wording.record(plan, cost, web=ctx.web)) == plan.record_sha256:
        return Done("it says what it was opened with")
    body = ctx.gateway.pull_body(plan.repo, plan.pull_request)
    fresh = wording.with_record(body, plan, cost, web=ctx.web)
    if fresh is None:
        return Done("people have written over the record: it is left alone")
    if fresh != body:
        ctx.gateway.edit_pull(plan.repo, plan.pull_request, fresh)
    return Done("up to date")


def delete_next(ctx: Context, claimed: Claimed, effect: DeleteNext) -> Done:
    """Remove the branch of further work where it is at a commit that one of the plan's own jobs pushed."""
    plan = plan_of(ctx, claimed)
    if plan.rework is not None:
        return Done(f"{effect.branch} is in use again")
    head = ctx.gateway.branch_head(plan.repo, effect.branch)
    with ctx.store.read() as tx:
        own = jobs.pushed(tx, plan.uid)
    if head is None or head not in own:
        return Done(f"{effect.branch} is gone" if head is None else f"{effect.branch} was pushed to and stays")
    ctx.gateway.delete_branch(plan.repo, effect.branch, head)
    return Done(f"{effect.branch} deleted")


def delete_branch(ctx: Context, claimed: Claimed, effect: DeleteBranch) -> Done:
    """Remove a branch that is done with, if nobody pushed to it since or opened its pull request again unheard."""
    plan = plan_of(ctx, claimed)
    closed = plan.pull_request if plan.state is State.REJECTED else None
    if closed is not None and ctx.gateway.pull(plan.repo, closed).state == "open":
        event = ev.PullRequestReopened(at=ctx.now(), source=claimed.key)
        return found(claimed, event, f"#{closed} is open again: {effect.branch} stays")
    gone = ctx.gateway.delete_branch(plan.repo, effect.branch, effect.head)
    return Done(f"{effect.branch} deleted" if gone else f"{effect.branch} was pushed to and stays")
