"""Whether a token is GitHub's, meant for us, and of now."""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.web.oidc import KEYS_BYTES, KEYS_FRESH, KEYS_LONGEST, KEYS_PAUSE, LEEWAY, Keys, Verifier
from bot.web.refusal import Refused
from tests.standin.oidc import public_jwk
from tests.web.lab import served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.web.lab import Clock

ISSUER, AUDIENCE = "https://issuer.example", "https://bot.example"


@cache
def key_of(_name: str) -> rsa.RSAPrivateKey:
    """The same key for the same name: making one takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Issuer:
    """Signs tokens and serves its keys over HTTP; counts how often it is asked."""

    def __init__(self) -> None:
        self.keys: dict[str, rsa.RSAPrivateKey] = {}
        self.rotate("first")
        self.asked = 0
        self.away = False
        self.content: bytes | None = None

    def rotate(self, kid: str) -> None:
        self.kid = kid
        self.keys = {kid: key_of(kid)}

    def __call__(self, _environ: Any, start: Any) -> list[bytes]:
        self.asked += 1
        start("503 Away" if self.away else "200 OK", [("Content-Type", "application/json")])
        keys = [public_jwk(kid, key) for kid, key in self.keys.items()]
        return [json.dumps({"keys": keys}).encode() if self.content is None else self.content]

    def sign(self, now: float, **changes: Any) -> str:
        claims = {"iss": ISSUER, "aud": AUDIENCE, "iat": now, "nbf": now - 600, "exp": now + 300, "jti": "j"}
        run = dict.fromkeys(("repository_id", "run_id", "run_attempt", "actor_id"), "1")
        names = dict.fromkeys(("event_name", "ref", "workflow_ref"), "x")
        full = {k: v for k, v in {**claims, **run, **names, **changes}.items() if v is not None}
        return jwt.encode(full, self.keys[self.kid], algorithm="RS256", headers={"kid": self.kid})


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def address(issuer: Issuer) -> Iterator[str]:
    with served(lambda _address: issuer) as address:
        yield address


@pytest.fixture
def verifier(address: str, clock: Clock) -> Verifier:
    return Verifier(issuer=ISSUER, audience=AUDIENCE, keys=Keys(address, clock), now=clock)


def refusal(verifier: Verifier, token: str) -> Refused:
    with pytest.raises(Refused) as caught:
        verifier.verify(token)
    return caught.value


def test_a_good_token_says_which_run_it_is(verifier: Verifier, issuer: Issuer, clock: Clock) -> None:
    claims = verifier.verify(issuer.sign(clock(), run_id="77"))
    assert (claims.run_id, claims.jti) == (77, "j")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"iss": "https://other.example"}, "this bot trusts https://issuer.example"),
        ({"aud": "https://github.com/acme"}, "set the repository's variable TWOGATE_URL"),
        ({"aud": [AUDIENCE, "https://other.example"]}, "lacks a proper aud"),
        ({"jti": None}, "lacks a proper jti"),
        ({"jti": ""}, "lacks a proper jti"),
        ({"exp": None}, "lacks a proper exp"),
        ({"nbf": None, "iat": None}, "lacks a proper iat, nbf"),
        ({"repository_id": None}, "lacks a proper repository_id"),
        ({"run_id": "1; drop"}, "lacks a proper run_id"),
        ({"actor_id": None}, "lacks a proper actor_id"),
    ],
)
def test_what_a_token_must_say(
    verifier: Verifier, issuer: Issuer, clock: Clock, changes: dict[str, Any], words: str
) -> None:
    refused = refusal(verifier, issuer.sign(clock(), **changes))
    assert refused.status == 401
    assert words in refused.sentence


def test_a_token_holds_from_its_start_to_its_end_give_or_take_the_clocks(
    verifier: Verifier, issuer: Issuer, clock: Clock
) -> None:
    token = issuer.sign(clock(), nbf=clock() + 100, iat=clock() + 100)
    clock.at += 100 - LEEWAY
    verifier.verify(token)
    clock.at -= 1
    assert "not valid yet" in refusal(verifier, token).sentence
    clock.at += 1 + LEEWAY + 200 + LEEWAY
    assert "expired" in refusal(verifier, token).sentence
    clock.at -= 1
    verifier.verify(token)


def forgeries(issuer: Issuer, now: float) -> dict[str, str]:
    good = issuer.sign(now)
    head, body, signature = good.split(".")
    claims = jwt.decode(good, options={"verify_signature": False})
    stranger = key_of("stranger")
    public = issuer.keys[issuer.kid].public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    none_head = base64.urlsafe_b64encode(json.dumps({"alg": "none", "kid": issuer.kid}).encode()).rstrip(b"=").decode()
    hmac_head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": issuer.kid}).encode()).rstrip(b"=").decode()
    hmac = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    mac = base64.urlsafe_b64encode(hmac.sign(f"{hmac_head}.{body}".encode(), pem)).rstrip(b"=").decode()
    changed = base64.urlsafe_b64encode(json.dumps({**claims, "run_id": "2"}).encode()).rstrip(b"=").decode()
    return {
        "another key under the right name": jwt.encode(claims, stranger, "RS256", headers={"kid": issuer.kid}),
        "no algorithm": f"{none_head}.{body}.",
        "the public key as a shared secret": f"{hmac_head}.{body}.{mac}",
        "another algorithm": jwt.encode(claims, issuer.keys[issuer.kid], "RS512", headers={"kid": issuer.kid}),
        "changed claims": f"{head}.{changed}.{signature}",
        "no name of a key": jwt.encode(claims, issuer.keys[issuer.kid], "RS256"),
        "no token": "hello",
        "nothing": "",
    }


def test_forgeries_are_refused(verifier: Verifier, issuer: Issuer, clock: Clock) -> None:
    verifier.verify(issuer.sign(clock()))
    for name, token in forgeries(issuer, clock()).items():
        clock.at += KEYS_PAUSE
        assert refusal(verifier, token).status == 401, name


def test_a_new_key_is_fetched_when_a_token_names_it(verifier: Verifier, issuer: Issuer, clock: Clock) -> None:
    verifier.verify(issuer.sign(clock()))
    old = issuer.sign(clock())
    issuer.rotate("second")
    clock.at += KEYS_PAUSE
    verifier.verify(issuer.sign(clock()))
    assert issuer.asked == 2
    clock.at += KEYS_PAUSE
    assert "does not have" in refusal(verifier, old).sentence


def test_invented_keys_cause_one_fetch_in_a_while(verifier: Verifier, issuer: Issuer, clock: Clock) -> None:
    good = issuer.sign(clock())
    verifier.verify(good)
    for number in range(20):
        issuer.kid = f"invented-{number}"
        token = jwt.encode({}, issuer.keys["first"], "RS256", headers={"kid": issuer.kid})
        assert refusal(verifier, token).status == 503
    assert issuer.asked == 1
    verifier.verify(good)


def test_known_keys_serve_for_a_day_while_github_is_away(verifier: Verifier, issuer: Issuer, clock: Clock) -> None:
    verifier.verify(issuer.sign(clock()))
    issuer.away = True
    clock.at += KEYS_FRESH
    verifier.verify(issuer.sign(clock()))
    assert issuer.asked == 2
    clock.at += KEYS_LONGEST - KEYS_FRESH
    refused = refusal(verifier, issuer.sign(clock()))
    assert (refused.status, refused.retry_after) == (503, KEYS_PAUSE)
    issuer.away = False
    clock.at += KEYS_PAUSE
    verifier.verify(issuer.sign(clock()))


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"keys": 1}', b'{"keys": [1]}', b" " * (KEYS_BYTES + 1)])
def test_what_is_no_set_of_keys_is_not_used(verifier: Verifier, issuer: Issuer, clock: Clock, content: bytes) -> None:
    issuer.content = content
    assert refusal(verifier, issuer.sign(clock())).status == 503


def test_keys_of_other_kinds_are_passed_over(verifier: Verifier, issuer: Issuer, clock: Clock) -> None:
    good = public_jwk(issuer.kid, issuer.keys[issuer.kid])
    other = [{"kty": "oct", "kid": "a", "k": "AAAA"}, {"kty": "RSA", "kid": "b"}, {"kty": "XX", "kid": "c"}, {}]
    issuer.content = json.dumps({"keys": [*other, good]}).encode()
    verifier.verify(issuer.sign(clock()))
