"""What an issue shows of a plan, in one request: the status comment, the state's label, and at first the eyes.

Nothing is read first: each part is harmless when repeated, and GitHub tells of each whether it was done. The node ids
that GraphQL wants never change, so each is asked for once by a process.

Whether GitHub passes over labels that are to be removed and are not there is not documented. A host that refuses it is
asked from then on which ones are there.
"""

from __future__ import annotations

import logging
import re
import threading
from typing import TYPE_CHECKING, Any

from bot.errors import Permanent, Transient
from bot.github.changes import Change, Outcome
from bot.github.ensure import Ensures, check_body, marked, marker
from bot.github.gateway import Comment, Missing, PutUp
from bot.github.glance import keep
from bot.github.tokens import seconds
from bot.lifecycle.plan import Person

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.errors import TwogateError
    from bot.github.connection import Connection
    from bot.github.gateway import CheckRun, Shown, StateLabel
    from bot.lifecycle.plan import Repo

log = logging.getLogger(__name__)

SAID = "fullDatabaseId id body createdAt updatedAt"
"""What is read of a comment; its plain number may be too large for GraphQL's integers."""
BESIDE = frozenset({"label", "others", "seen"})
"""What goes beside the status comment. Where it is refused for good, the comment alone tells where the plan stands."""
CHECK_PATH = re.compile(r"/([1-9][0-9]{0,18})$")
"""Where the page of a check run ends: in its number."""
FIND_ISSUE = """
query Issue($repo: ID!, $number: Int!) {
  node(id: $repo) {
    ... on Repository {
      issueOrPullRequest(number: $number) { ... on Issue { id } ... on PullRequest { id } }
    }
  }
}
"""


