"""The policy in force: asked for each time, understood once."""

from __future__ import annotations

import pytest

from bot.lifecycle.plan import Repo
from bot.lifecycle.policy import Policy
from bot.worker.policies import InvalidPolicyError, Policies

REPO = Repo(id=1, owner="acme", name="shop", installation_id=1)


class Files:
    """A gateway that knows one file."""

    def __init__(self, text: str | None) -> None:
        self.text, self.asked = text, 0

    def file(self, _repo: Repo, _path: str, _ref: str) -> str | None:
        self.asked += 1
        return self.text


def test_without_a_file_the_defaults_hold():
    assert Policies(Files(None)).at(REPO, "main") == Policy.default()


def test_a_change_of_the_file_counts_at_once():
    files = Files("label: one")
    policies = Policies(files)
    assert policies.at(REPO, "main").label == "one"
    files.text = "label: two"
    assert policies.at(REPO, "main").label == "two"
    assert files.asked == 2


@pytest.mark.parametrize("_again", range(2))
def test_a_faulty_file_names_its_line_each_time(_again):
    with pytest.raises(InvalidPolicyError, match=r"`\.github/twogate\.yml`: line 2"):
        Policies(Files("label: agent\nlable: agent")).at(REPO, "main")


def test_a_file_that_is_no_settings_file_is_not_read():
    with pytest.raises(InvalidPolicyError, match="characters"):
        Policies(Files("#" * 20_000)).at(REPO, "main")
