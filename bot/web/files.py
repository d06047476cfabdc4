"""The files that pages load: style, script, mark. Browsers keep them, since their addresses change with them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Blueprint

from bot.web.headers import private

if TYPE_CHECKING:
    from flask import Response

KEPT_SECONDS = 31_536_000
"""How long a browser may keep a file."""
FOLDER = Path(__file__).parent / "static"
VERSION = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(FOLDER.iterdir()))).hexdigest()[:12]
"""Another one as soon as any of the files is."""


def blueprint() -> Blueprint:
    """Return ``/static``."""
    files = Blueprint("files", __name__, static_folder=FOLDER, static_url_path="/static")

    @files.after_request
    def kept(answer: Response) -> Response:
        private(answer)
        if answer.status_code == 200:  # noqa: PLR2004 - the file itself
            answer.headers["Cache-Control"] = f"public, max-age={KEPT_SECONDS}, immutable"
        return answer

    return files


def address(name: str) -> str:
    """Return the address of a file."""
    return f"/static/{name}?v={VERSION}"
