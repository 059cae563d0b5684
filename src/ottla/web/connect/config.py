"""A worker's settings, under Kafka Connect's names.

What a Kafka client knows (security, timeouts) goes to all clients; `producer.`, `consumer.` and `admin.` before it to
one kind of them. `listeners.https.` before a setting of TLS means the REST API alone.
"""

import socket
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from ottla.base.config import REQUIRED, ConfigError, ConfigKeys
from ottla.base.config.check import NonEmpty, Range
from ottla.base.config.declaration import AnyCase, Items
from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.connect.cluster.secret_setting import is_secret
from ottla.connect.errors import InvalidConfigError
from ottla.connect.provider import ConfigProviders
from ottla.connect.worker.override_policy import ALLOWLIST, SETTING, Policy, override_policy
from ottla.web.http.address import ListenAddress
from ottla.web.http.config import SHELL_KEYS, key, ours

DEFAULT_LISTENER: Final = "http://:8083"
_STRING, _INT, _LONG, _LIST, _BOOLEAN, _CLASS = (
    ConfigType.STRING,
    ConfigType.INT,
    ConfigType.LONG,
    ConfigType.LIST,
    ConfigType.BOOLEAN,
    ConfigType.CLASS,
)
_HEADER: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
_MINUTE_MS: Final = 60_000
SPECS_TOPIC: Final = "__ottla_pipeline_specs"
STATUS_TOPIC: Final = "__ottla_pipeline_status"
SHARED_GROUP: Final = "ottla-pipelines"
"""The control processes of `ottla pipelines run`."""

