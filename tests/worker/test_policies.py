"""The policy in force: asked for each time, understood once, and never lost to a file that can't be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import Permanent
from bot.lifecycle.plan import Repo
from bot.lifecycle.policy import Policy
from bot.store import policies as stored
from bot.worker.policies import Policies
from bot.worker.schedule import DEFAULTS_KEPT

if TYPE_CHECKING:
    from bot.store.engine import Store

REPO = Repo(id=1, owner="acme", name="shop", installation_id=1)


class Files:
    """A gateway that knows a repository's file and its owner's."""

    def __init__(self, text: str | None, defaults: str | None = None) -> None:
        self.text, self.defaults, self.asked, self.refuses = text, defaults, [], False

    def file(self, _repo: Repo, _path: str, _ref: str) -> str | None:
        self.asked.append("file")
        return self.text

    def organisation_file(self, _repo: Repo, _path: str) -> str | None:
        self.asked.append("organisation")
        if self.refuses:
            raise Permanent("Resource not accessible by integration")
        return self.defaults


class Clock:
    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        return self.at


def reader(files: Files, store: Store, clock: Clock | None = None) -> Policies:
    return Policies(files, store, clock or Clock())


def test_without_a_file_the_defaults_hold(store: Store):
    assert reader(Files(None), store).at(REPO, "main").policy == Policy.default()


def test_a_change_of_the_file_counts_at_once_and_the_owners_within_minutes(store: Store):
    files, clock = Files("label: one", "pause: true"), Clock()
    policies = reader(files, store, clock)
    assert policies.at(REPO, "main").policy == Policy(label="one", paused=True)
    files.text, files.defaults = "label: two", None
    assert policies.at(REPO, "main").policy == Policy(label="two", paused=True)
    assert files.asked == ["file", "organisation", "file"]
    clock.at += DEFAULTS_KEPT
    assert policies.at(REPO, "main").policy == Policy(label="two")


def test_a_broken_file_leaves_the_last_valid_one_in_force_whichever_process_read_it(store: Store):
    reader(Files("label: mine"), store).at(REPO, "main")
    in_force = reader(Files("label: mine\nlable: x", "pause: true"), store).at(REPO, "main")
    assert in_force.policy == Policy(label="mine")
    (fault,) = in_force.faults
    assert (fault.where, fault.line, fault.instead) == (".github/twogate.yml", 2, "last")
    assert fault.reason.startswith("`lable` is not a known key")
    with store.read() as tx:
        assert stored.last_valid(tx, REPO.id) == Policy(label="mine")
        assert stored.last_valid(tx, 2) is None


def test_where_nothing_was_ever_valid_the_owners_defaults_hold(store: Store):
    in_force = reader(Files("lable: x", "pause: true"), store).at(REPO, "main")
    assert in_force.policy == Policy(paused=True)
    assert [fault.instead for fault in in_force.faults] == ["defaults"]


def test_broken_defaults_are_left_out_and_named_beside_a_broken_file(store: Store):
    in_force = reader(Files("lable: x", "\npaws: true"), store).at(REPO, "main")
    assert in_force.policy == Policy()
    assert [(f.where, f.line, f.instead) for f in in_force.faults] == [
        ("acme/.github/.github/twogate.yml", 2, "nothing"),
        (".github/twogate.yml", 1, "defaults"),
    ]


def test_defaults_that_the_app_may_not_read_are_none(store: Store, caplog: pytest.LogCaptureFixture):
    files = Files("label: x", "pause: true")
    files.refuses = True
    assert reader(files, store).at(REPO, "main").policy == Policy(label="x")
    assert "the defaults of acme can't be read" in caplog.text


@pytest.mark.parametrize("refuses", [False, True])
def test_who_breaks_the_owners_defaults_loosens_no_repository(store: Store, refuses: bool):
    files, clock = Files("label: x", "approvers: {count: 2}"), Clock()
    policies = reader(files, store, clock)
    strict = policies.at(REPO, "main").policy
    assert strict.approvers.count == 2
    files.defaults, files.refuses = "approvers: {count: two}", refuses
    clock.at += DEFAULTS_KEPT
    files.text = "label: y"
    in_force = policies.at(REPO, "main")
    assert in_force.policy == strict.model_copy(update={"label": "y"})
    assert [fault.instead for fault in in_force.faults] == ([] if refuses else ["before"])
    files.defaults, files.refuses = None, False
    clock.at += DEFAULTS_KEPT
    assert policies.at(REPO, "main").policy == Policy(label="y")


def test_what_contradicts_the_owners_defaults_says_so(store: Store):
    in_force = reader(Files("sandbox: off", "network: model"), store).at(REPO, "main")
    (fault,) = in_force.faults
    assert fault.reason.startswith(
        "`network`, which the organisation's defaults set, can't be kept with `sandbox: off`"
    )


def test_a_file_that_is_no_settings_file_is_not_read(store: Store):
    (fault,) = reader(Files("#" * 20_000), store).at(REPO, "main").faults
    assert "characters" in fault.reason
