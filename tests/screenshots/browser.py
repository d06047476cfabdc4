"""A browser without a window: Chromium, found by name or by ``TWOGATE_CHROMIUM``, and told what to do through pipes.

It speaks the DevTools protocol: JSON, each message ended by a NUL byte (``--remote-debugging-pipe``).
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.screenshots import small

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
)
"""It shows our own pages alone, from a file, as whatever user runs the tests: hence without a sandbox."""
SECONDS = 60
"""For one answer of the browser."""
TOP = "document.getElementById(%s).getBoundingClientRect().top + scrollY"
LOADED = 'new Promise((done) => document.readyState == "complete" ? done() : addEventListener("load", () => done()))'
MEASURE = """(() => {
  const wide = document.documentElement.clientWidth;
  const sticks = (element) => element.getBoundingClientRect().right > wide + 0.5;
  const scrolls = (element) => element && (getComputedStyle(element).overflowX != "visible" || scrolls(element.parentElement));
  const out = [...document.body.querySelectorAll("*")].filter((it) => sticks(it) && !scrolls(it.parentElement));
  return {
    width: document.documentElement.scrollWidth,
    height: document.documentElement.scrollHeight,
    outside: out.slice(0, 5).map((it) => it.outerHTML.slice(0, 120)),
  };
})()"""


class NoBrowserError(Exception):
    """There is none on this machine; the message says what to do."""


@dataclass(frozen=True)
class Measured:
    """A page as it lies in a window of some width; pixels."""

    width: int
    height: int
    outside: list[str]
    """Elements that stick out to the right, and do not lie in something that scrolls."""


class Browser:
    """One browser with one page, used as a context."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._asked = 0

    def __enter__(self) -> Self:
        program = _program()
        home = Path(
            self._stack.enter_context(tempfile.TemporaryDirectory(prefix="twogate-", ignore_cleanup_errors=True))
        )
        self._file = home / "page.html"
        theirs, to = os.pipe()
        self._from, answers = os.pipe()
        self._to = os.fdopen(to, "wb")
        self._heard = b""
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs, answers)]

        def place() -> None:
            for number, end in enumerate(ends, 3):
                os.dup2(end, number)

        command = [program, *OPTIONS, f"--user-data-dir={home}/profile"]
        environ = {"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8"}
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(
            command, env=environ, pass_fds=(3, 4), start_new_session=True, preexec_fn=place, **silent  # noqa: PLW1509 - it only moves two descriptors
        )  # fmt: skip
        for end in (theirs, answers, *ends):
            os.close(end)
        self._stack.callback(os.close, self._from)
        self._session = ""
        try:
            target = self._ask("Target.createTarget", url="about:blank")["targetId"]
            self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        self._to.close()  # which is how it is told to end
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._stack.close()

    def open(self, page: str, width: int, *, dark: bool = False) -> Measured:
        """Show a page in a window of this width, and return how it lies there."""
        self._file.write_text(page)
        return self.visit(self._file.as_uri(), width, dark=dark)

    def visit(self, address: str, width: int, cookie: str = "", *, dark: bool = False) -> Measured:
        """Show what is served at an address, with this header ``Cookie``, and return how it lies in the window."""
        self._ask("Network.enable")
        self._ask("Network.setExtraHTTPHeaders", headers={"Cookie": cookie} if cookie else {})
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])
        self._resize(width, 800)
        self._ask("Page.navigate", url=address)
        self._run(LOADED)
        return Measured(**self._run(MEASURE))

    def picture(self, width: int, most: int, start: str = "") -> bytes:
        """Return a picture of the page that is open: from the element of this id on, ``most`` pixels high."""
        top = max(0, int(self._run(TOP % json.dumps(start))) - 16) if start else 0
        whole = int(self._run("document.documentElement.scrollHeight"))
        height = min(whole - top, most)
        self._resize(width, whole)
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        taken = self._ask("Page.captureScreenshot", format="png", clip=clip)
        return small.png(self._run(f"{small.SHRINK}({json.dumps(taken['data'])})"))

    def _resize(self, width: int, height: int) -> None:
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def _ask(self, method: str, **params: Any) -> Any:
        self._asked += 1
        session = {"sessionId": self._session} if self._session else {}
        said = {"id": self._asked, "method": method, "params": params, **session}
        self._to.write(json.dumps(said).encode() + b"\0")
        self._to.flush()
        while (answer := self._hear()).get("id") != self._asked:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def _run(self, script: str) -> Any:
        found = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        return found["result"].get("value")

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._heard:
            ready, _, _ = select.select([self._from], [], [], SECONDS)
            assert ready, "the browser does not answer"
            heard = os.read(self._from, 1 << 20)
            assert heard, "the browser ended"
            self._heard += heard
        message, _, self._heard = self._heard.partition(b"\0")
        return json.loads(message)  # type: ignore[no-any-return]


def _program() -> str:
    named = os.environ.get("TWOGATE_CHROMIUM")
    program = named or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None or not os.access(program, os.X_OK):
        raise NoBrowserError("There is no Chromium here: install one, or name its program in TWOGATE_CHROMIUM.")
    return program
