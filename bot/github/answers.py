"""What GitHub answers, as the bot reads it, and what the bot wants shown. Times are seconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.lifecycle.plan import IssueSnapshot, Person, Repo


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
    app: str | None = None
    """The slug of the App that wrote it with a person's token; of one comment read in a glance that is not told."""


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
class Glance:
    """What a decision is going to ask of a repository, so that it can be read at once."""

    issue: int | None = None
    """An issue's text, state and labels."""
    comments: tuple[str, ...] = ()
    """Comments by their ids in GraphQL, with the decision reactions on them."""
    branches: tuple[str, ...] = ()
    """Where branches are."""
    file: str | None = None
    """A text file at the commits of the branches."""


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
class Holder:
    """Whose token it is. ``speaks``: whether it may also act for that person on GitHub, rather than only name them."""

    person: Person
    speaks: bool


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a person signed in with: a token until ``ends_at`` (None: no end), and one that gets the next, once."""

    token: str = field(repr=False)
    ends_at: float | None
    refresh_token: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class OpenedIssue:
    """An issue that a person opened. ``labels`` are those it has: GitHub drops the labels of who may not set any."""

    number: int
    url: str
    labels: frozenset[str]


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
class Annotation:
    """A remark of a check run beside a line of a file."""

    path: str
    line: int
    message: str


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
    annotations: tuple[Annotation, ...] = ()
    """What failed, beside its lines; GitHub adds those of an update to those that are there."""


@dataclass(frozen=True, slots=True)
class PutUp:
    """A comment that waits for a decision, and the check run that says so on its commit."""

    comment: Comment
    check_run_id: int


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
class Installed:
    """A repository in which the App is installed."""

    repo: Repo
    default_branch: str
    public: bool
    """Everybody on the host may read it, signed in or not."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What the owner of some repositories lets the App do there."""

    installation_id: int
    account: str
    permissions: Mapping[str, str]
    """For each kind of thing ``read``, ``write`` or ``admin``, as the manifest writes it."""
    suspended: bool
