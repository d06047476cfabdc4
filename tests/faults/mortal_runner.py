"""``twogate-runner`` that is killed, as by ``kill -9``, at the n-th thing that it does to the world. Run as a program.

Arguments: n, the same for programs that it starts, a file that is told how many of either there were, then the
runner's own. What counts is what Python audits: files opened for writing, renamed and removed, folders made, locks
taken, connections, and programs started. It dies before the deed; of a program that it starts, once that is a process
of its own and not yet the program (fork(2), execve(2)), which it stays for as long as a machine under load may take.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from runner.__main__ import main

COUNTED = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "fcntl.flock", "socket.connect", "subprocess.Popen"}
UNBORN_SECONDS = 1.0
"""The next job looks around within a tenth of that."""
last_deed, last_start = int(sys.argv[1]), int(sys.argv[2])
done = started = 0


def watch(event: str, arguments: tuple[object, ...]) -> None:
    global done  # noqa: PLW0603 - a hook has no other place
    flags = arguments[2] if event == "open" else 0
    writes = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
    if event in COUNTED or writes:
        done += 1
        if done == last_deed:
            os.kill(os.getpid(), signal.SIGKILL)


def orphan() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(UNBORN_SECONDS)


class Popen(subprocess.Popen[Any]):
    """Starts programs, the last of them an orphan from before its birth."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        global started  # noqa: PLW0603 - as above
        started += 1
        super().__init__(*arguments, **named, preexec_fn=orphan if started == last_start else None)


if __name__ == "__main__":
    subprocess.Popen = Popen  # type: ignore[misc]
    sys.addaudithook(watch)
    code = main(sys.argv[4:])
    Path(sys.argv[3]).write_text(f"{done} {started}")
    sys.exit(code)
