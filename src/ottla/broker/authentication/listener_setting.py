"""A node's settings as one of its listeners sees them.

`listener.name.<listener>.<mechanism>.<key>` wins over `listener.name.<listener>.<key>`, which wins over `<key>`.
"""

from collections.abc import Mapping
from typing import Final

from ottla.base.config import ConfigError
from ottla.base.config_type import Password
from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.broker.config.server_config import ServerConfig
from ottla.net.tls.setting import TlsSettings

_CLIENT_AUTH: Final = "ssl.client.auth"
_TYPES: Final = ("ssl.keystore.type", "ssl.truststore.type")


class ListenerSettings:
    """The settings of a listener, by Kafka's names without prefix."""

    def __init__(self, config: ServerConfig, name: str) -> None:
        self.name: Final = name
        self.prefix: Final = f"listener.name.{name.lower()}."
        self._given: Final[Mapping[str, str]] = config.given
        self._config: Final = config

    @property
    def given(self) -> dict[str, str]:
        """All that the node's file says."""
        return dict(self._given)

    def value(self, key: str) -> object:
        """The listener's own value, or the node's. Raises `ConfigError` for one that is none."""
        own = self._given.get(f"{self.prefix}{key}")
        return self._config[key] if own is None else SERVER_KEYS[key].parse(own)

    def text(self, key: str) -> str | None:
        """The value of a text setting; None if it is not set."""
        value = self.value(key)
        if isinstance(value, Password):
            return value.secret
        return None if value is None else str(value)

    def strings(self, key: str) -> tuple[str, ...]:
        """The value of a list setting; empty if it is not set."""
        value = self.value(key)
        assert value is None or isinstance(value, tuple)
        return value or ()

    def integer(self, key: str) -> int:
        """The value of an integer setting."""
        value = self.value(key)
        assert isinstance(value, int)
        return value

    def boolean(self, key: str) -> bool:
        """The value of a boolean setting."""
        return self.value(key) is True

    def of_mechanism(self, mechanism: str, key: str) -> tuple[str, str] | None:
        """The name under which a mechanism has a setting of its own, and its text."""
        for name in (f"{self.prefix}{mechanism.lower()}.{key}", f"{mechanism.lower()}.{key}"):
            if name in self._given:
                return name, self._given[name]
        return None

    def session_ms_max(self, mechanism: str) -> int:
        """`connections.max.reauth.ms` of a mechanism."""
        value = self.mechanism_value(mechanism, "connections.max.reauth.ms")
        assert isinstance(value, int)
        return value

    def mechanism_value(self, mechanism: str, key: str) -> object:
        """A mechanism's own value, the listener's, or the node's. Raises `ConfigError` for one that is none."""
        own = self.of_mechanism(mechanism, key)
        return self.value(key) if own is None else SERVER_KEYS[key].parse(own[1])

    def tls(self) -> TlsSettings:
        """All that is said about TLS."""
        algorithm = self.text("ssl.endpoint.identification.algorithm") or ""
        auth = self._client_auth()
        if auth not in ("none", "requested", "required"):
            raise ConfigError(f"{self.prefix}ssl.client.auth", auth, "Expected required, requested or none")
        types = {key: self.text(key) if self._is_given(key) else None for key in _TYPES}
        return TlsSettings(
            prefix=self.prefix,
            keystore_type=types["ssl.keystore.type"],
            keystore_location=self.text("ssl.keystore.location"),
            keystore_password=self.text("ssl.keystore.password"),
            key_password=self.text("ssl.key.password"),
            keystore_key=self.text("ssl.keystore.key"),
            keystore_certificate_chain=self.text("ssl.keystore.certificate.chain"),
            truststore_type=types["ssl.truststore.type"],
            truststore_location=self.text("ssl.truststore.location"),
            truststore_password=self.text("ssl.truststore.password"),
            truststore_certificates=self.text("ssl.truststore.certificates"),
            protocols=self.strings("ssl.enabled.protocols"),
            cipher_suites=self.strings("ssl.cipher.suites"),
            client_auth=auth,
            checks_host_name=algorithm.lower() == "https",
        )

    @property
    def loses_client_auth(self) -> bool:
        """Whether the node asks for certificates and this listener does not, as its users log in (KIP-684)."""
        return self._has_log_in and self._named_client_auth != "none" and self._client_auth() == "none"

    def _client_auth(self) -> str:
        if self._has_log_in and f"{self.prefix}{_CLIENT_AUTH}" not in self._given:
            return "none"
        return self._named_client_auth

    @property
    def _named_client_auth(self) -> str:
        return (self.text(_CLIENT_AUTH) or "none").lower()

    @property
    def _has_log_in(self) -> bool:
        return self._config.security_protocols.get(self.name) == "SASL_SSL"

    def _is_given(self, key: str) -> bool:
        return key in self._given or f"{self.prefix}{key}" in self._given
