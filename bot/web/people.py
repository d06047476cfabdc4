"""Who asks, and what they may see: a token proves a person to GitHub, and GitHub says what it shows to that token.

    onlooker = people.of_token(token)
    people.require(onlooker, repository_id)  # Refused 404 unless GitHub shows it to them

What GitHub said is believed for a minute at most. Nobody decides anything by it: the worker asks GitHub again at the
moment of decision, as it does for comments.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from bot.errors import Permanent, RetryAt, Transient
from bot.github.gateway import Holder, Missing, Unproved
from bot.lifecycle.permission import Permission
from bot.store import plans
from bot.web.refusal import Refused
from bot.wire import is_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bot.github.gateway import OpenedIssue, PeoplesGateway
    from bot.lifecycle.plan import Person, Repo
    from bot.store.engine import Store

BELIEVED_SECONDS = 60.0
"""How long GitHub's word on a token, and on what it shows to it, is believed."""
MOST_REMEMBERED = 2_000
"""Tokens whose answers are kept at a time; the longest known goes first."""
MOST_AT_ONCE = 4
"""Questions to GitHub at the same time, in one process: half of its threads; webhooks are answered by the others."""
PATIENCE_SECONDS = 2.0
"""How long one more question waits for its turn."""
TROUBLE_SECONDS = 5
"""When to come back after passing trouble with GitHub."""
MOST_STRANGERS = 30
"""Tokens that GitHub did not accept, in a minute; after so many it is shown none that was never good, since it shuts
out for a while who shows it many, and the bot lives on its answers."""

NOT_VISIBLE = "There is nothing here that GitHub shows to you. If there should be, ask for access to the repository."
UNPROVED = (
    "GitHub does not accept this token as a person's: sign in again, or give a user token that is valid, "
    "such as `gh auth token` prints."
)
CROWD = "Too many tokens were shown here that are none: this one can't be looked at just now. Come back in a minute."
TROUBLE = "GitHub can't say just now what you may see: try again in a moment."

UNAUTHORISED = 401
"""Status where a token proves nobody."""
UNANSWERED = 502
"""Status where GitHub did not answer to something that it may have done."""
NO_ANSWER = "GitHub did not answer: whether the issue was made is not known. Look there before you ask again."

V = TypeVar("V")


class Entrance(StrEnum):
    """Where somebody came in."""

    DASHBOARD = "dashboard"
    API = "api"


@dataclass(frozen=True, slots=True)
class Onlooker:
    """Somebody who has proved to be this person on GitHub, and the token that proved it."""

    person: Person
    token: str = field(repr=False)
    by: Entrance
    speaks: bool = True
    """Whether the token may act for the person on GitHub; one that only names them is for looking alone."""


