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

MOST_PUSHED = 2_048
"""Commits that a push is told with; one with more is not told whole."""
MERGE_GROUP = re.compile(r"/pr-([1-9][0-9]{0,9})-[0-9a-f]{40,64}$")
"""How the branch of a merge group ends."""
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

    @property
    def bot(self) -> str | None:
        """The login of a bot; None for people."""
        return self.login if self.type == "Bot" else None


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


class App(Narrow):
    """A GitHub App."""

    slug: str = ""


class Comment(Narrow):
    """A comment on an issue or pull request."""

    id: int
    node_id: str = ""
    body: str | None = None
    user: Account | None = None
    performed_via_github_app: App | None = None
    """The App that wrote it, as itself or with a person's token."""
    created_at: str
    updated_at: str


class HeadRepository(Narrow):
    """The repository that a branch lies in."""

    id: int


class Side(Narrow):
    """The branch that a pull request offers or goes to; ``repo`` is None where a fork is gone."""

    ref: str
    sha: str
    repo: HeadRepository | None = None


class PullRequest(Narrow):
    """A pull request."""

    number: int
    state: str
    merged: bool = False
    head: Side
    base: Side | None = None


class RequestedAction(Narrow):
    """The button that was pressed."""

    identifier: str


class CheckSuite(Narrow):
    """What a check run is part of; ``head_branch`` is None for forks."""

    head_branch: str | None = None


class CheckRun(Narrow):
    """A check run, ours or another App's."""

    id: int
    head_sha: str = ""
    external_id: str | None = None
    check_suite: CheckSuite | None = None


class Branch(Narrow):
    """A branch that has the commit of a status."""

    name: str


class MergeGroup(Narrow):
    """The commit that a merge queue made of some pull requests, to be checked before it becomes the branch."""

    head_sha: str
    head_ref: str
    base_ref: str

    @property
    def pull_request(self) -> int | None:
        """The number of its last pull request, which the name of its branch tells; None where it does not."""
        found = MERGE_GROUP.search(self.head_ref)
        return int(found[1]) if found else None


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
    reason: str | None = None
    """Why a merge queue let go of it (``dequeued``)."""


class PushedCommit(Narrow):
    """The paths that one commit of a push changed."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()


class PushPayload(Payload):
    """``push``: a branch or tag moved, came or went."""

    ref: str
    after: str
    deleted: bool = False
    forced: bool = False
    commits: tuple[PushedCommit, ...] = ()
    """What it brought, up to 2,048 of them."""

    def may_change(self, path: str) -> bool:
        """Whether the file can differ from before: a commit changed it, or the commits don't tell."""
        touched = (path in (*c.added, *c.removed, *c.modified) for c in self.commits)
        return self.forced or len(self.commits) >= MOST_PUSHED or any(touched)


class CheckRunPayload(Payload):
    """``check_run``."""

    check_run: CheckRun
    requested_action: RequestedAction | None = None


class StatusPayload(Payload):
    """``status``: a commit status was set; there is no action."""

    sha: str
    state: str
    branches: tuple[Branch, ...] = ()
    """Up to ten branches that the commit is on."""


class MergeGroupPayload(Payload):
    """``merge_group``: a merge queue wants checks for a commit of its own, or has let go of it."""

    merge_group: MergeGroup
    reason: str | None = None
    """Why it has let go: ``merged``, ``invalidated`` or ``dequeued``."""


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


class AuthorizationPayload(Payload):
    """``github_app_authorization``: a person took back what they had allowed the App."""


MODELS: dict[str, type[Payload]] = {
    "issues": IssuesPayload,
    "issue_comment": IssueCommentPayload,
    "pull_request": PullRequestPayload,
    "push": PushPayload,
    "check_run": CheckRunPayload,
    "status": StatusPayload,
    "merge_group": MergeGroupPayload,
    "workflow_run": WorkflowRunPayload,
    "repository": RepositoryPayload,
    "installation": InstallationPayload,
    "installation_repositories": InstallationRepositoriesPayload,
    "github_app_authorization": AuthorizationPayload,
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