class Shows(Ensures):
    """Showing a plan on its issue."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._comments: dict[int, str] = {}
        self._labels: dict[int, dict[str, str]] = {}
        self._finding = threading.Lock()
        self._passes_over = True
        """Whether labels can be removed that are not there."""

    def put_up(self, repo: Repo, number: int, head: str, check: CheckRun, key: str, body: str, *, first: bool) -> PutUp:
        """Post a comment and make a check run on a commit, each once, in one request.

        Whatever that does not do or tell is looked for and else done by itself, as by any later try.
        """
        done: Mapping[str, Any] = {}
        if first:
            changes = [_say(self._issue(repo, number), None, marked(key, body)), self._check(repo, head, check)]
            self._connection.before_write(repo.installation_id)
            done = self._connection.rest(repo).change(changes).done
        said, made = done.get("comment"), _number((done.get("check") or {}).get("checkRun"))
        check_run = made or self.ensure_check_run(repo, head, check, first=False)
        comment = self._said(said) if said else self.ensure_comment(repo, number, key, body, first=False)
        return PutUp(comment=comment, check_run_id=check_run)

    def _check(self, repo: Repo, head: str, check: CheckRun) -> Change:
        """Return the change that makes a check run. Its number is read off its address, too large for an integer."""
        wanted = {name: value for name, value in check_body(check).items() if name != "external_id"}
        for name in ("status", "conclusion"):
            if name in wanted:
                wanted[name] = wanted[name].upper()
        wanted |= {"repositoryId": self._connection.node_id(repo), "headSha": head, "externalId": check.external_id}
        return Change("check", "createCheckRun", wanted, "checkRun { resourcePath }")

    def show(self, repo: Repo, number: int, shown: Shown, *, first: bool) -> Comment:
        """Bring an issue to what it should show of a plan, in one request; return its status comment."""
        issue, labels = self._issue(repo, number), self._ids_of(repo, shown.labels)
        comment = self._comment(repo, number, shown, first=first)
        changes = [
            _say(issue, comment, marked(shown.key, shown.body)),
            Change("label", "addLabelsToLabelable", {"labelableId": issue, "labelIds": [labels[shown.label]]}),
        ]
        others = _others(shown, labels)
        if not self._passes_over:
            others = self._there(repo, number, others)
        if others:
            changes.append(_removal(issue, others))
        if shown.seen:
            changes.append(Change("seen", "addReaction", {"subjectId": issue, "content": "EYES"}))
        self._connection.before_write(repo.installation_id)
        done = self._connection.rest(repo).change(changes)
        if self._passes_over and "label" in done.done and self._is_for_absence(repo, shown, done.faults.get("others")):
            done = self._removed(repo, number, others, done)
        return self._shown(repo, number, shown, done)

    def _there(self, repo: Repo, number: int, labels: Mapping[str, str]) -> dict[str, str]:
        """Return those of the labels that the issue has."""
        here = {name.casefold() for name in self.issue(repo, number).labels}
        return {name: known for name, known in labels.items() if name.casefold() in here}

    def _is_for_absence(self, repo: Repo, shown: Shown, fault: TwogateError | None) -> bool:
        """Whether labels may not have been removed because the issue lacks some; not where the repository does."""
        if not isinstance(fault, Missing):
            return isinstance(fault, Permanent)
        return self._find(repo, shown.labels) == self._labels.get(repo.id)

    def _removed(self, repo: Repo, number: int, others: Mapping[str, str], done: Outcome) -> Outcome:
        """Remove what is there of what was refused together, and return what came of all."""
        faults = {name: fault for name, fault in done.faults.items() if name != "others"}
        if there := self._there(repo, number, others):
            self._connection.before_write(repo.installation_id)
            again = self._connection.rest(repo).change([_removal(self._issue(repo, number), there)])
            if again.faults:
                return done
        self._passes_over = False
        return Outcome(done.done, faults)

    def _shown(self, repo: Repo, number: int, shown: Shown, done: Outcome) -> Comment:
        """Return the comment, once everything that can be is done."""
        faults = dict(done.faults)
        for name in BESIDE & faults.keys():
            refused = faults[name]
            if isinstance(refused, Permanent) and (name == "seen" or not isinstance(refused, Missing)):
                log.warning("#%s of repository %s lacks %r: %s", number, repo.id, name, refused)
                del faults[name]
        if isinstance(faults.get("comment"), Missing):
            del faults["comment"]
            comment = self.ensure_comment(repo, number, shown.key, shown.body, first=False)
        elif "comment" in done.done:
            comment = self._said(done.done["comment"])
        if any(isinstance(fault, Missing) for fault in faults.values()):
            self._labels.pop(repo.id, None)
            raise Transient("A label of the states was deleted: it is made again.")
        for fault in faults.values():
            raise fault
        keep(self._comments, comment.id, comment.node_id)
        return comment

    def _said(self, answer: Any) -> Comment:
        node, bot = answer.get("issueComment") or answer["commentEdge"]["node"], self.identity()
        return Comment(
            id=int(node["fullDatabaseId"]),
            node_id=node["id"],
            body=node["body"],
            author=Person(id=bot.bot_user_id, login=f"{bot.slug}[bot]"),
            created_at=seconds(node["createdAt"]),
            updated_at=seconds(node["updatedAt"]),
            by_app=True,
        )

    def _comment(self, repo: Repo, number: int, shown: Shown, *, first: bool) -> str | None:
        """Return the node id of the status comment; None where it has to be posted."""
        if shown.comment_id in self._comments:
            return self._comments[shown.comment_id]
        if shown.comment_id is None:
            mark = marker(shown.key)
            own = () if first else self.comments(repo, number)
            return next((c.node_id for c in own if c.by_app and c.body.startswith(mark)), None)
        try:
            return self.comment(repo, shown.comment_id).node_id
        except Missing:
            return None

    def _issue(self, repo: Repo, number: int) -> str:
        known = self._issues.get((repo.id, number))
        if known is None:
            asked = {"repo": self._connection.node_id(repo), "number": number}
            home = self._connection.rest(repo).query(FIND_ISSUE, asked).get("node") or {}
            found = home.get("issueOrPullRequest")
            if not found:
                raise Missing(f"GitHub has no issue #{number} any more.")
            known = str(found["id"])
            keep(self._issues, (repo.id, number), known)
        return known

    def _ids_of(self, repo: Repo, wanted: Sequence[StateLabel]) -> dict[str, str]:
        """Return the node ids of the labels, which are made where they are not there."""
        with self._finding:
            return self._found(repo, wanted)

    def _found(self, repo: Repo, wanted: Sequence[StateLabel]) -> dict[str, str]:
        known = self._labels.get(repo.id, {})
        if all(label.name in known for label in wanted):
            return known
        known = self._find(repo, wanted)
        if missing := [label for label in wanted if label.name not in known]:
            made = self._make(repo, missing)
            known |= made.done if not made.faults else self._find(repo, wanted)
            for label in missing:
                if label.name not in known:
                    raise made.faults[label.name]
        self._labels[repo.id] = known
        return known

    def _find(self, repo: Repo, wanted: Sequence[StateLabel]) -> dict[str, str]:
        names = {f"n{number}": label.name for number, label in enumerate(wanted)}
        fields = " ".join(f"{alias}: label(name: ${alias}) {{ id }}" for alias in names)
        inputs = " ".join(f"${alias}: String!" for alias in names)
        text = f"query Labels($repo: ID! {inputs}) {{ node(id: $repo) {{ ... on Repository {{ {fields} }} }} }}"
        asked = {"repo": self._connection.node_id(repo), **names}
        found = self._connection.rest(repo).query(text, asked).get("node") or {}
        return {name: str(found[alias]["id"]) for alias, name in names.items() if found.get(alias)}

    def _make(self, repo: Repo, missing: Sequence[StateLabel]) -> Outcome:
        """Make labels; return their ids, and why some were not made: perhaps somebody else has just made them."""
        home = self._connection.node_id(repo)
        wanted = [
            {"repositoryId": home, "name": label.name, "color": label.color, "description": label.description}
            for label in missing
        ]
        changes = [Change(f"n{number}", "createLabel", made, "label { id }") for number, made in enumerate(wanted)]
        self._connection.before_write(repo.installation_id)
        done = self._connection.rest(repo).change(changes)
        names = {change.name: str(change.wanted["name"]) for change in changes}
        return Outcome(
            {names[alias]: answer["label"]["id"] for alias, answer in done.done.items()},
            {names[alias]: fault for alias, fault in done.faults.items()},
        )


def _number(check: Any) -> int | None:
    """Return the number of a check run by the end of its address; None where it does not end in one."""
    found = CHECK_PATH.search(check["resourcePath"]) if check else None
    return int(found[1]) if found else None


def _say(issue: str, comment: str | None, body: str) -> Change:
    """Return the change that edits the status comment, or posts it."""
    if comment is None:
        wanted = {"subjectId": issue, "body": body}
        return Change("comment", "addComment", wanted, f"commentEdge {{ node {{ {SAID} }} }}")
    return Change("comment", "updateIssueComment", {"id": comment, "body": body}, f"issueComment {{ {SAID} }}")


def _others(shown: Shown, labels: Mapping[str, str]) -> dict[str, str]:
    return {label.name: labels[label.name] for label in shown.labels if label.name != shown.label}


def _removal(issue: str, labels: Mapping[str, str]) -> Change:
    return Change("others", "removeLabelsFromLabelable", {"labelableId": issue, "labelIds": list(labels.values())})
