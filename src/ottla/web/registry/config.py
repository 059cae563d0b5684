"""The registry's settings, under Confluent's names; `kafkastore.` before a setting of a Kafka client passes it on."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from ottla.base.config import ConfigError, ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import Items
from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.schema.compatibility import Level
from ottla.schema.error import UnknownLevelError
from ottla.web.http.config import SHELL_KEYS, key

DEFAULT_LISTENER: Final = "http://127.0.0.1:8081"
_PREFIX: Final = "kafkastore."
_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_STRING, _INT, _LIST, _BOOLEAN = ConfigType.STRING, ConfigType.INT, ConfigType.LIST, ConfigType.BOOLEAN

_KEYS: Final = ConfigKeys(
    [
        key("kafkastore.bootstrap.servers", _LIST, ("localhost:9092",), Items(), "Brokers to begin with."),
        key("kafkastore.topic", _STRING, "_schemas", None, "The topic that holds everything."),
        key("kafkastore.topic.replication.factor", _INT, 3, Range(1), "Replicas of it, if there are so many brokers."),
        key("kafkastore.timeout.ms", _INT, 10_000, Range(0), "How long a write may take."),
        key("kafkastore.init.timeout.ms", _INT, 60_000, Range(0), "How long the start waits for the topic."),
        key("kafkastore.topic.skip.validation", _BOOLEAN, False, None, "Whether the topic is taken as it is."),
        key("schema.registry.group.id", _STRING, "schema-registry", None, "The instances that share the topic."),
        key("kafkagroup.session.timeout.ms", _INT, 10_000, Range(0), "Silence after which another one is primary."),
        key("kafkagroup.heartbeat.interval.ms", _INT, 3_000, Range(0), "Time between two signs of life."),
        key("kafkagroup.rebalance.timeout.ms", _INT, 300_000, Range(0), "How long an election waits for a member."),
        key("leader.eligibility", _BOOLEAN, True, None, "Whether this instance may be the primary."),
        key("master.eligibility", _BOOLEAN, True, None, "The former name of leader.eligibility."),
        key("leader.connect.timeout.ms", _INT, 60_000, Range(0), "How long connecting to the primary may take."),
        key("leader.read.timeout.ms", _INT, 60_000, Range(0), "How long the primary may take to answer."),
        key("host.name", _STRING, "", None, "The name by which other instances reach this one."),
        key("host.port", _INT, 0, Range(0, 65_535), "The port of that, if it is another one than the listener's."),
        key("inter.instance.protocol", _STRING, "http", None, "http or https: the listener that other instances use."),
        key("schema.compatibility.level", _STRING, "backward", None, "The level where none is configured."),
        key("avro.compatibility.level", _STRING, "", None, "The former name of schema.compatibility.level."),
        key("schema.validate.new.schemas", _BOOLEAN, True, None, "Whether new schemas are parsed strictly."),
        key("schema.cache.size", _INT, 1_000, Range(1), "How many parsed schemas are kept."),
        key("mode.mutability", _BOOLEAN, True, None, "Whether modes may be changed."),
    ]
)
REGISTRY_KEYS: Final = SHELL_KEYS | _KEYS
_NOT_ACTED_ON: Final = frozenset(
    {
        "kafkastore.group.id",
        "kafkastore.write.max.retries",
        "kafkastore.init.wait.for.reader",
        "kafkastore.checkpoint.dir",
        "kafkastore.checkpoint.version",
        "debug",
        "resource.extension.class",
        "schema.registry.resource.extension.class",
        "schema.providers",
    }
)
"""Settings of Confluent's that have nothing to act on here."""
_NO_RIGHTS: Final = (
    "the cluster has no rules about subjects, so a registry can't act with its callers' rights: who logs in "
    "(authentication.method=BASIC or BEARER, or ssl.client.authentication) may do everything; leave it out"
)


@frozen
class RegistryConfig:
    """The registry's settings, typed."""

    settings: ClientSettings
    client: Mapping[str, object] = field(repr=False)
    """Settings of the Kafka clients, `bootstrap.servers` among them."""
    unknown: tuple[str, ...]
    """Settings that nothing knows."""

    @classmethod
    def of(cls, given: Mapping[str, object]) -> "RegistryConfig":
        """Raises `ConfigError` for a value that can't be used, and for a registry that was told to use ZooKeeper."""
        if given.get("kafkastore.connection.url") and not given.get("kafkastore.bootstrap.servers"):
            reason = "Kafka has no ZooKeeper any more; give the brokers in kafkastore.bootstrap.servers"
            raise ConfigError("kafkastore.connection.url", given["kafkastore.connection.url"], reason)
        _refuse_rights(given)
        settings = ClientSettings(
            REGISTRY_KEYS, {name: value for name, value in given.items() if name in REGISTRY_KEYS}
        )
        client: dict[str, object] = {}
        unknown = []
        for name, value in given.items():
            inner = name.removeprefix(_PREFIX)
            if name in REGISTRY_KEYS or name in _NOT_ACTED_ON:
                continue
            if name.startswith(_PREFIX) and inner in ADMIN_KEYS:
                client[inner] = value
            elif name != "kafkastore.connection.url":
                unknown.append(name)
        servers, protocol = _servers(settings.list("kafkastore.bootstrap.servers"))
        client["bootstrap.servers"] = ",".join(servers)
        if protocol is not None:
            client.setdefault("security.protocol", protocol)
        config = cls(settings, client, tuple(unknown))
        config.default_level  # noqa: B018 - refuses a level that there is not
        return config

    @property
    def default_level(self) -> str:
        """The level where none is configured."""
        name = (
            "avro.compatibility.level"
            if self.settings.string("avro.compatibility.level")
            else "schema.compatibility.level"
        )
        try:
            return Level.parse(self.settings.string(name)).value
        except UnknownLevelError as error:
            raise ConfigError(name, self.settings.string(name), str(error)) from None

    @property
    def is_eligible(self) -> bool:
        """Whether this instance may be the primary."""
        return self.settings.boolean("leader.eligibility") and self.settings.boolean("master.eligibility")


def _refuse_rights(given: Mapping[str, object]) -> None:
    """A registry that was told to look at rights, and does not, would be open to all."""
    for name, value in given.items():
        is_asked = name.startswith(("confluent.schema.registry.authorizer.", "confluent.schema.registry.auth."))
        if is_asked or (name.endswith("resource.extension.class") and "Security" in str(value)):
            raise ConfigError(name, value, _NO_RIGHTS)


def _servers(given: tuple[str, ...]) -> tuple[list[str], str | None]:
    """Confluent's form may have the security protocol before each address.

    >>> _servers(("SASL_SSL://a:9092", "b:9092"))
    (['a:9092', 'b:9092'], 'SASL_SSL')
    """
    servers, found = [], None
    for text in given:
        scheme, separator, address = text.partition("://")
        if separator and scheme.upper() not in _PROTOCOLS:
            raise ConfigError("kafkastore.bootstrap.servers", text, f"Expected one of {', '.join(_PROTOCOLS)}")
        found = scheme.upper() if separator else found
        servers.append(address if separator else text)
    return servers, found
