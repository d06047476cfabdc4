"""Six threads and a check run as they look in life, each played through the real bot against the stand-in by :mod:`tests.scenarios`."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from runner.contract import GateResult, GateStatus, Outcome, SandboxReport, Usage
from runner.results import ExecutionSummary, PlanDocument, PullRequestText, SplitChild, SplitDocument, Unit, Verdict
from runner.terms import SandboxMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.scenarios.runner import Runner
    from tests.scenarios.village import Village

POLICY = """\
label: agent
agent: {cli: claude, model: sonnet}
queue: {max_parallel: 4, overlap: "off"}
budget: {usd: 5, minutes: 45}
gates:
  - {name: tests, run: python -m unittest discover -s tests, timeout: 10m}
  - {name: types, run: "mypy shop", timeout: 5m, blocking: false}
"""

BASKET = '''\
"""What a visitor is about to buy."""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


class Basket:
    """Items with their prices in euros."""

    def __init__(self):
        self.items = []

    def add(self, name, price, count=1):
        """Put ``count`` pieces of an item into the basket."""
        if count < 1:
            raise ValueError("count must be at least 1")
        self.items.append((name, Decimal(str(price)), count))

    def total(self):
        """Return what all items cost together, rounded to the cent."""
        total = sum((price * count for _, price, count in self.items), Decimal())
        return total.quantize(CENT, ROUND_HALF_UP)

    def is_empty(self):
        """Return whether there is nothing to pay for."""
        return not self.items'''
TESTS = """\
import unittest
from decimal import Decimal

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

    def test_a_total_has_no_fractions_of_a_cent(self):
        basket = Basket()
        basket.add("tea", 0.1, 3)
        self.assertEqual(basket.total(), Decimal("0.30"))

    def test_nothing_can_be_added_zero_times(self):
        with self.assertRaises(ValueError):
            Basket().add("tea", 3.5, 0)


