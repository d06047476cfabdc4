"""Every text that people read on GitHub, made of a plan. Same plan, same text.

Each function keeps within the length of its place (:mod:`.limits`) and leaves room for the marker that the gateway
adds. What does not fit is cut visibly; only a plan is shown whole or not at all (:class:`~.limits.TooLong`).
``web`` is the address under which GitHub shows repositories.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from bot.lifecycle.ci import CiState, by_name
from bot.lifecycle.commands import Verb, meant
from bot.lifecycle.patches import sections
from bot.lifecycle.policy import Action, Policy
from bot.lifecycle.policy_values import BUILT_IN_GATES
from bot.lifecycle.wording import escape, limits, words
from bot.lifecycle.wording.engine import fill, open_fence
from bot.lifecycle.wording.limits import TooLong
from bot.lifecycle.wording.links import GITHUB, Links
from bot.lifecycle.wording.prefixed import prefixed
from runner.contract import GateStatus
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.lifecycle.costs import PlanCost
    from bot.lifecycle.effects import Topic
    from bot.lifecycle.hooks import Reported
    from bot.lifecycle.plan import Person, Plan, Review, Revision, Split
    from runner.contract import Work
    from runner.results import IssueText

NO_PATCH = "There is no text to show: the change is in binary files or file modes alone."
"""What stands in the place of an empty patch."""
PROMPTWARE = (".twogate/promptware/", "promptware/")
"""Where a repository keeps what its agents are told, lessons included: its own units, or those of Twogate itself."""
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")


def plan_comment(plan: Plan, revision: Revision) -> str:
    """Return the canonical text of a revision, which an approval binds to; raises :class:`TooLong`."""
    text = _plan_text(plan, revision, learned_fit=True)
    if len(text) > limits.BODY:
        text = _plan_text(plan, revision, learned_fit=False)
    if len(text) > limits.BODY:
        raise TooLong(len(text))
    return text


def _plan_text(plan: Plan, revision: Revision, *, learned_fit: bool) -> str:
    """Return it, with what was learned on the way told or counted: no lesson keeps a plan from being shown."""
    return fill(
        f"plan/{revision.document.verdict}",
        revision=revision,
        document=revision.document,
        learned=plan.waiting,
        learned_fit=learned_fit,
        detected=plan.policy.gates is None,
        agent=plan.agents[Unit.EXECUTE_PLAN],
        budget=plan.budget,
        **_who(plan.policy),
    )


def child_issue(plan: Plan, split: Split, position: int) -> tuple[str, str]:
    """Return title and text of the issue of one part of a plan, counted from 1."""
    child = split.children[position - 1]
    body = fill(
        "child",
        plan=plan,
        position=position,
        total=len(split.children),
        document=child.document,
        builds_on=sorted(child.depends_on),
    )
    titles = (child.document.title, f"Part {position} of issue {plan.issue_number}")
    return next(filter(None, map(_cut_title, titles))), body


def superseded(comment_text: str, by_number: int | None) -> str:
    """Return an old revision's comment, folded away under the sentence that a newer one counts; None: that parts do."""
    return _kept("superseded", comment_text, by=by_number)


def outdated(comment_text: str) -> str:
    """Return a diff review's comment, folded away under the sentence that it is no longer up for decision."""
    return _kept("outdated", comment_text)


def _kept(template: str, text: str, **values: Any) -> str:
    """Return a comment's text within what says that it no longer counts; its end is cut where both don't fit."""
    whole = fill(template, text=text, **values)
    if len(whole) <= limits.BODY:
        return whole
    note = "\n\n(The end is cut.)"
    room = limits.BODY - (len(whole) - len(text)) - len(note) - limits.NAME
    kept = text[:room].rpartition("\n")[0] or text[:room]
    return fill(template, text=f"{kept}{open_fence(kept)}{note}", **values)


def status_comment(plan: Plan, cost: PlanCost, *, web: str = GITHUB) -> str:
    """Return the one comment that says where the plan is, whose turn it is, and what they can do."""
    required = by_name(plan.policy.ci.require, plan.review.ci if plan.review else ())
    return fill("status", plan=plan, cost=cost, link=Links(web, plan), required=required, **_who(plan.policy))


