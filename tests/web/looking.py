"""The dashboard as people look at it: the real pages over a real store and a real session, without a server between.

GitHub is asked for one thing only while somebody looks: what it shows to them. Here that is a table.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from bot.crypto import SESSIONS, Vault
from bot.github.gateway import Holder, Tokens
from bot.settings import Settings
from bot.web import dashboard, files
from bot.web.app import create_app
from bot.web.books import Books
from bot.web.catalogue import Catalogue
from bot.web.dashboard.frame import House
from bot.web.limits import DOING, LOOKING, Limiter, Rate
from bot.web.login import Login
from bot.web.people import People
from bot.web.sessions import Sessions
from bot.web.views import Views

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from bot.lifecycle.permission import Permission
    from bot.lifecycle.plan import Person, Repo
    from bot.store.engine import Store

GITHUB = "https://github.com"
URL = "http://127.0.0.1:8000"
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Shows:
    """What GitHub shows to the one who looks: permissions by the repositories' numbers."""

    person: Person
    permissions: dict[int, Permission]

    def holder(self, _token: str) -> Holder:
        return Holder(self.person, speaks=True)

    def visible(self, _token: str, repos: Collection[Repo]) -> dict[int, Permission]:
        return {repo.id: self.permissions[repo.id] for repo in repos if repo.id in self.permissions}

    def open_issue(self, *_args: Any) -> Any:
        raise NotImplementedError


class NoSignIn:
    """Nobody signs in anew here."""

    def exchange(self, *_args: str) -> Tokens:
        raise NotImplementedError

    def renew(self, _refresh_token: str) -> Tokens:
        raise NotImplementedError

    def end(self, token: str) -> None:
        pass


class Keyring(Settings):
    """Just the key that a vault is made of."""

    def __init__(self) -> None:
        object.__setattr__(self, "private_key", "a key of the tests")


@dataclass
class Looker:
    """Somebody signed in, and their browser."""

    browser: FlaskClient
    csrf: str
    cookie: str
    """The session's, as a header has it."""

    def get(self, path: str) -> Page:
        return Page(self.browser.get(path, headers={"Accept": "text/html"}))

    def say(self, uid: str, verb: str, csrf: str | None = None, **fields: str | list[str]) -> Page:
        form: dict[str, Any] = {"verb": verb, "csrf": self.csrf if csrf is None else csrf, "key": "once", **fields}
        return Page(self.browser.post(f"/plans/{uid}/say", data=form))


@dataclass
class Page:
    """An answer, and its HTML taken apart."""

    answer: TestResponse
    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.status = self.answer.status_code
        self.text = self.answer.get_data(as_text=True)
        if self.answer.mimetype == "text/html":
            _Reader(self).read()

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)

    def values(self, attribute: str) -> list[str]:
        return [found[attribute] for _, found in self.elements if attribute in found]


class _Reader(HTMLParser):
    """Finds what is unsound in a page: what is not closed, named twice, inline, or without a name."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page, self.open, self.labelled = page, [], 0

    def read(self) -> None:
        self.feed(self.page.text)
        page, ids = self.page, Counter(self.page.values("id"))
        page.faults += [f"twice: #{name}" for name, times in ids.items() if times > 1]
        page.faults += [f"no such label: {name}" for name in page.values("for") if name not in ids]
        named = [*page.values("aria-labelledby"), *page.values("aria-describedby")]
        page.faults += [f"no such name: {name}" for name in named if name not in ids]
        page.faults += [f"left open: {self.open}"] * bool(self.open)
        labels = set(page.values("for"))
        for tag, found in page.elements:
            hidden = found.get("type") in {"hidden", "radio"}
            if tag in {"input", "select", "textarea"} and not hidden and found.get("id") not in labels:
                page.faults.append(f"without a label: {tag} {found}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.page.elements.append((tag, found))
        inline = [name for name in found if name == "style" or name.startswith("on")]
        self.page.faults += [f"inline: {tag} {name}" for name in inline]
        if tag == "style" or (tag == "script" and not found.get("src", "").startswith("/static/")):
            self.page.faults.append(f"inline: {tag}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.page.faults.append(f"closed at a wrong place: {tag}")


def looks(
    store: Store,
    now: Callable[[], float],
    person: Person,
    permissions: dict[int, Permission],
    looking: Rate = LOOKING,
) -> Looker:
    """Let somebody who is signed in look at a dashboard of their own."""
    shows, vault = Shows(person, permissions), Vault(Keyring(), SESSIONS)
    sessions = Sessions(store, NoSignIn(), vault, now)
    login = Login(sessions, NoSignIn(), shows, vault, now, "client", URL, GITHUB)
    house = House(
        store=store,
        catalogue=Catalogue(store, Views(GITHUB)),
        books=Books(store, now),
        people=People(store, shows, now),
        login=login,
        looking=Limiter(looking, now),
        doing=Limiter(DOING, now),
        github=GITHUB,
        now=now,
    )
    app = create_app(dashboard.blueprint(house), files.blueprint())
    secret = sessions.begin(person, Tokens("ghu_of_the_tests", None, None))
    browser = app.test_client()
    browser.set_cookie(login.cookies.session, secret, domain="localhost")
    cookie = f"{login.cookies.session}={secret}"
    with app.test_request_context(headers={"Cookie": cookie}):
        return Looker(browser, login.csrf(), cookie)
