"""Signing in with GitHub, as a browser does it: what is proved, what ends, and what no other site can bring about."""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Barrier
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from flask import Blueprint

from bot import serving
from bot.crypto import SESSIONS, Vault
from bot.settings import from_environment
from bot.store import sessions as kept_sessions
from bot.store.engine import open_store
from bot.store.schema import sessions as table
from bot.store.sessions import IDLE_SECONDS, LONGEST_SECONDS
from bot.web import login_pages
from bot.web import sessions as sessions_module
from bot.web.app import LARGEST_BODY, create_app
from bot.web.login import MOST_AT_ONCE, SIGNING_IN_SECONDS, Cookies, Login, local
from bot.web.refusal import Refused
from tests.standin.oauth import TOKEN_SECONDS, Authorisations
from tests.web.lab import Clock, served, settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.store.engine import Store
    from tests.web.lab import GitHub

NUMBERS = itertools.count(1)


@dataclass
class House:
    """The bot's sign-in, served, with a page that says who looks and a form that does something."""

    github: GitHub
    clock: Clock
    store: Store
    login: Login
    url: str
    browsers: list[Browser] = field(default_factory=list)

    @property
    def allowed(self) -> Authorisations:
        return self.github.standin.hub.service(Authorisations)

    def person(self) -> str:
        login = f"pat{next(NUMBERS)}"
        self.github.standin.control.create_user(login)
        return login

    def browser(self) -> Browser:
        self.browsers.append(Browser(self, httpx.Client(timeout=20, verify=False)))
        return self.browsers[-1]

    def rows(self) -> list[Any]:
        with self.store.read() as tx:
            return list(tx.execute(table.select()).mappings())


@dataclass
class Browser:
    """A browser without scripts: it keeps cookies, and follows where it is sent when told to."""

    house: House
    http: httpx.Client

    def get(self, path: str, **query: str) -> httpx.Response:
        return self.http.get(f"{self.house.url}{path}", params=query or None)

    def post(self, path: str, data: dict[str, str], **headers: str) -> httpx.Response:
        return self.http.post(f"{self.house.url}{path}", data=data, headers=headers)

    def away(self, **query: str) -> str:
        """Press the button, and return the address of GitHub's page."""
        sent = self.get("/login/start", **query)
        assert sent.status_code == 303
        return sent.headers["location"]

    def authorise(self, page: str, login: str, decision: str = "authorize") -> str:
        """Press a button of GitHub's page, and return where that sends."""
        assert self.http.get(page).status_code == 200
        return self.http.post(page, data={"login": login, "decision": decision}).headers["location"]

    def sign_in(self, login: str, **query: str) -> httpx.Response:
        answer = self.http.get(self.authorise(self.away(**query), login))
        assert answer.status_code == 303, answer.text
        return answer

    def who(self) -> tuple[int, str]:
        answer = self.get("/who")
        return answer.status_code, answer.text

    @property
    def secret(self) -> str | None:
        return self.http.cookies.get("twogate")


def looking(login: Login) -> Blueprint:
    pages = Blueprint("looking", __name__)

    @pages.get("/who")
    def who() -> str:
        return login.onlooker().person.login

    @pages.get("/token")
    def token() -> str:
        return login.onlooker().token

    @pages.get("/form")
    def form() -> str:
        return login.csrf()

    @pages.post("/deed")
    def deed() -> str:
        login.check_csrf()
        return login.onlooker().person.login

    @pages.errorhandler(Refused)
    def refused(refusal: Refused) -> tuple[str, int]:
        return refusal.sentence, refusal.status

    return pages


@contextmanager
def opened(url: str, github: GitHub, clock: Clock, home: Path) -> Iterator[House]:
    app = github.standin.hub.apps[github.app["app_id"]]
    made: list[House] = []

    def application(address: str) -> Any:
        client = {"TWOGATE_CLIENT_ID": app.client_id, "TWOGATE_CLIENT_SECRET": app.client_secret}
        settings = from_environment(settings_of(github, address, home, **client))
        github.standin.control.set_callback_urls(app.id, [f"{address}/login/callback"])
        store = open_store(url, now=clock)
        login = serving.sign_in(serving.Parts(settings, store, github.gateway, clock))
        assert login is not None
        made.append(House(github, clock, store, login, address))
        return create_app(login_pages.blueprint(login), looking(login))

    with served(application):
        yield made[0]
    for browser in made[0].browsers:
        browser.http.close()
    made[0].store.dispose()
    github.standin.control.clear_faults()


@pytest.fixture
def house(sqlite_url: str, github: GitHub, clock: Clock, tmp_path: Path) -> Iterator[House]:
    with opened(sqlite_url, github, clock, tmp_path) as running:
        yield running


