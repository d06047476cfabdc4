"""Sessions of people who signed in: from the secret in a browser's cookie to an onlooker with a token that is good.

A token of the App for a person lives eight hours and is renewed with a refresh token that works once. So of several
requests one renews, in whatever process, and the others wait for what it got.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from typing import TYPE_CHECKING

from bot.errors import Permanent, RetryAt, Transient
from bot.github.gateway import Unproved
from bot.store import sessions
from bot.store.sessions import SEEN_SECONDS, Kept
from bot.web.people import Entrance, Onlooker
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.crypto import Vault
    from bot.github.gateway import SignIn, Tokens
    from bot.lifecycle.plan import Person
    from bot.store.engine import Store
    from bot.store.sessions import Session

SECRET_BYTES = 32
"""Random bytes of a session's secret: not to be guessed, so that a plain hash keeps it."""
LONGEST_SECRET = 64
"""Characters; what is longer is nobody's."""
RENEW_BEFORE_SECONDS = 300.0
"""A token is renewed so long before its end, so that a page does not lose it halfway."""
RENEWAL_PATIENCE = 12.0
"""Seconds that a request waits for another one's renewal; longer than GitHub's answer may take."""
RENEWAL_LOOK = 0.1
"""Seconds between two looks whether it is done."""
SIGN_IN = "You are not signed in, or were for too long: sign in with GitHub."
COME_BACK = "Your sign-in can't be renewed just now, since GitHub does not answer: try again in a moment."


class Sessions:
    """The sessions of one bot. Safe to share between threads."""

    def __init__(self, store: Store, sign_in: SignIn, vault: Vault, now: Callable[[], float]) -> None:
        self._store = store
        self._sign_in = sign_in
        self._vault = vault
        self._now = now

    def begin(self, person: Person, tokens: Tokens) -> str:
        """Begin a session and return its secret, which is kept nowhere else than in the browser."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        with self._store.write() as tx:
            sessions.begin(tx, _key(secret), person, self._sealed(tokens))
        return secret

    def onlooker(self, secret: str) -> Onlooker:
        """Return who has this secret. Raises ``Refused``: 401 where nobody has (any more), 503 in trouble."""
        session = self._session(secret)
        if self._now() - session.seen_at >= SEEN_SECONDS:
            with self._store.write() as tx:
                sessions.seen(tx, session.key)
        return Onlooker(session.person, self._token(secret, session), Entrance.DASHBOARD)

    def end(self, secret: str) -> None:
        """End a session, and its token on GitHub as far as that answers."""
        with self._store.write() as tx:
            found = sessions.get(tx, _key(secret))
            sessions.end(tx, _key(secret))
        if found is not None:
            try:
                self._sign_in.end(self._vault.decrypt(found.kept.token))
            except (Transient, RetryAt, Permanent):
                return

    def _session(self, secret: str) -> Session:
        if not 0 < len(secret) <= LONGEST_SECRET:
            raise Refused(401, SIGN_IN)
        with self._store.read() as tx:
            found = sessions.get(tx, _key(secret))
        if found is None:
            raise Refused(401, SIGN_IN)
        return found

    def _token(self, secret: str, session: Session) -> str:
        """Return the session's token, renewed where it is about to end."""
        deadline = time.monotonic() + RENEWAL_PATIENCE
        while (refresh_token := self._due(session)) is not None:
            with self._store.write() as tx:
                mine = sessions.take_renewal(tx, session)
            if mine:
                return self._renew(session, refresh_token)
            if time.monotonic() >= deadline:
                return self._last_of(session)
            threading.Event().wait(RENEWAL_LOOK)
            session = self._session(secret)
        return self._opened(session, session.kept.token)

    def _due(self, session: Session) -> bytes | None:
        """Return the refresh token of a session whose token is about to end."""
        ends_at = session.kept.ends_at
        due = ends_at is not None and self._now() >= ends_at - RENEW_BEFORE_SECONDS
        return session.kept.refresh_token if due else None

    def _renew(self, session: Session, refresh_token: bytes) -> str:
        """Get the next token; the right to do so is ours."""
        try:
            tokens = self._sign_in.renew(self._opened(session, refresh_token))
        except Unproved as error:
            self._over(session)
            raise Refused(401, SIGN_IN) from error
        except (Transient, RetryAt, Permanent):
            with self._store.write() as tx:
                sessions.give_back_renewal(tx, session.key)
            return self._last_of(session)
        with self._store.write() as tx:
            sessions.renewed(tx, session.key, self._sealed(tokens))
        return tokens.token

    def _last_of(self, session: Session) -> str:
        """Return the token that could not be renewed for as long as it lasts."""
        if session.kept.ends_at is not None and self._now() < session.kept.ends_at:
            return self._opened(session, session.kept.token)
        raise Refused(503, COME_BACK, retry_after=1)

    def _over(self, session: Session) -> None:
        with self._store.write() as tx:
            sessions.end(tx, session.key)

    def _opened(self, session: Session, cipher: bytes) -> str:
        try:
            return self._vault.decrypt(cipher)
        except Permanent as error:
            self._over(session)
            raise Refused(401, SIGN_IN) from error

    def _sealed(self, tokens: Tokens) -> Kept:
        refresh = None if tokens.refresh_token is None else self._vault.encrypt(tokens.refresh_token)
        return Kept(self._vault.encrypt(tokens.token), refresh, tokens.ends_at)


def csrf_of(secret: str) -> str:
    """Return what a session's forms carry, so that no other site can send them; the secret does not follow from it."""
    return hmac.new(secret.encode(), b"twogate: forms", hashlib.sha256).hexdigest()


def _key(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
