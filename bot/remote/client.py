"""The REST API as a client sees it: typed, within deadlines, and refusals as sentences.

What only reads is tried again after passing trouble. What does something bears a key by which the bot knows it again,
and so may be sent again as well.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, stop_after_delay, wait_exponential

from bot import wire
from bot.errors import Transient, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from bot.lifecycle.commands import Verb
    from bot.lifecycle.states import State
    from bot.remote.where import Access

REQUEST_SECONDS = 20.0
"""For connecting, sending, and each wait for a part of an answer."""
MOST_TRIES = 4
"""Of one request that may be repeated."""
PATIENCE_SECONDS = 45.0
"""For all tries of one request; a rate limit that lasts longer is told instead of waited for."""
LARGEST_ANSWER = 16 * 1024 * 1024
"""Bytes of an answer; the longest patches that are kept are a part of it."""
DEED_SECONDS = 60.0
"""How long the outcome of a decision is waited for: the bot asks GitHub, and says what came of it."""
LOOK_SECONDS = 0.5
"""Between two looks at what came of a decision."""
PASSING = frozenset({502, 503, 504})
"""Statuses of passing trouble: nothing was done."""

M = TypeVar("M", bound=BaseModel)


class Client:
    """One bot, asked as one person. Raises :class:`UserError` for every refusal and for trouble that did not pass."""

    def __init__(
        self,
        access: Access,
        via: Literal["api", "mcp"] = "api",
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url = access.url
        self._via: Literal["api", "mcp"] = via
        self._sleep, self._now = sleep, now
        self._http = httpx.Client(
            base_url=f"{access.url}/api/v1",
            headers={"Authorization": f"Bearer {access.token}", "Accept": "application/json", "User-Agent": "twogate"},
            timeout=REQUEST_SECONDS,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self._http.close()

    # looking

    def me(self) -> wire.Me:
        """Return who the bot takes the token for, and the repositories that this person sees."""
        return self._get("/me", wire.Me)

    def plans(
        self,
        *,
        repository: str | None = None,
        states: tuple[State, ...] = (),
        issue: int | None = None,
        cursor: str | None = None,
        limit: int = wire.USUAL_ROWS,
    ) -> wire.Page[wire.PlanSummary]:
        """Return a page of plans, those that were asked for last first."""
        asked = {"repository": repository, "state": list(states), "issue": issue, "cursor": cursor, "limit": limit}
        return self._get("/plans", wire.Page[wire.PlanSummary], asked)

    def every_plan(self, most: int, **wanted: Any) -> Iterator[wire.PlanSummary]:
        """Yield plans of page after page, at most so many."""
        cursor: str | None = None
        while most > 0:
            page = self.plans(cursor=cursor, limit=min(most, wire.MOST_ROWS), **wanted)
            yield from page.items[:most]
            most -= len(page.items)
            cursor = page.next
            if cursor is None:
                return

    def plan(self, uid: str) -> wire.PlanDetail:
        """Return a plan whole."""
        return self._get(f"/plans/{_segment(uid)}", wire.PlanDetail)

    def plan_of(self, repository: str, issue: int) -> wire.PlanDetail:
        """Return the newest plan of an issue."""
        found = self.plans(repository=repository, issue=issue, limit=wire.MOST_ROWS).items
        if not found:
            raise UserError(
                f"There is no plan of #{issue} in {repository} that GitHub shows to you. "
                "One that was just asked for is known within seconds."
            )
        return self.plan(max(found, key=lambda plan: plan.try_number).uid)

    def jobs(self, uid: str) -> list[wire.JobView]:
        """Return the runs of a plan, the first one first."""
        return self.plan(uid).jobs

    def diff(self, uid: str) -> wire.DiffView:
        """Return the patch under review."""
        return self._get(f"/plans/{_segment(uid)}/diff", wire.DiffView)

    def costs(self, uid: str) -> wire.CostsView:
        """Return what a plan has cost so far."""
        return self._get(f"/plans/{_segment(uid)}/costs", wire.CostsView)

    def figures(self, repository: str | None, days: int, month: str | None = None) -> wire.CostsReport:
        """Return what a month, or else the last days, cost, and what came of it."""
        period = {"days": days} if month is None else {"month": month}
        return self._get("/costs", wire.CostsReport, {"repository": repository, **period})

    def deed(self, number: int) -> wire.DeedView:
        """Return what came of a decision so far."""
        return self._get(f"/deeds/{number}", wire.DeedView)

    # doing

    def create(self, repository: str, title: str, body: str = "") -> wire.MadePlan:
        """Have an issue made, with the person's own token, for which a plan is written."""
        if not title.strip():
            raise UserError("An issue needs a title: say in a line what shall change.")
        new = _said(wire.NewPlan, repository=repository, title=title, body=body)
        return _read(wire.MadePlan, self._patiently("POST", "/plans", json=new.model_dump(mode="json"), headers=_key()))

    def decide(self, uid: str, verb: Verb, text: str = "", saw: str | None = None) -> wire.DeedView:
        """Say something to a plan; what comes of it is to be asked for by the number of the deed."""
        made = _said(wire.Decision, verb=verb, text=text, saw=saw, via=self._via)
        said = made.model_dump(mode="json", exclude_none=True)
        path = f"/plans/{_segment(uid)}/decisions"
        return _read(wire.DeedView, self._patiently("POST", path, json=said, headers=_key()))

    def outcome(self, deed: wire.DeedView, within: float = DEED_SECONDS) -> wire.DeedView:
        """Wait for what comes of a decision, and return it as it is then."""
        until = self._now() + within
        while deed.status is wire.DeedStatus.WAITING and self._now() < until:
            self._sleep(LOOK_SECONDS)
            deed = self.deed(deed.id)
        return deed

    # speaking

    def _get(self, path: str, shape: type[M], asked: dict[str, Any] | None = None) -> M:
        given = {name: value for name, value in (asked or {}).items() if value not in (None, [])}
        return _read(shape, self._patiently("GET", path, params=given))

    def _patiently(self, method: str, path: str, **more: Any) -> bytes:
        tries = Retrying(
            retry=retry_if_exception_type(Transient),
            wait=wait_exponential(multiplier=0.5, max=8),
            stop=stop_after_attempt(MOST_TRIES) | stop_after_delay(PATIENCE_SECONDS),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return tries(self._once, method, path, **more)
        except Transient as trouble:
            raise UserError(str(trouble)) from trouble

    def _once(self, method: str, path: str, **more: Any) -> bytes:
        """Send one request. Raises :class:`Transient` for what may pass, :class:`UserError` for all else."""
        try:
            with self._http.stream(method, path, **more) as answer:
                body = _bounded(answer)
        except httpx.TransportError as trouble:
            why = str(trouble) or type(trouble).__name__
            raise Transient(
                f"{self.url} does not answer ({why}): try again, or look whether the address is right."
            ) from trouble
        if answer.is_success:
            return body
        sentence = _refusal(answer, body)
        if answer.status_code in PASSING:
            raise Transient(sentence)
        raise UserError(sentence)


def _said(shape: type[M], **fields: Any) -> M:
    """Return what is to be said. Raises :class:`UserError` where the API would refuse it."""
    try:
        return shape(**fields)
    except ValidationError as fault:
        faults = [f"{each['loc'][0] if each['loc'] else 'it'}: {each['msg']}" for each in fault.errors()]
        raise UserError(f"This can't be sent. {'; '.join(faults)}.") from fault


def _key() -> dict[str, str]:
    """Return what makes one deed of a request, however often it is sent."""
    return {"Idempotency-Key": secrets.token_hex(16)}


def _bounded(answer: httpx.Response) -> bytes:
    body = bytearray()
    for chunk in answer.iter_bytes():
        body += chunk
        if len(body) > LARGEST_ANSWER:
            raise UserError("The answer is longer than any of this API's: look whether the address is right.")
    return bytes(body)


def _read(shape: type[M], body: bytes) -> M:
    try:
        return TypeAdapter(shape).validate_json(body)
    except ValidationError as fault:
        raise UserError(
            "The answer is none that this release knows: look whether the address is right, and update what is older."
        ) from fault


def _refusal(answer: httpx.Response, body: bytes) -> str:
    try:
        return wire.Problem.model_validate_json(body).detail
    except ValidationError:
        return f"The bot answered {answer.status_code} without a word: look whether the address is right."


def _segment(name: str) -> str:
    """Return a name as one part of an address. Raises :class:`UserError` for what can be no name of a plan."""
    if not (name.isascii() and name.isalnum()):
        raise UserError(f"{name!r} is no plan's name.")
    return name
