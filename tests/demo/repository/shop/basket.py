"""What a visitor is about to buy."""


class Basket:
    """Items with their prices in euros."""

    def __init__(self):
        self.items = []

    def add(self, name, price, count=1):
        """Put ``count`` pieces of an item into the basket."""
        if count < 1:
            raise ValueError("count must be at least 1")
        self.items.append((name, price, count))

    def total(self):
        """Return what all items cost together."""
        return sum(price * count for _, price, count in self.items)

    def is_empty(self):
        """Return whether there is nothing to pay for."""
        return not self.items
