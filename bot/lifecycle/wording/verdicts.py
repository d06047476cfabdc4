"""What check runs say of commits that Twogate did not verify itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.wording import limits
from bot.lifecycle.wording.engine import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.lifecycle.plan import Plan


def unverified_check(plan: Plan) -> tuple[str, str]:
    """Return title and summary of the check run on a commit that somebody pushed to the plan's pull request."""
    return "Not verified", fill("check_unverified", plan=plan, by=plan.unverified.by if plan.unverified else None)


def group_check(foreign: Sequence[Plan]) -> tuple[str, str]:
    """Return title and summary of the check run on a merge group; ``foreign`` are the plans it must not hold so."""
    title = "Unverified commits of a plan" if foreign else "Nothing of a plan but what was approved"
    return title, fill("check_group", plans=foreign[: limits.WAITED_FOR])
