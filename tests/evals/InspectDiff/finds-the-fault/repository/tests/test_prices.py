import unittest

from shop.prices import total


class Total(unittest.TestCase):
    def test_it_adds_up(self):
        self.assertEqual(total([(250, 2), (100, 1)]), 600)
