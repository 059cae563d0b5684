"""Tokens that nobody signed: what they must say, and when they are believed."""

import base64
import json

import pytest

from ottla.net.sasl.oauthbearer import TokenRefusedError
from ottla.net.sasl.server import Identity
from ottla.net.sasl.unsecured_token import UnsecuredRules, unsecured_reader

NOW_MS = 1_000_000
GOOD = {"sub": "alice", "iat": 1_000, "exp": 1_001}


def token(claims: object, header: object = None, signature: str = "") -> str:
    parts = ({"alg": "none"} if header is None else header, claims)
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return f"{encoded[0]}.{encoded[1]}.{signature}"


def read(text: str, **options: str) -> Identity:
    rules = UnsecuredRules.of({f"unsecuredValidator{name}": value for name, value in options.items()})
    return unsecured_reader(rules, lambda: NOW_MS)(text)


def test_a_good_token() -> None:
    assert read(token(GOOD)) == Identity("User:alice", expires_at_ms=1_001_000)
    assert read(token(GOOD | {"iat": 1_000.000_9})).principal == "User:alice"
    assert read(token(GOOD | {"user": "bob"}), PrincipalClaimName="user").principal == "User:bob"
    assert read(token(GOOD | {"scope": "read write"}), RequiredScope="write").principal == "User:alice"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.b",
        "a.b.c",
        token(GOOD, {"alg": "RS256"}),
        token(GOOD, signature="x"),
        token([]),
        token({"exp": 1_001}),
        token({"sub": " ", "exp": 1_001}),
        token({"sub": "half \ud800", "exp": 1_001}),
        token({"sub": "alice"}),
        token(GOOD | {"exp": 1_000}),
        token(GOOD | {"exp": "soon"}),
        token(GOOD | {"exp": True}),
        token(GOOD | {"iat": 1_000.1}),
        token(GOOD | {"exp": 1e300}),
    ],
)
def test_a_bad_token(text: str) -> None:
    with pytest.raises(TokenRefusedError) as refused:
        read(text)
    assert refused.value.status == "invalid_token"


def test_clocks_may_differ() -> None:
    late = token({"sub": "alice", "iat": 1_002, "exp": 1_003})
    with pytest.raises(TokenRefusedError, match="future"):
        read(late)
    assert read(late, AllowableClockSkewMs="2000").principal == "User:alice"


def test_a_scope_that_is_missing_is_named() -> None:
    with pytest.raises(TokenRefusedError) as refused:
        read(token(GOOD | {"scope": ["read"]}), RequiredScope="write read")
    assert (refused.value.status, refused.value.scope) == ("insufficient_scope", "read write")
