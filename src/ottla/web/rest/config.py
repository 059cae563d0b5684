"""The proxy's settings, under Confluent's names.

`client.` before a setting of a Kafka client passes it on to all clients, `producer.`, `consumer.` and `admin.` to one
kind of them, `client.schema.registry.` and `schema.registry.` to the client of the registry.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from ottla.base.config import ConfigError, ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import AnyCase, Items
from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.registry.setting import REGISTRY_KEYS
from ottla.web.http.caller import Credentials, PassedLogin
from ottla.web.http.config import SHELL_KEYS, key, ours

DEFAULT_LISTENER: Final = "http://127.0.0.1:8082"
_API_TIMEOUT_MS: Final = 15_000
"""How long the cluster is asked on behalf of a request, unless `admin.default.api.timeout.ms` says otherwise."""
_PROPAGATION: Final = "confluent.rest.auth.propagate.method"
_EXTENSION: Final = "kafka.rest.resource.extension.class"
_PASSWORD_MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_STRING, _INT, _LONG, _LIST, _BOOLEAN = (
    ConfigType.STRING,
    ConfigType.INT,
    ConfigType.LONG,
    ConfigType.LIST,
    ConfigType.BOOLEAN,
)

_KEYS: Final = ConfigKeys(
    [
        key("bootstrap.servers", _LIST, ("localhost:9092",), Items(), "Brokers to begin with."),
        key("schema.registry.url", _LIST, ("http://localhost:8081",), Items(), "The schema registry, or several."),
        key("id", _STRING, "", None, "The name of this instance, which generated names of consumers contain."),
        key("advertised.listeners", _LIST, (), Items(), "The address in links, if clients use another one than ours."),
        key("api.v2.enable", _BOOLEAN, True, None, "Whether version 2 of the API is served."),
        key("api.v3.enable", _BOOLEAN, True, None, "Whether version 3 of the API is served."),
        key("api.v3.produce.batch.maximum.entries", _INT, 10, Range(1), "How many records `records:batch` may have."),
        key("consumer.request.timeout.ms", _INT, 1_000, Range(0), "How long a read waits for records."),
        key("consumer.request.max.bytes", _LONG, 64 << 20, Range(1), "The largest answer to a read."),
        key("consumer.instance.timeout.ms", _INT, 300_000, Range(1), "Idle time after which a consumer is closed."),
        ours("consumer.instances.max", _INT, 1_000, Range(1), "How many consumers there may be at once."),
        key("fetch.min.bytes", _INT, -1, Range(-1, 10_000_000), "Bytes that a read waits for; -1 is one record."),
        key("streaming.connection.max.duration.ms", _LONG, 86_400_000, Range(1), "How long records may be streamed."),
        key(
            _PROPAGATION,
            _STRING,
            "NONE",
            AnyCase(("NONE", "JETTY_AUTH", "SSL")),
            "JETTY_AUTH: requests act with the rights of who sends them. NONE: with the proxy's own.",
        ),
        ours("callers.max", _INT, 100, Range(1), "How many callers may have clients of their own at once."),
        key("confluent.resource.name.authority", _STRING, "", None, "What stands behind `crn://` in resource names."),
        ours("streaming.records.max", _INT, 1_000, Range(1), "Records of a stream that may be unacknowledged."),
    ]
)
REST_KEYS: Final = SHELL_KEYS | _KEYS
_NOT_ACTED_ON: Final = frozenset(
    {
        "consumer.threads",
        "consumer.iterator.timeout.ms",
        "consumer.iterator.backoff.ms",
        "producer.threads",
        "simpleconsumer.pool.size.max",
        "simpleconsumer.pool.timeout.ms",
        _EXTENSION,
        "streaming.connection.max.duration.grace.period.ms",
        "host.name",
        "debug",
        "client.timeout.ms",
        "client.init.timeout.ms",
    }
)
"""Settings of Confluent's that have nothing to act on here."""


