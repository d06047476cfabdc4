"""Unix sockets at paths of any length."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from pathlib import Path


def bind(listener: socket.socket, path: Path) -> None:
    """Bind by way of the folder: the path of a unix socket may have a hundred bytes only. Raises OSError."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
