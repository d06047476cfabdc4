"""Figures for programs: periods as people name them, plain data, and CSV that no spreadsheet computes."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal

import pytest

from bot.lifecycle import periods
from bot.lifecycle.accounts import accounts
from bot.lifecycle.exports import FIGURES_HEAD, LEDGER_HEAD, Entry, figures_csv, ledger_csv, plain_accounts
from bot.lifecycle.histories import History
from runner.contract import JobKind, Outcome, Usage, UsdSource
from runner.results import Unit
from tests.lifecycle.test_figures import COVERED, MERGED, spent

NOVEMBER = 1_793_491_200.0
"""The first of November 2026."""
ACCOUNTS = accounts(
    [
        ("acme/tools", History(MERGED, (spent("1.50"), spent(None)))),
        ("acme/shop", History((), (spent("0.10"),))),
        ("octo/calc", History((), (spent(None, **COVERED),))),
    ],
    0.0,
    periods.DAY,
)


def test_a_month_is_told_as_far_as_it_has_passed():
    now = NOVEMBER + 3 * periods.DAY
    assert periods.month("2026-11", now) == (NOVEMBER, now)
    assert periods.month("2026-10", now) == (NOVEMBER - 31 * periods.DAY, NOVEMBER)
    assert periods.month_name(now) == "2026-11"
    assert periods.last_days(30, now) == (now - 30 * periods.DAY, now)
    assert periods.aligned(now + 5, periods.WEEK) == NOVEMBER + periods.DAY


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("November", "write it as 2026-11"),
        ("0000-01", "is no month"),
        ("2026-12", "has not begun"),
        ("\n" * 99, "is no month"),
    ],
)
def test_what_is_no_month_is_told_with_its_cure(text: str, cure: str):
    with pytest.raises(periods.PeriodError, match=cure):
        periods.month(text, NOVEMBER)
    with pytest.raises(periods.PeriodError, match="say 1 to 366"):
        periods.last_days(0, NOVEMBER)


def test_accounts_add_up_by_repository_and_organisation():
    assert {name: each.spend.value for name, each in ACCOUNTS.organisations.items()} == {
        "acme": Decimal("1.60"),
        "octo": None,
    }
    assert list(ACCOUNTS.repositories) == ["acme/shop", "acme/tools", "octo/calc"]
    assert list(ACCOUNTS.named) == ["all repositories", "acme", "octo", "acme/shop", "acme/tools", "octo/calc"]
    assert (ACCOUNTS.total.spend.value, ACCOUNTS.total.merged) == (Decimal("1.60"), 1)


def test_plain_data_tells_what_is_unknown_and_what_is_covered():
    told = json.loads(json.dumps(plain_accounts(ACCOUNTS)))
    total = told["total"]
    assert (total["since"], total["until"]) == ("1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z")
    assert total["spent_usd"] == total["cost_per_merged_usd"] == {"usd": "1.60", "at_least": True, "covered": True}
    assert total["denial_rate"] == {"part": 0, "of": 1, "share": "0"}
    assert total["by"]["source"].keys() == {"unknown", "subscription"}
    covered = told["repositories"]["octo/calc"]
    assert covered["spent_usd"] == {"usd": None, "at_least": False, "covered": True}
    assert covered["cost_per_merged_usd"] is None
    assert covered["pass_rates"]["merged"] == {"part": 0, "of": 0, "share": None}


def test_a_table_of_figures_has_a_row_a_name_and_a_cell_a_column():
    rows = list(csv.DictReader(io.StringIO(figures_csv({"all": ACCOUNTS.total, **ACCOUNTS.repositories}))))
    assert [row["name"] for row in rows] == ["all", "acme/shop", "acme/tools", "octo/calc"]
    assert len(set(FIGURES_HEAD)) == len(FIGURES_HEAD)
    assert all(set(row) == set(FIGURES_HEAD) for row in rows)
    assert (rows[0]["spent_usd"], rows[0]["at_least"], rows[0]["covered"]) == ("1.60", "True", "True")
    assert (rows[1]["cost_per_merged_usd"], rows[2]["cost_per_merged_usd"]) == ("", "1.50")
    assert rows[3]["spent_usd"] == ""


def test_a_ledger_for_spreadsheets_computes_nothing():
    usage = Usage(
        unit=Unit.EXECUTE_PLAN,
        agent="claude",
        model='=HYPERLINK("https://evil.example")',
        attempt=1,
        input_tokens=7,
        usd=Decimal("0.000001"),
        usd_source=UsdSource.METERED,
        price_date="-1+1",
        seconds=1.5,
    )
    entry = Entry(NOVEMBER, "acme/tools", 12, "abcdefgh", "abcdefgh-1", JobKind.EXECUTE, Outcome.VERIFIED, usage)
    head, row = csv.reader(io.StringIO("".join(ledger_csv([entry]))))
    assert tuple(head) == LEDGER_HEAD
    told = dict(zip(head, row, strict=True))
    assert told["model"] == "'" + '=HYPERLINK("https://evil.example")'
    assert told["price_date"] == "'-1+1"
    assert (told["at"], told["usd"], told["input_tokens"], told["output_tokens"]) == (
        "2026-11-01T00:00:00Z",
        "0.000001",
        "7",
        "",
    )
