"""Reports from outside of GitHub: what a hook brings, from whatever tracker, and whether a policy lets it in."""

from __future__ import annotations

from enum import StrEnum

from bot.lifecycle.states import Frozen


class Tracker(StrEnum):
    """Where a report comes from; the last part of the hook's address, and the key of the policy that lets it in."""

    JAM = "jam"
    ISSUE = "issue"
    """Any other tracker."""


class HookTerms(Frozen):
    """Which reports become issues here. Without a word of the policy, none."""

    jam: bool = False
    issue: bool = False
    generation: int = 1
    """Counted up to make the hooks' secret another one."""

    def lets_in(self, tracker: Tracker) -> bool:
        """Whether reports of this tracker become issues."""
        return self.jam if tracker is Tracker.JAM else self.issue


class Reported(Frozen):
    """One report: text of strangers, cut to size where it came in."""

    tracker: Tracker
    title: str = ""
    text: str = ""
    steps: tuple[str, ...] = ()
    console: tuple[str, ...] = ()
    """Lines of the browser's console, those that speak of trouble where there are any."""
    network: tuple[str, ...] = ()
    """Requests, a line each, those that failed where there are any."""
    facts: tuple[tuple[str, str], ...] = ()
    """What else is known, by name: page, browser, system."""
    link: str = ""
    """Where the report can be seen whole; a plain address of the web, or nothing."""
