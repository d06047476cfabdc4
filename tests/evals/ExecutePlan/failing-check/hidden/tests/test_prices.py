import unittest

from shop.prices import total
from shop.samples import BASKET


class Total(unittest.TestCase):
    def test_it_adds_up(self):
        self.assertEqual(total([(250, 2), (100, 1)]), 600)

    def test_it_takes_a_discount_off(self):
        self.assertEqual(total([(1000, 1)], discount=10), 900)

    def test_the_sample(self):
        self.assertEqual(total(BASKET), 500)
