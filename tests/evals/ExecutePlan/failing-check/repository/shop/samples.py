"""A basket to try things with."""

BASKET = [(250, 2), (100, 0)]
