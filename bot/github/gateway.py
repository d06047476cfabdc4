"""The verbs that the bot needs of GitHub, and what they answer.

``ensure_*`` verbs take ``first``: a first try goes straight ahead, any later one looks for its own earlier result (by
marker *and* own authorship, or by name) before it writes. Every verb raises the errors of :mod:`bot.errors`:
``RetryAt`` for rate limits, ``Transient`` for network trouble and 5xx, ``Permanent`` for refusals, :class:`Missing`
where the thing addressed does not exist (404 and 410 alike).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from bot.errors import Permanent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.lifecycle.ci import CiCheck
    from bot.lifecycle.plan import IssueSnapshot, Person, Repo
    from bot.lifecycle.policy import Permission


class Missing(Permanent):
    """GitHub has no such thing (any more), or does not show it to the App."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as GitHub has it. Times are seconds since the epoch."""

    id: int
    node_id: str
    body: str
    author: Person | None
    created_at: float
    updated_at: float
    by_app: bool
    """Written by this App itself."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """One 👍 or 👎. ``user`` is None where the account is gone or a bot."""

    id: int
    content: Literal["+1", "-1"]
    user: Person | None
    created_at: float


@dataclass(frozen=True, slots=True)
class ReactedComment:
    """The decision reactions on one comment, all pages; None in a batch stands for a deleted comment."""

    node_id: str
    reactions: tuple[Reaction, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How ``head`` stands to ``base``: counts of commits, and the paths changed since their merge base."""

    ahead_by: int
    paths: tuple[str, ...]
    complete: bool
    """False where GitHub cut the list (300 files), so that absence proves nothing."""


@dataclass(frozen=True, slots=True)
class RepositoryInfo:
    """What ``GET /repositories/{id}`` says now."""

    owner: str
    name: str
    default_branch: str
    archived: bool
    clone_url: str


@dataclass(frozen=True, slots=True)
class Run:
    """A workflow run. ``conclusion`` is None while it goes on."""

    id: int
    attempt: int
    status: str
    conclusion: str | None
    actor_id: int | None


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request."""

    number: int
    url: str
    state: Literal["open", "closed"]
    merged: bool
    head_repository_id: int | None
    head: str
    """The commit that it offers."""
    head_branch: str
    base: str
    """Name of the branch that it goes to."""
    mergeable: bool | None
    """None: GitHub has not worked it out yet, or it was read from a list."""


@dataclass(frozen=True, slots=True)
class InlineComment:
    """A comment beside a line of a commit or of a pull request. Untrusted text; times are seconds since the epoch."""

    id: int
    author: Person | None
    by_bot: bool
    """Written by an App or a machine account of one, this one or another."""
    body: str
    commit: str
    """The commit by which ``line`` counts."""
    path: str
    """Empty: on the commit as a whole."""
    line: int | None
    """Of the file as it is at that commit; None where it is about the whole file or about a line that was removed."""
    hunk: str
    """The lines of the diff that it stands under, where GitHub tells them."""
    reply_to: int | None
    """The comment of a pull request that this one answers."""
    created_at: float
    updated_at: float
    url: str


@dataclass(frozen=True, slots=True)
class PullReview:
    """A review of a pull request that was handed in. Untrusted text."""

    id: int
    author: Person | None
    by_bot: bool
    state: Literal["approved", "changes_requested", "commented", "dismissed"]
    body: str
    commit: str
    """The head that was reviewed; empty where GitHub has let go of it."""
    submitted_at: float
    url: str


@dataclass(frozen=True, slots=True)
class MadeIssue:
    """An issue that the bot opened. ``id`` is GitHub's own number of it, which sub-issues are named by."""

    number: int
    id: int
    url: str


@dataclass(frozen=True, slots=True)
class IssueInfo:
    """An issue as it reads now."""

    snapshot: IssueSnapshot
    state: Literal["open", "closed"]
    locked: bool
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckAction:
    """A button on a check run; GitHub shows three at most (label 20, description 40, identifier 20 characters)."""

    label: str
    description: str
    identifier: str


