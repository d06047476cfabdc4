import unittest

from shop.greeting import greet


class GreetingTest(unittest.TestCase):
    def test_a_visitor_is_greeted_by_name(self):
        self.assertEqual(greet("Mia"), "Hello, Mia!")


if __name__ == "__main__":
    unittest.main()
