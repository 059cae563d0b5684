"""Tokens without a signature (RFC 7519 section 6), which prove nothing: for trials, and only where nothing else is set.

What must hold is Kafka's: `alg` none, an empty signature, a user, an end that has not passed, a begin that has.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.net.sasl.oauthbearer import ReadToken, TokenRefusedError
from ottla.net.sasl.server import Identity, user
from ottla.net.sasl.web_token import name_of, read_web_token, time_ms

_PREFIX: Final = "unsecuredValidator"


@frozen
class UnsecuredRules:
    """The requirements of a token, from the options of the JAAS entry."""

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
    """A function that reads tokens by the rules."""

    def read(token: str) -> Identity:
        claims = _claims(token)
        name = name_of(claims, rules.principal_claim)
        missing = rules.required_scope - _scope(claims.get(rules.scope_claim))
        if missing:
            raise TokenRefusedError("a scope is missing", "insufficient_scope", " ".join(sorted(rules.required_scope)))
        return Identity(user(name), expires_at_ms=_end_ms(claims, rules, now_ms()))

    return read


def _claims(token: str) -> Mapping[str, Any]:
    found = read_web_token(token)
    if found.header.get("alg") != "none" or found.signature:
        raise TokenRefusedError("the token is signed, and nothing is set up that could check it")
    return found.claims


def _end_ms(claims: Mapping[str, Any], rules: UnsecuredRules, now_ms: int) -> int:
    end, begin = time_ms(claims, "exp"), time_ms(claims, "iat")
    if end is None:
        raise TokenRefusedError("the token has no end (exp)")
    if now_ms - rules.clock_skew_ms >= end:
        raise TokenRefusedError("the token has ended")
    if begin is not None and begin > now_ms + rules.clock_skew_ms:
        raise TokenRefusedError("the token is from the future (iat)")
    if begin is not None and end <= begin:
        raise TokenRefusedError("the token ends before it begins")
    return end


def _scope(value: object) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset(value.split())
    if isinstance(value, list):
        return frozenset(item for item in value if isinstance(item, str))
    return frozenset()
