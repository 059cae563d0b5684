"""The shell's settings, under the names that Confluent's services have for them.

A service adds its own keys with `|`; one file configures both.
"""

from typing import Final

from ottla.base.config import ConfigError, ConfigKey, ConfigKeys
from ottla.base.config.check import Check, OneOf, Range
from ottla.base.config.declaration import AnyCase, Items
from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.client.config.settings import ClientSettings
from ottla.web.http.address import ListenAddress, parse_listener
from ottla.web.http.request import BodyLimits


def key(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that Confluent's services have, too."""
    return ConfigKey(name, kind, default, check=check, doc=doc)


def ours(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that only our services have."""
    return ConfigKey(name, kind, default, check=check, doc=doc, extension=True)


_STRING, _INT, _LIST = ConfigType.STRING, ConfigType.INT, ConfigType.LIST
_PASSWORD, _BOOLEAN = ConfigType.PASSWORD, ConfigType.BOOLEAN

SHELL_KEYS: Final = ConfigKeys(
    [
        key("listeners", _LIST, (), Items(), "Where to listen: http://HOST:PORT or https://HOST:PORT, or several."),
        key("authentication.method", _STRING, "NONE", AnyCase(("NONE", "BASIC", "BEARER")), "How clients log in."),
        key("authentication.realm", _STRING, "ottla", None, "The realm that clients are asked to log in to."),
        ours("authentication.users.file", _STRING, "", None, "Lines `user: password`, for BASIC."),
        ours("authentication.tokens.file", _STRING, "", None, "Lines `user: token`, for BEARER."),
        key(
            "authentication.roles",
            _LIST,
            ("*",),
            None,
            "Who is let in: users with one of these roles, which stand behind the secret, as Jetty has it: "
            "`user: secret,role`. With `*` everybody who logs in, and no roles in the file.",
        ),
        key(
            "ssl.client.authentication",
            _STRING,
            "NONE",
            AnyCase(("NONE", "REQUESTED", "REQUIRED")),
            "Whether clients show a certificate (mTLS); its subject is then the user's name.",
        ),
        key(
            "ssl.client.auth",
            _STRING,
            "",
            AnyCase(("", "TRUE", "FALSE", "NONE", "REQUESTED", "REQUIRED")),
            "The same under Kafka Connect's name, and under the former one of Confluent's services.",
        ),
        key("ssl.enabled.protocols", _LIST, ("TLSv1.2", "TLSv1.3"), None, "The versions of TLS of https listeners."),
        key("ssl.cipher.suites", _LIST, (), None, "Their cipher suites; those of the library if not given."),
        key("ssl.keystore.location", _STRING, None, None, "The key and certificate of https listeners."),
        key("ssl.keystore.password", _PASSWORD, None, None, "The password of the key store."),
        key("ssl.keystore.type", _STRING, "JKS", None, "PEM or PKCS12; found out by itself if not given."),
        key("ssl.key.password", _PASSWORD, None, None, "The password of the key."),
        key("ssl.truststore.location", _STRING, None, None, "The authorities that clients' certificates are from."),
        key("ssl.truststore.password", _PASSWORD, None, None, "The password of the trust store."),
        key("ssl.truststore.type", _STRING, "JKS", None, "PEM or PKCS12; found out by itself if not given."),
        key("idle.timeout.ms", _INT, 30_000, Range(1), "How long a connection may stay without a request."),
        ours("header.timeout.ms", _INT, 10_000, Range(1), "How long a request's header may take to arrive."),
        ours("header.bytes.max", _INT, 65_536, Range(1024), "The largest header, request line included."),
        ours("body.timeout.ms", _INT, 30_000, Range(1), "How long a request's body may take to arrive."),
        ours("body.bytes.max", _INT, 16 << 20, Range(1024), "The largest body of a request."),
        ours("request.timeout.ms", _INT, 120_000, Range(1), "How long an answer may take."),
        ours("connections.max", _INT, 2_000, Range(1), "Connections beyond these are answered with 503."),
        key("shutdown.graceful.ms", _INT, 10_000, Range(0), "How long requests under way may take at the end."),
        ours("access.log.enable", _BOOLEAN, True, None, "Whether each request is logged, a line each."),
        ours("log.level", _STRING, "INFO", OneOf("TRACE", "DEBUG", "INFO", "WARN", "ERROR"), "What is logged."),
    ]
)


@frozen
class ShellConfig:
    """The shell's settings, ready for use."""

    listeners: tuple[ListenAddress, ...]
    settings: ClientSettings

    @classmethod
    def of(cls, settings: ClientSettings, default_listener: str) -> "ShellConfig":
        """From settings that have `SHELL_KEYS` among others. Raises `ConfigError`."""
        given = settings.list("listeners") or (default_listener,)
        listeners = tuple(parse_listener(text) for text in given)
        if any(each.is_secure for each in listeners) and not settings.optional_string("ssl.keystore.location"):
            raise ConfigError("ssl.keystore.location", None, "an https listener needs a key and a certificate")
        return cls(listeners, settings)

    @property
    def body_limits(self) -> BodyLimits:
        """The limits of a body."""
        return BodyLimits(self.settings.integer("body.bytes.max"), self.settings.integer("body.timeout.ms") / 1000)