class People:
    """Asks GitHub about onlookers. Safe to share between threads; keeps hashes of tokens, never a token."""

    def __init__(self, store: Store, gateway: PeoplesGateway, now: Callable[[], float]) -> None:
        self._store = store
        self._gateway = gateway
        self._now = now
        self._holders = _Briefly[Holder](now)
        self._turns = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._strangers = _Briefly[bool](now)
        self._shown = _Briefly[dict[int, Permission | None]](now)

    def of_token(self, token: str) -> Onlooker:
        """Return who shows this token to the API. Raises ``Refused``: 401 where it proves nobody, 503 in trouble."""
        if not is_token(token):
            raise Refused(UNAUTHORISED, UNPROVED)
        holder = self._holders.get(_hash(token)) or self._holder(_hash(token), token)
        return Onlooker(holder.person, token, Entrance.API, holder.speaks)

    def _holder(self, key: str, token: str) -> Holder:
        self._not_strange(key)
        if self._strangers.count() >= MOST_STRANGERS and not self._holders.had(key):
            raise Refused(503, CROWD, retry_after=int(BELIEVED_SECONDS))
        with self.answering(token):
            return self._holders.put(key, self._gateway.holder(token))

    def _not_strange(self, key: str) -> None:
        """Raise ``Refused`` for a token that GitHub has just not accepted, which is not shown to it again at once."""
        if self._strangers.get(key):
            raise Refused(UNAUTHORISED, UNPROVED)

    def sees(self, onlooker: Onlooker) -> dict[int, Permission]:
        """Return which of the bot's repositories GitHub shows to the onlooker, by number, and what they may do there.

        Raises ``Refused``: 401 where their token is no longer good, 503 with ``Retry-After`` where GitHub can't say.
        """
        key = _hash(onlooker.token)
        self._not_strange(key)
        shown = self._shown.get(key)
        with self._store.read() as tx:
            known = plans.repository_ids(tx)
            repos = plans.repositories(tx) if shown is None or not known <= shown.keys() else None
        if repos is not None:
            with self.answering(onlooker.token):
                visible = self._gateway.visible(onlooker.token, repos.values())
            shown = self._shown.put(key, {number: visible.get(number) for number in repos})
        return {number: found for number, found in (shown or {}).items() if found is not None}

    def require(self, onlooker: Onlooker, repository_id: int, least: Permission = Permission.READ) -> Permission:
        """Return what the onlooker may do in a repository.

        Raises ``Refused`` as :meth:`sees` does; besides 404 where it is not shown to them, and 403 where they see it
        and may do less than ``least``.
        """
        found = self.sees(onlooker).get(repository_id)
        if found is None:
            raise Refused(404, NOT_VISIBLE)
        if found < least:
            raise Refused(
                403,
                f"{onlooker.person.login} has {found.name.lower()} access to this repository; "
                f"this needs {least.name.lower()} or more. Ask one of its maintainers.",
            )
        return found

    def open_issue(self, onlooker: Onlooker, repo: Repo, title: str, body: str, labels: Sequence[str]) -> OpenedIssue:
        """Open an issue as the onlooker.

        Raises ``Refused`` where none was made: 404 where GitHub shows no such repository, 422 with its reason where it
        refuses, 401 and 503 as :meth:`sees` does. :data:`UNANSWERED` where nobody knows.
        """
        with self.answering(onlooker.token):
            try:
                return self._gateway.open_issue(onlooker.token, repo, title, body, labels)
            except Missing as error:
                raise Refused(404, NOT_VISIBLE) from error
            except Unproved:
                raise
            except Permanent as error:
                raise Refused(422, f"GitHub made no issue: {error}") from error
            except Transient as error:
                raise Refused(UNANSWERED, NO_ANSWER) from error

    def forget(self, token: str) -> None:
        """Believe nothing any more that GitHub said of a token."""
        self._holders.drop(_hash(token))
        self._shown.drop(_hash(token))

    @contextmanager
    def answering(self, token: str) -> Iterator[None]:
        """Ask GitHub with this token within the block; what goes wrong with it becomes what the onlooker is told."""
        if not self._turns.acquire(timeout=PATIENCE_SECONDS):
            raise Refused(503, TROUBLE, retry_after=TROUBLE_SECONDS)
        try:
            yield
        except Unproved as error:
            self.forget(token)
            self._strangers.put(_hash(token), value=True)
            raise Refused(UNAUTHORISED, UNPROVED) from error
        except RetryAt as error:
            pause = max(TROUBLE_SECONDS, math.ceil(error.at - self._now()))
            raise Refused(503, f"{error} Come back in {pause} seconds.", retry_after=pause) from error
        except (Transient, Permanent) as error:
            raise Refused(503, TROUBLE, retry_after=TROUBLE_SECONDS) from error
        finally:
            self._turns.release()


class _Briefly(Generic[V]):
    """Values by key for :data:`BELIEVED_SECONDS`, at most :data:`MOST_REMEMBERED` of them."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, V]] = OrderedDict()

    def get(self, key: str) -> V | None:
        with self._lock:
            at, value = self._kept.get(key, (float("-inf"), None))
        return value if 0 <= self._now() - at < BELIEVED_SECONDS else None

    def put(self, key: str, value: V) -> V:
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (self._now(), value)
            while len(self._kept) > MOST_REMEMBERED:
                self._kept.popitem(last=False)
        return value

    def had(self, key: str) -> bool:
        """Whether there was a value, though it may be stale."""
        with self._lock:
            return key in self._kept

    def count(self) -> int:
        """How many are fresh."""
        with self._lock:
            return sum(0 <= self._now() - at < BELIEVED_SECONDS for at, _ in self._kept.values())

    def drop(self, key: str) -> None:
        with self._lock:
            self._kept.pop(key, None)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