@dataclass(frozen=True, slots=True)
class CheckRun:
    """What a check run shows."""

    name: str
    title: str
    summary: str
    conclusion: Literal["success", "failure", "cancelled", "neutral", "action_required"] | None
    """None: still in progress."""
    external_id: str
    actions: tuple[CheckAction, ...] = ()
    """Buttons; pressing one sends ``check_run.requested_action`` with its identifier."""


@dataclass(frozen=True, slots=True)
class StateLabel:
    """A label that shows a state. It is made where it is not there; people may change its colour and words."""

    name: str
    color: str
    description: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What an issue should show of a plan: its status comment, one label of several, and that it was seen."""

    key: str
    body: str
    comment_id: int | None
    """The status comment; None where it is not posted yet, as far as is known."""
    label: str
    labels: tuple[StateLabel, ...]
    """All labels of which the issue has none but ``label``; its other labels are people's."""
    seen: bool = False
    """React to the issue with eyes. Refused, it is left out: it tells nothing that the comment does not."""


@dataclass(frozen=True, slots=True)
class AppIdentity:
    """Who the bot is on GitHub."""

    app_id: int
    slug: str
    bot_user_id: int


@dataclass(frozen=True, slots=True)
class Grant:
    """What the owner of some repositories lets the App do there."""

    installation_id: int
    account: str
    permissions: Mapping[str, str]
    """For each kind of thing ``read``, ``write`` or ``admin``, as the manifest writes it."""
    suspended: bool


