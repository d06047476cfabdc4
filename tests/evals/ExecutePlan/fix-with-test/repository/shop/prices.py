"""Prices, in whole cents."""


def total(items, discount=0):
    """Return what ``items`` (price, count) cost, less ``discount`` per cent."""
    whole = sum(price * count for price, count in items)
    return whole - whole * discount // 10
