"""``twogate doctor``: everything the bot needs, looked at from where the bot runs, each with what to do about it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx
import yaml

from bot.data_flow import facts, of_bot, of_repository
from bot.data_flow.party import Seen, shown
from bot.doctor import github, machine
from bot.doctor.finding import Finding
from bot.errors import TwogateError
from bot.serving import opened
from bot.shipped import shipped
from bot.store import health
from bot.store.migrate import is_current
from bot.web.oidc import Keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bot.github.gateway import Gateway, Grant
    from bot.settings import Settings
    from bot.store.engine import Store

LEVELS = ("read", "write", "admin")
"""What may be granted, in rising order."""


def examine(settings: Settings) -> Iterator[Finding]:
    """Yield what is found, in the order in which it should be mended. The settings themselves are valid by now."""
    yield Finding(True, "The settings are valid.")
    database = _tried("The database", lambda: _database(settings))
    yield database
    yield _tried("The disk", lambda: machine.disk(settings.home))
    with opened(settings) as parts:
        if database.well:
            yield _tried("The database", lambda: machine.whole(parts.store))
            yield _tried("The database", lambda: machine.worker(parts.store))
            yield _tried("The database", lambda: _given_up(parts.store))
            yield _tried("The database", lambda: _seen_by(settings, parts.store))
        app = _tried("GitHub", lambda: _app(parts.gateway))
        yield app
        if app.well:
            yield from _installations(parts.gateway)
            yield _tried("GitHub's clock", lambda: github.clock(parts.gateway, parts.now))
            yield _tried("GitHub's webhooks", lambda: github.webhook(parts.gateway, settings.url, parts.now))
            yield _tried("GitHub's rulesets", lambda: github.rulesets(parts.gateway))
            yield _tried("The sign-in", lambda: github.sign_in(parts, settings))
    yield machine.traces(settings)
    yield _tried("GitHub's signing keys", lambda: _signing_keys(settings))


def _tried(what: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except (TwogateError, httpx.HTTPError, ValueError, OSError) as error:
        said = str(error) or type(error).__name__
        return Finding(False, f"{what} can't be used: {said.splitlines()[0]}")


def _database(settings: Settings) -> Finding:
    if not settings.home.is_dir():
        return Finding(False, f"The bot's folder {settings.home} is not there yet: run `twogate migrate`.")
    if is_current(settings.database_url):
        return Finding(True, "The database answers and is up to date.")
    return Finding(False, "The database is not up to date: run `twogate migrate`.")


def _given_up(store: Store) -> Finding:
    with store.read() as tx:
        found = health.look(tx)
    parked = found.deliveries.parked + found.effects.parked
    if not parked:
        return Finding(True, "Nothing is given up.")
    cure = (
        "`twogate admin parked` lists them with the reason; mend that, then `twogate admin parked retry` puts one back."
    )
    return Finding(False, f"Given up: deliveries {found.deliveries.parked}, effects {found.effects.parked}. {cure}")


def _seen_by(settings: Settings, store: Store) -> Finding:
    """List who sees code or prompts, by the policies as they were read last."""
    with store.read() as tx:
        each = facts.as_last_read(tx)
    found = [*of_bot.parties(settings), *(party for known in each for party in of_repository.parties(known))]
    who = dict.fromkeys(shown(party) for party in found if {Seen.CODE, Seen.PROMPTS, Seen.DIFFS} & {*party.sees})
    return Finding(True, f"In a run, these see the code or prompts: {'; '.join(who)}. `twogate data-flow` says why.")


def _app(gateway: Gateway) -> Finding:
    identity = gateway.identity()
    return Finding(True, f"GitHub knows the bot as the App {identity.slug} (account {identity.bot_user_id}).")


def _installations(gateway: Gateway) -> Iterator[Finding]:
    grants = gateway.grants()
    if not grants:
        yield Finding(False, "The App is not installed anywhere: install it on the repositories it is to serve.")
    wanted = yaml.safe_load(shipped("app.yml"))["default_permissions"]
    for grant in grants:
        yield _installation(grant, wanted)


def _installation(grant: Grant, wanted: dict[str, str]) -> Finding:
    where = f"Installation {grant.installation_id} ({grant.account})"
    if grant.suspended:
        return Finding(False, f"{where} is suspended: its owner lifts that in the App's settings.")
    missing = [f"{name}: {level}" for name, level in wanted.items() if not _covers(grant.permissions.get(name), level)]
    if missing:
        return Finding(False, f"{where} does not grant {', '.join(missing)}: accept the App's new permissions there.")
    return Finding(True, f"{where} grants all that is needed.")


def _covers(granted: str | None, wanted: str) -> bool:
    return granted in LEVELS and LEVELS.index(granted) >= LEVELS.index(wanted)


def _signing_keys(settings: Settings) -> Finding:
    found = Keys(settings.oidc_jwks_url, time.time).fetch()
    if not found:
        return Finding(False, f"{settings.oidc_jwks_url} lists no key: set TWOGATE_OIDC_ISSUER to GitHub's issuer.")
    return Finding(True, f"GitHub's signing keys can be read ({len(found)}).")
