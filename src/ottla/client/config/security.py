"""All settings of a client about security: the protocol, TLS, SASL and OAUTHBEARER."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.declaration import STRING, AnyCase
from ottla.client.config.client_key import key
from ottla.client.config.oauth import OAUTH_KEYS
from ottla.client.config.sasl import SASL_KEYS
from ottla.client.config.tls import TLS_KEYS

SECURITY_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

_PROTOCOL_KEYS: Final = ConfigKeys((
    key("security.protocol", STRING, "PLAINTEXT", AnyCase(SECURITY_PROTOCOLS),
        "How the brokers' listener is spoken to: in the clear or by TLS (`SSL`), with or without SASL."),
    key("security.providers", STRING, None, None, "Names a JVM's classes; accepted, without effect here."),
))  # fmt: skip

SECURITY_KEYS: Final = _PROTOCOL_KEYS | TLS_KEYS | SASL_KEYS | OAUTH_KEYS
