"""Whatever comes as a token or as a set of keys: it is understood, or refused in the agreed way."""

import contextlib
import json

from hypothesis import given
from hypothesis import strategies as st

from ottla.net.sasl.oauthbearer import TokenRefusedError
from ottla.net.sasl.signed_token import SignedRules, read_signed
from ottla.net.sasl.web_key import parse_keys
from tests.bearer.signing_key import SigningKey, encoded, key_set

KEY = SigningKey("k", "ES256")
KEYS = parse_keys(key_set(KEY))
GOOD = KEY.token({"sub": "alice", "iat": 900, "exp": 1_600})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["ES256", "k"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
CLAIMS = st.dictionaries(st.sampled_from(["sub", "exp", "iat", "nbf", "aud", "iss", "scope"]), JSON)
HEADERS = st.dictionaries(st.sampled_from(["alg", "kid", "crit"]), JSON)


def read(token: str) -> str | None:
    with contextlib.suppress(TokenRefusedError):
        return read_signed(token, KEYS, SignedRules(), 1_000_000).principal
    return None


@given(
    parts=st.lists(
        st.text("abcXYZ019-_.=+/~", max_size=12)
        | st.binary(max_size=20).map(encoded)
        | JSON.map(lambda value: encoded(json.dumps(value).encode()))
        | st.sampled_from(GOOD.split(".")),
        max_size=4,
    )
)
def test_malformed_tokens(parts: list[str]) -> None:
    token = ".".join(parts)
    assert read(token) == ("User:alice" if token == GOOD else None)


@given(at=st.integers(0, len(GOOD) - 1), character=st.sampled_from("abcXYZ019-_.=+/"))
def test_a_token_with_another_character(at: int, character: str) -> None:
    changed = GOOD[:at] + character + GOOD[at + 1 :]
    # The last character of the signature has bits that stand for nothing.
    assert changed == GOOD or at == len(GOOD) - 1 or read(changed) is None


@given(claims=CLAIMS, header=HEADERS)
def test_signed_nonsense(claims: dict[str, object], header: dict[str, object]) -> None:
    found = read(KEY.token(claims, **header))
    assert found is None or found == f"User:{str(claims['sub']).strip()}"


@given(
    fields=st.dictionaries(st.sampled_from(["kty", "crv", "x", "y", "n", "e", "use", "key_ops", "alg", "kid"]), JSON),
    noise=st.binary(max_size=30),
)
def test_sets_of_keys(fields: dict[str, object], noise: bytes) -> None:
    for text in (noise, json.dumps({"keys": [KEY.public() | fields, fields]}).encode()):
        with contextlib.suppress(ValueError):
            parse_keys(text)
