"""``python -m tests.standin --home DIR [--port N] [--webhook-url URL]``: the stand-in as a process.

With ``--webhook-url`` it also makes an organisation ``acme`` with a repository ``acme/shop``, a person ``maintainer``
(admin) and an App ``twogate`` that sends there. What was made is printed as one JSON line; then it serves until
SIGTERM or SIGINT.
"""

from __future__ import annotations

import argparse
import json
import signal
import threading
from pathlib import Path

from tests.standin.server import StandIn


def main() -> None:
    """Parse the arguments, serve, and stop cleanly on a signal."""
    parser = argparse.ArgumentParser(prog="python -m tests.standin", description="A GitHub on loopback.")
    parser.add_argument("--home", type=Path, required=True, help="folder for git repositories and runs")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--webhook-url", help="make a sample App that sends its webhooks here")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--conformance", action="store_true", help="check everything against GitHub's descriptions")
    options = parser.parse_args()
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    standin = StandIn(options.home, seed=options.seed, conformance=options.conformance).start(options.port)
    made = sample(standin, options.webhook_url) if options.webhook_url else {}
    print(json.dumps({"url": standin.url, **made}), flush=True)
    done.wait()
    standin.stop()


def sample(standin: StandIn, webhook_url: str) -> dict[str, object]:
    """An organisation, a repository, a maintainer and an App."""
    control = standin.control
    control.create_organization("acme")
    control.create_repository("acme/shop")
    maintainer = control.create_user("maintainer")
    control.set_role("acme/shop", "maintainer", "admin")
    app = control.create_app("twogate", "acme", webhook_url=webhook_url)
    return {"repository": "acme/shop", "maintainer": maintainer, "app": app}


if __name__ == "__main__":
    main()
