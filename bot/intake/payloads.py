"""The parts of GitHub's webhook payloads that the bot reads, and nothing else.

The rule: a field stands here only if some code reads it, and is optional wherever GitHub may leave it out or send null.
GitHub adds events, actions and fields at any time, and generated models refuse what they don't know; these ignore it.
Text in here (titles, bodies, names) was written by anybody: it is data to be fenced and escaped, never a command of
its own. The raw body stays in the delivery's row, so a field that is needed later is only a line here.
"""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict

from bot.lifecycle.plan import IssueSnapshot, Person, Repo

CHECK_ID = re.compile(r"twogate:(\d+):(\d+):([0-9a-z]+):([0-9a-f]{40,64})")


class Narrow(BaseModel):
    """Base: immutable, and blind to all other fields."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Account(Narrow):
    """A user, bot or organisation."""

    id: int
    login: str
    type: str = "User"

    @property
    def person(self) -> Person:
        """Who this is."""
        return Person(id=self.id, login=self.login)


class Repository(Narrow):
    """The repository of a delivery."""

    id: int
    name: str
    owner: Account
    default_branch: str = ""


class Installation(Narrow):
    """The installation that a delivery came through."""

    id: int
    account: Account | None = None


class Label(Narrow):
    """A label."""

    name: str


class Issue(Narrow):
    """An issue, or the issue side of a pull request."""

    number: int
    title: str = ""
    body: str | None = None
    user: Account | None = None
    state: str = "open"
    pull_request: dict[str, object] | None = None
    """Present on the issue side of a pull request."""

    @property
    def snapshot(self) -> IssueSnapshot:
        """The text as it was when the delivery was made."""
        author = self.user.person if self.user else None
        return IssueSnapshot(title=self.title, body=self.body or "", author=author)


class Comment(Narrow):
    """A comment on an issue or pull request."""

    id: int
    node_id: str = ""
    body: str | None = None
    user: Account | None = None
    created_at: str
    updated_at: str


class HeadRepository(Narrow):
    """The repository that a branch lies in."""

    id: int


class Head(Narrow):
    """The branch that a pull request offers; ``repo`` is None where a fork is gone."""

    ref: str
    sha: str
    repo: HeadRepository | None = None


class PullRequest(Narrow):
    """A pull request."""

    number: int
    state: str
    merged: bool = False
    head: Head


class RequestedAction(Narrow):
    """The button that was pressed."""

    identifier: str


class CheckRun(Narrow):
    """A check run."""

    id: int
    external_id: str | None = None


class WorkflowRun(Narrow):
    """A run of a workflow, at one attempt."""

    id: int
    run_attempt: int = 1
    event: str
    display_title: str = ""
    status: str | None = None
    conclusion: str | None = None
    actor: Account | None = None


class Payload(Narrow):
    """What every delivery has, or may have."""

    action: str | None = None
    installation: Installation | None = None
    repository: Repository | None = None
    sender: Account | None = None

    @property
    def repo(self) -> Repo | None:
        """The repository with the installation that reaches it; None where the delivery is about neither."""
        if self.repository is None or self.installation is None:
            return None
        return Repo(
            id=self.repository.id,
            owner=self.repository.owner.login,
            name=self.repository.name,
            installation_id=self.installation.id,
        )


class IssuesPayload(Payload):
    """``issues``."""

    issue: Issue
    label: Label | None = None


class IssueCommentPayload(Payload):
    """``issue_comment``: on issues and on pull requests."""

    issue: Issue
    comment: Comment


class PullRequestPayload(Payload):
    """``pull_request``."""

    pull_request: PullRequest


class PushPayload(Payload):
    """``push``: a branch or tag moved, came or went."""

    ref: str
    after: str
    deleted: bool = False


class CheckRunPayload(Payload):
    """``check_run``."""

    check_run: CheckRun
    requested_action: RequestedAction | None = None


class WorkflowRunPayload(Payload):
    """``workflow_run``."""

    workflow_run: WorkflowRun


class RepositoryPayload(Payload):
    """``repository``: renamed, transferred, archived, made public, deleted."""


class InstallationPayload(Payload):
    """``installation``: of the App on an account."""


class RepositoryName(Narrow):
    """A repository in a list."""

    id: int


class InstallationRepositoriesPayload(Payload):
    """``installation_repositories``: what the installation reaches changed."""

    repositories_removed: tuple[RepositoryName, ...] = ()


MODELS: dict[str, type[Payload]] = {
    "issues": IssuesPayload,
    "issue_comment": IssueCommentPayload,
    "pull_request": PullRequestPayload,
    "push": PushPayload,
    "check_run": CheckRunPayload,
    "workflow_run": WorkflowRunPayload,
    "repository": RepositoryPayload,
    "installation": InstallationPayload,
    "installation_repositories": InstallationRepositoriesPayload,
}
"""The model of each event that is read."""


def parse(event: str, body: str | bytes) -> Payload:
    """Return a delivery's payload. Raises ``KeyError`` for an event not read, pydantic's ``ValidationError`` else."""
    return MODELS[event].model_validate_json(body)


class CheckId(Narrow):
    """What a check run of ours is about; its ``external_id`` says so."""

    repository_id: int
    issue_number: int
    uid: str
    """The plan's."""
    head: str

    def __str__(self) -> str:
        return f"twogate:{self.repository_id}:{self.issue_number}:{self.uid}:{self.head}"

    @classmethod
    def parse(cls, text: str | None) -> CheckId | None:
        """Return what an ``external_id`` says; None where it is not one of ours."""
        found = CHECK_ID.fullmatch(text or "")
        if found is None:
            return None
        repository_id, issue_number, uid, head = found.groups()
        return cls(repository_id=int(repository_id), issue_number=int(issue_number), uid=uid, head=head)
