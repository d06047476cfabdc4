"""What the doctor asks GitHub: its clock, webhooks that did not arrive, rulesets, and the sign-in of people."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from bot.doctor.finding import Finding
from bot.errors import Permanent
from bot.github.gateway import Unproved
from bot.serving import sign_in_client
from bot.web.login import CALLBACK

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.github.gateway import Gateway
    from bot.serving import Parts
    from bot.settings import Settings

CLOCK_SKEW = 30.0
"""Seconds by which this clock may differ from GitHub's; it takes no token of an App from more than a minute ahead."""
DELIVERIES_SPAN = 3_600.0
"""How far back (seconds) deliveries that never arrived are looked for."""
MOST_GUARDED = 50
"""Repositories whose default branch is looked at; two questions each."""
NO_CODE, NO_VERIFIER = "none", "x" * 43
"""A code that GitHub never gave out: what it says of it tells whether it knows the client and its secret."""


def clock(gateway: Gateway, now: Callable[[], float]) -> Finding:
    """Compare the clocks."""
    skew = now() - gateway.clock()
    if abs(skew) > CLOCK_SKEW:
        side = "ahead of" if skew > 0 else "behind"
        sentence = f"This machine's clock is {abs(skew):.0f} s {side} GitHub's: set it (chrony, systemd-timesyncd)."
        return Finding(False, sentence)
    return Finding(True, "This machine's clock agrees with GitHub's.")


def webhook(gateway: Gateway, url: str, now: Callable[[], float]) -> Finding:
    """Look where deliveries go, and whether they arrive."""
    told, wanted = gateway.webhook_url(), f"{url}/webhook"
    if told.rstrip("/") != wanted:
        sentence = f"GitHub sends webhooks to {told or 'nowhere'}: set the App's webhook address to {wanted}."
        return Finding(False, sentence)
    if lost := gateway.undelivered(now() - DELIVERIES_SPAN):
        advice = f"look whether {wanted} can be reached from outside; *Advanced* on the App's page has the answers"
        return Finding(False, f"Within the last hour {lost} webhooks did not arrive: {advice}.")
    return Finding(True, "Webhooks arrive.")


def rulesets(gateway: Gateway) -> Finding:
    """Look whether the default branches are kept from plain pushes, the App's among them."""
    active = (grant for grant in gateway.grants() if not grant.suspended)
    every = itertools.chain.from_iterable(gateway.installed(grant.installation_id) for grant in active)
    found = list(itertools.islice(every, MOST_GUARDED))
    bare = [each.repo for each in found if not gateway.is_guarded(each.repo, each.default_branch)]
    if bare:
        names = ", ".join(f"{repo.owner}/{repo.name}" for repo in bare)
        advice = "add a ruleset that asks for a pull request, without Twogate in its bypass list"
        return Finding(False, f"Nothing keeps a plain push from the default branch of {names}: {advice}.")
    return Finding(True, f"Default branches are guarded ({len(found)} looked at).")


def sign_in(parts: Parts, settings: Settings) -> Finding:
    """Look whether people can sign in, as far as GitHub tells without a person."""
    client = sign_in_client(parts)
    if client is None:
        return Finding(True, "The dashboard is closed: TWOGATE_CLIENT_ID and TWOGATE_CLIENT_SECRET are not set.")
    if settings.client_id != (known := parts.gateway.client_id()):
        return Finding(False, f"TWOGATE_CLIENT_ID is not this App's client: it is {known} on the App's page.")
    callback = f"{settings.url}{CALLBACK}"
    try:
        client.exchange(NO_CODE, NO_VERIFIER, callback)
    except Unproved:
        return Finding(
            True, f"People can sign in, if {callback} is a callback URL on the App's page: nobody else is told."
        )
    except Permanent as refusal:
        return Finding(False, f"{refusal} The callback URL has to be {callback}.")
    return Finding(False, "GitHub took a code that is none: TWOGATE_GITHUB_URL has to be GitHub's own address.")
