"""Whoever knocks at the hooks without the secret learns nothing, not even by how much work an answer takes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bot.crypto import HookSecrets
from bot.lifecycle.plan import Repo
from bot.lifecycle.policy import parse_policy
from bot.store import hooks, policies
from bot.store.engine import open_store
from bot.store.hooks import Hook
from bot.web import hooks as pages
from bot.web.app import create_app
from bot.web.hook_proof import proven
from tests.web.looking import Keyring
from tests.web.test_dashboard import counted

if TYPE_CHECKING:
    import pytest


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
