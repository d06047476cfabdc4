"""One package as a manifest or a lock file names it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Package:
    """A package that a file asks for (``direct``) or a lock file fixes."""

    registry: str
    """``pypi``, ``npm``, ``crates``, ``go``: whose names they are."""
    name: str
    version: str
    """The version or the range; empty where none is named."""
    direct: bool
    source: str = ""
    """Where it comes from, where that is not the registry."""
    scripts: bool = False
    """Whether it runs a script of its own when it is installed."""
    unverified: bool = False
    """Whether a lock file fixes it without a hash."""
