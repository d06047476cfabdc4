"""Whoever knocks at the hooks without the secret learns nothing, not even by how much work an answer takes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from bot.crypto import HookSecrets
from bot.lifecycle.plan import Repo
from bot.lifecycle.policy import parse_policy
from bot.store import deliveries, hooks, policies, retention
from bot.store.engine import open_store
from bot.store.hooks import Hook
from bot.web import hooks as pages
from bot.web.app import create_app
from bot.web.hook_proof import proven, signed
from tests.web.looking import Keyring
from tests.web.test_dashboard import counted

if TYPE_CHECKING:
    from werkzeug.test import TestResponse


class Watched(HookSecrets):
    """Counts what it is asked for."""

    def __init__(self, work: Counter[str]) -> None:
        super().__init__(Keyring())
        self.work = work

    def of(self, repository_id: int, generation: int) -> str:
        self.work["derived"] += 1
        return super().of(repository_id, generation)

    def kept(self, cipher: bytes) -> str | None:
        self.work["decrypted"] += 1
        return super().kept(cipher)


def test_a_repository_that_is_not_there_costs_as_much_work_as_one_that_is(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, work = open_store(sqlite_url, now=lambda: 1.0), Counter[str]()
    secrets = Watched(work)
    own = secrets.keep("whsec_b2Ygb25lJ3Mgb3du")
    with store.write() as tx:
        for number, (name, theirs) in enumerate((("plain", None), ("own", own)), 1):
            repo = Repo(id=number, owner="acme", name=name, installation_id=7)
            hooks.open_hook(tx, Hook(repo, theirs, 1))
            policies.keep(tx, number, parse_policy("hooks: {jam: true}"))
    monkeypatch.setattr(pages, "proven", lambda *asked: (work.update(["compared"]), proven(*asked))[1])
    http = create_app(pages.blueprint(store, secrets, lambda: 1.0)).test_client()
    found = {}
    for name in ("plain", "own", "nobody"):
        work.clear()
        with counted(store) as statements:
            answer = http.post(f"/hooks/jam/acme/{name}", data=b"{}", headers={"Authorization": "Bearer guess"})
        found[name] = (answer.status_code, answer.data, list(answer.headers), dict(work), len(statements))
    assert found["plain"] == found["own"] == found["nobody"]
    assert found["nobody"][3] == {"derived": 1, "decrypted": 1, "compared": 2}
    store.dispose()


@pytest.mark.parametrize(
    ("header", "secret"),
    [
        ("X-Hub-Signature", None),
        ("Linear-Signature", "lin_wh_0123456789abcdefABCDEF"),
        ("Sentry-Hook-Signature", "0123456789abcdef0123456789abcdef"),
    ],
)
def test_what_is_signed_without_a_time_makes_one_issue_however_late_it_comes_again(
    sqlite_url: str, header: str, secret: str | None
) -> None:
    now = [1_000.0]
    store, secrets = open_store(sqlite_url, now=lambda: now[0]), HookSecrets(Keyring())
    repo = Repo(id=7, owner="acme", name="shop", installation_id=7)
    with store.write() as tx:
        hooks.open_hook(tx, Hook(repo, secrets.keep(secret) if secret else None, 1))
        policies.keep(tx, 7, parse_policy("hooks: {issue: true}"))
    http = create_app(pages.blueprint(store, secrets, lambda: now[0])).test_client()
    body = b'{"title": "Slow", "body": "It is."}'
    digest = signed(secret or secrets.of(7, 1), body)

    def send(signature: str) -> TestResponse:
        return http.post("/hooks/issue/acme/shop", data=body, headers={header: signature})

    right = digest if secret is None else digest.removeprefix("sha256=")
    assert [send(right[:-1]).status_code, send("").status_code] == [401, 401]
    assert [send(right).json, send(right).json] == [{"status": "stored"}, {"status": "seen"}]
    with store.write() as tx:
        came = deliveries.next_open(tx)
        assert came is not None
        deliveries.finish(tx, came, "#1")
    now[0] += 3_000 * retention.DAY
    with store.write() as tx:
        retention.forget(tx)
    assert send(right).json == {"status": "seen"}
    store.dispose()
