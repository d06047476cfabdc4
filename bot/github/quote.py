"""Names made safe to stand in the path of a request.

httpx keeps what is already percent-encoded, so every name from outside (branch, path, label, login) passes through
here exactly once. Unquoted, ``#`` cuts a path, ``?`` begins a query and ``..`` climbs out of the repository.
"""

from __future__ import annotations

from urllib.parse import quote

from bot.errors import Permanent


def segment(name: str) -> str:
    """Return a name as one segment of a path, its slashes encoded. Raises ``Permanent`` for what can be none."""
    if name in {"", ".", ".."}:
        raise Permanent(f"{name!r} can't be the name of anything on GitHub: use another name.")
    return quote(name, safe="")


def segments(path: str) -> str:
    """Return a branch or path whose slashes separate. Raises ``Permanent`` where a part is empty, ``.`` or ``..``."""
    return "/".join(segment(part) for part in path.split("/"))