@frozen
class RestConfig:
    """The proxy's settings, typed."""

    settings: ClientSettings
    producer: Mapping[str, object] = field(repr=False)
    consumer: Mapping[str, object] = field(repr=False)
    admin: Mapping[str, object] = field(repr=False)
    registry: Mapping[str, object] = field(repr=False)
    unknown: tuple[str, ...]
    """Settings that nothing knows."""

    @classmethod
    def of(cls, given: Mapping[str, object]) -> "RestConfig":
        """Raises `ConfigError` for a value that can't be used, and for a proxy that was told to use ZooKeeper."""
        if given.get("zookeeper.connect") and not given.get("bootstrap.servers"):
            reason = "Kafka has no ZooKeeper any more; give the brokers in bootstrap.servers"
            raise ConfigError("zookeeper.connect", given["zookeeper.connect"], reason)
        if "KafkaRestSecurityResourceExtension" in str(given.get(_EXTENSION, "")):
            # Confluent's default with its plugin: not to be taken for a proxy that acts for itself.
            given = {_PROPAGATION: "SSL", **given}
        own = {name: value for name, value in given.items() if name in REST_KEYS}
        settings = ClientSettings(REST_KEYS, own)
        passed = _Passed()
        unknown = [name for name, value in given.items() if name not in REST_KEYS and not passed.take(name, value)]
        servers = {"bootstrap.servers": ",".join(_address(each) for each in settings.list("bootstrap.servers"))}
        config = cls(
            settings,
            # A request's records are sent at once: waiting for more would only add to its time.
            {"linger.ms": 0, **passed.of("producer"), **servers},
            {**passed.of("consumer"), **servers},
            {"default.api.timeout.ms": _API_TIMEOUT_MS, **passed.of("admin"), **servers},
            {
                "latest.cache.ttl.sec": 5,
                **passed.registry,
                "schema.registry.url": ",".join(settings.list("schema.registry.url")),
            },
            tuple(unknown),
        )
        config.check()
        return config

    def check(self) -> None:
        """Raises `ConfigError` for settings of clients that can't be used."""
        ClientSettings.of(PRODUCER_KEYS, self.producer)
        ClientSettings.of(CONSUMER_KEYS, self.consumer)
        ClientSettings.of(ADMIN_KEYS, self.admin)
        ClientSettings.of(REGISTRY_KEYS, self.registry)
        self.passed_login()

    def of_caller(self, credentials: Credentials) -> "RestConfig":
        """With clients that log in as a caller does."""
        return dataclasses.replace(
            self,
            producer=credentials.client_settings(self.producer),
            consumer=credentials.client_settings(self.consumer),
            admin=credentials.client_settings(self.admin),
        )

    def passed_login(self) -> PassedLogin | None:
        """The log-in of callers whose rights requests act with. Raises `ConfigError` where that can't be."""
        method = self.settings.string(_PROPAGATION).upper()
        if method == "NONE":
            return None
        if method == "SSL":
            reason = (
                "a proxy has no keys to its callers' certificates, so it can't log in as they do: use JETTY_AUTH with "
                "authentication.method=BASIC or BEARER"
            )
            raise ConfigError(_PROPAGATION, method, reason)
        scheme = self.settings.string("authentication.method").upper()
        if scheme == "NONE":
            reason = "it needs authentication.method=BASIC or BEARER, whose log-in is passed on to the cluster"
            raise ConfigError(_PROPAGATION, method, reason)
        self._check_mechanisms(scheme)
        realm = self.settings.string("authentication.realm")
        if scheme == "BEARER":
            return PassedLogin(f'Bearer realm="{realm}"', "bearer")
        return PassedLogin(f'Basic realm="{realm}", charset="UTF-8"', "basic")

    def _check_mechanisms(self, scheme: str) -> None:
        wanted = ("OAUTHBEARER",) if scheme == "BEARER" else _PASSWORD_MECHANISMS
        shown = {"BEARER": "a token", "BASIC": "a password"}[scheme]
        for kind, keys in (("producer", PRODUCER_KEYS), ("consumer", CONSUMER_KEYS), ("admin", ADMIN_KEYS)):
            client = ClientSettings.of(keys, getattr(self, kind))
            if not client.string("security.protocol").upper().startswith("SASL_"):
                reason = f"the {kind} does not log in to the cluster: set client.security.protocol to SASL_SSL"
                raise ConfigError(_PROPAGATION, "JETTY_AUTH", reason)
            mechanism = client.string("sasl.mechanism").upper()
            if mechanism not in wanted:
                reason = f"{shown} is no log-in by {mechanism}: set client.sasl.mechanism to {' or '.join(wanted)}"
                raise ConfigError(_PROPAGATION, "JETTY_AUTH", reason)


class _Passed:
    """Settings with a prefix, sorted by whom they are for."""

    def __init__(self) -> None:
        self._by_kind: Final[dict[str, dict[str, object]]] = {"client": {}, "producer": {}, "consumer": {}, "admin": {}}
        self._keys: Final = {"producer": PRODUCER_KEYS, "consumer": CONSUMER_KEYS, "admin": ADMIN_KEYS}
        self.registry: Final[dict[str, object]] = {}

    def take(self, name: str, value: object) -> bool:
        """Takes a setting in; False if it is unknown."""
        if name in _NOT_ACTED_ON or name == "zookeeper.connect":
            return True
        for prefix in ("client.schema.registry.", "schema.registry."):
            inner = name.removeprefix(prefix)
            if inner != name and inner in REGISTRY_KEYS:
                self.registry[inner] = value
                return True
        kind, _, inner = name.partition(".")
        keys = [self._keys[kind]] if kind in self._keys else list(self._keys.values()) if kind == "client" else []
        if not any(inner in each for each in keys):
            return False
        self._by_kind[kind][inner] = value
        return True

    def of(self, kind: str) -> dict[str, object]:
        """The settings of a kind of client."""
        shared = {name: value for name, value in self._by_kind["client"].items() if name in self._keys[kind]}
        return {**shared, **self._by_kind[kind]}


def _address(text: str) -> str:
    """Confluent's form may have the security protocol before an address; `client.security.protocol` says it here.

    >>> _address("PLAINTEXT://a:9092"), _address("b:9092")
    ('a:9092', 'b:9092')
    """
    return text.partition("://")[2] or text
