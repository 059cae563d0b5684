"""SASL/OAUTHBEARER: how a client gets its tokens. The keys for checking tokens are a broker's; clients accept them."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import BOOLEAN, CLASS, INT, LIST, LONG, PASSWORD, STRING, AnyCase, Items
from ottla.client.config.client_key import key

_PACKAGE: Final = "org.apache.kafka.common.security.oauthbearer"

_RETRIEVAL_KEYS: Final = (
    key("sasl.oauthbearer.jwt.retriever.class", CLASS, f"{_PACKAGE}.DefaultJwtRetriever", None,
        "The class that gets tokens: the default reads a file or asks with client credentials, as the URL says."),
    key("sasl.oauthbearer.token.endpoint.url", STRING, None, None,
        "Where tokens are got: `https://...`, or `file:///...` of a file that holds one."),
    key("sasl.oauthbearer.scope", STRING, None, None, "The scope that is asked for."),
    key("sasl.oauthbearer.client.credentials.client.id", STRING, None, None, "The id that tokens are got with."),
    key("sasl.oauthbearer.client.credentials.client.secret", PASSWORD, None, None, "The secret of that id."),
    key("sasl.oauthbearer.header.urlencode", BOOLEAN, False, None,
        "Whether id and secret are URL-encoded in the header that carries them."),
    key("sasl.oauthbearer.scope.claim.name", STRING, "scope", None, "The claim of a token that names its scope."),
    key("sasl.oauthbearer.sub.claim.name", STRING, "sub", None, "The claim of a token that names its subject."),
)  # fmt: skip

_ASSERTION_KEYS: Final = (
    key("sasl.oauthbearer.assertion.algorithm", STRING, "RS256", AnyCase(("ES256", "RS256")),
        "The algorithm that assertions are signed with."),
    key("sasl.oauthbearer.assertion.claim.aud", STRING, None, None, "The audience of an assertion."),
    key("sasl.oauthbearer.assertion.claim.exp.seconds", INT, 300, Range(0, 86_400), "How long an assertion is valid."),
    key("sasl.oauthbearer.assertion.claim.iss", STRING, None, None, "The issuer of an assertion."),
    key("sasl.oauthbearer.assertion.claim.jti.include", BOOLEAN, False, None, "Whether an assertion has an id."),
    key("sasl.oauthbearer.assertion.claim.nbf.seconds", INT, 60, Range(0, 3600),
        "How long before its making an assertion is valid."),
    key("sasl.oauthbearer.assertion.claim.sub", STRING, None, None, "The subject of an assertion."),
    key("sasl.oauthbearer.assertion.file", STRING, None, None, "A file that holds a ready assertion."),
    key("sasl.oauthbearer.assertion.private.key.file", STRING, None, None, "The key that signs assertions."),
    key("sasl.oauthbearer.assertion.private.key.passphrase", PASSWORD, None, None, "That key's password."),
    key("sasl.oauthbearer.assertion.template.file", STRING, None, None, "A file with the fixed part of assertions."),
)  # fmt: skip

_VALIDATION_KEYS: Final = (
    key("sasl.oauthbearer.jwt.validator.class", CLASS, f"{_PACKAGE}.DefaultJwtValidator", None,
        "The class that checks tokens."),
    key("sasl.oauthbearer.clock.skew.seconds", INT, 30, None, "How far two clocks may be apart."),
    key("sasl.oauthbearer.expected.audience", LIST, (), Items(), "Audiences, one of which a token must name."),
    key("sasl.oauthbearer.expected.issuer", STRING, None, None, "The issuer that a token must name."),
    key("sasl.oauthbearer.jwks.endpoint.refresh.ms", LONG, 3_600_000, None, "How often the issuer's keys are got."),
    key("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", LONG, 100, None, "First pause after a failure to."),
    key("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", LONG, 10_000, None, "Longest pause after a failure to."),
    key("sasl.oauthbearer.jwks.endpoint.url", STRING, None, None, "Where the issuer's keys are got."),
)  # fmt: skip

OAUTH_KEYS: Final = ConfigKeys((*_RETRIEVAL_KEYS, *_ASSERTION_KEYS, *_VALIDATION_KEYS))
