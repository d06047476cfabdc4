"""What the scripted agent does in the demo's own repository: three tasks, with a mistake, an overlap and an update."""

from __future__ import annotations

from typing import Any

Task = dict[str, Any]

ROUND: Task = {
    "title": "The total shows fractions of a cent",
    "body": "Three teas at 1.10 come to `3.3000000000000003`. Customers should see whole cents.",
    "plan": {
        "verdict": "plan",
        "title": "Round the basket's total to whole cents",
        "summary": "`Basket.total()` adds floats and returns whatever comes out. Round its result to two places.",
        "steps": ["Add a test with three items at 1.10.", "Round the sum in `Basket.total()` to two places."],
        "files": ["shop/basket.py", "tests/test_basket.py"],
        "tests": ["Three items at 1.10 cost exactly 3.3."],
        "risks": ["A caller that relied on more than two places; there is none in the repository."],
    },
    "attempts": [
        [
            {
                "path": "tests/test_basket.py",
                "find": "    def test_nothing_can_be_added_zero_times(self):",
                "replace": "    def test_the_total_is_in_whole_cents(self):\n"
                "        basket = Basket()\n"
                '        basket.add("tea", 1.10, 3)\n'
                "        self.assertEqual(basket.total(), 3.3)\n\n"
                "    def test_nothing_can_be_added_zero_times(self):",
            },
            {
                "path": "shop/basket.py",
                "find": "return sum(price * count for _, price, count in self.items)",
                "replace": "return round(sum(price * count for _, price, count in self.items))",
            },
        ],
        [{"path": "shop/basket.py", "find": "in self.items))", "replace": "in self.items), 2)"}],
    ],
    "summary": "The total is rounded to two places; a test with three items at 1.10 was written first.",
    "lessons": [
        {
            "unit": "ExecutePlan",
            "kind": "pitfall",
            "text": "Prices are floats in euros: round to two places once, where a sum leaves the basket.",
            "paths": ["shop/basket.py"],
        }
    ],
    "pull_request": {
        "title": "Round the basket's total to whole cents",
        "body": "Three items at 1.10 came to 3.3000000000000003. The sum is now rounded to two places.",
    },
}

DELIVERY: Task = {
    "title": "Free delivery from 50 euros",
    "body": "Delivery costs 4.90. From a basket of 50 euros on it should be free.",
    "plan": {
        "verdict": "plan",
        "title": "Charge delivery below 50 euros",
        "summary": "The basket does not know delivery yet. Add `Basket.delivery()`: 4.90, and nothing from 50 on.",
        "steps": ["Write the tests.", "Add `Basket.delivery()` with the two amounts as named constants."],
        "files": ["shop/basket.py", "tests/test_delivery.py"],
        "tests": ["Below 50 it is 4.90.", "From 50 on it is nothing.", "An empty basket pays nothing."],
    },
    "attempts": [
        [
            {
                "path": "tests/test_delivery.py",
                "content": "import unittest\n\nfrom shop.basket import Basket\n\n\n"
                "class DeliveryTest(unittest.TestCase):\n"
                "    def test_it_costs_something_below_fifty(self):\n"
                "        basket = Basket()\n"
                '        basket.add("cup", 8)\n'
                "        self.assertEqual(basket.delivery(), 4.90)\n\n"
                "    def test_it_is_free_from_fifty_on(self):\n"
                "        basket = Basket()\n"
                '        basket.add("pot", 25, 2)\n'
                "        self.assertEqual(basket.delivery(), 0)\n\n"
                "    def test_an_empty_basket_pays_nothing(self):\n"
                "        self.assertEqual(Basket().delivery(), 0)\n\n\n"
                'if __name__ == "__main__":\n    unittest.main()\n',
            },
            {
                "path": "shop/basket.py",
                "find": '"""What a visitor is about to buy."""\n',
                "replace": '"""What a visitor is about to buy."""\n\nDELIVERY = 4.90\nFREE_FROM = 50\n',
            },
            {
                "path": "shop/basket.py",
                "append": "\n    def delivery(self):\n"
                '        """Return what delivery costs, in euros."""\n'
                "        free = self.is_empty() or self.total() >= FREE_FROM\n"
                "        return 0 if free else DELIVERY\n",
            },
        ],
    ],
    "summary": "Added `Basket.delivery()` and three tests, written first.",
    "pull_request": {
        "title": "Charge delivery below 50 euros",
        "body": "Adds `Basket.delivery()`: 4.90, free from 50 euros on and for an empty basket.",
    },
}

GREETING: Task = {
    "title": "Greet visitors in their language",
    "body": "We have many visitors from France. Please greet them in French.",
    "plan": {
        "verdict": "plan",
        "title": "Greet in French",
        "summary": "`greet()` knows English alone. Give it a language, with English as before when none is given.",
        "steps": ["Write a test for French.", "Add a `language` argument and a table of greetings."],
        "files": ["shop/greeting.py", "tests/test_greeting.py"],
        "tests": ["French says Bonjour.", "Without a language it is English, as before."],
        "questions": ["What should a language that the table lacks get? The plan assumes English."],
    },
    "update": "German as well, please. An unknown language gets English.",
    "updated_plan": {
        "verdict": "plan",
        "title": "Greet in French and German",
        "summary": "`greet()` knows English alone. Give it a language, from a table with English, French and German. "
        "An unknown language gets English.",
        "steps": ["Write tests for French, German and an unknown language.", "Add `language` and the table."],
        "files": ["shop/greeting.py", "tests/test_greeting.py"],
        "tests": ["French says Bonjour.", "German says Guten Tag.", "An unknown language gets English."],
    },
    "attempts": [
        [
            {
                "path": "shop/greeting.py",
                "content": '"""What a visitor reads first."""\n\n'
                'HELLO = {"en": "Hello", "fr": "Bonjour", "de": "Guten Tag"}\n\n\n'
                'def greet(name, language="en"):\n'
                '    """Return the greeting for a visitor; an unknown language gets English."""\n'
                "    return f\"{HELLO.get(language, HELLO['en'])}, {name}!\"\n",
            },
            {
                "path": "tests/test_greeting.py",
                "find": 'self.assertEqual(greet("Mia"), "Hello, Mia!")\n',
                "replace": 'self.assertEqual(greet("Mia"), "Hello, Mia!")\n\n'
                "    def test_a_visitor_is_greeted_in_their_language(self):\n"
                '        self.assertEqual(greet("Mia", "fr"), "Bonjour, Mia!")\n'
                '        self.assertEqual(greet("Mia", "de"), "Guten Tag, Mia!")\n\n'
                "    def test_an_unknown_language_gets_english(self):\n"
                '        self.assertEqual(greet("Mia", "xx"), "Hello, Mia!")\n',
            },
        ],
    ],
    "summary": "`greet()` takes a language; French, German and the fallback have tests.",
    "pull_request": {
        "title": "Greet in French and German",
        "body": "Adds a `language` argument to `greet()`, with English for everything the table lacks.",
    },
}

TASKS = (ROUND, DELIVERY, GREETING)
