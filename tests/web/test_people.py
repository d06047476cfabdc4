"""Who asks and what they may see: as GitHub says to their token, believed for a minute."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from bot.lifecycle.permission import Permission
from bot.web import people as people_module
from bot.web.people import BELIEVED_SECONDS, MOST_AT_ONCE, MOST_STRANGERS, Entrance, Onlooker, People
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.web.lab import Lab


@pytest.fixture
def people(lab: Lab) -> Iterator[People]:
    yield People(lab.store, lab.gateway.of_people(), lab.clock)
    lab.github.standin.control.clear_faults()


def came(lab: Lab, people: People, login: str, role: str = "none") -> Onlooker:
    control = lab.github.standin.control
    made = control.create_user(login)
    control.set_role("Acme/shop", login, role)
    onlooker = people.of_token(made["token"])
    assert (onlooker.person.id, onlooker.person.login, onlooker.by) == (made["id"], login, Entrance.API)
    assert made["token"] not in repr(onlooker)
    return onlooker


def refusal(deed: Any, *args: Any) -> Refused:
    with pytest.raises(Refused) as found:
        deed(*args)
    return found.value


def test_what_github_hides_is_not_there(lab: Lab, people: People) -> None:
    shop = lab.github.repo.id
    wes, stranger = came(lab, people, "wes", "write"), came(lab, people, "stranger")
    assert people.sees(wes) == {}
    lab.plan()
    assert people.sees(wes) == {shop: Permission.WRITE}
    assert people.sees(stranger) == {}
    assert people.require(wes, shop, Permission.WRITE) is Permission.WRITE
    assert refusal(people.require, wes, shop, Permission.ADMIN).status == 403
    assert refusal(people.require, stranger, shop, Permission.ADMIN).status == 404
    assert refusal(people.require, wes, 1).status == 404


def test_githubs_word_is_believed_for_a_minute(lab: Lab, people: People) -> None:
    control, shop = lab.github.standin.control, lab.github.repo.id
    lab.plan()
    vic = came(lab, people, "vic", "write")
    start = len(control.log())
    for _ in range(3):
        people.require(people.of_token(vic.token), shop)
    assert [entry["operation"] for entry in control.log(start)] == ["graphql/Visible"]
    control.set_role("Acme/shop", "vic", "none")
    lab.clock.at += BELIEVED_SECONDS
    assert people.sees(vic) == {}
    del lab.github.standin.hub.tokens[vic.token]
    lab.clock.at += BELIEVED_SECONDS
    start = len(control.log())
    for _ in range(3):
        assert refusal(people.sees, vic).status == 401, "as of a session whose person has revoked the App"
        assert refusal(people.of_token, vic.token).status == 401
    assert len(control.log(start)) == 1, "GitHub shuts out who shows it bad tokens again and again"


def test_a_token_that_is_none_never_reaches_github(lab: Lab, people: People) -> None:
    start = len(lab.github.standin.control.log())
    for token in ("", "a b", "a\r\nX-Evil: 1", "ü" * 40, "x" * 3_000):
        assert refusal(people.of_token, token).status == 401
    assert lab.github.standin.control.log(start) == []


def test_trouble_with_github_asks_to_come_back(lab: Lab, people: People) -> None:
    lab.plan()
    ron = came(lab, people, "ron", "read")
    control = lab.github.standin.control
    control.add_fault("error")
    trouble = refusal(people.sees, ron)
    assert (trouble.status, trouble.retry_after) == (503, people_module.TROUBLE_SECONDS)
    control.add_fault("secondary", status=403, seconds=90)
    limited = refusal(people.of_token, "ghp_new")
    assert limited.status == 503
    assert limited.retry_after in {90, 91}
    assert people.sees(ron)


def test_no_more_is_remembered_than_said(lab: Lab, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_module, "MOST_REMEMBERED", 1)
    first, second = came(lab, people, "one"), came(lab, people, "two")
    start = len(lab.github.standin.control.log())
    for onlooker in (second, first, second):
        people.of_token(onlooker.token)
    assert [entry["operation"] for entry in lab.github.standin.control.log(start)] == ["users/get-authenticated"] * 2


def test_many_tokens_that_are_none_are_not_all_shown_to_github(lab: Lab, people: People) -> None:
    lab.plan()
    una = came(lab, people, "una", "read")
    control = lab.github.standin.control
    lab.clock.at += BELIEVED_SECONDS
    start = len(control.log())
    for number in (0, *range(MOST_STRANGERS)):
        assert refusal(people.of_token, f"ghp_stranger{number}").status == 401
    crowded = refusal(people.of_token, "ghp_another")
    assert (crowded.status, crowded.retry_after) == (503, BELIEVED_SECONDS)
    assert len(control.log(start)) == MOST_STRANGERS
    assert people.of_token(una.token) == una, "a crowd of strangers shuts out nobody who was known before"
    lab.clock.at += BELIEVED_SECONDS
    assert people.of_token(una.token) == una


def test_while_github_is_slow_one_more_is_asked_to_come_back(
    lab: Lab, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people_module, "PATIENCE_SECONDS", 0.01)
    lab.plan()
    ida = came(lab, people, "ida", "read")
    with ExitStack() as waiting:
        for _ in range(MOST_AT_ONCE):
            waiting.enter_context(people.answering(ida.token))
        assert refusal(people.sees, ida).status == 503
    assert people.sees(ida)