def review_comment(plan: Plan, cost: PlanCost, compare_url: str, *, web: str = GITHUB) -> str:
    """Return the diff review of a plan that has one. The patch takes what room the rest leaves."""
    review = _review(plan)
    work = review.work
    opening, lines, closing = _patch(work)
    failed = [gate.name for gate in review.gates if gate.status in {GateStatus.FAILED, GateStatus.TIMED_OUT}]
    values: dict[str, Any] = {
        "plan": plan,
        "cost": cost,
        "review": review,
        "work": work,
        "link": Links(web, plan),
        "compare_url": compare_url,
        "files": sorted(work.files, key=lambda file: not _instructs(file.path)),
        **_instructions(plan, work),
        "informing": failed,
        "on_github": [check.name for check in review.ci if check.state is CiState.FAILED],
        "required": {name.lower() for name in plan.policy.ci.require},
        "added": sum(file.added or 0 for file in work.files),
        "removed": sum(file.removed or 0 for file in work.files),
        "telling": [
            g for g in review.gates if g.tail and (g.status is not GateStatus.PASSED or g.name in BUILT_IN_GATES)
        ],
        "failed_before": [g.name for g in review.gates if g.status is GateStatus.FAILED_BEFORE],
        "flaky": [g.name for g in review.gates if g.status is GateStatus.FLAKY],
        "all_lines": len(lines),
        **_who(plan.policy),
    }
    around = fill("review", patch=closing, cut=True, shown_lines=len(lines), **values)
    shown = _fitting(lines, limits.BODY - len(around) - len(opening) - 1)
    patch = "\n".join([opening, *shown, closing]) if lines else NO_PATCH
    cut = work.patch_cut or len(shown) < len(lines)
    return fill("review", patch=patch, cut=cut, shown_lines=len(shown), **values)


def pull_request(plan: Plan, cost: PlanCost, *, web: str = GITHUB) -> tuple[str, str]:
    """Return title and body of the pull request of a plan that has a review."""
    text = _review(plan).work.pull_request
    document = _revision(plan).document
    body = fill("pull_request", text=text, **_recorded(plan, cost, web))
    titles = (text.title if text is not None else "", document.title, f"Plan for issue {plan.issue_number}")
    return escape.unskipped(next(filter(None, map(_cut_title, titles)))), escape.unskipped(body)


RECORD = ("<!-- record -->", "<!-- end of record -->")
"""Between these the pull request's text says who decided, what was checked and what it cost."""


def with_record(body: str, plan: Plan, cost: PlanCost, *, web: str = GITHUB) -> str | None:
    """Return a pull request's text with its record as it is now; None where it has none any more."""
    before, start, rest = body.partition(RECORD[0])
    _, end, after = rest.partition(RECORD[1])
    if not start or not end:
        return None
    return f"{before}{start}\n{record(plan, cost, web=web)}\n\n{end}{after}"


def record(plan: Plan, cost: PlanCost, *, web: str = GITHUB) -> str:
    """Return what a pull request's text says of decisions, checks, plan and costs."""
    return escape.unskipped(fill("pull_request_record", **_recorded(plan, cost, web)))


def _recorded(plan: Plan, cost: PlanCost, web: str) -> dict[str, Any]:
    made = [approval for approval in (plan.plan_approval, plan.diff_approval) if approval is not None]
    decisions = [(each, each.gate) for approval in made for each in approval.all]
    told = (_revision(plan).used, plan.review.used if plan.review else ())
    used = tuple(dict.fromkeys(path for paths in told for path in paths))
    shown = {"plan": plan, "cost": cost, "link": Links(web, plan), "decisions": decisions, "used": used}
    return {**shown, **_who(plan.policy)}


def recommended_issue(plan: Plan, text: IssueText) -> tuple[str, str]:
    """Return title and body of the issue that a recommendation becomes."""
    body = fill("recommended_issue", plan=plan, text=text)
    return _cut_title(text.title) or f"Recommended for #{plan.issue_number}", body


def reported_issue(report: Reported, policy: Policy) -> tuple[str, str]:
    """Return title and body of the issue that a report from outside becomes."""
    tracker = words.TRACKERS[report.tracker]
    return _cut_title(report.title) or f"A report from {tracker}", fill("reported_issue", report=report, policy=policy)


