"""Which deliveries are kept, and in which lane: the table of event and action.

Everything else is dropped for a reason, also what GitHub may invent tomorrow. A lane is one issue
(:func:`bot.lifecycle.plan.lane`), a pull request of people, a repository (issue 0), an installation, or a person who
had signed in. Where a delivery does not name its issue (a workflow run, a comment on a pull request), it goes to the
nearest lane and the worker moves it on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from bot.intake import payloads
from bot.lifecycle.commands import parse
from bot.lifecycle.plan import lane, pull_lane

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STATE_LABELS = "plan: "
"""The bot's own labels show a plan's state; setting one decides nothing."""
BRANCH = re.compile(r"plan/([1-9][0-9]{0,9})(?:-[0-9a-z-]{1,20})?")
"""A plan's branch: ``plan/<issue>``, or with the number of a later try behind it."""
RUN_NAME = "twogate "
"""How the runs of our workflow are called: this and the job's id."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """Kept, under this lane."""

    lane: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """Not kept, and why."""

    reason: str


Verdict = Accepted | Dropped


def issue_of_branch(branch: str) -> int | None:
    """Return the issue whose plan a branch belongs to; None for all other branches."""
    found = BRANCH.fullmatch(branch)
    return int(found[1]) if found else None


def _in_issue(payload: payloads.Payload, number: int) -> Verdict:
    if payload.repository is None:
        return Dropped("names no repository")
    return Accepted(lane(payload.repository.id, number))


def _issue(payload: payloads.Payload) -> Verdict:
    said = cast("payloads.IssuesPayload", payload)
    if said.issue.pull_request is not None:
        return Dropped("is about a pull request")
    return _in_issue(said, said.issue.number)


def _labelled(payload: payloads.Payload) -> Verdict:
    said = cast("payloads.IssuesPayload", payload)
    if said.label is not None and said.label.name.startswith(STATE_LABELS):
        return Dropped("is a label that only shows a state")
    return _issue(said)


def _comment(payload: payloads.Payload) -> Verdict:
    """Keep what people say, and what others do to a comment; our own comments come back to us and are dropped."""
    said = cast("payloads.IssueCommentPayload", payload)
    if _bot_on_its_own(said):
        return Dropped("was done by a bot to its own comment")
    opener = said.issue.user
    if said.issue.pull_request is not None and (opener is None or opener.type != "Bot"):
        return Dropped("is on a pull request of a person")
    return _in_issue(said, said.issue.number)


def _bot_on_its_own(said: payloads.IssueCommentPayload) -> bool:
    """Whether a bot talks, or edits what it said. What reads as a command is kept: the policy may list that bot."""
    sender, author = said.sender, said.comment.user
    if sender is None or sender.type != "Bot":
        return False
    if said.action == "created":
        return not parse(said.comment.body or "")
    return author is not None and author.id == sender.id


def _plan_of(said: payloads.PullRequestPayload) -> int | None:
    """Return the issue from whose plan's branch a pull request is; None for all other pull requests."""
    head, home = said.pull_request.head, said.repository
    ours = home is not None and head.repo is not None and head.repo.id == home.id
    return issue_of_branch(head.ref) if ours else None


def _pull_request(payload: payloads.Payload) -> Verdict:
    said = cast("payloads.PullRequestPayload", payload)
    number = _plan_of(said)
    return Dropped("is not from a plan's branch of this repository") if number is None else _in_issue(said, number)


def _changed_pull_request(payload: payloads.Payload) -> Verdict:
    """Keep what may change the policy file: whether it does, a delivery does not say."""
    said = cast("payloads.PullRequestPayload", payload)
    home, base = said.repository, said.pull_request.base
    if _plan_of(said) is not None:
        return _pull_request(payload)
    if home is None or base is None or base.ref != home.default_branch:
        return Dropped("does not go to the default branch")
    return Accepted(pull_lane(home.id, said.pull_request.number))


def _opened_pull_request(payload: payloads.Payload) -> Verdict:
    said = cast("payloads.PullRequestPayload", payload)
    return _changed_pull_request(said) if _plan_of(said) is None else Dropped("is from a plan's branch")


def _push(payload: payloads.Payload) -> Verdict:
    said = cast("payloads.PushPayload", payload)
    if not said.ref.startswith("refs/heads/"):
        return Dropped("is no branch")
    branch = said.ref.removeprefix("refs/heads/")
    if said.repository is not None and branch == said.repository.default_branch:
        return _in_issue(said, 0)
    number = issue_of_branch(branch)
    return Dropped("is neither the default branch nor a plan's") if number is None else _in_issue(said, number)


