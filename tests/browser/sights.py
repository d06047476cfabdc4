"""What there is to see: a village whose plans people decide on, and a company that has used Twogate for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from tests.web import company

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan
    from bot.lifecycle.states import State, WaitingOn
    from tests.browser.browser import Browser
    from tests.scenarios.village import Village

FIRST, PLANS = 50, 50
"""Of the first hundred plans, those that tell every way in which plans come to an end or wait."""
SHOP, BILLING, HIDDEN = company.REPOS
"""All are private. Alice has a role in the first two, Eve in the last alone."""


@dataclass
class Sights:
    """The village, and the company's plans."""

    village: Village
    company: list[Plan]

    @classmethod
    def build(cls, village: Village) -> Self:
        """Let the company's repositories be on GitHub, and its plans in the bot's database."""
        control, hub = village.github.control, village.github.hub
        village.country.tokens["eve"] = str(control.create_user("eve")["token"])
        for repo in company.REPOS:
            made = hub.repos.pop(int(control.create_repository(f"{repo.owner}/{repo.name}")["id"]))
            made.id = repo.id
            hub.repos[repo.id] = made
            control.set_role(made.full_name, "eve" if repo is HIDDEN else "alice", "write")
        return cls(village, company.found(village.parts.store, PLANS, village.clock(), first=FIRST))

    def one(self, state: State, waiting: WaitingOn | None = None) -> Plan:
        """The company's newest plan that Alice sees in a state."""
        found = [p for p in self.company if p.repo != HIDDEN and p.state is state and waiting in {None, p.waiting_on}]
        return found[-1]

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
