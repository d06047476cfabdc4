import unittest

from shop.prices import total


class Hidden(unittest.TestCase):
    def test_discounts(self):
        self.assertEqual(total([(1000, 1)], discount=10), 900)
        self.assertEqual(total([(999, 1)], discount=0), 999)
        self.assertEqual(total([(250, 2)], discount=100), 0)
