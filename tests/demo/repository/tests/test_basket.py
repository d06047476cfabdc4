import unittest

from shop.basket import Basket


class BasketTest(unittest.TestCase):
    def test_an_empty_basket_costs_nothing(self):
        self.assertEqual(Basket().total(), 0)
        self.assertTrue(Basket().is_empty())

    def test_prices_add_up(self):
        basket = Basket()
        basket.add("tea", 3.5, 2)
        basket.add("cup", 8)
        self.assertEqual(basket.total(), 15)

    def test_nothing_can_be_added_zero_times(self):
        with self.assertRaises(ValueError):
            Basket().add("tea", 3.5, 0)


if __name__ == "__main__":
    unittest.main()
