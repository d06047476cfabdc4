"""The verbs that the bot needs of GitHub, and what they answer.

``ensure_*`` verbs take ``first``: a first try goes straight ahead, any later one looks for its own earlier result (by
marker *and* own authorship, or by name) before it writes. Every verb raises the errors of :mod:`bot.errors`:
``RetryAt`` for rate limits, ``Transient`` for network trouble and 5xx, ``Permanent`` for refusals, :class:`Missing`
where the thing addressed does not exist (404 and 410 alike).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bot.errors import Permanent
from bot.github.answers import (
    Annotation,
    AppIdentity,
    CheckAction,
    CheckRun,
    Comment,
    Comparison,
    Glance,
    Grant,
    Holder,
    InlineComment,
    Installed,
    IssueInfo,
    MadeIssue,
    OpenedIssue,
    Pull,
    PullReview,
    PutUp,
    ReactedComment,
    Reaction,
    RepositoryInfo,
    Run,
    Shown,
    StateLabel,
    Tokens,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from bot.lifecycle.ci import CiCheck
    from bot.lifecycle.plan import Person, Repo
    from bot.lifecycle.policy import Permission

__all__ = [
    "Annotation",
    "AppIdentity",
    "CheckAction",
    "CheckRun",
    "Comment",
    "Comparison",
    "Gateway",
    "Glance",
    "Grant",
    "Holder",
    "InlineComment",
    "Installed",
    "IssueInfo",
    "MadeIssue",
    "Missing",
    "OpenedIssue",
    "PeoplesGateway",
    "Pull",
    "PullReview",
    "PutUp",
    "ReactedComment",
    "Reaction",
    "RepositoryInfo",
    "Run",
    "Shown",
    "SignIn",
    "StateLabel",
    "Tokens",
    "Unproved",
]


class Missing(Permanent):
    """GitHub has no such thing (any more), or does not show it to the App."""


class Unproved(Permanent):
    """A token proves nobody: GitHub does not know it (any more), or it is no person's."""


class Gateway(Protocol):
    """Everything the bot asks of GitHub. Implemented by :mod:`bot.github.client`."""

    def identity(self) -> AppIdentity:
        """Return who the bot is on GitHub; asked once."""
        ...

    def glance(self, repo: Repo, wanted: Glance) -> AbstractContextManager[None]:
        """Read what a decision is going to ask, in one request; within the block this thread is answered from it.

        Nothing of it is kept for another decision. What is not there, or not to be had so, is asked for by itself.
        """
        ...

    def repository(self, repo: Repo) -> RepositoryInfo:
        """Return the repository by its number, wherever it lies now."""
        ...

    def find_repository(self, owner: str, name: str) -> Repo:
        """Return the repository of these names. Raises ``Missing`` where the App is not installed on any such."""
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

    def put_up(self, repo: Repo, number: int, head: str, check: CheckRun, key: str, body: str, *, first: bool) -> PutUp:
        """Post a comment and make a check run on a commit, each once, in one request."""
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

    def pull_body(self, repo: Repo, number: int) -> str:
        """Return the text of a pull request as it reads now."""
        ...

    def edit_pull(self, repo: Repo, number: int, body: str) -> None:
        """Replace the whole text of a pull request."""
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

    def supersede(self, repo: Repo, comment: Comment, body: str) -> Permanent | None:
        """Replace a comment's text and fold it away as outdated; return why it was not folded, where it was not."""
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

    def installed(self, installation_id: int) -> Iterator[Installed]:
        """Yield the repositories in which an installation lets the App work, page by page."""
        ...

    def undelivered(self, since: float) -> int:
        """Return how many deliveries since then (epoch seconds) were never answered well, in no try so far."""
        ...

    def clock(self) -> float:
        """Return the time on GitHub, to the second."""
        ...

    def client_id(self) -> str:
        """Return the App's OAuth client."""
        ...

    def webhook_url(self) -> str:
        """Return where GitHub sends the App's deliveries; empty where nowhere."""
        ...

    def is_guarded(self, repo: Repo, branch: str) -> bool:
        """Return whether a ruleset or a protection keeps plain pushes from a branch."""
        ...


class PeoplesGateway(Protocol):
    """What is asked of GitHub as a person, with a token of theirs: the App's for them or a personal one.

    Implemented by :mod:`bot.github.holders`. Every verb raises :class:`Unproved` where the token is not good (any
    more), besides the errors named above. Nothing is kept here.
    """

    def holder(self, token: str) -> Holder:
        """Return whose token it is."""
        ...

    def visible(self, token: str, repos: Collection[Repo]) -> dict[int, Permission]:
        """Return by number those of the repositories that GitHub shows to the token, and what its person may do there.

        A hundred are asked for in one request; one that was renamed is found by its number.
        """
        ...

    def open_issue(self, token: str, repo: Repo, title: str, body: str, labels: Sequence[str]) -> OpenedIssue:
        """Open an issue as the person; GitHub judges who may. Raises ``Missing`` where the token does not see it.

        Asked once: after a lost answer, whether it is there has to be looked up by the caller.
        """
        ...


class SignIn(Protocol):
    """People's sign-in with the App. Implemented by :mod:`bot.github.sign_in`.

    Every verb raises ``Transient`` and ``RetryAt`` in trouble, and ``Permanent`` where the App's registration is at
    fault, in a sentence for whoever runs the bot.
    """

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> Tokens:
        """Return a person's tokens for a code; :class:`Unproved` where it is not good, or the verifier not its own."""
        ...

    def renew(self, refresh_token: str) -> Tokens:
        """Return a new pair of tokens, which ends the old one; :class:`Unproved` where that was over already."""
        ...

    def end(self, token: str) -> None:
        """End a token; one that GitHub does not know any more is as wanted."""
        ...