def test_somebody_signs_in_and_is_back_where_they_wanted_to_be(house: House) -> None:
    browser, login = house.browser(), house.person()
    assert browser.who()[0] == 401
    welcome = browser.get("/login", next="/plans/1?tab=diff")
    link = re.search(r'href="(/login/start[^"]*)"', welcome.text)
    assert link is not None
    page = browser.get(link[1].replace("&amp;", "&")).headers["location"]
    asked = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
    assert asked["redirect_uri"] == f"{house.url}/login/callback"
    assert asked["code_challenge_method"] == "S256"
    back = browser.http.get(browser.authorise(page, login))
    assert back.headers["location"] == "/plans/1?tab=diff"
    assert browser.who() == (200, login)
    cookies = {cookie.split("=")[0]: cookie for cookie in back.headers.get_list("set-cookie")}
    assert "HttpOnly" in cookies["twogate"]
    assert "SameSite=Lax" in cookies["twogate"]
    assert "Domain" not in cookies["twogate"]
    assert "Max-Age=0" in cookies["twogate-login"]
    assert welcome.headers["cache-control"] == back.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in welcome.headers["content-security-policy"]


def test_the_database_holds_nobodys_secret(house: House) -> None:
    browser = house.browser()
    browser.sign_in(house.person())
    token = browser.get("/token").text
    row = house.rows()[-1]
    assert token.startswith("ghu_")
    assert not {value for value in row.values() if value in {browser.secret, token, token.encode()}}
    assert token.encode() not in row["token"]


def test_who_signs_in_anew_has_a_new_secret_and_the_old_one_is_over(house: House) -> None:
    browser, thief = house.browser(), house.browser()
    first, second = house.person(), house.person()
    browser.sign_in(first)
    old = browser.secret
    thief.http.cookies.set("twogate", old or "")
    assert thief.who() == (200, first)
    browser.sign_in(second)
    assert browser.secret != old
    assert thief.who()[0] == 401
    assert browser.who() == (200, second)


def test_nobody_is_signed_in_by_a_link_of_somebody_else(house: House) -> None:
    evil, victim = house.browser(), house.browser()
    link = evil.authorise(evil.away(), house.person())
    assert victim.http.get(link).status_code == 400
    away = victim.away()
    assert victim.http.get(link).status_code == 400
    state = parse_qs(urlsplit(away).query)["state"][0]
    injected = parse_qs(urlsplit(link).query)["code"][0]
    assert victim.get("/login/callback", code=injected, state=state).status_code == 400
    assert victim.secret is None
    late = evil.authorise(evil.away(), house.person())
    house.clock.at += SIGNING_IN_SECONDS
    assert evil.http.get(late).status_code == 400


def test_a_code_is_good_once_and_who_says_no_is_not_signed_in(house: House) -> None:
    browser = house.browser()
    back = browser.authorise(browser.away(), house.person())
    kept = dict(browser.http.cookies)
    assert browser.http.get(back).status_code == 303
    again = httpx.get(back, cookies={"twogate-login": kept["twogate-login"]})
    assert (again.status_code, "set-cookie" in again.headers) == (400, False)
    other = house.browser()
    denied = other.http.get(other.authorise(other.away(), house.person(), "cancel"))
    assert (denied.status_code, other.secret) == (403, None)
    assert "/login/start" in denied.text


def test_who_comes_back_in_a_crowd_reloads(house: House) -> None:
    browser, login = house.browser(), house.person()
    back = browser.authorise(browser.away(), login)
    for _ in range(MOST_AT_ONCE):
        house.login.places.acquire()
    crowded = browser.http.get(back)
    assert (crowded.status_code, crowded.headers["retry-after"], browser.secret) == (503, "5", None)
    for _ in range(MOST_AT_ONCE):
        house.login.places.release()
    assert browser.http.get(back).status_code == 303
    assert browser.who() == (200, login)


@pytest.mark.parametrize(
    "address",
    ["", "https://evil.test/", "//evil.test", "/\\evil.test", "\\/evil.test", "javascript:alert(1)", "/\t/evil.test",
     "/a\r\nSet-Cookie: a=b", "evil.test", "/login?next=/", "/logout", "/" + "a" * 1_000, "/\N{CYRILLIC SMALL LETTER A}"],
)  # fmt: skip
def test_nobody_is_sent_elsewhere(address: str) -> None:
    assert local(address) == "/"
    assert local("/plans/1?tab=diff#top") == "/plans/1?tab=diff#top"


def test_cookies_are_bound_to_the_host_where_there_is_tls(house: House) -> None:
    cookies = Cookies(secure=True)
    answer = login_pages.Response()
    cookies.set(answer, cookies.session, "secret", 60)
    assert answer.headers["Set-Cookie"].startswith("__Host-twogate=secret;")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(answer.headers["Set-Cookie"].split("; "))
    assert Cookies(secure=False).signing_in == "twogate-login"


