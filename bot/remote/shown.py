"""What people read in a terminal: plans, what an approval covers, runs. Text of others moves no cursor there."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from bot.lifecycle.amounts import Amount
from bot.lifecycle.costs import count as tally
from bot.lifecycle.costs import dollars, percent
from bot.lifecycle.states import Gate
from bot.lifecycle.wording.escape import visible
from bot.tables import age, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bot import wire

PLANS = ("REPOSITORY", "ISSUE", "STATE", "WAITS FOR", "COST", "SINCE", "TITLE")
GATES = ("CHECK", "STATUS", "BLOCKS", "SECONDS", "SUMMARY")
ROWS = ("UNIT", "AGENT", "MODEL", "OUTCOME", "TOKENS IN", "TOKENS OUT", "COST", "SECONDS")
FIGURES = ("REPOSITORY", "SPENT", "MERGED", "COST PER MERGED PR", "DENIED", "CAME TO NOTHING")
TITLE = 60
"""Characters of a title in a table."""
SENTENCE = 100
"""Characters of a sentence in a table."""
LINES = 40
"""Lines of a list or of an output, its last; ``--json`` has all."""


def plans(found: Iterable[wire.PlanSummary], now: float) -> Iterator[str]:
    """Yield a table of plans."""
    yield from table(PLANS, *(_plan(each, now) for each in found))


def _plan(plan: wire.PlanSummary, now: float) -> tuple[str, ...]:
    where = f"{plan.repository.owner}/{plan.repository.name}"
    state = f"{plan.state} (held)" if plan.held else str(plan.state)
    waits = cut(plan.reason or plan.waiting_on or "-", SENTENCE)
    since = age(now - plan.changed_at.timestamp())
    return where, f"#{plan.issue}", state, waits, money(plan.cost), since, cut(plan.title, TITLE)


def plan(found: wire.PlanDetail, now: float) -> Iterator[str]:
    """Yield everything about a plan that decides what to do next."""
    yield f"{found.repository.owner}/{found.repository.name}#{found.issue}  {line(found.title)}"
    yield f"{found.issue_url}"
    yield ""
    state = f"{found.state} (held: {', '.join(found.held)})" if found.held else str(found.state)
    yield f"State     {state}{f'. {line(found.reason)}' if found.reason else ''}"
    yield f"Asked for by {line(found.requester.login)}, {age(now - found.requested_at.timestamp())} ago"
    yield f"Cost      {money(found.costs.total)}"
    if found.pull_request_url:
        yield f"Pull      {found.pull_request_url}"
    if found.failure:
        yield f"Failed    {line(found.failure.sentence)}"
    yield from listed("Rejected", found.rejections)
    yield from text(found)
    yield from work(found.review)
    for approval in found.approvals:
        stands = "" if approval.stands else " (more are needed)"
        yield f"Approved at the {approval.gate} gate by {line(approval.by.login)}: {approval.covers[:12]}{stands}"


def text(found: wire.PlanDetail) -> Iterator[str]:
    """Yield the plan's current text."""
    if not found.revisions:
        return
    revision = max(found.revisions, key=lambda each: each.number)
    yield ""
    yield f"Plan, revision {revision.number}: {line(revision.title)}"
    yield from block(revision.summary)
    yield from block(revision.reason)
    yield from listed("Steps", revision.steps)
    yield from listed("Files", revision.files)
    yield from listed("Checks less than before", revision.weakens)
    yield from listed("Tests", revision.tests)
    yield from listed("Risks", revision.risks)
    yield from listed("Questions", revision.questions)
    checks = [f"{each.name}: {each.run}{'' if each.blocking else ' (informs)'}" for each in revision.gates]
    yield from listed("Checks", checks)


def covered(found: wire.PlanDetail, up: wire.Up) -> Iterator[str]:
    """Yield what an approval covers."""
    yield f"{found.repository.owner}/{found.repository.name}#{found.issue}  {line(found.title)}"
    if up.gate is Gate.PLAN:
        yield from text(found)
        yield ""
        yield f"An approval covers exactly this text, {up.saw[:12]}."
        return
    yield from work(found.review)
    yield ""
    yield f"An approval covers exactly the commit {up.saw[:12]}."


def work(review: wire.ReviewView | None) -> Iterator[str]:
    """Yield the work under review, but for the diff itself; nothing where there is none."""
    if review is None:
        return
    yield ""
    yield f"Work, review {review.number}: {review.head[:12]}"
    yield from block(review.summary)
    yield from listed("Files", [f"{each.path}  +{each.added or 0} -{each.removed or 0}" for each in review.files])
    yield from gates(review.gates)
    found_by = [f"{each.severity} {each.path}: {each.text}" for each in review.findings]
    yield from listed("Found by the inspector", found_by)
    yield f"Diff      {review.compare_url}"


