"""A merge queue, one pull request a group: it makes a commit, asks for checks, and merges when it is told to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tests.standin import gitstore, merging, pushes
from tests.standin.entities import Queued
from tests.standin.gitstore import ZERO
from tests.standin.render import Render
from tests.standin.render_git import GitRender
from tests.standin.render_pull import full_pull, pull_of

if TYPE_CHECKING:
    from tests.standin.entities import Issue, User
    from tests.standin.model import Hub

Reason = Literal["merged", "invalidated", "dequeued"]


def enqueue(hub: Hub, pull: Issue, sender: User) -> Queued:
    """Put a pull request into the queue and ask for the checks of its group; ValueError where it can't be merged."""
    part, path = pull_of(pull), hub.git_dir(pull.repo)
    tree = gitstore.merged_tree(path, part.base_sha, part.head_sha)
    if tree is None or pull.state != "open":
        raise ValueError(f"#{pull.number} can't be merged")
    head = gitstore.commit_tree(path, tree, [part.base_sha, part.head_sha], f"Merge pull request #{pull.number}\n")
    ref = f"refs/heads/gh-readonly-queue/{part.base_ref}/pr-{pull.number}-{part.base_sha}"
    gitstore.set_ref(path, ref, head)
    made = Queued(pull.number, ref, head, part.base_sha)
    pull.repo.queue.append(made)
    _say_pull(hub, pull, "enqueued", sender)
    pushes.announce(hub, pull.repo, ref, ZERO, head, sender)
    _say_group(hub, pull, made, "checks_requested", sender)
    return made


def dequeue(hub: Hub, pull: Issue, sender: User, reason: str) -> None:
    """Take a pull request out, for a reason in GitHub's words (``MANUAL``, ``CI_FAILURE``, ``MERGE_CONFLICT``...)."""
    made = _leave(hub, pull, sender)
    _say_group(hub, pull, made, "destroyed", sender, reason="dequeued")
    _say_pull(hub, pull, "dequeued", sender, reason=reason)


def finish(hub: Hub, pull: Issue, sender: User) -> None:
    """Merge a queued pull request: its group's commit becomes the base branch."""
    made, part = _leave(hub, pull, sender), pull_of(pull)
    merging.land(hub, pull, sender, made.head, part.base_sha)
    _say_group(hub, pull, made, "destroyed", sender, reason="merged")


def _leave(hub: Hub, pull: Issue, sender: User) -> Queued:
    made = next(row for row in pull.repo.queue if row.number == pull.number)
    pull.repo.queue.remove(made)
    gitstore.delete_ref(hub.git_dir(pull.repo), made.ref)
    pushes.announce(hub, pull.repo, made.ref, made.head, ZERO, sender)
    return made


def _say_pull(hub: Hub, pull: Issue, action: str, sender: User, **extra: Any) -> None:
    shown = full_pull(Render(hub), pull)
    hub.emit(
        "pull_request",
        {"action": action, "number": pull.number, "pull_request": shown, **extra},
        pull.repo,
        sender=sender,
    )


def _say_group(hub: Hub, pull: Issue, made: Queued, action: str, sender: User, **extra: Any) -> None:
    commit = GitRender(Render(hub), pull.repo).raw_commit(made.head)
    who = {"name": sender.login, "email": f"{sender.login}@users.noreply.localhost"}
    group = {
        "head_sha": made.head,
        "head_ref": made.ref,
        "base_sha": made.base,
        "base_ref": f"refs/heads/{pull_of(pull).base_ref}",
        "head_commit": {
            "id": made.head,
            "tree_id": commit["tree"],
            "message": commit["message"].rstrip("\n"),
            "timestamp": pushes.stamp(commit),
            "author": who,
            "committer": who,
        },
    }
    hub.emit("merge_group", {"action": action, "merge_group": group, **extra}, pull.repo, sender=sender)
