"""Tokens without a signature (RFC 7519 section 6), which prove nothing: for trials, and only where nothing else is set.

What must hold is Kafka's: `alg` none, an empty signature, a user, an end that has not passed, a begin that has.
"""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.net.sasl.oauthbearer import ReadToken, TokenRefusedError
from ottla.net.sasl.server import Identity, user

_PREFIX: Final = "unsecuredValidator"
_PARTS: Final = 3


@frozen
class UnsecuredRules:
    """What a token must have, from the options of the JAAS entry."""

    principal_claim: str = "sub"
    scope_claim: str = "scope"
    required_scope: frozenset[str] = frozenset()
    clock_skew_ms: int = 0

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "UnsecuredRules":
        """As `unsecuredValidatorPrincipalClaimName` and its siblings say; `ValueError` for a skew that is no number.

        >>> UnsecuredRules.of({"unsecuredValidatorRequiredScope": "read write"}).required_scope == {"read", "write"}
        True
        """
        skew = options.get(f"{_PREFIX}AllowableClockSkewMs", "0")
        if not skew.isascii() or not skew.isdigit():
            raise ValueError(f"{_PREFIX}AllowableClockSkewMs is no number of milliseconds: {skew}")
        return cls(
            options.get(f"{_PREFIX}PrincipalClaimName", "sub"),
            options.get(f"{_PREFIX}ScopeClaimName", "scope"),
            frozenset(options.get(f"{_PREFIX}RequiredScope", "").split()),
            int(skew),
        )


def unsecured_reader(rules: UnsecuredRules, now_ms: Callable[[], int]) -> ReadToken:
    """What reads tokens by the rules."""

    def read(token: str) -> Identity:
        claims = _claims(token)
        name = claims.get(rules.principal_claim)
        if not isinstance(name, str) or not name.strip():
            raise TokenRefusedError(f"the token has no claim {rules.principal_claim} with a name")
        missing = rules.required_scope - _scope(claims.get(rules.scope_claim))
        if missing:
            raise TokenRefusedError("a scope is missing", "insufficient_scope", " ".join(sorted(rules.required_scope)))
        return Identity(user(name), expires_at_ms=_end_ms(claims, rules, now_ms()))

    return read


def _claims(token: str) -> dict[str, Any]:
    parts = token.split(".")
    if len(parts) != _PARTS:
        raise TokenRefusedError(f"a token of {len(parts)} parts, where there are {_PARTS}")
    header, claims = _decoded(parts[0]), _decoded(parts[1])
    if header.get("alg") != "none" or parts[2]:
        raise TokenRefusedError("the token is signed, and nothing is set up that could check it")
    return claims


def _decoded(part: str) -> dict[str, Any]:
    try:
        found = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise TokenRefusedError("a part of the token is no JSON in base64") from error
    if not isinstance(found, dict):
        raise TokenRefusedError("a part of the token is no JSON object")
    return found


def _end_ms(claims: Mapping[str, Any], rules: UnsecuredRules, now_ms: int) -> int:
    end, begin = _time_ms(claims, "exp"), _time_ms(claims, "iat")
    if end is None:
        raise TokenRefusedError("the token has no end (exp)")
    if now_ms - rules.clock_skew_ms >= end:
        raise TokenRefusedError("the token has ended")
    if begin is not None and begin > now_ms + rules.clock_skew_ms:
        raise TokenRefusedError("the token is from the future (iat)")
    if begin is not None and end <= begin:
        raise TokenRefusedError("the token ends before it begins")
    return end


def _time_ms(claims: Mapping[str, Any], name: str) -> int | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e15:
        raise TokenRefusedError(f"the claim {name} is no time")
    # Never up: a token of this very moment would come from the future.
    return math.floor(value * 1000)


def _scope(value: object) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset(value.split())
    if isinstance(value, list):
        return frozenset(item for item in value if isinstance(item, str))
    return frozenset()
