"""TLS of listeners, all of them also with a listener's prefix (`listener.name.internal.ssl.keystore.location`)."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import OneOf
from ottla.base.config.declaration import BOOLEAN, CLASS, LIST, PASSWORD, STRING, Items
from ottla.broker.config.keys.node_key import fixed, per_broker

_STORE_KEYS: Final = (
    per_broker("ssl.keystore.type", STRING, "JKS", None, "Format of the node's own key and certificate."),
    per_broker("ssl.keystore.location", STRING, None, None, "File with the node's own key and certificate."),
    per_broker("ssl.keystore.password", PASSWORD, None, None, "Password of that file."),
    per_broker("ssl.key.password", PASSWORD, None, None, "Password of the key in that file, or of `ssl.keystore.key`."),
    per_broker("ssl.keystore.key", PASSWORD, None, None, "The node's own key itself, as PEM."),
    per_broker("ssl.keystore.certificate.chain", PASSWORD, None, None, "The node's own certificates, as PEM."),
    per_broker("ssl.truststore.type", STRING, "JKS", None, "Format of the certificates that are trusted."),
    per_broker("ssl.truststore.location", STRING, None, None, "File with the certificates that are trusted."),
    per_broker("ssl.truststore.password", PASSWORD, None, None, "Password of that file."),
    per_broker("ssl.truststore.certificates", PASSWORD, None, None, "The trusted certificates themselves, as PEM."),
)  # fmt: skip

_PROTOCOL_KEYS: Final = (
    per_broker("ssl.client.auth", STRING, "none", OneOf("required", "requested", "none"),
               "Whether clients must, may or need not show a certificate."),
    fixed("ssl.principal.mapping.rules", STRING, "DEFAULT", None,
          "Rules that make a user name of a certificate's distinguished name."),
    fixed("ssl.allow.dn.changes", BOOLEAN, False, None,
          "Whether a new certificate may have another distinguished name."),
    fixed("ssl.allow.san.changes", BOOLEAN, False, None,
          "Whether a new certificate may have other alternative names."),
    per_broker("ssl.protocol", STRING, "TLSv1.3", None, "The TLS version that is preferred."),
    per_broker("ssl.provider", STRING, None, None, "The JVM's security provider for TLS."),
    per_broker("ssl.enabled.protocols", LIST, ("TLSv1.2", "TLSv1.3"), Items(), "The TLS versions that are spoken."),
    per_broker("ssl.keymanager.algorithm", STRING, "SunX509", None, "The JVM's algorithm for its own keys."),
    per_broker("ssl.trustmanager.algorithm", STRING, "PKIX", None, "The JVM's algorithm for checking certificates."),
    per_broker("ssl.endpoint.identification.algorithm", STRING, "https", None,
               "Whether the name in a server's certificate is checked: `https`, or empty for not at all."),
    per_broker("ssl.secure.random.implementation", STRING, None, None, "The JVM's random numbers for TLS."),
    per_broker("ssl.cipher.suites", LIST, (), Items(), "The cipher suites that may be used; empty: all good ones."),
    per_broker("ssl.engine.factory.class", CLASS, None, None, "A class that makes TLS engines."),
)  # fmt: skip

TLS_KEYS: Final = ConfigKeys((*_STORE_KEYS, *_PROTOCOL_KEYS))

LISTENER_ONLY_KEYS: Final = frozenset(key.name for key in _STORE_KEYS)
"""Key material can be changed while the node runs with a listener's prefix alone."""