_KEYS: Final = ConfigKeys(
    [
        key("bootstrap.servers", _LIST, ("localhost:9092",), Items(), "Brokers to begin with."),
        key("group.id", _STRING, REQUIRED, NonEmpty(), "The Connect cluster that this worker belongs to."),
        key("config.storage.topic", _STRING, REQUIRED, NonEmpty(), "The topic of connectors and their tasks."),
        key("offset.storage.topic", _STRING, REQUIRED, NonEmpty(), "The topic of sources' offsets."),
        key("status.storage.topic", _STRING, REQUIRED, NonEmpty(), "The topic of statuses."),
        key("config.storage.replication.factor", _INT, 3, Range(-1), "Replicas of it where it is created."),
        key("offset.storage.replication.factor", _INT, 3, Range(-1), "Replicas of it where it is created."),
        key("status.storage.replication.factor", _INT, 3, Range(-1), "Replicas of it where it is created."),
        key("offset.storage.partitions", _INT, 25, Range(-1), "Partitions of it where it is created."),
        key("status.storage.partitions", _INT, 5, Range(-1), "Partitions of it where it is created."),
        key("key.converter", _CLASS, REQUIRED, None, "The converter of keys."),
        key("value.converter", _CLASS, REQUIRED, None, "The converter of values."),
        key("header.converter", _CLASS, _HEADER, None, "The converter of headers."),
        key("rest.advertised.host.name", _STRING, "", None, "The host by which other workers reach this one."),
        key("rest.advertised.port", _INT, 0, Range(0), "The port by which other workers reach this one."),
        key("rest.advertised.listener", _STRING, "", AnyCase(("", "HTTP", "HTTPS")), "Which listener they use."),
        key("session.timeout.ms", _INT, 10_000, Range(1), "How long a worker may be silent until it is given up."),
        key("heartbeat.interval.ms", _INT, 3_000, Range(1), "How often a worker is heard of."),
        key("rebalance.timeout.ms", _INT, _MINUTE_MS, Range(1), "How long workers may take to agree."),
        key(
            "exactly.once.source.support", _STRING, "disabled", AnyCase(("DISABLED", "PREPARING", "ENABLED")),
            "Whether sources write their records and offsets in transactions.",
        ),
        key("topic.creation.enable", _BOOLEAN, True, None, "Whether sources may create topics."),
        key("topic.tracking.enable", _BOOLEAN, True, None, "Whether the topics of connectors are noted."),
        key("topic.tracking.allow.reset", _BOOLEAN, True, None, "Whether they may be forgotten on request."),
        key("config.providers", _LIST, (), None, "Aliases of config providers."),
        key("offset.flush.interval.ms", _LONG, 60_000, Range(1), "How often offsets are stored."),
        key("offset.flush.timeout.ms", _LONG, 5_000, Range(1), "How long that may take."),
        key("task.shutdown.graceful.timeout.ms", _LONG, 5_000, Range(1), "How long tasks may take to end."),
        key(SETTING, _STRING, "All", NonEmpty(), "What connectors may override: All, None, Principal or Allowlist."),
        key(ALLOWLIST, _LIST, (), None, "The settings of clients that Allowlist allows."),
        ours("pipelines.specs.topic", _STRING, SPECS_TOPIC, NonEmpty(), "Where runners read what is wanted."),
        ours("pipelines.status.topic", _STRING, STATUS_TOPIC, NonEmpty(), "Where runners say what is."),
        ours("pipelines.group.id", _STRING, "", None, "Control processes that share pipelines; empty: the workers'."),
        ours("pipelines.directory", _STRING, "connect-data", NonEmpty(), "Checkpoints and logs of runners."),
        ours("pipelines.master", _STRING, "local[64,4]", NonEmpty(), "Where Spark runs."),
        ours("connector.call.timeout.ms", _LONG, 90_000, Range(1), "How long a connector may take for an answer."),
    ]
)  # fmt: skip
CONNECT_KEYS: Final = SHELL_KEYS | _KEYS
_NOT_ACTED_ON: Final = frozenset(
    {
        "access.control.allow.methods", "access.control.allow.origin", "auto.include.jmx.reporter",
        "config.storage.min.insync.replicas", "connect.protocol", "inter.worker.key.generation.algorithm",
        "inter.worker.key.size", "inter.worker.key.ttl.ms", "inter.worker.signature.algorithm",
        "inter.worker.verification.algorithms", "plugin.discovery", "plugin.path", "response.http.headers.config",
        "scheduled.rebalance.max.delay.ms", "worker.sync.timeout.ms", "worker.unsync.backoff.ms",
        "offset.storage.file.filename",
    }
)  # fmt: skip
"""Settings of Kafka's that have nothing to act on here."""
_REFUSED: Final = {
    "rest.extension.classes": "extensions in Java can't run here; use authentication.method=BASIC for log-in",
    "admin.listeners": "loggers are served by the listeners of all; leave it out, or empty to have them not served",
}
_KINDS: Final = {"producer": PRODUCER_KEYS, "consumer": CONSUMER_KEYS, "admin": ADMIN_KEYS}
_PREFIXES: Final = (
    "key.converter.", "value.converter.", "header.converter.", "config.providers.", "config.storage.",
    "offset.storage.", "status.storage.", "topic.creation.",
)  # fmt: skip
_HTTPS: Final = "listeners.https."


