"""The bot as the product starts it, but quicker to notice a loss: ``python FILE serve`` or ``python FILE work``.

A dead process keeps its effects for a lease, and a delivery that was lost is asked for again after minutes. Nobody has
the time for that in a test with twenty kills; everything else is the product's own.
"""

from __future__ import annotations

import logging
import os
import sys
from functools import partial

from bot import serving
from bot.settings import from_environment
from bot.store.migrate import migrate
from bot.worker.schedule import Periods

HASTY = Periods(lease=6.0, poll_look=1.0, job_look=1.0, redeliver=5.0, reconcile=20.0)
"""The lease is still long beside a call to GitHub on loopback, as the real one is beside a real call."""


def main(command: str) -> None:
    """Serve, or work alone, until the end."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    settings = from_environment(os.environ)
    migrate(settings.database_url)
    make_worker = partial(serving.worker, periods=HASTY)
    if command == "serve":
        serving.Server(settings, make_worker=make_worker).run()
    else:
        serving.work(settings, make_worker)


if __name__ == "__main__":
    main(sys.argv[1])