def test_a_form_is_the_sessions_own(house: House) -> None:
    browser, other = house.browser(), house.browser()
    login = house.person()
    browser.sign_in(login)
    other.sign_in(house.person())
    good, foreign = browser.get("/form").text, other.get("/form").text
    for data, headers, status in (
        ({"csrf": good}, {}, 200),
        ({}, {"X-CSRF-Token": good}, 200),
        ({"csrf": good}, {"Origin": house.url}, 200),
        ({}, {}, 403),
        ({"csrf": foreign}, {}, 403),
        ({"csrf": good}, {"Origin": "http://evil.test"}, 403),
        ({"csrf": good}, {"Origin": "null"}, 403),
    ):
        assert browser.post("/deed", data, **headers).status_code == status, (data, headers)
    assert house.browser().post("/deed", {"csrf": good}).status_code == 403
    assert browser.post("/logout", {"csrf": foreign}).status_code == 403
    assert browser.who() == (200, login)


def test_nobodys_endless_form_is_not_read(house: House) -> None:
    client = create_app(login_pages.blueprint(house.login)).test_client()
    client.set_cookie(house.login.cookies.session, "anything")
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="endless"\r\n\r\n' + bytes(LARGEST_BODY)
    answer = client.post("/logout", data=form + b"\r\n--x--\r\n", content_type="multipart/form-data; boundary=x")
    assert answer.status_code == 413


def test_signing_out_ends_the_session_and_its_token(house: House) -> None:
    browser = house.browser()
    browser.sign_in(house.person())
    secret, token = browser.secret, browser.get("/token").text
    out = browser.post("/logout", {"csrf": browser.get("/form").text})
    assert (out.status_code, out.headers["location"], browser.secret) == (303, "/login?out", None)
    assert "signed out" in browser.get("/login?out").text
    browser.http.cookies.set("twogate", secret or "")
    assert browser.who()[0] == 401
    assert house.github.standin.hub.resolve_token(token) is None


@pytest.mark.parametrize(("pauses", "seconds"), [(1, IDLE_SECONDS), (20, LONGEST_SECONDS / 20)])
def test_a_session_ends_by_itself(house: House, pauses: int, seconds: float) -> None:
    house.allowed.token_seconds = None
    browser, login = house.browser(), house.person()
    browser.sign_in(login)
    house.allowed.token_seconds = TOKEN_SECONDS
    for _ in range(pauses):
        assert browser.who() == (200, login)
        house.clock.at += seconds
    assert browser.who()[0] == 401
    with house.store.write() as tx:
        assert kept_sessions.forget(tx, 10) == 1


def test_a_person_has_so_many_sessions_and_github_ends_them_all(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_sessions, "MOST_SESSIONS", 2)
    login, bystander = house.person(), house.browser()
    bystander.sign_in(house.person())
    browsers = [house.browser() for _ in range(3)]
    for browser in browsers:
        house.clock.at += 1
        browser.sign_in(login)
    assert [browser.who()[0] for browser in browsers] == [401, 200, 200]
    number = house.github.standin.hub.user(login).id
    with house.store.write() as tx:
        assert kept_sessions.end_of(tx, number, before=house.clock()) == 2
    assert [browser.who()[0] for browser in [*browsers, bystander]] == [401, 401, 401, 200]


def test_of_many_requests_one_renews(url: str, github: GitHub, clock: Clock, tmp_path: Path) -> None:
    with opened(url, github, clock, tmp_path) as house:
        browser, login = house.browser(), house.person()
        browser.sign_in(login)
        old = browser.get("/token").text
        assert browser.get("/token").text == old
        house.clock.at += TOKEN_SECONDS - 60
        vault, secret = (
            Vault(from_environment(settings_of(github, house.url, tmp_path)), SESSIONS),
            browser.secret or "",
        )
        of_two_processes = [sessions_module.Sessions(house.store, house.login.sign_in, vault, clock) for _ in range(2)]
        together = Barrier(6)

        def look(number: int) -> str:
            together.wait(10)
            return of_two_processes[number % 2].onlooker(secret).token

        pairs = len(house.allowed.pairs)
        with ThreadPoolExecutor(6) as threads:
            tokens = set(threads.map(look, range(6)))
        assert len(tokens) == 1
        assert old not in tokens
        assert github.standin.hub.resolve_token(old) is None
        assert len(house.allowed.pairs) == pairs
        assert browser.who() == (200, login)


def test_a_token_that_cannot_be_renewed(house: House) -> None:
    browser, login = house.browser(), house.person()
    browser.sign_in(login)
    old = browser.get("/token").text
    house.github.standin.control.add_fault("error", path="/login/oauth/access_token", count=2)
    house.clock.at += TOKEN_SECONDS - 60
    assert browser.get("/token").text == old
    house.clock.at += 60
    assert browser.get("/token").status_code == 503
    assert browser.get("/token").text != old
    house.allowed.pairs.clear()
    house.clock.at += TOKEN_SECONDS
    assert browser.who()[0] == 401
    assert house.rows() == []


def test_without_an_oauth_client_the_dashboard_says_what_to_set() -> None:
    client = create_app(login_pages.blueprint(None)).test_client()
    for path in ("/login", "/login/start", "/login/callback?code=1"):
        answer = client.get(path)
        assert answer.status_code == 503
        assert "TWOGATE_CLIENT_ID and TWOGATE_CLIENT_SECRET" in answer.text
