"""Job keys: the secret that a runner gets with its job, and shows with everything it says about it afterwards.

A key names its job and is random besides: ``<job id>.<256 bits>``. The database has its hash alone, so that whoever
reads the database can't speak for a runner.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

KEY_BYTES = 32
"""Random bytes of a key: not to be guessed, so that a plain hash keeps it."""


def new_key(job: str) -> str:
    """Return a new key of a job."""
    return f"{job}.{secrets.token_urlsafe(KEY_BYTES)}"


def job_of(key: str) -> str:
    """Return the job that a key says it is of; proves nothing."""
    return key.partition(".")[0]


def key_hash(key: str) -> str:
    """Return what is stored of a key."""
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()


def opens(key: str, stored: str | None) -> bool:
    """Tell whether it is the key of that hash; nothing opens a job that nobody has claimed."""
    return stored is not None and hmac.compare_digest(key_hash(key), stored)
