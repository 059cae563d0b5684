"""Public keys in JSON (RFC 7517), and the signatures that they check (RFC 7518). Needs the package `cryptography`.

What is signed with a secret that both sides know (HS256), or not at all (none), is nothing here: a public key would
pass as that secret.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512, HashAlgorithm

from ottla.base.frozen import frozen
from ottla.net.sasl.web_token import decode_base64url

_PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey

_HASHES: Final[dict[str, Callable[[], HashAlgorithm]]] = {"256": SHA256, "384": SHA384, "512": SHA512}
_CURVES: Final[dict[str, Callable[[], ec.EllipticCurve]]] = {
    "P-256": ec.SECP256R1,
    "P-384": ec.SECP384R1,
    "P-521": ec.SECP521R1,
}
_CURVE_OF: Final = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}
_RSA_BITS: Final = range(2_048, 16_385)
"""Smaller keys can be broken; larger ones would keep the broker busy."""
ALGORITHMS: Final = frozenset(f"{kind}{size}" for kind in ("RS", "PS", "ES") for size in _HASHES)


@frozen
class WebKey:
    """One public key of a provider."""

    key: _PublicKey
    id: str | None
    algorithm: str | None
    """The only one that it is for; None: any that suits."""

    def verifies(self, algorithm: str, signed: bytes, signature: bytes) -> bool:
        """Whether the owner of the key signed this by the algorithm, one of `ALGORITHMS`."""
        if self.algorithm not in (None, algorithm):
            return False
        try:
            if isinstance(self.key, rsa.RSAPublicKey):
                return _verify_rsa(self.key, algorithm, signed, signature)
            return _verify_curve(self.key, algorithm, signed, signature)
        except InvalidSignature:
            return False


KeySet: TypeAlias = tuple[WebKey, ...]


def parse_keys(text: bytes) -> KeySet:
    """The keys of a set that tokens can be checked with. Raises `ValueError` if there is none."""
    try:
        said = json.loads(text)
    except RecursionError:
        raise ValueError("the set of keys is nested too deeply") from None
    listed = said.get("keys") if isinstance(said, dict) else None
    if not isinstance(listed, list):
        raise ValueError("no set of keys: there is no list `keys`")
    found = tuple(key for each in listed if isinstance(each, dict) and (key := _parsed(each)) is not None)
    if not found:
        raise ValueError(f"none of the {len(listed)} keys is an RSA or EC key for signatures that is used here")
    return found


def _parsed(said: Mapping[str, Any]) -> WebKey | None:
    """None for a key of another kind or use, which a set may have as well."""
    key_id, algorithm = said.get("kid"), said.get("alg")
    try:
        if said.get("use", "sig") != "sig" or "verify" not in said.get("key_ops", ("verify",)):
            return None
        if algorithm is not None and algorithm not in ALGORITHMS:
            return None
        key = _public_key(said)
    except (KeyError, TypeError, ValueError):
        return None
    return None if key is None else WebKey(key, key_id if isinstance(key_id, str) else None, algorithm)


def _public_key(said: Mapping[str, Any]) -> _PublicKey | None:
    if said["kty"] == "RSA":
        modulus = _number(said["n"])
        if modulus.bit_length() not in _RSA_BITS:
            return None
        return rsa.RSAPublicNumbers(_number(said["e"]), modulus).public_key()
    if said["kty"] == "EC":
        curve = _CURVES[said["crv"]]()
        return ec.EllipticCurvePublicNumbers(_number(said["x"]), _number(said["y"]), curve).public_key()
    return None


def _number(text: str) -> int:
    return int.from_bytes(decode_base64url(text), "big")


def _verify_rsa(key: rsa.RSAPublicKey, algorithm: str, signed: bytes, signature: bytes) -> bool:
    made = _HASHES[algorithm[2:]]()
    if algorithm.startswith("RS"):
        key.verify(signature, signed, padding.PKCS1v15(), made)
    elif algorithm.startswith("PS"):
        key.verify(signature, signed, padding.PSS(padding.MGF1(made), made.digest_size), made)
    else:
        return False
    return True


def _verify_curve(key: ec.EllipticCurvePublicKey, algorithm: str, signed: bytes, signature: bytes) -> bool:
    size = (key.curve.key_size + 7) // 8
    if _CURVE_OF.get(algorithm) != key.curve.name or len(signature) != 2 * size:
        return False
    r, s = (int.from_bytes(half, "big") for half in (signature[:size], signature[size:]))
    key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(_HASHES[algorithm[2:]]()))
    return True
