"""The control API's part in what people do in places that the REST API of an App does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin import merge_queue, rest_checks, rest_statuses
from tests.standin.entities import App, Issue
from tests.standin.render import Render

if TYPE_CHECKING:
    from tests.standin.entities import Repo
    from tests.standin.model import Hub

Json = dict[str, Any]


class ControlDeeds:
    """What happens to issues, in merge queues, in organisations, and what other Apps report."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._render = Render(hub)

    def repo(self, name: str) -> Repo:
        """The repository ``owner/name``; KeyError if there is none."""
        found = self._hub.repo(*name.split("/", 1))
        if found is None:
            raise KeyError(name)
        return found

    # Issues

    def delete_issue(self, repo: str, number: int, sender: str) -> None:
        """Delete an issue; the API answers 410 from now on."""
        with self._hub.lock:
            issue = self.repo(repo).issues[number]
            self._issue_event(issue, "deleted", sender)
            issue.deleted = True

    def lock_issue(self, repo: str, number: int, sender: str | None = None, *, locked: bool = True) -> None:
        """Lock a conversation; without a sender it happens unheard."""
        with self._hub.lock:
            issue = self.repo(repo).issues[number]
            issue.locked = locked
            if sender is not None:
                self._issue_event(issue, "locked" if locked else "unlocked", sender)

    def transfer_issue(self, repo: str, number: int, to: str, sender: str) -> Json:
        """Move an issue to another repository of the same owner; the API answers 404 under the old number: {number}."""
        with self._hub.lock:
            issue, target, now = self.repo(repo).issues[number], self.repo(to), self._hub.clock()
            fresh = max(target.issues, default=0) + 1
            made = Issue(self._hub.next_id("issue"), target, fresh, issue.title, issue.body, issue.user, now, now)
            target.issues[fresh] = made
            changes = {"new_issue": self._render.issue(made), "new_repository": self._render.repository(target)}
            self._issue_event(issue, "transferred", sender, changes=changes)
            del issue.repo.issues[number]
            old = {"old_issue": self._render.issue(issue), "old_repository": self._render.repository(issue.repo)}
            self._issue_event(made, "opened", sender, changes=old)
            return {"number": fresh}

    def convert_issue(self, repo: str, number: int, sender: str) -> None:
        """Convert an issue to a discussion: it is closed and locked, as its timeline says."""
        with self._hub.lock:
            issue = self.repo(repo).issues[number]
            issue.state, issue.state_reason, issue.closed_at = "closed", "completed", self._hub.clock()
            issue.closed_by = self._hub.user(sender)
            self._issue_event(issue, "closed", sender)
        self.lock_issue(repo, number, sender)

    def _issue_event(self, issue: Issue, action: str, sender: str, **extra: Any) -> None:
        body = {"action": action, "issue": self._render.issue(issue), **extra}
        self._hub.emit("issues", body, issue.repo, sender=self._hub.user(sender))

    # Merge queues

    def enqueue(self, repo: str, pull: int, sender: str) -> Json:
        """Put a pull request into the merge queue: {head, ref} of its group."""
        with self._hub.lock:
            made = merge_queue.enqueue(self._hub, self.repo(repo).issues[pull], self._hub.user(sender))
            return {"head": made.head, "ref": made.ref}

    def dequeue(self, repo: str, pull: int, sender: str, reason: str = "MANUAL") -> None:
        """Take a pull request out of the merge queue."""
        with self._hub.lock:
            merge_queue.dequeue(self._hub, self.repo(repo).issues[pull], self._hub.user(sender), reason)

    def merge_queued(self, repo: str, pull: int, sender: str) -> None:
        """Let the merge queue merge a pull request."""
        with self._hub.lock:
            merge_queue.finish(self._hub, self.repo(repo).issues[pull], self._hub.user(sender))

    # Organisations

    def add_member(self, organization: str, login: str, teams: list[str] | None = None) -> None:
        """Make somebody a member of an organisation and of teams, which are made where they are not there."""
        with self._hub.lock:
            owner, person = self._hub.user(organization), self._hub.user(login)
            owner.members.add(person.id)
            for team in teams or ():
                owner.teams.setdefault(team, set()).add(person.id)

    def remove_member(self, organization: str, login: str) -> None:
        """Take somebody out of an organisation and all of its teams."""
        with self._hub.lock:
            owner, person = self._hub.user(organization), self._hub.user(login)
            for group in (owner.members, *owner.teams.values()):
                group.discard(person.id)

    def rename_user(self, login: str, new: str) -> None:
        """Give an account another login; its number stays."""
        with self._hub.lock:
            self._hub.user(login).login = new

    # What others report

    def report_check(
        self, repo: str, head: str, name: str, conclusion: str | None = None, app: str = "ci", log: str | None = None
    ) -> Json:
        """A check run of another App: {id, job}. Without a conclusion it is under way.

        With a log it is a job of Actions, whoever ``app`` is, and its log can be had.
        """
        with self._hub.lock:
            found, said = self.repo(repo), {"name": name, "head_sha": head, "conclusion": conclusion}
            job = self._hub.next_id("job") if log is not None else None
            if job is not None:
                self._hub.job_logs[found.id, job] = log or ""
                said["details_url"] = self._render.web(f"/{repo}/actions/runs/1/job/{job}")
            made = rest_checks.report(self._hub, found, self._app("github-actions" if job else app), said)
            return {"id": made.id, "job": job}

    def report_status(
        self, repo: str, head: str, context: str, state: str, app: str = "ci", target_url: str | None = None
    ) -> None:
        """A commit status of another App."""
        with self._hub.lock:
            said = {"context": context, "state": state, "target_url": target_url}
            rest_statuses.set_status(self._hub, self.repo(repo), head, self._app(app).bot, said)

    def _app(self, slug: str) -> App:
        """Another App of that name, made on first use."""
        known = next((app for app in self._hub.apps.values() if app.slug == slug), None)
        if known is not None:
            return known
        hub, login = self._hub, f"{slug}[bot]"
        owner = next(user for user in hub.users.values() if user.type == "Organization")
        bot = hub.find_user(login) or hub.create_user(login, "Bot")
        made = App(hub.next_id("app"), f"Iv1.{slug}", slug, owner, bot, "", "", "", hub.clock())
        hub.apps[made.id] = made
        return made
