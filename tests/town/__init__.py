"""A town on loopback: a GitHub, the bot as real processes, a self-hosted machine, and people who act over HTTP.

with Town(home, source=path, policy=text) as town:
    alice = town.person("alice", "write")
    issue = alice.open_issue("Title", "body")
    alice.label(issue, "agent")
    town.until("the plan is posted", lambda: town.plan(issue).waiting_on == "plan_decision")
"""

from tests.town.people import Person
from tests.town.town import Town, TownError

__all__ = ["Person", "Town", "TownError"]
