"""Who may approve a plan and its diff, and how many are needed.

Whatever the policy gives must be met. A person may decide who has the permission and, where teams or users are named,
is in one of the teams or among the users. Who may, may reject alone. An approval is complete once ``count`` different
people gave it and, with ``codeowners``, each touched file that has owners has one of them among these people.
With ``distinct``, neither who asked for the plan nor whose words its text was last written from approves it.

What is asked of a person is asked of GitHub at the moment of decision; so it is of those who approved before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.codeowners import Owned
from bot.lifecycle.permission import Permission
from bot.lifecycle.states import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BOT = "[bot]"
"""How the logins of Apps end; no person's can."""


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
    """Neither the requester nor the authors of the plan's last update may approve."""
    count: int = 1
    """Different people who must approve."""
    bots: tuple[str, ...] = ()
    """Bots and Apps that count as people, as the file writes them."""

    def lists(self, bot: str) -> bool:
        """Whether this bot or App, by login or slug, counts as a person."""
        return bot_name(bot) in map(bot_name, self.bots)

    def names(self, login: str) -> bool:
        """Whether a person is among the users."""
        return login.casefold() in map(str.casefold, self.users)

    def admit(self, login: str, permission: Permission, teams: Sequence[str]) -> bool:
        """Whether a person of this permission, in these of the teams, may decide."""
        if permission < self.permission:
            return False
        return not (self.teams or self.users) or bool(teams) or self.names(login)


class Needed(Frozen):
    """What an approval still lacks."""

    people: int = 0
    """Different people more."""
    owners: tuple[Owned, ...] = ()
    """Files of which no owner has approved."""

    @property
    def met(self) -> bool:
        """Whether nothing is lacking."""
        return not self.people and not self.owners


def still_needed(approvers: Approvers, given: Sequence[Iterable[str]], files: Sequence[Owned]) -> Needed:
    """Return what is lacking beside the approvals given; each stands for these names of CODEOWNERS."""
    owns = {name for names in given for name in names}
    return Needed(
        people=max(approvers.count - len(given), 0),
        owners=tuple(owned for owned in files if owns.isdisjoint(owned.owners)),
    )


def is_bot(login: str) -> bool:
    """Whether a login is an App's."""
    return login.endswith(_BOT)


def bot_name(login: str) -> str:
    """Return an App's name, whether it is given as a login or as a slug."""
    return login.removesuffix(_BOT).casefold()