def check_run(plan: Plan, sentence: str | None = None, *, shown: bool = True) -> tuple[str, str]:
    """Return title and summary of the check run on the commit under review.

    ``sentence`` says what was decided; without it the decision is still to be made. ``shown`` is False where the plan
    has gone on to other work than the check run is about.
    """
    if sentence is None:
        title, told = "The diff waits for a decision", fill("check_run_open", plan=plan, **_who(plan.policy))
    else:
        title = _cut_title(sentence) or "The diff is decided"
        told = escape.clipped(sentence, limits.PARAGRAPH, escape.prose) if title.endswith("…") else ""
    return title, fill("check_run", plan=plan, review=_review(plan) if shown else None, sentence=told)


def say(
    topic: Topic, details: Mapping[str, str], plan: Plan | None, to: Person | None, policy: Policy | None = None
) -> str:
    """Return a short answer, to the one person it is meant for; ``policy`` holds where there is no plan.

    Details that a topic knows, all optional: ``needs`` (a permission's name) for needs_triage and not_allowed;
    ``verb``, ``teams`` and ``users`` (with spaces between) for not_allowed; ``what`` for needs_another (``requester``
    or ``author``) and approval_void (``plan_comment`` or ``policy``); ``app`` for through_app; ``why`` for not_now and
    dependency_refused; ``issue``, ``how`` and ``children`` for dependency_ended; ``cause`` for plan_held; ``paths``
    (one a line) for base_conflict; ``command`` for wished; ``head`` for branch_moved; ``word`` for help; ``where``,
    ``line``, ``reason`` and ``instead`` (``last``, ``defaults``, ``before`` or ``nothing``) for policy_invalid;
    ``sentence`` for unjudged.
    """
    policy = plan.policy if plan is not None else policy or Policy()
    known: defaultdict[str, str] = defaultdict(str, details)
    if policy.prefix:
        known["why"] = prefixed(known["why"], f"{policy.prefix} ")
    who = _who(policy)
    needs = known["needs"].lower()
    values = {"needs": needs if needs in _PERMISSIONS else who["triage" if topic == "needs_triage" else "permission"]}
    values["meant"] = meant(known["word"])
    text = fill(f"answer/{topic}", plan=plan, details=known, verbs=list(Verb), **who, **values)
    mentioned = to is not None and _LOGIN.fullmatch(to.login) is not None
    return f"@{to.login} {text}" if to is not None and mentioned else text


_PERMISSIONS = frozenset({"read", "triage", "write", "maintain", "admin"})


def _who(policy: Policy) -> dict[str, Any]:
    """Return the policy, and who may do what by it, in words."""
    return {
        "policy": policy,
        "permission": policy.needs(Action.DECIDE).name.lower(),
        "steer": policy.needs(Action.STEER).name.lower(),
        "triage": policy.needs(Action.REQUEST_PLAN).name.lower(),
    }


def _review(plan: Plan) -> Review:
    if plan.review is None:
        raise ValueError(f"plan {plan.uid} has no work to show")
    return plan.review


def _revision(plan: Plan) -> Revision:
    if plan.revision is None:
        raise ValueError(f"plan {plan.uid} has no written plan")
    return plan.revision


def _cut_title(text: str) -> str:
    shown = escape.title(text[: escape.SHRINKS * limits.TITLE])
    return shown if len(shown) <= limits.TITLE else f"{shown[: limits.TITLE - 1].rstrip()}…"


def _instructions(plan: Plan, work: Work) -> dict[str, Any]:
    """Return what of a change tells agents something: lessons that the runner wrote, and what the agent changed."""
    changed = {file.path: file for file in work.files if _instructs(file.path)}
    written = [each for each in plan.lessons if each.path in changed]
    own = {each.path for each in written}
    return {"written": written, "edited": [file for path, file in changed.items() if path not in own]}


def _instructs(path: str) -> bool:
    """Whether a file is part of what agents are told in this repository."""
    return path.startswith(PROMPTWARE)


def _patch(work: Work) -> tuple[str, list[str], str]:
    """Return the fenced patch in its parts: the opening line, the lines, the closing line.

    What agents are told stands first: it must not be what is cut.
    """
    parts = sorted(sections(work.patch.rstrip("\n")), key=lambda section: not _instructs(section.path))
    text = "\n".join(line for section in parts for line in section.lines)
    text = text.replace("\r\n", "\n").replace("\r", "⟨U+000D⟩")
    opening, *lines, closing = escape.fence(text, "diff").split("\n")
    return opening, lines if text.strip() else [], closing


def _fitting(lines: list[str], room: int) -> list[str]:
    """Return as many whole lines as fit into ``room`` characters, each with its end."""
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return lines[:count]
    return lines
