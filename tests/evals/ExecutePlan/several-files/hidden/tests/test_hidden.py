import unittest
from pathlib import Path

from shop.money import shown


class Hidden(unittest.TestCase):
    def test_it_is_shown(self):
        self.assertEqual([shown(0), shown(5), shown(123456)], ["0.00", "0.05", "1234.56"])

    def test_people_are_told(self):
        self.assertIn("shown", Path("README.md").read_text())
