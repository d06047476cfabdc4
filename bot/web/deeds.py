"""What people do here: decide on plans, and ask for new ones.

A decision becomes a delivery in the plan's lane, and is judged as the command of a comment is: the worker asks GitHub
for the person's permission at that moment. A new plan is an issue that is made with the person's own token, so that
GitHub judges who makes it and who labels it.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from typing import TYPE_CHECKING

from bot import wire
from bot.lifecycle.commands import Verb
from bot.lifecycle.deeds import Deed, source_of
from bot.lifecycle.plan import lane
from bot.lifecycle.policy import Policy
from bot.store import deliveries, journal, policies
from bot.store.deliveries import NewDelivery
from bot.web.people import NOT_VISIBLE, UNANSWERED
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.lifecycle.plan import Plan, Repo
    from bot.lifecycle.states import Via
    from bot.store.deliveries import Kept
    from bot.store.engine import Store, Tx
    from bot.web.people import Onlooker, People

DEED, NEW_PLAN = "deed", "new_plan"
"""Events of what people do here."""
MUTE = (
    "This token only says who you are: it may not comment for you on GitHub, so it decides nothing here either. "
    "Sign in again, or give a token that may write issues."
)
UNFIT = "It could not be worked on: tell who runs this bot, whose log has the cause. Nothing was changed."
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


def decide(
    store: Store, onlooker: Onlooker, plan: Plan, said: wire.Decision, via: Via, key: str | None = None
) -> wire.DeedView:
    """Store what a person says to a plan, and return it as it stands.

    ``key`` makes it one deed however often it is sent. Raises :class:`~bot.web.refusal.Refused`: 403 for a token that
    may not speak for its person, 422 for an approval that does not say of what, or a key that was used for other words.
    """
    if not onlooker.speaks:
        raise Refused(403, MUTE)
    if said.verb is Verb.APPROVE and said.saw is None:
        raise Refused(
            422, "An approval says of what: give `saw` as the plan's `up.saw` shows it, once you have read it."
        )
    deed = Deed(plan=plan.uid, by=onlooker.person, via=via, verb=said.verb, text=said.text, saw=said.saw)
    guid = _guid(DEED, onlooker, key)
    new = NewDelivery(guid, "person", DEED, plan.lane, deed.model_dump_json(), plan.repo.installation_id)
    with store.write() as tx:
        deliveries.add(tx, new)
        kept = _same(tx, new)
        return _view(tx, kept)


def outcome(store: Store, onlooker: Onlooker, seen: Collection[int], number: int) -> wire.DeedView:
    """Return what came of a deed of the person's own. Raises ``Refused`` 404 for any other."""
    with store.read() as tx:
        kept = deliveries.kept(tx, source="person", number=number)
        if kept is None or kept.event != DEED or Deed.model_validate_json(kept.body).by.id != onlooker.person.id:
            raise Refused(404, NOT_VISIBLE)
        if int(kept.lane.partition(":")[0]) not in seen:
            raise Refused(404, NOT_VISIBLE)
        return _view(tx, kept)


def create(
    store: Store, people: People, onlooker: Onlooker, repo: Repo, wanted: wire.NewPlan, key: str | None = None
) -> wire.MadePlan:
    """Make an issue with the person's own token and the repository's label.

    ``key`` makes it one issue however often it is asked for. Raises :class:`~bot.web.refusal.Refused`, besides as
    :func:`decide` does: 404 where GitHub does not show the repository, 409 where the same is under way or its end is
    not known, 422 where GitHub refuses, 503 where it can't be asked now.
    """
    if not onlooker.speaks:
        raise Refused(403, MUTE)
    body = json.dumps({"by": onlooker.person.id, "repository": repo.id, **wanted.model_dump()})
    new = NewDelivery(_guid(NEW_PLAN, onlooker, key), "person", NEW_PLAN, lane(repo.id, 0), body, repo.installation_id)
    with store.write() as tx:
        number = deliveries.keep(tx, new)
        if number is None:
            return _made_before(_same(tx, new))
        policy = policies.last_valid(tx, repo.id) or Policy()
    try:
        opened = people.open_issue(onlooker, repo, wanted.title, wanted.body, (policy.label,))
    except Refused as refusal:
        if refusal.status != UNANSWERED:
            with store.write() as tx:
                deliveries.unkeep(tx, number)
        raise
    made = wire.MadePlan(
        repository=wire.RepositoryView(id=repo.id, owner=repo.owner, name=repo.name),
        issue=opened.number,
        issue_url=opened.url,
        labelled=any(policy.is_label(name) for name in opened.labels),
    )
    with store.write() as tx:
        deliveries.conclude(tx, number, made.model_dump_json())
    return made


def _guid(event: str, onlooker: Onlooker, key: str | None) -> str:
    """Return the name of a deed: the same for the same key of a person."""
    if key is None:
        return f"{event}:{secrets.token_hex(16)}"
    if _KEY.fullmatch(key) is None:
        raise Refused(400, f"An idempotency key has 1 to {wire.LONGEST_KEY} visible ASCII characters.")
    return f"{event}:{onlooker.person.id}:{hashlib.sha256(key.encode()).hexdigest()[:32]}"


def _same(tx: Tx, new: NewDelivery) -> Kept:
    """Return what is stored under the name, which has to be the same."""
    kept = deliveries.kept(tx, source=new.source, guid=new.guid)
    if kept is None or (kept.lane, kept.body) != (new.lane, new.body):
        raise Refused(422, "This idempotency key was used for something else: take a new one for each deed.")
    return kept


def _made_before(kept: Kept) -> wire.MadePlan:
    if kept.outcome is None:
        raise Refused(
            409,
            "The same was asked for before, and whether its issue was made is not known yet: "
            "look at the repository's issues before you ask again under a new key.",
        )
    return wire.MadePlan.model_validate_json(kept.outcome)


def _view(tx: Tx, kept: Kept) -> wire.DeedView:
    deed = Deed.model_validate_json(kept.body)
    line = journal.of_source(tx, kept.lane, source_of(kept.guid))
    said = wire.DeedView(
        id=kept.id, plan=deed.plan, verb=deed.verb, status=wire.DeedStatus.WAITING, outcome="", counted=None
    )
    if line is not None:
        counted = line.event != "refused" and "in_vain" not in line.details
        outcome = line.details.get("answer") or line.note
    elif kept.parked_at is not None:
        counted, outcome = False, UNFIT
    else:
        return said
    return said.model_copy(update={"status": wire.DeedStatus.DONE, "outcome": outcome, "counted": counted})