if __name__ == "__main__":
    unittest.main()"""

SUMMARY = (
    "`Basket.total()` adds floats, so three times €0.10 is shown as €0.30000000000000004. "
    "Prices become decimals when they are put into the basket, and the total is rounded to the cent, half up."
)
PLAN: dict[str, Any] = {
    "title": "Round the basket's total to the cent",
    "summary": SUMMARY,
    "steps": (
        "Take the price in `Basket.add()` as `Decimal(str(price))`.",
        "Round in `Basket.total()` to `0.01` with `ROUND_HALF_UP`.",
        "Test the case of the issue in `tests/test_basket.py`.",
    ),
    "files": ("shop/basket.py", "tests/test_basket.py"),
    "tests": ("Three items of €0.10 cost €0.30.", "The totals of today's tests stay as they are."),
    "risks": ("`total()` returns a `Decimal` from now on; code that compares it with a float sees a difference.",),
}
BODY = "Put three teas at €0.10 into the basket. It shows **€0.30000000000000004**; it should show **€0.30**."

PASSED = (
    GateResult(
        name="scope",
        blocking=True,
        status=GateStatus.PASSED,
        seconds=0.1,
        summary="Both changed paths are in the plan.",
    ),
    GateResult(name="conflict markers", blocking=True, status=GateStatus.PASSED, seconds=0.1, summary="none"),
    GateResult(name="secrets", blocking=True, status=GateStatus.PASSED, seconds=0.2, summary="none found"),
    GateResult(name="weakening", blocking=True, status=GateStatus.PASSED, seconds=0.1, summary="no test does less"),
    GateResult(name="tests", blocking=True, status=GateStatus.PASSED, seconds=4.2, summary="5 passed"),
    GateResult(
        name="types",
        blocking=False,
        status=GateStatus.FAILED,
        seconds=2.9,
        summary="1 error",
        tail="shop/basket.py:16: error: Function is missing a type annotation  [no-untyped-def]",
    ),
)
FAILED = (
    *PASSED[:4],
    GateResult(
        name="tests",
        blocking=True,
        status=GateStatus.FAILED,
        seconds=4.4,
        summary="1 of 5 failed",
        first_error="AssertionError: '0.1' != '0.10'",
        tail="FAIL: test_a_price_is_shown_with_two_digits (test_basket.BasketTest)\n"
        "AssertionError: '0.1' != '0.10'\n\nRan 5 tests in 0.004s\n\nFAILED (failures=1)",
    ),
)
SANDBOX = SandboxReport(
    asked=SandboxMode.REQUIRED,
    got="bubblewrap",
    separate_user=True,
    sentence="Confined by bubblewrap, as another user.",
)


def usage(unit: Unit, seconds: float, usd: str, tokens: tuple[int, int, int, int], attempt: int = 1) -> Usage:
    """What one run of the agent cost."""
    given, made, read, written = tokens
    return Usage.model_validate(
        {
            "unit": unit,
            "agent": "claude",
            "model": "sonnet",
            "attempt": attempt,
            "seconds": seconds,
            "usd": Decimal(usd),
            "usd_source": "metered",
            "input_tokens": given,
            "output_tokens": made,
            "cache_read_tokens": read,
            "cache_write_tokens": written,
        }
    )


def write_plan(runner: Runner, **document: Any) -> None:
    """Let a plan be written."""
    spec = runner.claim()
    spent = usage(spec.unit or Unit.CREATE_PLAN, 74, "0.0871", (1_840, 2_310, 61_200, 14_900))
    fields = {"verdict": Verdict.PLAN, "summary": ""} | document
    runner.end(Outcome.PLANNED, plan=PlanDocument.model_validate(fields), usage=(spent,))


def execute(runner: Runner) -> None:
    """Let the plan be carried out, in two attempts."""
    changed = {"shop/basket.py": BASKET, "tests/test_basket.py": TESTS}
    head = runner.publish(changed, "Round the basket's total to the cent")
    spent = (
        usage(Unit.EXECUTE_PLAN, 131, "0.2412", (2_950, 5_120, 148_000, 21_300)),
        usage(Unit.EXECUTE_PLAN, 48, "0.0836", (1_020, 1_240, 66_500, 3_100), attempt=2),
        usage(Unit.CREATE_PR, 16, "0.0194", (610, 540, 18_900, 900)),
    )
    found = runner.verified(head, usage=spent, gates=PASSED, attempts=2, sandbox=SANDBOX)
    told = ExecutionSummary(
        status="done",
        summary="Prices are kept as decimals, and the total is rounded to the cent. The first attempt broke "
        "`test_prices_add_up`, since `Decimal(3.5)` and `8` were added as they came; they are converted now.",
    )
    text = PullRequestText(
        title="Round the basket's total to the cent",
        body="Prices become decimals when they are put into the basket; the total is rounded to the cent, half up.\n\n"
        "`total()` now returns a `Decimal`.",
    )
    work = found["work"].model_copy(update={"summary": told, "pull_request": text})
    runner.end(Outcome.VERIFIED, **{**found, "work": work})


def _labelled(village: Village, title: str, body: str) -> int:
    issue = village.mia.open_issue(title, body)
    village.tom.label(issue, "agent")
    village.settle()
    return issue


def _planned(village: Village) -> int:
    issue = _labelled(village, "The total shows fractions of a cent", BODY)
    write_plan(village.runner(issue), **PLAN)
    return issue


def _reviewed(village: Village) -> int:
    issue = _planned(village)
    plan = village.plan(issue).revision
    assert plan is not None
    assert plan.comment_id is not None
    village.alice.react(plan.comment_id)
    village.look()
    execute(village.runner(issue))
    return issue


def plan(village: Village) -> str:
    """A plan was rewritten by a remark on one of its lines, and is up for decision."""
    issue = _planned(village)
    remark = f"> {PLAN['steps'][1]}\n\nOur invoices round half to even; the basket should do the same."
    village.alice.comment(issue, f"{remark}\n\n/update")
    village.settle()
    steps = (PLAN["steps"][0], "Round in `Basket.total()` to `0.01` with `ROUND_HALF_EVEN`.", PLAN["steps"][2])
    summary = SUMMARY.replace("half up", "half to even as the invoices are")
    changes = ("Step 2 rounds half to even, as the invoices do.",)
    write_plan(village.runner(issue), **PLAN | {"summary": summary, "steps": steps, "changes": changes})
    return f"issues/{issue}"


def questions(village: Village) -> str:
    """The agent asks before it plans; the author answers by number."""
    issue = _labelled(village, "Greet people in their language", "Visitors from Montréal should not read *Hello*.")
    asked = (
        "Which languages are meant beside English? The code knows none.",
        "Where does the shop learn a visitor's language: from the browser, or from their account?",
    )
    write_plan(
        village.runner(issue),
        verdict=Verdict.NEEDS_INFORMATION,
        title="Greet people in their language",
        summary="`greet()` in `shop/greeting.py` takes a name and nothing else, so a language has to come from somewhere.",
        questions=asked,
        reason="Either answer leads to other files and other tests.",
    )
    village.mia.comment(issue, "1: French is enough for now.\n2: from the browser, please.")
    village.settle()
    return f"issues/{issue}"


def split(village: Village) -> str:
    """A plan became three, each an issue of its own."""
    issue = _labelled(
        village,
        "Sell in other countries",
        "Prices, greetings and the tax differ from country to country. The shop should know where a visitor is.",
    )
    write_plan(
        village.runner(issue),
        title="Make the shop know countries",
        summary="A country decides on greeting, currency and tax. All three are changed at once.",
        steps=("Add `shop/country.py`.", "Greet by country.", "Show prices in the country's currency.", "Add the tax."),
        files=("shop/**", "tests/**"),
        risks=("Four changes in one diff are hard to review.",),
    )
    village.alice.comment(issue, "/split so that each can be reviewed in ten minutes")
    village.settle()
    runner = village.runner(issue)
    spec = runner.claim()
    country = _part("Know a visitor's country", "A module that says where a visitor is.", "shop/country.py")
    greeting = _part("Greet by country", "The greeting is chosen by country.", "shop/greeting.py", 1)
    prices = _part("Show prices in the country's currency", "A price knows its currency.", "shop/basket.py", 1)
    cut = SplitDocument(
        summary="What a country is comes first, since greeting and prices both ask for it; they do not touch each other.",
        children=(country, greeting, prices),
    )
    spent = usage(spec.unit or Unit.SPLIT_PLAN, 66, "0.0924", (2_310, 2_870, 70_400, 6_100))
    runner.end(Outcome.PLANNED, split=cut, usage=(spent,))
    return f"issues/{issue}"


def _part(title: str, summary: str, path: str, *after: int) -> SplitChild:
    files = (path, "tests/**")
    steps = (f"Change `{path}`.", "Test it.")
    document = PlanDocument(verdict=Verdict.PLAN, title=title, summary=summary, steps=steps, files=files)
    return SplitChild(plan=document, depends_on=after)


def diff(village: Village) -> str:
    """A diff that has passed its checks is up for decision."""
    issue = _reviewed(village)
    review = village.plan(issue).review
    assert review is not None
    return f"issues/{issue}#issuecomment-{review.comment_id}"


def check(village: Village) -> str:
    """The check run of such a diff, with its buttons."""
    review = village.plan(_reviewed(village)).review
    assert review is not None
    return f"runs/{review.check_run_id}"


def failed(village: Village) -> str:
    """The work did not pass its checks, and says what can be done."""
    issue = _labelled(
        village, "Show prices with two digits", "A tea for `0.1` is listed as *0.1*; it should be *0.10*."
    )
    write_plan(
        village.runner(issue),
        title="Show every price with two digits",
        summary="Prices are printed as they were typed. A function `shown()` writes them with two digits.",
        steps=("Add `shown(price)` to `shop/basket.py`.", "Use it wherever a price is printed."),
        files=("shop/basket.py", "tests/test_basket.py"),
        tests=("A price of 0.1 is shown as 0.10.",),
    )
    village.alice.comment(issue, "/approve")
    village.settle()
    runner = village.runner(issue)
    runner.claim()
    spent = [
        usage(Unit.EXECUTE_PLAN, seconds, usd, (2_100, 3_400, 92_000, 11_000), attempt)
        for attempt, (seconds, usd) in enumerate([(104, "0.1755"), (71, "0.1203"), (69, "0.1188")], 1)
    ]
    tail = "I rounded the price, but the test wants trailing zeros, which a float can't keep.\n"
    sentence = "`tests` still failed after 3 attempts."
    runner.end(
        Outcome.GATES_FAILED, sentence=sentence, gates=FAILED, usage=tuple(spent), attempts=3, output_tail=tail,
        sandbox=SANDBOX,
    )  # fmt: skip
    return f"issues/{issue}"


def pull(village: Village) -> str:
    """A pull request, with what it cost."""
    issue = _reviewed(village)
    review = village.plan(issue).review
    assert review is not None
    village.bob.press(review.check_run_id or 0, "approve")
    village.settle()
    return f"pull/{village.plan(issue).pull_request}"


THREADS: dict[str, Callable[[Village], str]] = {
    "plan": plan,
    "questions": questions,
    "split": split,
    "diff": diff,
    "check": check,
    "failed": failed,
    "pull": pull,
}
"""Name of the picture -> how its thread is played, up to the page's path."""
