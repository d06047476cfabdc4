"""Who may approve a plan and its diff, and how many are needed."""

from __future__ import annotations

from bot.lifecycle.permission import Permission
from bot.lifecycle.states import Frozen


class Approvers(Frozen):
    """What the policy asks of those who decide at the gates. Whatever is given must be met."""

    permission: Permission = Permission.WRITE
    teams: tuple[str, ...] = ()
    """``team`` of the repository's owner, or ``organisation/team``."""
    users: tuple[str, ...] = ()
    """Logins. Who is in no team and not among them may not decide, where either is given."""
    codeowners: bool = False
    """Each touched file that CODEOWNERS names needs one of its owners among those who approve."""
    distinct: bool = False
    """Neither the requester nor the author of the plan's last update may approve."""
    count: int = 1
    """Different people who must approve."""
    bots: tuple[str, ...] = ()
    """Bots and Apps that count as people, as the file writes them."""
