"""The OIDC issuer of the stand-in's Actions: discovery, JWKS, and the endpoint where a run fetches its token.

The issuer is ``<stand-in>/_oidc``. A run that may have tokens gets a request token (``grant``), bound to the claims of
its attempt and void when the attempt ends (``revoke``). What tests bend: ``overrides`` alters every later token, and
``mint`` makes any token at all, also through ``POST /_control/oidc/mint`` and ``/_control/oidc/rotate``.
"""

import base64
import uuid
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import Blueprint, Response, jsonify, request

from tests.standin.model import Hub, Repo, User, WorkflowRun

LIFE_SECONDS = 300
"""How long a token is valid after it was issued, as in GitHub's documented sample."""
EARLY_SECONDS = 600
"""How far ``nbf`` lies before ``iat`` in the same sample."""
PATH = "/_oidc"


class Issuer:
    """Keys and grants; one a hub, by ``hub.service(Issuer)``."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.overrides: dict[str, Any] = {}
        self.minted: list[dict[str, Any]] = []
        self._grants: dict[str, dict[str, Any]] = {}
        self._keys: dict[str, rsa.RSAPrivateKey] = {}
        self.rotate()

    @property
    def url(self) -> str:
        """The value of ``iss``."""
        return self.hub.base_url + PATH

    def rotate(self) -> str:
        """Sign with a new key from now on and forget the old ones; returns its ``kid``."""
        with self.hub.lock:
            self.kid = f"key-{self.hub.random.getrandbits(32):08x}"
            self._keys = {self.kid: rsa.generate_private_key(public_exponent=65537, key_size=2048)}
            return self.kid

    def grant(self, claims: dict[str, Any]) -> str:
        """A request token with which one attempt of a run may fetch tokens that carry ``claims``."""
        with self.hub.lock:
            token = f"{self.hub.random.getrandbits(160):040x}"
            self._grants[token] = claims
            return token

    def revoke(self, request_token: str | None) -> None:
        """End a grant; the attempt is over."""
        self._grants.pop(request_token or "", None)

    def granted(self, request_token: str | None) -> dict[str, Any] | None:
        """The claims behind a request token, or None."""
        return self._grants.get(request_token or "")

    def mint(
        self,
        claims: dict[str, Any],
        audience: str | None,
        changes: dict[str, Any] | None = None,
        key: rsa.RSAPrivateKey | None = None,
    ) -> str:
        """A signed token. ``changes`` replace claims, None removes one; a foreign ``key`` makes a forgery."""
        with self.hub.lock:
            now = int(self.hub.clock())
            times = {"iat": now, "nbf": now - EARLY_SECONDS, "exp": now + LIFE_SECONDS}
            fresh = {"iss": self.url, "aud": audience or f"{self.hub.base_url}/{claims['repository_owner']}"}
            full = {**claims, **fresh, **times, "jti": str(uuid.UUID(int=self.hub.random.getrandbits(128)))}
            full.update(self.overrides | (changes or {}))
            full = {name: value for name, value in full.items() if value is not None}
            self.minted.append(full)
            return jwt.encode(full, key or self._keys[self.kid], algorithm="RS256", headers={"kid": self.kid})

    def jwks(self) -> dict[str, Any]:
        """The public keys, as ``jwks_uri`` serves them."""
        return {"keys": [public_jwk(kid, key) for kid, key in self._keys.items()]}


def public_jwk(kid: str, key: rsa.RSAPrivateKey) -> dict[str, str]:
    """The public half of a key as a JSON Web Key."""
    numbers = key.public_key().public_numbers()
    return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": _b64(numbers.n), "e": _b64(numbers.e)}


def _b64(number: int) -> str:
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def run_claims(repo: Repo, run: WorkflowRun, attempt: int, actor: User) -> dict[str, Any]:
    """What GitHub says of a run in its token; every value is text, numbers included."""
    ref = f"refs/heads/{run.head_branch}"
    workflow = f"{repo.full_name}/{run.path}@{ref}"
    immutable = f"{repo.owner.login}@{repo.owner.id}/{repo.name}@{repo.id}"
    return {
        "sub": f"repo:{immutable}:ref:{ref}",
        "repository": repo.full_name,
        "repository_id": str(repo.id),
        "repository_owner": repo.owner.login,
        "repository_owner_id": str(repo.owner.id),
        "repository_visibility": "private" if repo.private else "public",
        "run_id": str(run.id),
        "run_number": str(run.number),
        "run_attempt": str(attempt),
        "workflow": run.name,
        "workflow_ref": workflow,
        "workflow_sha": run.head_sha,
        "job_workflow_ref": workflow,
        "job_workflow_sha": run.head_sha,
        "event_name": run.event,
        "ref": ref,
        "ref_type": "branch",
        "ref_protected": "false",
        "head_ref": "",
        "base_ref": "",
        "sha": run.head_sha,
        "actor": actor.login,
        "actor_id": str(actor.id),
        "runner_environment": "self-hosted",
    }


def blueprint(hub: Hub) -> Blueprint:
    """The issuer's routes and its control."""
    routes = Blueprint("oidc", __name__)
    issuer = hub.service(Issuer)

    @routes.get(f"{PATH}/.well-known/openid-configuration")
    def discovery() -> Response:
        return jsonify(
            issuer=issuer.url,
            jwks_uri=f"{issuer.url}/.well-known/jwks",
            id_token_signing_alg_values_supported=["RS256"],
            response_types_supported=["id_token"],
            subject_types_supported=["public", "pairwise"],
        )

    @routes.get(f"{PATH}/.well-known/jwks")
    def jwks() -> Response:
        return jsonify(issuer.jwks())

    @routes.get(f"{PATH}/token")
    def token() -> tuple[Response, int]:
        sent = request.authorization
        claims = issuer.granted(sent.token if sent is not None and sent.type == "bearer" else None)
        if claims is None:
            return jsonify(message="The request token is unknown or its job has ended."), 401
        value = issuer.mint(claims, request.args.get("audience"))
        return jsonify(count=len(value), value=value), 200

    @routes.post("/_control/oidc/mint")
    def control_mint() -> Response:
        asked = request.get_json()
        repo = hub.repos[asked["repository_id"]]
        run = repo.runs[asked["run_id"]]
        claims = run_claims(repo, run, asked.get("run_attempt", run.attempt), run.actor)
        forged = rsa.generate_private_key(public_exponent=65537, key_size=2048) if asked.get("forged") else None
        return jsonify(value=issuer.mint(claims, asked.get("audience"), asked.get("claims"), forged))

    @routes.post("/_control/oidc/overrides")
    def control_overrides() -> Response:
        issuer.overrides = request.get_json()
        return jsonify(issuer.overrides)

    @routes.post("/_control/oidc/rotate")
    def control_rotate() -> Response:
        return jsonify(kid=issuer.rotate())

    return routes
