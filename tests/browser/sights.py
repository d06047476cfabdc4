"""What there is to see: plans in many states, and one in a repository that is hidden from most people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from bot.lifecycle.plan import Repo
from bot.store import plans

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan
    from tests.browser.browser import Browser
    from tests.scenarios.village import Village

HIDDEN = "acme/secret-shop"
"""A private repository in which Eve alone has a role."""
HIDDEN_TITLE = "Sell the company"


@dataclass
class Sights:
    """A village, and its plans by what they wait for."""

    village: Village
    waiting: Plan
    reviewed: Plan
    hidden: Plan

    @classmethod
    def build(cls, village: Village) -> Self:
        """Let things happen."""
        reviewed = village.plan(village.reviewed())
        waiting = village.plan(village.planned())
        control, app = village.github.control, int(village.app["installation_id"])
        made = control.create_repository(HIDDEN)
        village.country.tokens["eve"] = str(control.create_user("eve")["token"])
        control.set_role(HIDDEN, "eve", "write")
        repo = Repo(id=int(made["id"]), owner="acme", name="secret-shop", installation_id=app)
        snapshot = waiting.issue.model_copy(update={"title": HIDDEN_TITLE})
        hidden = waiting.model_copy(update={"uid": "5ec2e7", "repo": repo, "issue": snapshot})
        with village.parts.store.write() as tx:
            plans.save(tx, hidden, None)
        return cls(village, waiting, reviewed, hidden)

    def at(self, path: str) -> str:
        """A page's whole address."""
        return f"{self.village.url}{path}"

    def sign_in(self, browser: Browser, login: str, wanted: str = "/") -> None:
        """Sign in as somebody does who wants to see a page: by the keyboard, through GitHub's own page."""
        browser.open(self.at(wanted))
        browser.use("Sign in with GitHub")
        browser.focus(browser.named("Signed in as"))
        browser.press(login)
        browser.use(f"Authorize {self.village.app['slug']}")
        assert browser.url == self.at(wanted), browser.text