def gates(found: Sequence[wire.GateView]) -> Iterator[str]:
    """Yield a table of checks."""
    if found:
        rows = [
            (line(g.name), line(g.status), "yes" if g.blocking else "no", f"{g.seconds:.1f}", cut(g.summary, SENTENCE))
            for g in found
        ]
        yield ""
        yield from table(GATES, *rows)


def logs(jobs: Sequence[wire.JobView], now: float) -> Iterator[str]:
    """Yield what the bot knows of runs: where each is, and the end of what its agent and its checks printed."""
    for job in jobs:
        what = " ".join(each for each in (job.kind, job.unit) if each)
        yield f"{what}  {job.id}  {age(now - job.opened_at.timestamp())} ago"
        where = f"  {job.outcome or ('under way' if job.open else 'ended')}"
        yield (
            where + (f", {line(job.phase)}" if job.phase else "") + (f": {line(job.sentence)}" if job.sentence else "")
        )
        if job.run_url:
            yield f"  {job.run_url}"
        yield from gates(job.gates)
        for gate in job.gates:
            if gate.tail and gate.status != "passed":
                yield from titled(f"Output of {line(gate.name)}", gate.tail)
        if job.output_tail:
            yield from titled("Output of the agent", job.output_tail)
        yield ""


def costs(found: wire.CostsView) -> Iterator[str]:
    """Yield what a plan has cost, a row for each of its units' runs."""
    rows = [
        (
            r.unit,
            line(r.agent),
            line(r.model or "-"),
            line(r.outcome),
            total(r.input_tokens),
            total(r.output_tokens),
            money(r.cost),
            total(r.seconds),
        )
        for r in found.rows
    ]
    yield from table(ROWS, *rows)
    yield ""
    if found.actions_minutes is not None and found.actions_usd is not None and money(found.actions_usd) != "$0":
        yield f"GitHub Actions, {total(found.actions_minutes)} minutes: {money(found.actions_usd)}"
    yield f"Total {money(found.total)}"


def figures(found: wire.CostsReport) -> Iterator[str]:
    """Yield what a period cost and what came of it, a row a repository."""
    whole = found.total
    yield f"From {whole.since:%Y-%m-%d %H:%M} to {whole.until:%Y-%m-%d %H:%M} (UTC)"
    yield ""
    total_row = [("all", whole)] if len(found.repositories) != 1 else []
    yield from table(FIGURES, *(_figures(name, each) for name, each in [*found.repositories.items(), *total_row]))
    yield ""
    yield f"Plans: {', '.join(f'{plans} {stage}' for stage, plans in whole.stages.items())}"
    yield line(whole.bottleneck)
    for name, day in found.today.items():
        left = f"{'at most ' if day.at_most else ''}{dollars(Amount(value=Decimal(day.left_usd)))}"
        yield f"Left of today in {line(name)}: {left} of ${line(day.limit_usd)}, since {day.since:%Y-%m-%d %H:%M} (UTC)"


def _figures(name: str, found: wire.FiguresView) -> tuple[str, ...]:
    each, denied = found.cost_per_merged_usd, found.denial_rate
    return (
        line(name),
        money(found.spent_usd),
        str(found.merged),
        money(each) if each else "-",
        f"{denied.part} of {denied.of}, {percent(Decimal(denied.share))}" if denied.share else "-",
        money(found.came_to_nothing_usd),
    )


def money(found: wire.Money) -> str:
    """Return dollars as they are told everywhere."""
    value = None if found.usd is None else Decimal(found.usd)
    return dollars(Amount(value=value, at_least=found.at_least, covered=found.covered))


def total(found: wire.Total) -> str:
    """Return a sum of tokens or seconds."""
    return tally(Amount(value=None if found.value is None else Decimal(found.value), at_least=found.at_least))


def line(words: str) -> str:
    """Return text of others as one line."""
    return " ".join(visible(words).split())


def cut(words: str, most: int) -> str:
    """Return text of others as one line of at most so many characters."""
    whole = line(words)
    return whole if len(whole) <= most else f"{whole[: most - 1]}…"


def block(words: str) -> Iterator[str]:
    """Yield the last lines of a text of others."""
    lines = visible(words).strip().split("\n")
    if len(lines) > LINES:
        yield f"  … {len(lines) - LINES} lines before"
    yield from (f"  {each}".rstrip() for each in lines[-LINES:] if lines != [""])


def titled(title: str, words: str) -> Iterator[str]:
    """Yield an output under its title."""
    yield f"  {title}:"
    yield from (f"  {each}" for each in block(words))


def listed(title: str, entries: Sequence[str]) -> Iterator[str]:
    """Yield a list under its title; nothing where it is empty."""
    if entries:
        yield f"{title}:"
        yield from (f"  - {line(each)}" for each in entries[:LINES])
        if len(entries) > LINES:
            yield f"  and {len(entries) - LINES} more"
