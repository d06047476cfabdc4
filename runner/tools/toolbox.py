"""The tools of one run, as the runner's own process judges them. Every answer is a sentence that says what to mend."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from runner.agents.result import InvalidResultError, faults_of, parse_result
from runner.results import Lesson, Recommendation
from runner.terms import Tool
from runner.tools.arguments import Question, Saying, arguments_of
from runner.tools.records import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from runner.agents.result import Result
    from runner.results import Message, Unit

MOST_CALLS = 500
"""Calls of one run; more is a loop that nobody needs."""
LAST_CALL_SECONDS = 5.0
"""Seconds that the end of a run waits for a call that is being judged."""
ENDED = "This run is over: its tools do nothing any more."


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call came to."""

    ok: bool
    text: str


def _no_objection(_: Any) -> str:
    return ""


def _unheard(_: str) -> None:
    """Hear nothing."""


class Toolbox:
    """One run's tools; safe to be called from several threads, one call at a time."""

    def __init__(
        self,
        unit: Unit,
        allowed: Collection[Tool],
        records: Records | None = None,
        *,
        objection: Callable[[Result], str] = _no_objection,
        judge: Callable[[Lesson], str | None] = _no_objection,
        say: Callable[[str], None] = _unheard,
    ) -> None:
        """``objection`` says why a result that fits its schema can't be used, ``judge`` why a lesson can't be kept.

        ``records`` collects over the runs of a conversation; ``say`` hears of progress.
        """
        self.unit = unit
        self.allowed = tuple(tool for tool in Tool if tool in allowed)
        """In the order of their listing."""
        self.records = records or Records()
        self.result: Result | None = None
        """The last result that was accepted."""
        self.submitted_at = 0.0
        """When that was, in epoch seconds."""
        self._objection, self._judge, self._say = objection, judge, say
        self._lock, self._open, self._calls = threading.Lock(), True, 0

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Do what ``tool`` does with its arguments as an object."""
        return self.call_json(tool, json.dumps(arguments).encode())

    def call_json(self, name: str, arguments: bytes) -> Answer:
        """Do what the tool of that name does with its arguments as JSON; raises nothing."""
        with self._lock:
            if not self._open:
                return Answer(ok=False, text=ENDED)
            self._calls += 1
            if self._calls > MOST_CALLS:
                return Answer(ok=False, text=f"No more than {MOST_CALLS} calls of tools are answered in one run.")
            tool = next((each for each in self.allowed if each == name), None)
            if tool is None:
                return Answer(ok=False, text=f"There is no such tool. This run has: {', '.join(self.allowed)}.")
            return self._done(tool, arguments)

    def close(self) -> None:
        """End the run: from here on nothing is recorded."""
        judged = self._lock.acquire(timeout=LAST_CALL_SECONDS)
        self._open = False
        if judged:
            self._lock.release()

    def _done(self, tool: Tool, arguments: bytes) -> Answer:
        if tool is Tool.SUBMIT:
            return self._submit(arguments)
        try:
            given = self._models[tool].model_validate_json(arguments)
        except ValidationError as error:
            return Answer(ok=False, text=f"The arguments of {tool} do not fit. {faults_of(error)}")
        return self._record(given)

    @cached_property
    def _models(self) -> dict[Tool, type[Message]]:
        return {tool: arguments_of(tool, self.unit) for tool in self.allowed}

    def _submit(self, data: bytes) -> Answer:
        try:
            result = parse_result(data, self.unit)
        except InvalidResultError as error:
            return Answer(ok=False, text=f"{error} Mend it and submit again.")
        if fault := self._objection(result):
            return Answer(ok=False, text=f"The result can't be used. {fault} Mend it and submit again.")
        self.result, self.submitted_at = result, time.time()
        return Answer(ok=True, text="The result is accepted. If nothing else is left to do, end here.")

    def _record(self, given: Message) -> Answer:
        match given:
            case Saying():
                self._say(given.text)
                return Answer(ok=True, text="Noted.")
            case Lesson():
                lesson = Lesson.model_validate(given.model_dump())
                ground = self._judge(lesson)
                fault = f"The lesson is not kept: {ground}." if ground else self.records.remember(lesson)
                return _recorded(fault, "The lesson is recorded; people review it together with the work.")
            case Recommendation():
                return _recorded(
                    self.records.recommend(given), "Recorded; people decide about it. Go on with your task."
                )
        question = cast("Question", given)
        answer = (
            "Recorded. Nobody answers during this run: decide as well as you can, say so in your result, and go on."
        )
        return _recorded(self.records.ask(question.text), answer)


def _recorded(fault: str, answer: str) -> Answer:
    return Answer(ok=not fault, text=fault or answer)
