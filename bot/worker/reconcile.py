"""Look after what nobody tells: lost deliveries, silent runners, comments and branches that moved unseen.

Everything that is found goes through the inbox, as if GitHub had told it; the timer alone would be enough, the webhooks
only make it sooner.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Any

from bot.errors import TwogateError
from bot.github.gateway import Missing
from bot.lifecycle import events as ev
from bot.lifecycle.ci import latest, same
from bot.lifecycle.deadlines import JOB_SILENCE
from bot.lifecycle.plan import lane
from bot.lifecycle.states import HoldCause, State, WaitingOn, is_pause_label
from bot.store import deliveries, jobs, outbox, plans
from bot.store.events import event_delivery
from bot.worker.apply import ask_queue
from bot.worker.pauses import pause_news
from bot.worker.schedule import REDELIVER_SPAN, SHOWN_LATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bot.github.gateway import IssueInfo
    from bot.lifecycle.plan import Plan, Repo
    from bot.store.deliveries import NewDelivery
    from bot.store.engine import Tx
    from bot.store.jobs import Job
    from bot.worker.context import Context

log = logging.getLogger(__name__)

NOT_TOO_LATE = frozenset(
    {
        *("show_status", "refresh_review", "update_pull", "mark_superseded", "fold_review", "open_child", "say"),
        *("judge_head", "judge_group", "show_policy_check", "delete_branch", "delete_next"),
        *("tell_costs", "tell_week"),
    }
)
"""Effects whose giving up moved no plan, and which go by what is when they are carried out: they make up for it."""


def watch_jobs(ctx: Context) -> None:
    """Tell the plans of jobs that are overdue: not started, not heard of, or not ended in time.

    A report that only waits its turn stands before this in the plan's lane, and closes the job first.
    """
    with ctx.store.write() as tx:
        for job in jobs.overdue(tx):
            deliveries.add(tx, _lost(job, ctx.now()))
            jobs.look_again(tx, job.id, ctx.now() + JOB_SILENCE)


def _lost(job: Job, now: float) -> NewDelivery:
    if job.claimed_at is None:
        sentence = "No runner took the job in time. Is a self-hosted runner with the label `twogate` online?"
    elif job.reported_at is not None:
        sentence = "The runner's report could not be taken in; the bot's log says why."
    else:
        sentence = "The runner fell silent in the middle of the job; what it spent is known only up to then."
    event = ev.JobLost(at=now, source=f"overdue:{job.id}", job=job.id, sentence=sentence)
    return event_delivery(
        event,
        guid=f"overdue:{job.id}",
        source="timer",
        lane=job.lane,
        installation_id=job.installation_id,
    )


def redeliver(ctx: Context) -> None:
    """Ask GitHub to send again what could not be delivered; what did arrive is dropped by its guid."""
    count = ctx.gateway.redeliver_failed(ctx.now() - REDELIVER_SPAN)
    if count:
        log.info("asked GitHub to send %d deliveries again", count)


def reconcile(ctx: Context) -> None:
    """Compare every open plan with GitHub and tell it what it was not told; then every queue looks again."""
    with ctx.store.read() as tx:
        open_plans = plans.open_plans(tx)
        turned_down = _turned_down(tx, open_plans)
    paused = cache(lambda repo: ctx.policies.at(repo, ctx.gateway.repository(repo).default_branch).policy.paused)
    for plan in (*open_plans, *turned_down):
        try:
            news = list(_news(ctx, plan, paused))
        except TwogateError as trouble:
            log.warning("plan #%d of %s could not be compared: %s", plan.issue_number, plan.repo.id, trouble)
            continue
        with ctx.store.write() as tx:
            deliveries.add_all(tx, news)
    with ctx.store.write() as tx:
        for repo in {plan.repo.id: plan.repo for plan in open_plans}.values():
            ask_queue(tx, repo.id, repo.installation_id, f"reconcile:{repo.id}:{ctx.now()!r}")
        outbox.once_more(tx, NOT_TOO_LATE, ctx.now() - SHOWN_LATE)


def _turned_down(tx: Tx, open_plans: list[Plan]) -> list[Plan]:
    """Return the plans whose pull requests were closed and may be open again, while that matters.

    It does while others wait for them, and while their branches are kept: removing one closes its pull request.
    """
    kept = plans.with_kept_branch(tx)
    known = {plan.uid for plan in kept}
    return [*kept, *(plan for plan in _waited_for(tx, open_plans) if plan.uid not in known)]


def _waited_for(tx: Tx, open_plans: list[Plan]) -> list[Plan]:
    lanes = {lane(plan.repo.id, issue) for plan in open_plans for issue in plan.choices.depends_on}
    found = [plan for name in sorted(lanes) if (plan := plans.glimpse(tx, name)) is not None]
    return [plan for plan in found if plan.state is State.REJECTED and plan.pull_request is not None]


def _news(ctx: Context, plan: Plan, paused: Callable[[Repo], bool]) -> list[NewDelivery]:
    if plan.ended:
        return [_delivery(plan, event) for event in _pull_news(ctx, plan)]
    found = [*_issue_news(ctx, plan), *_pull_news(ctx, plan), *_branch_news(ctx, plan), *_check_news(ctx, plan)]
    if (news := pause_news(plan, _said(ctx, plan), paused=paused(plan.repo))) is not None:
        found.append(news)
    return [_delivery(plan, event) for event in found]


def _delivery(plan: Plan, event: Any) -> NewDelivery:
    """Return the delivery of one finding. Its event names it too, so that a later finding is answered again."""
    guid = f"reconcile:{plan.uid}:{plan.version}:{event.type}:{getattr(event, 'cause', '')}"
    return event_delivery(
        event.model_copy(update={"source": guid}),
        guid=guid,
        source="reconcile",
        lane=plan.lane,
        installation_id=plan.repo.installation_id,
    )


def _said(ctx: Context, plan: Plan) -> dict[str, Any]:
    """Return when and from where: the source is of this version of the plan, so that later news are news again."""
    return {"at": ctx.now(), "source": f"reconcile:{plan.uid}:{plan.version}"}


def _issue_news(ctx: Context, plan: Plan) -> list[Any]:
    said = _said(ctx, plan)
    try:
        issue = ctx.gateway.issue(plan.repo, plan.issue_number)
    except Missing:
        return [ev.Gone(**said, what="the issue")]
    archived = ctx.gateway.repository(plan.repo).archived
    news = [*_hold_news(plan, issue, said, archived=archived)]
    if issue.snapshot.sha256 != plan.issue.sha256 and not plan.issue_stale:
        news.append(ev.IssueEdited(**said, sha256=issue.snapshot.sha256))
    return news


def _hold_news(plan: Plan, issue: IssueInfo, said: dict[str, Any], *, archived: bool) -> Iterator[Any]:
    labelled = (plan.label or plan.policy.label).casefold() in {name.casefold() for name in issue.labels}
    holding = frozenset(plan.hold.causes) if plan.hold is not None else frozenset()
    wanted_off = plan.label is not None or HoldCause.LABEL_REMOVED in holding
    stands = {
        HoldCause.ISSUE_CLOSED: issue.state == "closed",
        HoldCause.ISSUE_LOCKED: issue.locked,
        HoldCause.REPOSITORY_ARCHIVED: archived,
        HoldCause.APP_SUSPENDED: False,  # GitHub has just answered
        HoldCause.LABEL_REMOVED: wanted_off and not labelled,
        # who set it, the delivery alone tells
        HoldCause.LABEL_PAUSED: HoldCause.LABEL_PAUSED in holding and any(map(is_pause_label, issue.labels)),
    }
    for cause, holds in stands.items():
        if holds and cause not in holding and plan.state is not State.PR_OPEN:
            yield ev.HoldPlaced(**said, cause=cause)
        if cause in holding and not holds:
            yield ev.HoldLifted(**said, cause=cause)


def _pull_news(ctx: Context, plan: Plan) -> list[Any]:
    with_one = plan.rework is not None or plan.state in {State.PR_OPEN, State.REJECTED}
    if plan.pull_request is None or not with_one:
        return []
    pull = ctx.gateway.pull(plan.repo, plan.pull_request)
    said = _said(ctx, plan)
    if pull.merged:
        return [ev.PullRequestMerged(**said)]
    if (pull.state == "closed") != (plan.state is State.REJECTED):
        return [ev.PullRequestReopened(**said) if plan.ended else ev.PullRequestClosed(**said)]
    moves = plan.diff_approval is not None and plan.rework is not None  # the bot itself moves the branch then
    return [] if plan.ended or moves or pull.head == plan.branch_head else [ev.BranchMoved(**said, head=pull.head)]


def _branch_news(ctx: Context, plan: Plan) -> list[Any]:
    if plan.waiting_on is not WaitingOn.DIFF_DECISION:
        return []
    head = ctx.gateway.branch_head(plan.repo, plan.work_branch)
    if head == plan.work_head:
        return []
    return [ev.BranchMoved(**_said(ctx, plan), head=head, branch=plan.work_branch)]


def _check_news(ctx: Context, plan: Plan) -> list[Any]:
    """Have what is waited for asked about, and tell a diff review what has changed of its commit."""
    if plan.review is None:
        return []
    head = plan.review.work.head
    if plan.waiting_on is WaitingOn.CI or plan.mends_itself:
        return [ev.CiDue(**_said(ctx, plan), head=head)]
    if plan.waiting_on is not WaitingOn.DIFF_DECISION:
        return []
    checks = ctx.gateway.checks(plan.repo, head)
    if same(latest(checks), plan.review.ci):
        return []
    return [ev.CiReported(**_said(ctx, plan), head=head, checks=checks)]
