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
    author_id: int | None
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
    behind_by: int
    merge_base: str
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
    private: bool
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
    head_sha: str
    head_repository_id: int | None


@dataclass(frozen=True, slots=True)
class IssueInfo:
    """An issue as it reads now."""

    snapshot: IssueSnapshot
    state: Literal["open", "closed"]
    locked: bool
    labels: tuple[str, ...]
    is_pull_request: bool


@dataclass(frozen=True, slots=True)
class CheckRun:
    """What a check run shows."""

    name: str
    title: str
    summary: str
    conclusion: Literal["success", "failure", "cancelled", "neutral", "action_required"] | None
    """None: still in progress."""
    external_id: str


@dataclass(frozen=True, slots=True)
class AppIdentity:
    """Who the bot is on GitHub."""

    app_id: int
    slug: str
    bot_user_id: int


class Gateway(Protocol):
    """Everything the bot asks of GitHub. Implemented by :mod:`bot.github.client`."""

    def identity(self) -> AppIdentity: ...

    # reading
    def repository(self, repo: Repo) -> RepositoryInfo: ...
    def permission(self, repo: Repo, person: Person) -> Permission: ...
    def issue(self, repo: Repo, number: int) -> IssueInfo: ...
    def comment(self, repo: Repo, comment_id: int) -> Comment: ...
    def comments(self, repo: Repo, number: int) -> list[Comment]: ...
    def reactions(self, repo: Repo, node_ids: Sequence[str]) -> list[ReactedComment | None]: ...
    def branch_head(self, repo: Repo, branch: str) -> str | None: ...
    def file(self, repo: Repo, path: str, ref: str) -> str | None: ...
    def compare(self, repo: Repo, base: str, head: str) -> Comparison: ...
    def run(self, repo: Repo, run_id: int) -> Run: ...
    def find_run(self, repo: Repo, workflow: str, marker: str) -> Run | None: ...
    def pull(self, repo: Repo, number: int) -> Pull: ...
    def find_pull(self, repo: Repo, branch: str) -> Pull | None: ...

    # writing
    def ensure_comment(self, repo: Repo, number: int, key: str, body: str, *, first: bool) -> Comment: ...
    def edit_comment(self, repo: Repo, comment_id: int, body: str) -> Comment: ...
    def ensure_reaction(self, repo: Repo, number: int, content: str) -> None: ...
    def ensure_label(self, repo: Repo, name: str, color: str, description: str) -> None: ...
    def set_labels(self, repo: Repo, number: int, *, add: Sequence[str], remove: Sequence[str]) -> None: ...
    def ensure_dispatch(
        self, repo: Repo, workflow: str, ref: str, inputs: Mapping[str, str], *, marker: str, first: bool
    ) -> int: ...
    def cancel_run(self, repo: Repo, run_id: int) -> None: ...
    def ensure_check_run(self, repo: Repo, head: str, check: CheckRun, *, first: bool) -> int: ...
    def update_check_run(self, repo: Repo, check_run_id: int, check: CheckRun) -> None: ...
    def ensure_pull(self, repo: Repo, *, branch: str, base: str, title: str, body: str, first: bool) -> Pull: ...
    def edit_pull(self, repo: Repo, number: int, *, body: str) -> None: ...
    def delete_branch(self, repo: Repo, branch: str, head: str) -> None: ...

    # tokens
    def mint_push_token(self, repo: Repo) -> tuple[str, float]: ...
    def revoke_token(self, token: str) -> None: ...

    # recovery
    def redeliver_failed(self, since: float) -> int: ...
    def installations(self) -> list[int]: ...