@frozen
class ConnectConfig:
    """A worker's settings, typed."""

    settings: ClientSettings
    client: Mapping[str, object] = field(repr=False)
    """Settings of all Kafka clients, `bootstrap.servers` among them."""
    worker: Mapping[str, str]
    """What tasks are told by a topic: everything but secrets and the REST API's own."""
    secrets: Mapping[str, str] = field(repr=False)
    """What they are told by the control process alone."""
    providers: ConfigProviders
    unknown: tuple[str, ...]
    """Settings that nothing knows."""
    policy: Policy
    """Which settings of clients connectors may override."""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "ConnectConfig":
        """Raises `ConfigError` for what can't be used."""
        for name, reason in _REFUSED.items():
            if given.get(name, "").strip():
                raise ConfigError(name, given[name], reason)
        try:
            providers = ConfigProviders.of(given)
            resolved = providers.resolve(given)
        except InvalidConfigError as error:
            raise ConfigError("config.providers", given.get("config.providers"), str(error)) from None
        own = {name: value for name, value in resolved.items() if name in CONNECT_KEYS}
        own |= {
            name.removeprefix(_HTTPS): value
            for name, value in resolved.items()
            if name.startswith(_HTTPS) and name.removeprefix(_HTTPS) in SHELL_KEYS
        }
        settings = ClientSettings(CONNECT_KEYS, own)
        # Providers are the worker's: what clients get has its values already.
        passed = ADMIN_KEYS.keys() - {"config.providers"}
        client: dict[str, object] = {name: value for name, value in resolved.items() if name in passed}
        client["bootstrap.servers"] = ",".join(settings.list("bootstrap.servers"))
        ClientSettings.of(ADMIN_KEYS, client)
        unknown = tuple(name for name in given if not _is_known(name))
        secrets = {name: value for name, value in resolved.items() if is_secret(name) and _is_tasks(name)}
        try:
            policy = override_policy(settings.string(SETTING), settings.list(ALLOWLIST))
        except InvalidConfigError as error:
            raise ConfigError(SETTING, given.get(SETTING), str(error)) from None
        return cls(settings, client, _told(given, client, providers), secrets, providers, unknown, policy)

    @property
    def serves_loggers(self) -> bool:
        """Whether the endpoints of loggers are there: an empty `admin.listeners` turns them off."""
        return "admin.listeners" not in self.worker

    @property
    def owner(self) -> str:
        """Whose control processes run the connectors: this Connect cluster's own, unless another group is given."""
        return "" if self.settings.string("pipelines.group.id") else f"connect-{self.settings.string('group.id')}"

    @property
    def control_group(self) -> str:
        """The group of these control processes."""
        return self.settings.string("pipelines.group.id") or f"{SHARED_GROUP}-{self.owner}"

    @property
    def exactly_once(self) -> bool:
        """Whether sources may ask for it."""
        return self.settings.string("exactly.once.source.support").upper() == "ENABLED"

    def advertised(self, addresses: list[ListenAddress]) -> ListenAddress:
        """The address at which other workers reach this one; its `host:port` is the worker's id."""
        wanted = self.settings.string("rest.advertised.listener").lower()
        address = next((each for each in addresses if each.scheme == wanted), addresses[0])
        is_any = address.host in ("", "0.0.0.0", "::")
        host = self.settings.string("rest.advertised.host.name") or (socket.getfqdn() if is_any else address.host)
        return ListenAddress(address.scheme, host, self.settings.integer("rest.advertised.port") or address.port)

    @property
    def converters(self) -> Mapping[str, str]:
        """The worker's converters by the name of the setting."""
        return {name: self.settings.string(name) for name in ("key.converter", "value.converter", "header.converter")}


def override_problem(policy: Policy, name: str, value: str) -> str | None:
    """The error of a setting such as `producer.override.linger.ms`; None also for one that no client has."""
    kind, _, inner = name.partition(".override.")
    refusal = policy(inner)
    if refusal is not None:
        return refusal
    keys = _KINDS.get(kind)
    if keys is None or inner not in keys:
        return None
    try:
        keys[inner].parse(value)
    except ConfigError as error:
        return str(error)
    return None


def _is_known(name: str) -> bool:
    if name in CONNECT_KEYS or name in _NOT_ACTED_ON or name in _REFUSED or name.startswith(_PREFIXES):
        return True
    if name.startswith(_HTTPS):
        return name.removeprefix(_HTTPS) in SHELL_KEYS
    kind, _, inner = name.partition(".")
    return any(name in keys for keys in _KINDS.values()) or (kind in _KINDS and inner in _KINDS[kind])


def _told(given: Mapping[str, str], client: Mapping[str, object], providers: ConfigProviders) -> dict[str, str]:
    """The settings that may go into the pipelines' topic, with placeholders instead of their values."""
    told = {
        name: value
        for name, value in given.items()
        if _is_tasks(name) and (not is_secret(name) or providers.has_placeholder(value))
    }
    return {**told, "bootstrap.servers": str(client["bootstrap.servers"])}


def _is_tasks(name: str) -> bool:
    """Whether tasks are told it. Settings of all clients come to them with those of the control process."""
    return not _is_rest(name) and (name not in ADMIN_KEYS or name == "config.providers")


def _is_rest(name: str) -> bool:
    return name in SHELL_KEYS or name.startswith(("listeners", "rest.", "pipelines."))
