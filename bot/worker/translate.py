"""GitHub's deliveries -> what they mean to plans: a request to be judged, an event, a fan-out, or nothing, with why."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.intake import payloads as pl
from bot.lifecycle import events as ev
from bot.lifecycle.commands import Command, Verb, parse
from bot.lifecycle.requests import TAKES_ISSUE, Request
from bot.lifecycle.states import HoldCause, State, Via
from bot.store import deliveries, jobs, plans, throttles, timers
from bot.store.events import EVENT, event_delivery
from bot.worker.apply import apply
from bot.worker.asking import ask
from bot.worker.schedule import ALARM_PAUSE, RUN_GRACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.lifecycle.plan import Plan
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def translate(tx: Tx, delivery: Delivery, bot_user_id: int) -> str:
    """Work out what a delivery from GitHub means, and do it. Returns what came of it."""
    event, _, _ = delivery.event.partition(".")
    return READERS[event](tx, delivery, pl.parse(event, delivery.body), bot_user_id)


def _put(tx: Tx, delivery: Delivery, event: Any) -> str:
    plan = plans.latest(tx, delivery.lane)
    return apply(tx, plan, event) if plan else "no plan of this issue"


def _said(delivery: Delivery) -> dict[str, Any]:
    return {"at": delivery.received_at, "source": delivery.guid}


def _epoch(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


# issues

HOLDS: dict[str | None, HoldCause] = {
    "closed": HoldCause.ISSUE_CLOSED,
    "transferred": HoldCause.ISSUE_TRANSFERRED,
    "locked": HoldCause.ISSUE_LOCKED,
}
LIFTS: dict[str | None, HoldCause] = {"reopened": HoldCause.ISSUE_CLOSED, "unlocked": HoldCause.ISSUE_LOCKED}


def _issues(tx: Tx, delivery: Delivery, said: pl.IssuesPayload, _bot: int) -> str:
    if said.action == "labeled":
        return _labelled(tx, delivery, said)
    if said.action == "unlabeled":
        return _unlabelled(tx, delivery, said)
    by = said.sender.person if said.sender else None
    if said.action in HOLDS:
        return _put(tx, delivery, ev.HoldPlaced(**_said(delivery), cause=HOLDS[said.action], by=by))
    if said.action in LIFTS:
        return _put(tx, delivery, ev.HoldLifted(**_said(delivery), cause=LIFTS[said.action]))
    if said.action == "deleted":
        return _put(tx, delivery, ev.Gone(**_said(delivery), what="the issue"))
    return _put(tx, delivery, ev.IssueEdited(**_said(delivery), sha256=said.issue.snapshot.sha256))


def _labelled(tx: Tx, delivery: Delivery, said: pl.IssuesPayload) -> str:
    """A label asks for a plan, or lifts the hold that taking it off placed. Whose label it is, the policy says.

    A delivery has a body of its own and an id that nobody signed: the same body under a new id is the same saying.
    """
    repo, label, sender = said.repo, said.label, said.sender
    if repo is None or label is None or sender is None or sender.type == "Bot":
        return "nobody's label"
    plan = plans.latest(tx, delivery.lane)
    if plan is not None and not plan.ended:
        if not _is_label(plan, label.name):
            return f"the label {label.name!r} means nothing here"
        return apply(tx, plan, ev.HoldLifted(**_said(delivery), cause=HoldCause.LABEL_REMOVED))
    request = Request(
        repo=repo,
        issue_number=said.issue.number,
        command=Command(verb=Verb.PLAN, argument=label.name),
        actor=sender.person,
        via=Via.LABEL,
        at=delivery.received_at,
        source=f"label:{hashlib.sha256(delivery.body.encode()).hexdigest()[:32]}",
        issue=said.issue.snapshot,
    )
    return ask(tx, request)


def _unlabelled(tx: Tx, delivery: Delivery, said: pl.IssuesPayload) -> str:
    plan = plans.latest(tx, delivery.lane)
    if plan is None or said.label is None or not _is_label(plan, said.label.name):
        return "nothing depends on that label"
    by = said.sender.person if said.sender else None
    return apply(tx, plan, ev.HoldPlaced(**_said(delivery), cause=HoldCause.LABEL_REMOVED, by=by))


def _is_label(plan: Plan, name: str) -> bool:
    return name.casefold() == (plan.label or plan.policy.label).casefold()


# comments


def _comments(tx: Tx, delivery: Delivery, said: pl.IssueCommentPayload, bot: int) -> str:
    lane_ = _lane_of_comment(tx, delivery, said)
    if said.action != "created":
        return _comment_changed(tx, delivery, said, bot, lane_)
    author = said.comment.user
    if author is None or author.type == "Bot" or said.repo is None:
        return "bots give no commands"
    commands = parse(said.comment.body or "")
    snapshot = said.issue.snapshot if said.issue.pull_request is None else None
    notes = [
        ask(
            tx,
            Request(
                repo=said.repo,
                issue_number=int(lane_.split(":")[1]),
                command=command,
                actor=author.person,
                via=Via.COMMAND,
                at=_epoch(said.comment.created_at),
                source=f"comment:{said.comment.id}:{number}",
                comment_id=said.comment.id,
                issue=snapshot if command.verb in TAKES_ISSUE else None,
            ),
        )
        for number, command in enumerate(commands)
    ]
    return "; ".join(notes) or "no command in it"


def _lane_of_comment(tx: Tx, delivery: Delivery, said: pl.IssueCommentPayload) -> str:
    """Return the lane of the plan: a comment on its pull request stands under another number."""
    if said.issue.pull_request is None or said.repository is None:
        return delivery.lane
    plan = plans.by_pull_request(tx, said.repository.id, said.issue.number)
    return plan.lane if plan else delivery.lane


def _comment_changed(tx: Tx, delivery: Delivery, said: pl.IssueCommentPayload, bot: int, lane_: str) -> str:
    plan = plans.latest(tx, lane_)
    if plan is None or plan.revision is None or plan.revision.comment_id != said.comment.id:
        return "not the comment under decision"
    if said.sender is not None and said.sender.id == bot:
        return "our own edit"
    by = said.sender.person if said.sender else None
    return apply(tx, plan, ev.PlanCommentChanged(**_said(delivery), by=by))


# branches and pull requests


def _pushes(tx: Tx, delivery: Delivery, said: pl.PushPayload, bot: int) -> str:
    by_us = said.sender is not None and said.sender.id == bot
    if delivery.lane.endswith(":0"):
        return _alarm(tx, said) if by_us else "the default branch moved"
    if by_us:
        return "our own push"
    plan = plans.latest(tx, delivery.lane)
    if plan is None or said.ref != f"refs/heads/{plan.branch}":
        return "not the branch of the issue's newest plan"
    head = None if said.deleted else said.after
    by = said.sender.person if said.sender else None
    return apply(tx, plan, ev.BranchMoved(**_said(delivery), head=head, by=by))


def _alarm(tx: Tx, said: pl.PushPayload) -> str:
    """The App never pushes to a default branch. Where its identity did, something is badly wrong: stop everything."""
    repo = said.repo
    if repo is None:
        return "no repository"
    sentence = f"The App's identity pushed {said.after[:12]} to the default branch of {repo.owner}/{repo.name}."
    throttles.close(tx, throttles.installation_gate(repo.installation_id), tx.now + ALARM_PAUSE, sentence)
    return f"ALARM: {sentence} The installation is paused."


def _pulls(tx: Tx, delivery: Delivery, said: pl.PullRequestPayload, bot: int) -> str:
    plan = plans.latest(tx, delivery.lane)
    if plan is None or plan.pull_request != said.pull_request.number:
        return "not the plan's pull request"
    by = said.sender.person if said.sender else None
    at = _said(delivery)
    if said.action == "synchronize":
        if said.sender is not None and said.sender.id == bot:
            return "our own push"
        return apply(tx, plan, ev.BranchMoved(**at, head=said.pull_request.head.sha, by=by))
    if said.action == "reopened":
        return apply(tx, plan, ev.PullRequestReopened(**at))
    if said.pull_request.merged:
        return apply(tx, plan, ev.PullRequestMerged(**at, by=by))
    return apply(tx, plan, ev.PullRequestClosed(**at, by=by))


# buttons

BUTTONS = {"approve": Verb.APPROVE, "reject": Verb.REJECT}


def _buttons(tx: Tx, delivery: Delivery, said: pl.CheckRunPayload, _bot: int) -> str:
    """A button decides on the commit that its check run stands on, and on no other."""
    about, plan = pl.CheckId.parse(said.check_run.external_id), plans.latest(tx, delivery.lane)
    verb = BUTTONS.get(said.requested_action.identifier) if said.requested_action else None
    if said.repo is None or said.sender is None or verb is None or about is None:
        return "no button of ours"
    if plan is None or plan.uid != about.uid or plan.review is None or plan.review.work.head != about.head:
        return "the button of a commit that is not in review"
    request = Request(
        repo=said.repo,
        issue_number=plan.issue_number,
        command=Command(verb=verb),
        actor=said.sender.person,
        via=Via.BUTTON,
        at=max(delivery.received_at, plan.review.posted_at or 0.0),
        source=f"button:{delivery.guid}",
    )
    return ask(tx, request)


# runs


def _runs(tx: Tx, _delivery: Delivery, said: pl.WorkflowRunPayload, bot: int) -> str:
    """A run that ended without a report ends its job, after a time in which the report may still come."""
    run, job = said.workflow_run, _job_of(tx, said)
    if job is None or run.actor is None or run.actor.id != bot:
        return "no job of ours"
    if job.reported_at is not None or job.closed_at is not None:
        return "its job has ended"
    sentence = f"The workflow run {run.id} ended ({run.conclusion}) without a report; its log on GitHub may say why."
    lost = ev.JobLost(at=tx.now + RUN_GRACE, source=f"run:{run.id}", job=job.id, sentence=sentence)
    timers.set_timer(
        tx,
        f"lost:{job.id}",
        due_at=tx.now + RUN_GRACE,
        lane=job.lane,
        event="event",
        body=EVENT.dump_json(lost).decode(),
        installation_id=job.installation_id,
    )
    return f"job {job.id} is lost unless its report comes"


def _job_of(tx: Tx, said: pl.WorkflowRunPayload) -> jobs.Job | None:
    """Return a run's job: by the run's id or, where that is not known yet, by the job's in the run's name."""
    if said.repository is None:
        return None
    known = jobs.by_run(tx, said.repository.id, said.workflow_run.id)
    named = known or jobs.get(tx, said.workflow_run.display_title.rpartition(" ")[2])
    its_own = named is not None and named.repository_id == said.repository.id and named.run_id is None
    return known or (named if its_own else None)


# repositories and installations


def _repositories(tx: Tx, delivery: Delivery, said: pl.RepositoryPayload, _bot: int) -> str:
    if said.repository is None:
        return "no repository"
    affected = plans.in_repository(tx, said.repository.id, set(State) - {State.MERGED, State.SPLIT})
    at = _said(delivery)
    event: Any = None
    if said.action == "archived":
        event = ev.HoldPlaced(**at, cause=HoldCause.REPOSITORY_ARCHIVED)
    elif said.action == "unarchived":
        event = ev.HoldLifted(**at, cause=HoldCause.REPOSITORY_ARCHIVED)
    elif said.action == "deleted":
        event = ev.Gone(**at, what="the repository")
    if event is None:
        return "names are looked up when they are needed"
    return _fan_out(tx, delivery, affected, event)


def _installations(tx: Tx, delivery: Delivery, said: pl.InstallationPayload, _bot: int) -> str:
    if said.installation is None:
        return "no installation"
    affected = plans.in_installation(tx, said.installation.id)
    at = _said(delivery)
    if said.action == "suspend":
        return _fan_out(tx, delivery, affected, ev.HoldPlaced(**at, cause=HoldCause.APP_SUSPENDED))
    if said.action == "unsuspend":
        return _fan_out(tx, delivery, affected, ev.HoldLifted(**at, cause=HoldCause.APP_SUSPENDED))
    if said.action == "deleted":
        return _fan_out(tx, delivery, affected, ev.Gone(**at, what="the installation"))
    return "nothing to do"


def _left(tx: Tx, delivery: Delivery, said: pl.InstallationRepositoriesPayload, _bot: int) -> str:
    removed = {repository.id for repository in said.repositories_removed}
    known = plans.in_installation(tx, said.installation.id) if said.installation else []
    affected = [plan for plan in known if plan.repo.id in removed]
    return _fan_out(tx, delivery, affected, ev.Gone(**_said(delivery), what="the App's access to the repository"))


def _fan_out(tx: Tx, delivery: Delivery, affected: list[Plan], event: Any) -> str:
    """Put one event into the lane of each plan it is about."""
    for plan in affected:
        deliveries.add(
            tx,
            event_delivery(
                event,
                guid=f"{delivery.guid}:{plan.uid}",
                source="reconcile",
                lane=plan.lane,
                installation_id=plan.repo.installation_id,
            ),
        )
    return f"told {len(affected)} plans"


READERS: dict[str, Callable[[Tx, Delivery, Any, int], str]] = {
    "issues": _issues,
    "issue_comment": _comments,
    "pull_request": _pulls,
    "push": _pushes,
    "check_run": _buttons,
    "workflow_run": _runs,
    "repository": _repositories,
    "installation": _installations,
    "installation_repositories": _left,
}
"""Who reads which event."""
