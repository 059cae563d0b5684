"""The `ssl.*` settings of one listener or client."""

from collections.abc import Mapping

from ottla.base.config import ConfigError
from ottla.base.frozen import frozen


@frozen(kw_only=True)
class TlsSettings:
    """Under the names of Kafka's settings; `prefix` is the listener's, for messages."""

    prefix: str = ""
    keystore_type: str | None = None
    """None: the file itself tells."""
    keystore_location: str | None = None
    keystore_password: str | None = None
    key_password: str | None = None
    keystore_key: str | None = None
    keystore_certificate_chain: str | None = None
    truststore_type: str | None = None
    truststore_location: str | None = None
    truststore_password: str | None = None
    truststore_certificates: str | None = None
    protocols: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    cipher_suites: tuple[str, ...] = ()
    client_auth: str = "none"
    checks_host_name: bool = True

    def __repr__(self) -> str:
        return f"TlsSettings(prefix={self.prefix!r}, keystore_location={self.keystore_location!r})"

    @classmethod
    def of_options(cls, options: Mapping[str, str]) -> "TlsSettings":
        """As a login module says whom to trust on the way to a provider of tokens or keys."""
        return cls(
            keystore_type=options.get("ssl.keystore.type"),
            keystore_location=options.get("ssl.keystore.location"),
            keystore_password=options.get("ssl.keystore.password"),
            key_password=options.get("ssl.key.password"),
            truststore_type=options.get("ssl.truststore.type"),
            truststore_location=options.get("ssl.truststore.location"),
            truststore_password=options.get("ssl.truststore.password"),
            truststore_certificates=options.get("ssl.truststore.certificates"),
        )

    def error(self, name: str, value: object, reason: str) -> ConfigError:
        """The error of a setting."""
        return ConfigError(f"{self.prefix}{name}", value, reason)
