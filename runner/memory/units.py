"""Whose lessons a unit reads: those of its own, and what is about planning belongs to every unit that plans.

A lesson belongs to the unit in whose ``Memory/`` it lies. How to plan here is learned once, by whichever of the
planning units it was, and is as good for a first plan as for a rewritten one or a split; what the others learn (how to
work, to inspect, to write a pull request or an issue) helps none but themselves.
"""

from __future__ import annotations

from runner.results import Unit

PLANNING = frozenset({Unit.CREATE_PLAN, Unit.EXPAND_PLAN, Unit.UPDATE_PLAN, Unit.SPLIT_PLAN})
"""Units that plan: each reads the lessons of all."""


def readers(unit: Unit) -> frozenset[Unit]:
    """Return the units that read the lessons of ``unit``, and whose lessons it reads."""
    return PLANNING if unit in PLANNING else frozenset({unit})
