"""Whether a changed policy file can be used, in a pull request or on the default branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.github.gateway import Annotation, CheckRun, Missing
from bot.lifecycle.effects import ShowPolicyCheck
from bot.lifecycle.wording.policy_check import policy_check
from bot.store.deliveries import NewDelivery
from bot.worker.context import Done
from bot.worker.pauses import policy_came
from bot.worker.policies import POLICY_PATH

if TYPE_CHECKING:
    from bot.lifecycle.effects import LookAtPolicy
    from bot.store.outbox import Claimed
    from bot.worker.context import Context

CHECK_NAME = "twogate policy"
"""Name of the check run."""


def look(ctx: Context, claimed: Claimed, effect: LookAtPolicy) -> Done:
    """Read the file at the commit where it was changed, with two reads at most; a pushed one comes into force."""
    try:
        if not effect.pushed and POLICY_PATH not in ctx.gateway.compare(effect.repo, effect.base, effect.head).paths:
            return Done("does not change the policy file")
        fault = ctx.policies.fault(effect.repo, ctx.gateway.file(effect.repo, POLICY_PATH, effect.head) or "")
    except Missing:
        return Done("the commit is gone")
    news = policy_came(ctx, claimed, effect) if effect.pushed else ()
    key = f"policy_check:{effect.repo.id}:{effect.head}"
    line, reason = (fault.line, fault.reason) if fault else (0, "")
    show = ShowPolicyCheck(key=key, repo=effect.repo, head=effect.head, line=line, reason=reason)
    return Done(reason or "can be used", (*news, _delivery(claimed, show)))


def _delivery(claimed: Claimed, show: ShowPolicyCheck) -> NewDelivery:
    return NewDelivery(
        guid=f"effect:{claimed.key}",
        source="effect",
        event="policy_read",
        lane=claimed.lane,
        body=show.model_dump_json(),
        installation_id=claimed.installation_id,
    )


def show(ctx: Context, claimed: Claimed, effect: ShowPolicyCheck) -> Done:
    """Make the check run; a fault stands beside its line."""
    title, summary = policy_check(effect.line, effect.reason)
    remark = (Annotation(path=POLICY_PATH, line=effect.line, message=effect.reason),) if effect.reason else ()
    check = CheckRun(
        name=CHECK_NAME,
        title=title,
        summary=summary,
        conclusion="failure" if effect.reason else "success",
        external_id=f"twogate-policy:{effect.head}",
        annotations=remark,
    )
    run = ctx.gateway.ensure_check_run(effect.repo, effect.head, check, first=claimed.first)
    return Done(f"check run {run}")
