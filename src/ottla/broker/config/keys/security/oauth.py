"""SASL/OAUTHBEARER: how the node gets its own tokens and how it checks those of others."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import BOOLEAN, CLASS, INT, LIST, LONG, PASSWORD, STRING, AnyCase, Items
from ottla.broker.config.keys.node_key import fixed

_PACKAGE: Final = "org.apache.kafka.common.security.oauthbearer"

_RETRIEVAL_KEYS: Final = (
    fixed("sasl.oauthbearer.jwt.retriever.class", CLASS, f"{_PACKAGE}.DefaultJwtRetriever", None,
          "The class that gets tokens."),
    fixed("sasl.oauthbearer.token.endpoint.url", STRING, None, None,
          "Where tokens are got: an address, or a file that holds one."),
    fixed("sasl.oauthbearer.scope", STRING, None, None,
          "The scope that is asked for."),
    fixed("sasl.oauthbearer.client.credentials.client.id", STRING, None, None,
          "The client id that tokens are asked for with."),
    fixed("sasl.oauthbearer.client.credentials.client.secret", PASSWORD, None, None,
          "The secret of that client id."),
    fixed("sasl.oauthbearer.assertion.algorithm", STRING, "RS256", AnyCase(("ES256", "RS256")),
          "How assertions are signed."),
    fixed("sasl.oauthbearer.assertion.claim.aud", STRING, None, None,
          "The audience that an assertion names."),
    fixed("sasl.oauthbearer.assertion.claim.exp.seconds", INT, 300, Range(0, 86_400),
          "How long an assertion is good for."),
    fixed("sasl.oauthbearer.assertion.claim.iss", STRING, None, None,
          "The issuer that an assertion names."),
    fixed("sasl.oauthbearer.assertion.claim.jti.include", BOOLEAN, False, None,
          "Whether every assertion gets an id of its own."),
    fixed("sasl.oauthbearer.assertion.claim.nbf.seconds", INT, 60, Range(0, 3_600),
          "How long before it was made an assertion is already good."),
    fixed("sasl.oauthbearer.assertion.claim.sub", STRING, None, None,
          "The subject that an assertion names."),
    fixed("sasl.oauthbearer.assertion.file", STRING, None, None,
          "A file with a finished assertion, read anew when it changes."),
    fixed("sasl.oauthbearer.assertion.private.key.file", STRING, None, None,
          "File with the key that assertions are signed with."),
    fixed("sasl.oauthbearer.assertion.private.key.passphrase", PASSWORD, None, None,
          "Password of that key."),
    fixed("sasl.oauthbearer.assertion.template.file", STRING, None, None,
          "File with headers and claims that every assertion has."),
)  # fmt: skip

_VALIDATION_KEYS: Final = (
    fixed("sasl.oauthbearer.jwt.validator.class", CLASS, f"{_PACKAGE}.DefaultJwtValidator", None,
          "The class that checks tokens."),
    fixed("sasl.oauthbearer.jwks.endpoint.url", STRING, None, None,
          "Where the keys are that tokens are checked with: an address, or a file."),
    fixed("sasl.oauthbearer.jwks.endpoint.refresh.ms", LONG, 3_600_000, None,
          "How often those keys are fetched."),
    fixed("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", LONG, 100, None,
          "First pause after those keys could not be fetched."),
    fixed("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", LONG, 10_000, None,
          "Longest pause after those keys could not be fetched."),
    fixed("sasl.oauthbearer.clock.skew.seconds", INT, 30, None,
          "How far the clocks of provider and broker may differ."),
    fixed("sasl.oauthbearer.expected.audience", LIST, (), Items(),
          "Audiences of which a token must name one; empty: a token may name none."),
    fixed("sasl.oauthbearer.expected.issuer", STRING, None, None,
          "The issuer that a token must name; absent: any will do."),
    fixed("sasl.oauthbearer.scope.claim.name", STRING, "scope", None,
          "The claim that holds a token's scope."),
    fixed("sasl.oauthbearer.sub.claim.name", STRING, "sub", None,
          "The claim that holds a token's user."),
)  # fmt: skip

OAUTH_KEYS: Final = ConfigKeys((*_RETRIEVAL_KEYS, *_VALIDATION_KEYS))

VALIDATION_NAMES: Final = tuple(key.name for key in _VALIDATION_KEYS)
"""How tokens are checked; a mechanism may have its own: `listener.name.<listener>.oauthbearer.<key>`."""
