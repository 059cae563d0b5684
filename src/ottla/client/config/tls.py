"""TLS as a client speaks it: whom it trusts, which certificate it shows."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.declaration import CLASS, LIST, PASSWORD, STRING, Items
from ottla.client.config.client_key import key

_STORE_KEYS: Final = (
    key("ssl.keystore.type", STRING, "JKS", None,
        "Format of the client's own key and certificate: `PEM` or `PKCS12`; unless given, the file itself tells."),
    key("ssl.keystore.location", STRING, None, None, "File with the client's own key and certificates."),
    key("ssl.keystore.password", PASSWORD, None, None, "Password of that file, if it is PKCS#12."),
    key("ssl.key.password", PASSWORD, None, None, "Password of the key in that file, or of `ssl.keystore.key`."),
    key("ssl.keystore.key", PASSWORD, None, None, "The client's own key itself, as PEM."),
    key("ssl.keystore.certificate.chain", PASSWORD, None, None, "The client's own certificates themselves, as PEM."),
    key("ssl.truststore.type", STRING, "JKS", None,
        "Format of the trusted certificates: `PEM` or `PKCS12`; unless given, the file itself tells."),
    key("ssl.truststore.location", STRING, None, None,
        "File with the certificates that are trusted; without any, those that the system trusts."),
    key("ssl.truststore.password", PASSWORD, None, None, "Password of that file, if it is PKCS#12."),
    key("ssl.truststore.certificates", PASSWORD, None, None, "The trusted certificates themselves, as PEM."),
)  # fmt: skip

_PROTOCOL_KEYS: Final = (
    key("ssl.protocol", STRING, "TLSv1.3", None, "The newest TLS version that is spoken."),
    key("ssl.provider", STRING, None, None, "Names a JVM's security provider; accepted, without effect here."),
    key("ssl.enabled.protocols", LIST, ("TLSv1.2", "TLSv1.3"), Items(), "The TLS versions that are spoken."),
    key("ssl.keymanager.algorithm", STRING, "SunX509", None, "A JVM's algorithm; accepted, without effect here."),
    key("ssl.trustmanager.algorithm", STRING, "PKIX", None, "A JVM's algorithm; accepted, without effect here."),
    key("ssl.endpoint.identification.algorithm", STRING, "https", None,
        "Whether the broker's name must stand in its certificate: `https`, or empty for not at all."),
    key("ssl.secure.random.implementation", STRING, None, None, "A JVM's choice; accepted, without effect here."),
    key("ssl.cipher.suites", LIST, (), Items(), "The cipher suites that may be used; empty: all good ones."),
    key("ssl.engine.factory.class", CLASS, None, None,
        "An `ssl.SSLContext` to use as it is, or a callable that returns one."),
)  # fmt: skip

TLS_KEYS: Final = ConfigKeys((*_STORE_KEYS, *_PROTOCOL_KEYS))
