"""What must hold of a plan after any history, whatever the events were: mixed into the machine that throws them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis.stateful import invariant

from bot.lifecycle.commands import Verb
from bot.lifecycle.costs import PlanCost
from bot.lifecycle.meanings import MEANINGS
from bot.lifecycle.states import WaitingOn
from bot.lifecycle.transitions import STEERING, rule_of
from bot.lifecycle.wording import render as wording

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan

OFFER = re.compile(r"`/([a-z]+)[ `]")
ALWAYS = {Verb.HELP, Verb.STATUS, Verb.COSTS, Verb.PLAN}
"""Said in every state, so their being named offers nothing."""


class Promises:
    """Invariants of any plan."""

    plan: Plan | None

    def keep_promises(self) -> None:
        """Look at all of them, for steps that are not rules of the machine's own."""
        self.every_open_plan_offers_an_action_and_no_empty_promise()
        self.approvals_cover_what_stands()
        self.nobody_decides_on_what_is_not_shown()

    @invariant()
    def every_open_plan_offers_an_action_and_no_empty_promise(self) -> None:
        """The status names what a person can say or where to go, and nothing that would then be refused."""
        plan = self.plan
        if plan is None:
            return
        text = wording.status_comment(plan, PlanCost(rows=()))
        offered = {Verb(name) for name in OFFER.findall(text)} - ALWAYS
        if not plan.ended:
            assert offered or "](http" in text, f"{plan.state} offers nothing:\n{text}"
        for verb in offered:
            event = MEANINGS[verb].event
            assert rule_of(plan, event).move, f"{plan.state} offers /{verb}, which it refuses:\n{text}"
            frozen = plan.frozen or plan.splitting
            assert not frozen or event not in STEERING, f"nobody steers it, and it offers /{verb}:\n{text}"

    @invariant()
    def approvals_cover_what_stands(self) -> None:
        """An approval never survives a change of what it approved."""
        plan = self.plan
        if plan is None or plan.ended:
            return
        if plan.plan_approval is not None:
            assert plan.revision is not None
            assert plan.plan_approval.binds_to == plan.revision.sha256
            assert plan.plan_approval.content_sha256 == plan.revision.content_sha256
        if plan.diff_approval is not None:
            assert plan.review is not None
            assert plan.diff_approval.binds_to == plan.review.work.head
            assert plan.plan_approval is not None

    @invariant()
    def nobody_decides_on_what_is_not_shown(self) -> None:
        """Where a decision is waited for, the comment that it is made on is posted and is the current one."""
        plan = self.plan
        if plan is None:
            return
        if plan.waiting_on is WaitingOn.PLAN_DECISION:
            assert plan.revision is not None
            assert plan.revision.comment_id is not None
            assert plan.revision.sha256 is not None
        if plan.waiting_on is WaitingOn.DIFF_DECISION:
            assert plan.review is not None
            assert plan.review.comment_id is not None
