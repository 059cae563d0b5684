"""Tokens that a provider signed: whom they name, and every reason to refuse them."""

import base64
import hmac
import json

import pytest

from ottla.net.sasl.oauthbearer import TokenRefusedError
from ottla.net.sasl.server import Identity
from ottla.net.sasl.signed_token import SignedRules, UnknownKeyError, read_signed
from ottla.net.sasl.web_key import ALGORITHMS, parse_keys
from tests.bearer.signing_key import SigningKey, encoded, key_set, unsigned_part

NOW_MS = 1_000_000
GOOD: dict[str, object] = {"sub": "alice", "iat": 900, "exp": 1_600}
RSA = SigningKey("r", "RS256")
CURVE = SigningKey("c", "ES256")
KEYS = parse_keys(key_set(RSA, CURVE))
PLAIN_RULES = SignedRules()
STRICT = SignedRules(audiences=frozenset({"kafka", "other"}), issuer="https://provider")


def read(token: str, rules: SignedRules = PLAIN_RULES) -> Identity:
    return read_signed(token, KEYS, rules, NOW_MS)


def refusal(token: str, rules: SignedRules = PLAIN_RULES) -> str:
    with pytest.raises(TokenRefusedError) as refused:
        read(token, rules)
    assert refused.value.status == "invalid_token"
    return str(refused.value)


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_each_algorithm(algorithm: str) -> None:
    key = SigningKey("k", algorithm)
    keys = parse_keys(key_set(key))
    token = key.token(GOOD)
    assert read_signed(token, keys, PLAIN_RULES, NOW_MS) == Identity("User:alice", expires_at_ms=1_600_000)
    nameless = key.token(GOOD, kid=None)
    assert read_signed(nameless, keys, PLAIN_RULES, NOW_MS).principal == "User:alice"
    header, claims, signature = token.split(".")
    signed = base64.urlsafe_b64decode(signature + "==")
    for forged in (signed[:-1] + bytes([signed[-1] ^ 1]), signed[:-1], b"", signed + b"\0", bytes(len(signed))):
        with pytest.raises(TokenRefusedError, match="signature is wrong"):
            read_signed(f"{header}.{claims}.{encoded(forged)}", keys, PLAIN_RULES, NOW_MS)
    other = encoded(json.dumps(GOOD | {"sub": "admin"}).encode())
    with pytest.raises(TokenRefusedError, match="signature is wrong"):
        read_signed(f"{header}.{other}.{signature}", keys, PLAIN_RULES, NOW_MS)


def test_the_algorithm_is_the_one_of_the_key() -> None:
    for wrong in ("RS384", "PS256", "ES256", "ES512"):
        assert refusal(RSA.token(GOOD, alg=wrong)) == "the signature is wrong"
    for wrong in ("ES384", "RS256"):
        assert refusal(CURVE.token(GOOD, alg=wrong)) == "the signature is wrong"
    bound = parse_keys(json.dumps({"keys": [RSA.public(alg="PS256")]}).encode())
    with pytest.raises(TokenRefusedError, match="signature is wrong"):
        read_signed(RSA.token(GOOD), bound, PLAIN_RULES, NOW_MS)


def test_what_proves_nothing() -> None:
    for name in ("none", "None", "", "HS256", "HS512", "EdDSA", None, 5, ["RS256"]):
        assert "proves nothing" in refusal(RSA.token(GOOD, alg=name))
        assert "proves nothing" in refusal(unsigned_part({"alg": name, "kid": "r"}, GOOD) + ".")
    # The public key is known to everybody, so nothing may be signed with it.
    for secret in (key_set(RSA), json.dumps(RSA.public()).encode()):
        signed = unsigned_part({"alg": "HS256", "kid": "r"}, GOOD)
        assert "proves nothing" in refusal(f"{signed}.{encoded(hmac.digest(secret, signed.encode(), 'sha256'))}")


def test_keys_are_named() -> None:
    stranger = SigningKey("r", "RS256")
    assert refusal(stranger.token(GOOD)) == "the signature is wrong"
    for token in (SigningKey("new", "ES256").token(GOOD), SigningKey(None, "ES256").token(GOOD)):
        with pytest.raises(UnknownKeyError):
            read(token)
    with pytest.raises(UnknownKeyError):
        read_signed(RSA.token(GOOD), (), PLAIN_RULES, NOW_MS)
    assert "no text" in refusal(RSA.token(GOOD, kid=["r"]))
    # A key that comes with the token is nobody's.
    assert refusal(stranger.token(GOOD, jwk=stranger.public())) == "the signature is wrong"
    assert "critical" in refusal(RSA.token(GOOD, crit=["x"], x=1))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"exp": 970}, "has ended"),
        ({"exp": None}, "does not say"),
        ({"iat": None}, "does not say"),
        ({"exp": "1600"}, "no time"),
        ({"exp": True}, "no time"),
        ({"exp": 1e300}, "no time"),
        ({"nbf": 1_031}, "not good yet"),
        ({"iat": 1_601}, "before it begins"),
        ({"nbf": 1_020, "exp": 1_010}, "before it begins"),
        ({"sub": None}, "claim sub"),
        ({"sub": " "}, "claim sub"),
        ({"sub": "half \ud800"}, "claim sub"),
        ({"sub": 5}, "claim sub"),
        ({"aud": "kafka"}, "none is expected"),
        ({"aud": []}, "none is expected"),
        ({"scope": ""}, "scope"),
        ({"scope": ["a", "a"]}, "scope"),
        ({"scope": ["a", 5]}, "scope"),
    ],
)
def test_claims_that_are_refused(changes: dict[str, object], text: str) -> None:
    assert text in refusal(RSA.token(GOOD | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": 971},
        {"exp": 1_000.5, "iat": 999.5},
        {"nbf": 1_030},
        {"iat": 1_500},
        {"iat": 1_600},
        {"sub": " alice "},
        {"iss": "anybody"},
        {"scope": "read write"},
        {"scope": ["read", "write"]},
        {"scope": 5},
    ],
)
def test_claims_that_are_taken(changes: dict[str, object]) -> None:
    assert read(CURVE.token(GOOD | changes)).principal == "User:alice"


def test_audience_and_issuer() -> None:
    right = GOOD | {"aud": "kafka", "iss": "https://provider"}
    assert read(RSA.token(right), STRICT).principal == "User:alice"
    assert read(RSA.token(right | {"aud": ["else", "other"]}), STRICT).principal == "User:alice"
    for audience in (None, "Kafka", ["else"], [], 5, {"kafka": 1}, [["kafka"]]):
        assert "audience" in refusal(RSA.token(right | {"aud": audience}), STRICT)
    for issuer in (None, "https://provider/", ["https://provider"]):
        assert "issuer" in refusal(RSA.token(right | {"iss": issuer}), STRICT)


def test_other_claims_name_the_user() -> None:
    rules = SignedRules(principal_claim="azp", scope_claim="scp", clock_skew_ms=0)
    assert read(RSA.token(GOOD | {"azp": "bob", "scope": ""}), rules).principal == "User:bob"
    assert "scp" in refusal(RSA.token(GOOD | {"azp": "bob", "scp": ""}), rules)
    assert "has ended" in refusal(RSA.token(GOOD | {"azp": "bob", "exp": 1_000}), rules)
