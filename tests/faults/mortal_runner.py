"""``twogate-runner`` that is killed, as by ``kill -9``, before the n-th thing that it does to the world. Run as a program.

Arguments: n, a file that is told how many there were, then the runner's own. What counts is what Python audits: files
opened for writing, renamed and removed, folders made, locks taken, connections, and programs started.
"""

import os
import signal
import sys
from pathlib import Path

from runner.__main__ import main

COUNTED = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "fcntl.flock", "socket.connect", "subprocess.Popen"}
done = 0


def watch(event: str, arguments: tuple[object, ...]) -> None:
    global done  # noqa: PLW0603 - a hook has no other place
    flags = arguments[2] if event == "open" else 0
    writes = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
    if event in COUNTED or writes:
        done += 1
        if done == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.addaudithook(watch)
    code = main(sys.argv[3:])
    total = done
    Path(sys.argv[2]).write_text(str(total))
    sys.exit(code)
