"""What ``twogate eval`` prints: a row a case, then the figures of both versions and what differs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bot.lifecycle.amounts import Amount
from bot.lifecycle.costs import dollars
from bot.tables import table
from runner.evals.figures import difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.evals.figures import Figures, Interval
    from runner.evals.measure import Measured
    from runner.evals.trial import Trial

LETTERS = "AB"


def lines(measured: Measured) -> Iterator[str]:
    """Yield the lines of the table."""
    yield _head(measured)
    for letter, version in zip(LETTERS, measured.versions, strict=False):
        yield f"{letter}: {version.name} ({version.sha256[:8]})"
    yield ""
    letters = LETTERS[: len(measured.versions)]
    rows = [[case.name, *(_cell(measured.of(v, case)) for v in measured.versions)] for case in measured.cases]
    yield from table(["CASE", *letters], *rows)
    yield ""
    found = [measured.figures(version) for version in measured.versions]
    yield from table(["", *letters, *(["DIFFERENCE"] if len(found) > 1 else [])], *_totals(found))
    yield from _notes("Failed:", measured, "failed")
    yield from _notes("Not measured:", measured, "fault")
    if len(found) > 1 and (verdict := _verdict(found)):
        yield from ("", verdict)


def _head(measured: Measured) -> str:
    count, tries = len(measured.cases), measured.repeat
    who = measured.agent + (f" ({measured.model})" if measured.model else "")
    often = "once each" if tries == 1 else f"{tries} times each"
    return f"{measured.unit} by {who}: {count} case{'s' * (count > 1)}, {often}"


def _cell(trials: Sequence[Trial]) -> str:
    ran = [trial for trial in trials if not trial.fault]
    passed = sum(trial.passed for trial in ran)
    if len(ran) == 1:
        return "pass" if passed else "FAIL"
    return f"{passed} of {len(ran)}" if ran else "-"


def _totals(found: Sequence[Figures]) -> Iterator[list[str]]:
    yield ["PASSED", *map(_passed, found), *_gap(found)]
    yield ["TOKENS", *(_at_least(f"{each.tokens:,}", each) for each in found), *_more(found, "tokens", ",")]
    spent = [dollars(Amount(value=each.usd, at_least=not each.complete)) for each in found]
    yield ["DOLLARS", *spent, *_more(found, "usd", ".4f")]
    yield ["MINUTES", *(f"{each.minutes:.2f}" for each in found), *_more(found, "minutes", ".2f")]


def _passed(each: Figures) -> str:
    if each.rate is None:
        return "-"
    low, high = each.interval
    return f"{each.passed} of {each.measured} ({_percent(low)} to {_percent(high)} %)"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _at_least(text: str, each: Figures) -> str:
    return text if each.complete else f"at least {text}"


def _gap(found: Sequence[Figures]) -> Iterator[str]:
    if len(found) > 1:
        between = difference(found[0], found[1])
        yield (
            "-"
            if between is None
            else f"{_points(_rates(found))} points ({_points(between[0])} to {_points(between[1])})"
        )


def _rates(found: Sequence[Figures]) -> float:
    return (found[1].rate or 0.0) - (found[0].rate or 0.0)


def _points(share: float) -> str:
    return f"{100 * share:+.0f}"


def _more(found: Sequence[Figures], name: str, form: str) -> Iterator[str]:
    """Yield what the second version took more; of lower bounds nothing can be told."""
    if len(found) <= 1:
        return
    before, after = (getattr(each, name) for each in found)
    if before is None or after is None or (name != "minutes" and not all(each.complete for each in found)):
        yield "unknown"
        return
    share = f" ({100 * (after - before) / before:+.0f} %)" if before else ""
    yield f"{after - before:+{form}}{share}"


def _notes(title: str, measured: Measured, name: str) -> Iterator[str]:
    letters = {version.name: letter for version, letter in zip(measured.versions, LETTERS, strict=False)}
    told = [f"  {one.case}, {letters[one.version]}: {_line(getattr(one, name))}" for one in measured.trials]
    told = [line for line, one in zip(told, measured.trials, strict=True) if getattr(one, name)]
    if told:
        yield from ("", title, *dict.fromkeys(told))


def _verdict(found: Sequence[Figures]) -> str:
    between = difference(found[0], found[1])
    if between is None:
        return ""
    if not _rates(found):
        return "Both pass equally often."
    if between[0] <= 0 <= between[1]:
        return "The difference in passes can be chance (95 %): more cases, or --repeat, would tell."
    return f"B passes {'more' if between[0] > 0 else 'less'} often than A, and hardly by chance (95 %)."


def _line(text: str) -> str:
    """Return text from outside as one line that moves no cursor."""
    return "".join(c if c.isprintable() else " " for c in text)[:400]


def as_json(measured: Measured) -> str:
    """Return all that was measured; dollars as text, so that no cent is lost."""
    found = [measured.figures(version) for version in measured.versions]
    between = difference(found[0], found[1]) if len(found) > 1 else None
    return json.dumps(
        {
            "unit": measured.unit,
            "agent": measured.agent,
            "model": measured.model,
            "repeat": measured.repeat,
            "versions": [
                {"name": version.name, "sha256": version.sha256, **_figures(each)}
                for version, each in zip(measured.versions, found, strict=True)
            ],
            "difference": None if between is None else {"pass_rate": _rates(found), "interval": between},
            "trials": [_trial(trial) for trial in measured.trials],
        },
        indent=1,
    )


def _figures(each: Figures) -> dict[str, Any]:
    interval: Interval = each.interval
    return {
        "passed": each.passed,
        "measured": each.measured,
        "planned": each.planned,
        "interval": interval,
        "tokens": each.tokens,
        "usd": None if each.usd is None else str(each.usd),
        "complete": each.complete,
        "minutes": each.minutes,
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "case": trial.case,
        "version": trial.version,
        "passed": trial.passed,
        "failed": trial.failed,
        "fault": trial.fault,
        "tokens": trial.tokens,
        "usd": None if trial.usd is None else str(trial.usd),
        "complete": trial.complete,
        "seconds": trial.seconds,
        "prompt_sha256": trial.prompt_sha256,
    }
