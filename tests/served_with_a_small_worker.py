"""The server of the product, with little patience, and a worker that only says what happens to it.

``python FILE NOTES PROCESSES``
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from bot import timely
from bot.serving import Parts, Server
from bot.settings import from_environment
from bot.store.migrate import migrate

NOTES = Path(sys.argv[1])


class SmallWorker:
    """Appends a line a word."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def say(self, word: str) -> None:
        with NOTES.open("a") as file:
            file.write(f"{word} {os.getpid()}\n")

    def start(self) -> None:
        with self.parts.store.read() as tx:
            self.say("started" if tx.now else "never")

    def stop(self) -> bool:
        time.sleep(0.2)
        with self.parts.store.write() as tx:
            self.say("stopped" if tx.now else "never")
        return True


settings = from_environment(os.environ)
migrate(settings.database_url)
timely.ARRIVAL_SECONDS, timely.ANSWERED_SECONDS = 0.5, 1.0
Server(settings, make_worker=SmallWorker, processes=int(sys.argv[2])).run()
