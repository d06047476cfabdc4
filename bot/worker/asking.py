"""What is done with what people said: ask GitHub about it, refuse it, answer it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.rights import Refusal
from bot.lifecycle.states import DIRECT, Via
from bot.store import journal, outbox, plans
from bot.store.journal import Entry
from bot.worker.telling import text_for

if TYPE_CHECKING:
    from bot.lifecycle.requests import Request
    from bot.store.engine import Tx
    from bot.worker.policies import PolicyFault


def ask(tx: Tx, request: Request) -> str:
    """Put a request to GitHub before it is put to the plan; each saying is asked about once, whoever repeats it."""
    key = f"authorise:{request.source}"
    plan = plans.latest(tx, f"{request.repo.id}:{request.issue_number}")
    new = outbox.add(
        tx,
        [fx.Authorise(key=key, request=request)],
        lane=f"{request.repo.id}:{request.issue_number}",
        installation_id=request.repo.installation_id,
        plan_uid=plan.uid if plan else None,
    )
    return f"/{request.command.verb} of {request.actor.login}: " + ("asking GitHub" if new else "was asked before")


def refuse(tx: Tx, request: Request, refusal: Refusal, lane: str) -> str:
    """Journal a refusal, and answer it where words were said."""
    say = _refusal(request, refusal, fx.Topic(refusal.topic)) if refusal.topic is not None else None
    told = {"answer": text_for(tx, request, say)} if say is not None and request.via in DIRECT else {}
    journal.append(
        tx,
        Entry(
            ref=f"refused:{request.source}",
            lane=lane,
            at=request.at,
            event="refused",
            source=request.source,
            actor_id=request.actor.id,
            actor_login=request.actor.login,
            note=refusal.reason,
            details={"command": request.command.verb, "via": request.via, **told},
        ),
    )
    if say is not None and not told:
        outbox.add(tx, [say], lane=lane, installation_id=request.repo.installation_id)
    return f"refused: {refusal.reason}"


def _refusal(request: Request, refusal: Refusal, topic: fx.Topic) -> fx.Say:
    needs = refusal.needs.name.lower() if refusal.needs else ""
    verb = "" if request.via is Via.LABEL else request.command.verb
    said = {"needs": needs, "verb": verb, "why": refusal.reason, **refusal.details}
    return _say(request, topic, said)


def unjudged(tx: Tx, request: Request, sentence: str, lane: str) -> str:
    """Answer words that GitHub's refusal kept from being judged; a reaction can be made again."""
    if request.via in DIRECT:
        refusal = Refusal(topic=fx.Topic.UNJUDGED, reason=f"not judged: {sentence}", details={"sentence": sentence})
        return refuse(tx, request, refusal, lane)
    if request.via is not Via.REACTION:
        answer(tx, request, fx.Topic.UNJUDGED, lane, sentence=sentence)
    return f"not judged: {sentence}"


def tell_faults(tx: Tx, request: Request, faults: tuple[PolicyFault, ...], lane: str) -> None:
    """Say what of the policy can't be used, once for each broken text of a repository."""
    for fault in faults:
        say = fx.Say(
            key=f"say:{fx.Topic.POLICY_INVALID}:{request.repo.id}:{fault.sha256[:32]}",
            repo=request.repo,
            issue_number=request.issue_number,
            topic=fx.Topic.POLICY_INVALID,
            details={"where": fault.where, "line": str(fault.line), "reason": fault.reason, "instead": fault.instead},
        )
        outbox.add(tx, [say], lane=lane, installation_id=request.repo.installation_id)


def answer(tx: Tx, request: Request, topic: fx.Topic, lane: str, **details: str) -> str:
    """Answer the person who asked with one short comment."""
    outbox.add(tx, [_say(request, topic, details)], lane=lane, installation_id=request.repo.installation_id)
    return f"said {topic}"


def _say(request: Request, topic: fx.Topic, details: dict[str, str]) -> fx.Say:
    return fx.Say(
        key=f"say:{topic}:{request.source}",
        repo=request.repo,
        issue_number=request.thread or request.issue_number,
        topic=topic,
        to=request.actor,
        details=details,
    )
