"""The addresses under ``/hooks``: reports from outside of GitHub, each of which becomes an issue and a plan.

    sender ──▶ size ──▶ secret ──▶ policy ──▶ the report, cut to size ──▶ one row ──▶ 200

Whoever knocks without the secret learns nothing, not even which repositories there are. The worker reads the policy
anew before it makes the issue.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any, Protocol

from flask import Blueprint, Response, jsonify, request

from bot.lifecycle.effects import OpenReported
from bot.lifecycle.hooks import HookTerms, Tracker
from bot.store import deliveries, hooks, policies
from bot.store.engine import StoreUnavailable
from bot.web.hook_payloads import UnreadableError, read
from bot.web.hook_proof import proven
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.lifecycle.plan import Repo
    from bot.store.engine import Store

LARGEST_BYTES = 512 * 1024
"""Of a message with a report; more is refused before it is read. jam.dev's pictures and films are links."""
MOST_AN_HOUR = 20
"""Reports of a repository that are taken within an hour of the first, since a plan is written and paid for each."""
AWAY_SECONDS = 30
"""When to send a report again that could not be stored."""
NOBODY = 0
"""The number of no repository: what a wrong name is compared with takes as long as a right one."""


class Secrets(Protocol):
    """What senders know: :class:`bot.crypto.HookSecrets`."""

    def keep(self, secret: str) -> bytes:
        """Return a sender's own as it is stored."""

    def of(self, repository_id: int, generation: int) -> str:
        """Return the bot's own secret for a repository."""

    def kept(self, cipher: bytes) -> str | None:
        """Return a sender's own, as it was stored; None where it can't be read any more."""


def blueprint(store: Store, secrets: Secrets, now: Callable[[], float]) -> Blueprint:
    """Return ``POST /hooks/jam/<owner>/<name>`` and ``POST /hooks/issue/<owner>/<name>``."""
    pages = Blueprint("hooks", __name__, url_prefix="/hooks")
    nobodys = secrets.keep(secrets.of(NOBODY, NOBODY))

    @pages.post("/<any(jam, issue):tracker>/<owner>/<name>")
    def take(tracker: str, owner: str, name: str) -> Response:
        request.max_content_length = LARGEST_BYTES
        body = request.get_data()
        hook, terms = _known(store, owner, name)
        right = _secrets(secrets, hook, terms, nobodys)
        proofs = [proven(secret, request.headers, body, now()) for secret in right]
        if not any(proofs) or hook is None:
            raise Refused(401, "Nothing of this name takes reports with this secret: see `twogate admin hook-secret`.")
        return jsonify({"status": _taken(store, hook.repo, terms, Tracker(tracker), body)})

    _refuse(pages)
    return pages


def _refuse(pages: Blueprint) -> None:
    @pages.errorhandler(Refused)
    def refused(refusal: Refused) -> tuple[Response, int]:
        answer = jsonify({"error": refusal.sentence})
        if refusal.retry_after is not None:
            answer.headers["Retry-After"] = str(refusal.retry_after)
        return answer, refusal.status

    @pages.errorhandler(StoreUnavailable)
    def away(_error: StoreUnavailable) -> tuple[Response, int]:
        sentence = "The database can't be used just now: send the report again."
        return refused(Refused(503, sentence, retry_after=AWAY_SECONDS))


def _known(store: Store, owner: str, name: str) -> tuple[hooks.Hook | None, HookTerms]:
    """Return the repository and what its policy, as it was read last, says of hooks."""
    with store.read() as tx:
        hook = hooks.named(tx, owner, name)
        policy = policies.last_valid(tx, hook.repo.id if hook else NOBODY)
    return hook, policy.hooks if policy else HookTerms()


def _secrets(secrets: Secrets, hook: hooks.Hook | None, terms: HookTerms, nobodys: bytes) -> tuple[str, str]:
    """Return ours and, where it is of this generation of the policy, the sender's own; else one that nobody knows."""
    ours = secrets.of(hook.repo.id if hook else NOBODY, terms.generation)
    told = hook.signs_with if hook and hook.generation == terms.generation else None
    return ours, secrets.kept(told or nobodys) or ours


def _taken(store: Store, repo: Repo, terms: HookTerms, tracker: Tracker, body: bytes) -> str:
    """Store a report that may come in, once, and return what became of it."""
    if not terms.lets_in(tracker):
        raise Refused(
            403, f"The policy of {repo.owner}/{repo.name} lets no such reports in: `hooks: {{{tracker}: true}}` does."
        )
    try:
        found = read(tracker, _json(body))
    except UnreadableError as fault:
        raise Refused(422, f"This is no report: {fault}.") from fault
    if found is None:
        return "dropped: no report"
    name, report = found
    told = name or report.model_dump_json(exclude_defaults=True)
    key = f"hook:{repo.id}:{tracker}:{hashlib.sha256(told.encode()).hexdigest()[:32]}"
    return _kept(store, OpenReported(key=key, repo=repo, report=report, generation=terms.generation))


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "The body is not JSON, in UTF-8: send a report as JSON.") from None


def _kept(store: Store, effect: OpenReported) -> str:
    repo = effect.repo
    new = deliveries.NewDelivery(
        guid=effect.key,
        source="hook",
        event=effect.report.tracker,
        lane=f"{repo.id}:hooks",
        body=effect.model_dump_json(),
        installation_id=repo.installation_id,
    )
    with store.write() as tx:
        if deliveries.is_known(tx, new.guid):
            return "seen"
        taken = hooks.take(tx, repo.id, MOST_AN_HOUR)
        if not taken.may:
            sentence = f"{MOST_AN_HOUR} reports of {repo.owner}/{repo.name} came within the hour: send it again later."
            raise Refused(429, sentence, retry_after=math.ceil(taken.wait))
        deliveries.add(tx, new)
    return "stored"
