"""The meter's address inside a sandbox without network: listens on loopback, passes bytes on to a unix socket.

Run by path with ``-I -S`` (standard library alone), as the first program in the sandbox: ``shim.py PORT SOCKET
COMMAND…``. It becomes the command, so exit code, signals and process id are the command's own. The listener is no
child of it (a program that waits for all its children would wait for ever) and no member of its session; it ends with
the process namespace. What it could be made to say is what the command may say anyway: there is no secret in it.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress

HOST = "127.0.0.1"
READ_BYTES = 1 << 16
"""Read from a connection at once."""
WAITING = 128
"""Connections that may wait to be taken."""
IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""What asks the command to end; its last words still travel."""
PYTHONS_OWN = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores, which a program started by it must not inherit (signal(7))."""
FULL_SECONDS = 0.1
"""Until the next try where no further connection can be opened."""


def move(source: socket.socket, target: socket.socket) -> None:
    """Pass on what one side says until it has no more to say, and say so."""
    with suppress(OSError):
        while chunk := source.recv(READ_BYTES):
            target.sendall(chunk)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def join(inside: socket.socket, meter: str) -> None:
    """Connect one connection of the command with the meter, both ways; a meter that is gone closes it."""
    with inside, socket.socket(socket.AF_UNIX) as outside:
        try:
            outside.connect(meter)
        except OSError:
            return
        back = threading.Thread(target=move, args=(outside, inside), daemon=True)
        back.start()
        move(inside, outside)
        back.join()


def serve(listener: socket.socket, meter: str) -> None:
    """Take connections for ever."""
    while True:
        try:
            inside, _ = listener.accept()
        except OSError:
            time.sleep(FULL_SECONDS)
            continue
        threading.Thread(target=join, args=(inside, meter), daemon=True).start()


def detach() -> bool:
    """Return True in a process that nobody waits for, False in this one."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nothing, handle)
    return True


def main(arguments: list[str]) -> int:
    """Listen, leave the listener behind, become the command."""
    port, meter, command = int(arguments[0]), arguments[1], arguments[2:]
    listener = socket.create_server((HOST, port), backlog=WAITING)
    if detach():
        serve(listener, meter)
    listener.close()
    for number in PYTHONS_OWN:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
    return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
