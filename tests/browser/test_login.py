"""Signing in as people do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.browser.browser import Browser
    from tests.browser.sights import Sights


def test_somebody_signs_in_by_the_keyboard(browser: Browser, sights: Sights) -> None:
    browser.open(sights.at("/login?next=/schema/twogate.json"))
    assert browser.faults() == []
    browser.use("Sign in with GitHub")
    browser.focus(browser.named("Signed in as"))
    browser.press("alice")
    browser.use(f"Authorize {sights.village.app['slug']}")
    assert browser.url == sights.at("/schema/twogate.json")
