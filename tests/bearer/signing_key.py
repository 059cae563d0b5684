"""A provider's key: it signs tokens by each algorithm, and shows its public half as JSON."""

import base64
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512, HashAlgorithm

_HASHES: dict[str, type[SHA256 | SHA384 | SHA512]] = {"256": SHA256, "384": SHA384, "512": SHA512}
_CURVES = {"ES256": ec.SECP256R1, "ES384": ec.SECP384R1, "ES512": ec.SECP521R1}
_CURVE_NAMES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}


def encoded(data: bytes) -> str:
    """Base64 as tokens have it."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unsigned_part(header: object, claims: object) -> str:
    """What is signed of a token."""
    return f"{encoded(json.dumps(header).encode())}.{encoded(json.dumps(claims).encode())}"


class SigningKey:
    """A private key for one algorithm."""

    def __init__(self, key_id: str | None, algorithm: str = "ES256") -> None:
        self.id = key_id
        self.algorithm = algorithm
        self._hash: HashAlgorithm = _HASHES[algorithm[2:]]()
        self._rsa = None if algorithm in _CURVES else rsa.generate_private_key(65_537, 2_048)
        self._curve = ec.generate_private_key(_CURVES[algorithm]()) if algorithm in _CURVES else None

    def token(self, claims: object, **header: object) -> str:
        """A token with these claims; the header may be changed."""
        head = {"alg": self.algorithm, "typ": "JWT"} | ({} if self.id is None else {"kid": self.id}) | header
        signed = unsigned_part(head, claims)
        return f"{signed}.{encoded(self.sign(signed.encode()))}"

    def sign(self, data: bytes) -> bytes:
        """The signature of this."""
        if self._rsa is not None:
            if self.algorithm.startswith("PS"):
                return self._rsa.sign(data, padding.PSS(padding.MGF1(self._hash), self._hash.digest_size), self._hash)
            return self._rsa.sign(data, padding.PKCS1v15(), self._hash)
        assert self._curve is not None
        size = (self._curve.curve.key_size + 7) // 8
        r, s = decode_dss_signature(self._curve.sign(data, ec.ECDSA(self._hash)))
        return r.to_bytes(size, "big") + s.to_bytes(size, "big")

    def public(self, **changes: object) -> dict[str, Any]:
        """The public half, as a set of keys lists it."""
        found: dict[str, Any] = {"use": "sig"} if self.id is None else {"use": "sig", "kid": self.id}
        if self._rsa is not None:
            numbers = self._rsa.public_key().public_numbers()
            found |= {"kty": "RSA", "n": _number(numbers.n), "e": _number(numbers.e)}
        else:
            assert self._curve is not None
            point = self._curve.public_key().public_numbers()
            size = (self._curve.curve.key_size + 7) // 8
            found |= {
                "kty": "EC",
                "crv": _CURVE_NAMES[self.algorithm],
                "x": encoded(point.x.to_bytes(size, "big")),
                "y": encoded(point.y.to_bytes(size, "big")),
            }
        return found | changes


def key_set(*keys: SigningKey) -> bytes:
    """The public halves of keys."""
    return json.dumps({"keys": [key.public() for key in keys]}).encode()


def _number(value: int) -> str:
    return encoded(value.to_bytes((value.bit_length() + 7) // 8, "big"))
