"""The OIDC issuer: tokens verify by its JWKS, and each way to bend one does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from tests.standin import oidc
from tests.standin.entities import WorkflowRun
from tests.standin.parts import Parts, serving

AUDIENCE = "https://bot.example"


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    with serving(tmp_path, oidc.blueprint) as running:
        yield running


@pytest.fixture
def run(parts: Parts) -> WorkflowRun:
    path, actor = ".github/workflows/twogate.yml", parts.installation.app.bot
    made = WorkflowRun(77, parts.repo, 1, path, "Twogate", "t", "workflow_dispatch", "main", "a" * 40, actor, 0, 0)
    parts.repo.runs[made.id] = made
    return made


def verify(parts: Parts, token: str, audience: str = AUDIENCE) -> dict[str, Any]:
    found = parts.http.get("/_oidc/.well-known/openid-configuration").json()
    key = jwt.PyJWKClient(found["jwks_uri"]).get_signing_key_from_jwt(token)
    claims: dict[str, Any] = jwt.decode(token, key, algorithms=["RS256"], audience=audience, issuer=found["issuer"])
    return claims


def mint(parts: Parts, run: WorkflowRun, **asked: Any) -> str:
    body = {"repository_id": parts.repo.id, "run_id": run.id, "audience": AUDIENCE, **asked}
    value: str = parts.http.post("/_control/oidc/mint", json=body).json()["value"]
    return value


def test_a_token_says_which_run_it_is(parts: Parts, run: WorkflowRun) -> None:
    claims = verify(parts, mint(parts, run))
    assert claims["repository_id"] == str(parts.repo.id)
    assert (claims["run_id"], claims["run_attempt"], claims["event_name"]) == ("77", "1", "workflow_dispatch")
    assert claims["actor_id"] == str(parts.installation.app.bot.id)
    assert claims["workflow_ref"] == "acme/shop/.github/workflows/twogate.yml@refs/heads/main"
    assert claims["sub"] == f"repo:acme@{parts.repo.owner.id}/shop@{parts.repo.id}:ref:refs/heads/main"
    assert claims["exp"] - claims["iat"] == oidc.LIFE_SECONDS


def test_a_request_token_is_needed_and_ends(parts: Parts, run: WorkflowRun) -> None:
    issuer = parts.hub.service(oidc.Issuer)
    request_token = issuer.grant(oidc.run_claims(parts.repo, run, 1, run.actor))
    headers = {"Authorization": f"Bearer {request_token}"}
    url = f"/_oidc/token?api-version=2.0&audience={AUDIENCE}"
    first, second = (verify(parts, parts.http.get(url, headers=headers).json()["value"]) for _ in range(2))
    assert first["jti"] != second["jti"]
    assert parts.http.get(url).status_code == 401
    issuer.revoke(request_token)
    assert parts.http.get(url, headers=headers).status_code == 401


def test_the_default_audience_is_the_owner(parts: Parts, run: WorkflowRun) -> None:
    token = mint(parts, run, audience=None)
    assert verify(parts, token, f"{parts.hub.base_url}/acme")["aud"] == f"{parts.hub.base_url}/acme"


def test_claims_can_be_altered_and_removed(parts: Parts, run: WorkflowRun) -> None:
    claims = verify(parts, mint(parts, run, claims={"run_attempt": "2", "ref": None}))
    assert claims["run_attempt"] == "2"
    assert "ref" not in claims
    parts.http.post("/_control/oidc/overrides", json={"actor_id": "1"})
    assert verify(parts, mint(parts, run))["actor_id"] == "1"


def test_bad_tokens_are_bad(parts: Parts, run: WorkflowRun) -> None:
    now = int(parts.hub.clock())
    with pytest.raises(jwt.ExpiredSignatureError):
        verify(parts, mint(parts, run, claims={"iat": now - 400, "exp": now - 100}))
    with pytest.raises(jwt.InvalidSignatureError):
        verify(parts, mint(parts, run, forged=True))
    old = mint(parts, run)
    parts.http.post("/_control/oidc/rotate")
    with pytest.raises(jwt.PyJWKClientError):
        verify(parts, old)
    assert verify(parts, mint(parts, run))
