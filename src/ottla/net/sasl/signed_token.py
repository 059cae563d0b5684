"""Tokens that an OAuth provider signed: what they must say, and which of its keys must have signed them.

What must hold is Kafka's: a key of the set, `exp` and `iat`, times within the skew of clocks, a user, and the audience
and issuer of the settings. A token that names an audience is for nobody else, so one has to be expected then.
"""

from collections.abc import Mapping
from typing import Any

from ottla.base.frozen import frozen
from ottla.net.sasl.oauthbearer import TokenRefusedError
from ottla.net.sasl.server import Identity, user
from ottla.net.sasl.web_key import ALGORITHMS, KeySet
from ottla.net.sasl.web_token import WebToken, name_of, read_web_token, time_ms


class UnknownKeyError(TokenRefusedError):
    """A token whose key is not in the set: a newer set may have it."""


@frozen
class SignedRules:
    """The requirements of a token, from the `sasl.oauthbearer.*` settings."""

    principal_claim: str = "sub"
    scope_claim: str = "scope"
    audiences: frozenset[str] = frozenset()
    issuer: str | None = None
    clock_skew_ms: int = 30_000


def read_signed(token: str, keys: KeySet, rules: SignedRules, now_ms: int) -> Identity:
    """The bearer's identity. Raises `TokenRefusedError`, and `UnknownKeyError` for want of a key."""
    found = read_web_token(token)
    _check_signature(found, keys)
    claims = found.claims
    end_ms = _end_ms(claims, rules, now_ms)
    if rules.issuer is not None and claims.get("iss") != rules.issuer:
        raise TokenRefusedError("another issuer (iss)")
    _check_audience(claims.get("aud"), rules.audiences)
    _check_scope(claims.get(rules.scope_claim), rules.scope_claim)
    return Identity(user(name_of(claims, rules.principal_claim).strip()), expires_at_ms=end_ms)


def _check_signature(token: WebToken, keys: KeySet) -> None:
    algorithm, key_id = token.header.get("alg"), token.header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise TokenRefusedError(f"the algorithm {algorithm!r:.40} proves nothing here")
    if "crit" in token.header:
        raise TokenRefusedError("the token has critical headers, and none is understood here")
    if key_id is not None:
        if not isinstance(key_id, str):
            raise TokenRefusedError("the id of the key (kid) is no text")
        keys = tuple(key for key in keys if key.id == key_id)
    if not keys:
        raise UnknownKeyError(f"there is no key {key_id!r:.100}")
    if not any(key.verifies(algorithm, token.signed, token.signature) for key in keys):
        if key_id is None:
            raise UnknownKeyError("none of the keys signed this, and the token names none")
        raise TokenRefusedError("the signature is wrong")


def _end_ms(claims: Mapping[str, Any], rules: SignedRules, now_ms: int) -> int:
    end, made, begin = (time_ms(claims, name) for name in ("exp", "iat", "nbf"))
    if end is None or made is None:
        raise TokenRefusedError("the token does not say when it was made (iat) and ends (exp)")
    if now_ms - rules.clock_skew_ms >= end:
        raise TokenRefusedError("the token has ended (exp)")
    if begin is not None and begin > now_ms + rules.clock_skew_ms:
        raise TokenRefusedError("the token is not good yet (nbf)")
    if end < made or (begin is not None and end < begin):
        raise TokenRefusedError("the token ends before it begins")
    return end


def _check_audience(said: object, expected: frozenset[str]) -> None:
    if said is None and not expected:
        return
    named = said if isinstance(said, list) else [said]
    if not any(isinstance(name, str) and name in expected for name in named):
        raise TokenRefusedError(
            "another audience (aud)" if expected else "the token names an audience (aud), and none is expected here"
        )


def _check_scope(said: object, name: str) -> None:
    """A scope may be missing, and nothing here depends on it; but what looks like one has to be one, as in Kafka."""
    if not isinstance(said, (str, list)):
        return
    scopes = [said] if isinstance(said, str) else said
    if not all(isinstance(scope, str) and scope.strip() for scope in scopes) or len(set(scopes)) < len(scopes):
        raise TokenRefusedError(f"the claim {name} has an empty scope, or one twice")
