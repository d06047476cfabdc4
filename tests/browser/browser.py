"""Chromium as somebody uses it: a window of some size, light or dark, with scripts or without, by the keyboard."""

from __future__ import annotations

import os
import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

if TYPE_CHECKING:
    from collections.abc import Callable

    from selenium.webdriver.remote.webelement import WebElement

CHROMIUM = Path(os.environ.get("TWOGATE_CHROMIUM", "/usr/bin/chromium"))
DRIVER = Path(os.environ.get("TWOGATE_CHROMEDRIVER", "/usr/bin/chromedriver"))
MISSING = (
    f"There is no {CHROMIUM} with {DRIVER}: install chromium and chromium-driver, or say where they are with "
    "TWOGATE_CHROMIUM and TWOGATE_CHROMEDRIVER."
)
OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # root may not otherwise; it sees loopback alone
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
SECONDS = 20
"""For one thing that is waited for."""
HEIGHT = 900
AXE = """
const done = arguments[arguments.length - 1];
axe.run({resultTypes: ["violations"], preload: false}).then(
  (found) => done(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 200)).join(" ")}`)),
  (error) => done([`axe failed: ${error}`]),
);
"""
FETCHED = """
const done = arguments[arguments.length - 1];
fetch(arguments[0]).then((answer) => answer.text()).then(done);
"""
FOCUSED = """
const part = document.activeElement, last = window.rounded.at(-1);
if (!part || part === document.body) return "round";
if (part === last) return null;
if (window.rounded.includes(part)) return "round";
window.rounded.push(part);
const style = getComputedStyle(part);
const seen = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
return seen ? null : part.outerHTML.slice(0, 120);
"""
"""What is not seen to have the focus; "round" where it was there before. A date has its focus three times."""
MISSED = """
const usable = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
const shown = [...document.querySelectorAll(usable)].filter((part) => part.checkVisibility() && !part.disabled);
const groups = new Set(window.rounded.filter((part) => part.type === "radio").map((part) => part.name));
const missed = shown.filter((part) => !window.rounded.includes(part) && !(part.type === "radio" && groups.has(part.name)));
return missed.map((part) => part.outerHTML.slice(0, 120));
"""
"""What can be used and never had the focus; of a group of choices one has it, and arrows lead to the others."""
MOST_STOPS = 400


class Browser:
    """One window. Use as a context manager."""

    def __init__(self) -> None:
        options = ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for option in OPTIONS:
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = Chrome(options, Service(str(DRIVER)))
        self.driver.set_page_load_timeout(SECONDS)
        self.driver.set_script_timeout(SECONDS)
        self._axe = (resources.files("axe_core_python") / "axe.min.js").read_text()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.driver.quit()

    def fresh(self) -> None:
        """Forget every cookie and be as at the start."""
        self._tell("Network.clearBrowserCookies")
        self.scripts(on=True)
        self.look(1280)
        self.driver.get("about:blank")
        self.complaints()

    def look(self, width: int, *, dark: bool = False) -> None:
        """Make the window so wide, in light or dark."""
        size = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self._tell("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._tell("Emulation.setEmulatedMedia", features=[scheme])

    def scripts(self, *, on: bool) -> None:
        """Run the pages' scripts, or none."""
        self._tell("Emulation.setScriptExecutionDisabled", value=not on)

    def open(self, url: str) -> None:
        """Go to an address and wait until it is there."""
        self.driver.get(url)

    @property
    def url(self) -> str:
        return str(self.driver.current_url)

    @property
    def text(self) -> str:
        """What can be read on the page."""
        return str(self.driver.find_element("css selector", "body").text)

    def source(self, url: str) -> str:
        """What an address answers to this browser, unseen; without the words that are new each time."""
        answer = self.driver.execute_async_script(FETCHED, url)
        return re.sub(r'(name="(?:csrf|key)" value)="[^"]*"', r"\1", str(answer))

    def part(self, selector: str) -> WebElement:
        return self.driver.find_element("css selector", selector)

    def named(self, name: str, kind: str = "a, button, summary, input, select, textarea") -> WebElement:
        """What the page has under a name that assistive technology is told."""
        found = [part for part in self.driver.find_elements("css selector", kind) if part.accessible_name == name]
        names = [part.accessible_name for part in self.driver.find_elements("css selector", kind)]
        assert found, f"no {name!r} on {self.url}, there are {names}"
        return found[0]

    def use(self, name: str) -> None:
        """Go to what has this name by the keyboard alone, press Enter, and wait for the page that follows."""
        wanted, before = self.named(name), self.part("html")
        self.focus(wanted)
        self.press(Keys.ENTER)
        self.until(lambda: gone(before))
        self.until(self._loaded)

    def focus(self, wanted: WebElement, most: int = 200) -> None:
        """Press Tab until something has the focus."""
        for _ in range(most):
            if self.driver.switch_to.active_element == wanted:
                return
            self.press(Keys.TAB)
        raise AssertionError(f"{wanted.accessible_name!r} on {self.url} is not reached by Tab")

    def press(self, *keys: str) -> None:
        """Press keys."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def until(self, condition: Callable[[], Any]) -> None:
        """Wait until something holds."""
        WebDriverWait(self.driver, SECONDS, poll_frequency=0.02).until(lambda _: condition())

    def out_of_reach(self) -> list[str]:
        """Press Tab until the round begins anew; return what never had the focus, and what was not seen to have it."""
        self.driver.execute_script("window.rounded = [];")
        unseen: list[str] = []
        for _ in range(MOST_STOPS):
            self.press(Keys.TAB)
            found = self.driver.execute_script(FOCUSED)
            if found == "round":
                return [*unseen, *self.driver.execute_script(MISSED)]
            unseen += [found] if found else []
        raise AssertionError(f"Tab does not come round on {self.url}")

    def faults(self) -> list[str]:
        """What axe finds, and whether the page is wider than the window."""
        if not self.driver.execute_script("return Boolean(window.axe);"):
            self.driver.execute_script(self._axe)
        found = list(self.driver.execute_async_script(AXE))
        wide = self.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
        return [*found, *([f"{wide} pixels wider than the window"] if wide > 0 else [])]

    def complaints(self) -> list[str]:
        """What the browser had to say since the last time: refused scripts and styles, missing files, errors."""
        return [f"{said['level']}: {said['message']}" for said in self.driver.get_log("browser")]

    def _loaded(self) -> bool:
        try:
            return bool(self.driver.execute_script("return document.readyState === 'complete';"))
        except WebDriverException:
            return False

    def _tell(self, command: str, **parameters: Any) -> None:
        self.driver.execute_cdp_cmd(command, parameters)


def gone(part: WebElement) -> bool:
    """Whether an element is of a page that was left; the driver says so in more than one way while it changes."""
    try:
        part.is_enabled()
    except WebDriverException:
        return True
    return False
