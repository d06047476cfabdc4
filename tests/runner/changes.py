"""What the tests of the built-in gates share: a change made of contents alone."""

from __future__ import annotations

from typing import Any

from runner.gates.change import MODE_ABSENT, MODE_FILE, Change, Changed

Files = dict[str, str | bytes | None]


def change(base: Files, head: Files, **more: Any) -> Change:
    """Return the change from ``base`` to ``head``; a path that stands on one side alone is new or deleted."""
    old, new = ({path.encode(): _bytes(text) for path, text in files.items()} for files in (base, head))
    paths = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    files = tuple(Changed(path, _mode(old.get(path)), _mode(new.get(path))) for path in paths)
    fields: dict[str, Any] = {
        "plan_files": ("**/*",),
        "read": lambda path: new.get(path) or b"",
        "read_base": old.get,
        "tree": tuple(sorted(path for path, text in new.items() if text is not None)),
    }
    return Change(files=files, **{**fields, **more})


def _bytes(text: str | bytes | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text


def _mode(content: bytes | None) -> int:
    return MODE_ABSENT if content is None else MODE_FILE