class Gateway(Protocol):
    """Everything the bot asks of GitHub. Implemented by :mod:`bot.github.client`."""

    def identity(self) -> AppIdentity:
        """Return who the bot is on GitHub; asked once."""
        ...

    def repository(self, repo: Repo) -> RepositoryInfo:
        """Return the repository by its number, wherever it lies now."""
        ...

    def permission(self, repo: Repo, person: Person) -> Permission:
        """Return what the person with this number may do; nothing for bots and strangers."""
        ...

    def issue(self, repo: Repo, number: int) -> IssueInfo:
        """Return an issue as it reads now; one that was deleted or transferred away is ``Missing``."""
        ...

    def comment(self, repo: Repo, comment_id: int) -> Comment:
        """Return one comment."""
        ...

    def comments(self, repo: Repo, number: int) -> list[Comment]:
        """Return all comments of an issue, oldest first."""
        ...

    def reactions(self, repo: Repo, node_ids: Sequence[str]) -> list[ReactedComment | None]:
        """Return the 👍 and 👎 of each comment in order, None where it is gone; ``repo`` names the installation."""
        ...

    def branch_head(self, repo: Repo, branch: str) -> str | None:
        """Return the commit a branch is at; None where there is none."""
        ...

    def file(self, repo: Repo, path: str, ref: str) -> str | None:
        """Return a text file at a commit or branch; None where there is none."""
        ...

    def compare(self, repo: Repo, base: str, head: str) -> Comparison:
        """Return how two commits or branches stand to each other."""
        ...

    def organisation_file(self, repo: Repo, path: str) -> str | None:
        """Return a text file of the owner's ``.github`` repository as it is now; None where either is not there."""
        ...

    def team_member(self, repo: Repo, org: str, team: str, person: Person) -> bool:
        """Whether the person is in a team (by its slug) or one below it; a team that is not there has no members.

        Raises ``Permanent`` where the App may not read members.
        """
        ...

    def public_email(self, repo: Repo, person: Person) -> str | None:
        """Return the e-mail address that the person shows on their profile; None without one."""
        ...

    def checks(self, repo: Repo, head: str) -> tuple[CiCheck, ...]:
        """Return what others report about a commit: the newest check run and status of each name; ours left out.

        Statuses are left out where the App was not given the right to read them.
        """
        ...

    def job_log(self, repo: Repo, job_id: int) -> str | None:
        """Return the end of the log of an Actions job; None where GitHub has none (any more). Untrusted text."""
        ...

    def commit_comments(self, repo: Repo, base: str, head: str) -> list[InlineComment]:
        """Return the comments on the commits that ``head`` has beyond ``base`` (the newest 250), oldest commit first.

        Raises ``Missing`` where either is not there.
        """
        ...

    def review_comments(self, repo: Repo, pull: int) -> list[InlineComment]:
        """Return the comments beside lines of a pull request, oldest first."""
        ...

    def reviews(self, repo: Repo, pull: int) -> list[PullReview]:
        """Return the reviews of a pull request that were handed in, oldest first."""
        ...

    def run(self, repo: Repo, run_id: int) -> Run:
        """Return a workflow run at its latest attempt."""
        ...

    def find_run(self, repo: Repo, workflow: str, marker: str) -> Run | None:
        """Return the newest run that the App itself dispatched with ``marker`` as a word of its name."""
        ...

    def pull(self, repo: Repo, number: int) -> Pull:
        """Return a pull request."""
        ...

    def find_pull(self, repo: Repo, branch: str) -> Pull | None:
        """Return the open pull request of a branch of this repository, else its newest closed one."""
        ...

    def ensure_comment(self, repo: Repo, number: int, key: str, body: str, *, first: bool) -> Comment:
        """Post a comment once. Its first line becomes the invisible mark of ``key``, part of the body from then on."""
        ...

    def edit_comment(self, repo: Repo, comment_id: int, body: str) -> Comment:
        """Replace a comment's whole text; :func:`bot.github.ensure.marked` keeps the mark."""
        ...

    def show(self, repo: Repo, number: int, shown: Shown, *, first: bool) -> Comment:
        """Bring an issue to what it should show of a plan, in one request; return its status comment.

        A comment that was deleted is posted anew. What fails alone is seen, and the next try shows all of it again.
        """
        ...

    def ensure_dispatch(
        self, repo: Repo, workflow: str, ref: str, inputs: Mapping[str, str], *, marker: str, first: bool
    ) -> int:
        """Start a workflow once and return its run's id; ``marker`` is a word of the run's name."""
        ...

    def cancel_run(self, repo: Repo, run_id: int) -> None:
        """Stop a workflow run; one that has ended or is gone is as wanted."""
        ...

    def ensure_check_run(self, repo: Repo, head: str, check: CheckRun, *, first: bool) -> int:
        """Make a check run on a commit once, by its external id; return its id."""
        ...

    def update_check_run(self, repo: Repo, check_run_id: int, check: CheckRun) -> None:
        """Bring a check run to what it should show."""
        ...

    def ensure_pull(self, repo: Repo, *, branch: str, base: str, title: str, body: str, first: bool) -> Pull:
        """Open a pull request once for a branch."""
        ...

    def delete_branch(self, repo: Repo, branch: str, head: str) -> bool:
        """Remove a plan's branch where it is at ``head``; gone is as wanted. False where it is at another commit."""
        ...

    def advance_branch(self, repo: Repo, branch: str, head: str, *, expected: str) -> None:
        """Bring a plan's branch from ``expected`` on to ``head``, which follows it; at ``head`` already is as wanted.

        Raises ``Permanent`` where it is anywhere else, or ``head`` does not follow.
        """
        ...

    def ensure_issue(
        self, repo: Repo, key: str, title: str, body: str, labels: Sequence[str], *, first: bool
    ) -> MadeIssue:
        """Open an issue once. Its text begins with the invisible mark of ``key``, as a comment's does."""
        ...

    def ensure_sub_issue(self, repo: Repo, parent: int, child_id: int) -> bool:
        """Make an issue, by GitHub's own number of it, a sub-issue of ``parent``.

        False where the server has no sub-issues (GitHub Enterprise Server up to 3.19): then a list in the parent's
        text has to do.
        """
        ...

    def minimise(self, repo: Repo, node_id: str) -> None:
        """Fold a comment away as outdated; one that is gone is as wanted."""
        ...

    def mint_push_token(self, repo: Repo) -> tuple[str, float]:
        """Return a token that may write the contents of this repository alone, and when it ends (epoch seconds)."""
        ...

    def revoke_token(self, token: str) -> None:
        """End a token; one that GitHub does not know any more is as wanted."""
        ...

    def redeliver_failed(self, since: float) -> int:
        """Ask again for the deliveries since then (epoch seconds) that were never answered well; return how many."""
        ...

    def grants(self) -> list[Grant]:
        """Return every installation of the App with what it may do there."""
        ...
