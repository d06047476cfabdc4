"""Gate ``dependencies``: which foreign packages a change brings in or changes, and what of it a reviewer should check.

Facts are those that lie in the repository itself (manifests, lock files) and in a small list of well-known names:
nothing is asked of a registry.
"""

from runner.gates.packages.gate import NAME, dependencies

__all__ = ["NAME", "dependencies"]