def _button(payload: payloads.Payload) -> Verdict:
    said = cast("payloads.CheckRunPayload", payload)
    about = payloads.CheckId.parse(said.check_run.external_id)
    if about is None or said.repository is None or about.repository_id != said.repository.id:
        return Dropped("is not one of our check runs")
    return _in_issue(said, about.issue_number)


def _check_of_another(payload: payloads.Payload) -> Verdict:
    said = cast("payloads.CheckRunPayload", payload)
    if payloads.CheckId.parse(said.check_run.external_id) is not None:
        return Dropped("is one of our check runs")
    suite = said.check_run.check_suite
    number = issue_of_branch(suite.head_branch) if suite and suite.head_branch else None
    return Dropped("is on no plan's branch") if number is None else _in_issue(said, number)


def _status(payload: payloads.Payload) -> Verdict:
    said = cast("payloads.StatusPayload", payload)
    if said.state == "pending":
        return Dropped("says nothing yet")
    numbers = (issue_of_branch(branch.name) for branch in said.branches)
    number = next((found for found in numbers if found is not None), None)
    return Dropped("is on no plan's branch") if number is None else _in_issue(said, number)


def _run(payload: payloads.Payload) -> Verdict:
    run = cast("payloads.WorkflowRunPayload", payload).workflow_run
    if run.event != "workflow_dispatch" or not run.display_title.startswith(RUN_NAME):
        return Dropped("is not a run of our workflow")
    return _in_issue(payload, 0)


def _repository(payload: payloads.Payload) -> Verdict:
    return _in_issue(payload, 0)


def _installation(payload: payloads.Payload) -> Verdict:
    if payload.installation is None:
        return Dropped("names no installation")
    return Accepted(f"installation:{payload.installation.id}")


def _person(payload: payloads.Payload) -> Verdict:
    return Dropped("names nobody") if payload.sender is None else Accepted(f"person:{payload.sender.id}")


TABLE: Mapping[str, Mapping[str | None, Callable[[payloads.Payload], Verdict]]] = {
    "issues": {
        "labeled": _labelled,
        "unlabeled": _labelled,
        "edited": _issue,
        "closed": _issue,
        "reopened": _issue,
        "deleted": _issue,
        "transferred": _issue,
        "locked": _issue,
        "unlocked": _issue,
    },
    "issue_comment": {"created": _comment, "edited": _comment, "deleted": _comment},
    "pull_request": {
        "opened": _opened_pull_request,
        "closed": _pull_request,
        "reopened": _changed_pull_request,
        "synchronize": _changed_pull_request,
        "enqueued": _pull_request,
        "dequeued": _pull_request,
    },
    "push": {None: _push},
    "check_run": {"requested_action": _button, "completed": _check_of_another},
    "status": {None: _status},
    "merge_group": {"checks_requested": _repository, "destroyed": _repository},
    "workflow_run": {"completed": _run},
    "repository": {
        "renamed": _repository,
        "transferred": _repository,
        "archived": _repository,
        "unarchived": _repository,
        "publicized": _repository,
        "privatized": _repository,
        "deleted": _repository,
    },
    "installation": {
        "created": _installation,
        "deleted": _installation,
        "suspend": _installation,
        "unsuspend": _installation,
        "new_permissions_accepted": _installation,
    },
    "installation_repositories": {"added": _installation, "removed": _installation},
    "github_app_authorization": {"revoked": _person},
}
"""What is kept. Its events are those that ``app.yml`` subscribes to, and those of :data:`AUTOMATIC` that matter."""

AUTOMATIC = frozenset({"installation", "installation_repositories", "github_app_authorization"})
"""Kept events that every App gets unasked; a manifest can't name them."""


def judge(event: str, body: bytes) -> Verdict:
    """Return whether and in which lane a verified delivery is kept.

    Raises pydantic's ``ValidationError`` where the body of an event that is read does not have the fields it needs.
    """
    actions = TABLE.get(event)
    if actions is None:
        return Dropped("is an event that is not read")
    action = payloads.Payload.model_validate_json(body).action
    rule = actions.get(action)
    if rule is None:
        return Dropped("is an action that is not read")
    return rule(payloads.parse(event, body))
