"""Sets of keys: which of them are used, and which are not."""

import json

import pytest

from ottla.net.sasl.web_key import parse_keys
from tests.bearer.signing_key import SigningKey

RSA = SigningKey("r", "RS256")
CURVE = SigningKey("c", "ES384")


def test_keys_of_other_kinds_are_left_out() -> None:
    listed = [
        RSA.public(),
        CURVE.public(use=None) | {"key_ops": ["verify"]},
        RSA.public(kid="for-secrets", use="enc"),
        RSA.public(kid="for-signing", key_ops=["sign"]),
        RSA.public(kid="odd", alg="RSA-OAEP"),
        RSA.public(kid="small", n="AQAB"),
        RSA.public(kid="no-number", n=5),
        RSA.public(kid="not-base64", n="a+b/"),
        CURVE.public(kid="elsewhere", x="AAAA"),
        CURVE.public(kid="unknown-curve", crv="secp256k1"),
        CURVE.public(kid="unhashable", crv=[], alg=[]),
        {"kty": "oct", "kid": "secret", "k": "AAAA"},
        {"kty": "OKP", "crv": "Ed25519", "x": "AAAA"},
        {},
        "text",
    ]
    listed[1] = {name: value for name, value in dict(listed[1]).items() if name != "use"}
    assert [key.id for key in parse_keys(json.dumps({"keys": listed}).encode())] == ["r", "c"]


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"keys":{}}', b'{"keys":[]}', b"\xff", b"[" * 100_000])
def test_what_is_no_set_of_keys(text: bytes) -> None:
    with pytest.raises(ValueError):
        parse_keys(text)
