"""One effect, carried out: which function does which kind."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from bot.worker.effects import (
    authorise,
    branch,
    ci,
    dispatch,
    figures,
    policy_check,
    posts,
    recommendations,
    reports,
    split,
    verdicts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bot.store.deliveries import NewDelivery
    from bot.store.outbox import Claimed
    from bot.worker.context import Context, Done

log = logging.getLogger(__name__)

READING: dict[str, Callable[[Context, Claimed, Any], Done]] = {
    "authorise": authorise.authorise,
    "read_back": branch.read_back,
    "read_ci": ci.read_ci,
    "check_base": branch.check_base,
    "look_at_policy": policy_check.look,
    "send_week": figures.send_week,
}
"""Effects that change nothing on GitHub."""

WRITING: dict[str, Callable[[Context, Claimed, Any], Done]] = {
    "dispatch": dispatch.dispatch,
    "stop_run": dispatch.stop_run,
    "open_pull_request": branch.open_pull_request,
    "advance_branch": branch.advance_branch,
    "acknowledge": posts.acknowledge,
    "post_plan": posts.post_plan,
    "mark_superseded": posts.mark_superseded,
    "fold_review": posts.fold_review,
    "make_child": split.make_child,
    "open_child": split.open_child,
    "post_review": posts.post_review,
    "refresh_review": ci.refresh_review,
    "conclude_check": posts.conclude_check,
    "judge_head": verdicts.judge_head,
    "judge_group": verdicts.judge_group,
    "delete_branch": branch.delete_branch,
    "show_policy_check": policy_check.show,
    "delete_next": branch.delete_next,
    "make_issue": recommendations.make_issue,
    "open_reported": reports.open_reported,
    "update_pull": branch.update_pull,
    "say": posts.say,
    "tell_costs": figures.tell_costs,
    "tell_week": figures.tell_week,
    "show_status": posts.show_status,
}
"""Effects that change something on GitHub, and so are paced."""

KINDS = READING | WRITING


class Deliver:
    """The worker's ``deliver``."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def __call__(self, claimed: Claimed) -> Iterable[NewDelivery]:
        """Carry out one effect and return what goes back into the inbox."""
        done = KINDS[claimed.kind](self._context, claimed, claimed.effect)
        log.info("%s: %s", claimed.key, done.result)
        return done.follow_ups
