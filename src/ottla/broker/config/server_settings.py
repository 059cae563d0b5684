"""The settings of one node as its file gives them; `server_config` adds that they go together."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final, TypeVar, cast

from ottla.base.config import REQUIRED, ConfigError, UnknownKey
from ottla.base.ids import Uuid
from ottla.broker.config.conflict import ConfigConflictError
from ottla.broker.config.keys.listener import SECURITY_PROTOCOLS
from ottla.broker.config.keys.passive import NOT_ACTED_ON
from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.broker.config.listener import (
    HostPort,
    ListenerAddress,
    QuorumVoter,
    normalised,
    parse_host_port,
    parse_listener,
    parse_pairs,
    parse_voter,
)
from ottla.broker.config.name import is_plugin_name
from ottla.broker.config.older import GoneKey, gone_because
from ottla.metadata.controller.setting import ControllerSettings
from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.raft.config import QuorumConfig
from ottla.storage.broker_log_config import default_log_config, log_directories
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.log_config import LogConfig

BROKER_ROLE: Final = "broker"
CONTROLLER_ROLE: Final = "controller"
_PROTOCOLS: Final = frozenset(SECURITY_PROTOCOLS)
_SECURED: Final = _PROTOCOLS - {"PLAINTEXT"}

T = TypeVar("T")


class ServerSettings:
    """The settings of a file, each checked by itself: typed where structured, by dotted name otherwise."""

    def __init__(self, given: Mapping[str, str]) -> None:
        """`given` is name → text. Raises `ConfigError` for what is missing or wrong."""
        self.given: Final[Mapping[str, str]] = MappingProxyType(_with_node_id(given))
        for key in SERVER_KEYS.values():
            if key.default is REQUIRED and key.name not in self.given:
                reason = f'Missing required configuration "{key.name}" which has no default value.'
                raise ConfigConflictError(key.name, reason)
        parsed = SERVER_KEYS.parse(self.given)
        self._values: Final = {name: _distinct(value) for name, value in parsed.values.items()}
        self.unknown: Final[tuple[UnknownKey, ...]] = tuple(
            _named(unknown) for unknown in parsed.unknown if not is_plugin_name(unknown.name, self._values)
        )
        """Names that neither Kafka nor we know, and that are meant for no plugin."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(node_id={self.node_id}, roles={','.join(sorted(self.roles))})"

    # By name

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    @property
    def values(self) -> Mapping[str, object]:
        """The parsed value of every key."""
        return MappingProxyType(self._values)

    @property
    def not_acted_on(self) -> list[str]:
        """Settings that were given and that nothing in this release acts on."""
        return sorted(NOT_ACTED_ON & self.given.keys())

    def integer(self, name: str) -> int:
        """The value of an INT, SHORT or LONG key that has one."""
        value = self._values[name]
        assert isinstance(value, int), name
        return value

    def optional_integer(self, name: str) -> int | None:
        """The value of an INT, SHORT or LONG key; None if it is not set."""
        return None if self._values[name] is None else self.integer(name)

    def number(self, name: str) -> float:
        """The value of a DOUBLE key."""
        value = self._values[name]
        assert isinstance(value, float), name
        return value

    def boolean(self, name: str) -> bool:
        """The value of a BOOLEAN key."""
        value = self._values[name]
        assert isinstance(value, bool), name
        return value

    def string(self, name: str) -> str:
        """The value of a STRING, CLASS or PASSWORD key that has one."""
        value = self._values[name]
        assert isinstance(value, str), name
        return value

    def optional_string(self, name: str) -> str | None:
        """The value of a STRING, CLASS or PASSWORD key; None if it is not set."""
        return None if self._values[name] is None else self.string(name)

    def strings(self, name: str) -> tuple[str, ...]:
        """The items of a LIST key; none if it is not set."""
        value = self._values[name]
        assert value is None or isinstance(value, tuple), name
        return value or ()

    # Who the node is

    @property
    def node_id(self) -> int:
        """The node's number in the cluster."""
        return self.integer("node.id")

    @property
    def roles(self) -> frozenset[str]:
        """`broker`, `controller`, or both."""
        return frozenset(self.strings("process.roles"))

    @property
    def is_broker(self) -> bool:
        """Whether the node serves clients."""
        return BROKER_ROLE in self.roles

    @property
    def is_controller(self) -> bool:
        """Whether the node is a controller."""
        return CONTROLLER_ROLE in self.roles

    @property
    def rack(self) -> str | None:
        """The broker's rack."""
        return self.optional_string("broker.rack")

    # Where it listens

    @cached_property
    def security_protocols(self) -> Mapping[str, str]:
        """The security protocol of each listener name, `PLAINTEXT` for controllers' unless the file says more."""
        key = "listener.security.protocol.map"
        try:
            pairs = parse_pairs(self.string(key))
        except ValueError as error:
            raise ConfigError(key, self.string(key), str(error)) from error
        protocols = {normalised(name): protocol for name, protocol in pairs.items()}
        wrong = [protocol for protocol in protocols.values() if protocol not in _PROTOCOLS]
        if wrong:
            raise ConfigConflictError(key, f"Invalid security protocol `{wrong[0]}` defined in {key}")
        if key not in self.given and not self._secured_names & _SECURED:
            protocols.update((name, "PLAINTEXT") for name in self.controller_listener_names)
        return MappingProxyType(protocols)

    @property
    def _secured_names(self) -> frozenset[str]:
        return frozenset(self.controller_listener_names) | {address.name for address in self._addresses("listeners")}

    @cached_property
    def listeners(self) -> tuple[ListenerAddress, ...]:
        """The listeners of the node; `host` is `""` for all interfaces."""
        return self._secured("listeners")

    @property
    def broker_listeners(self) -> tuple[ListenerAddress, ...]:
        """The listeners that serve clients and brokers."""
        return tuple(address for address in self.listeners if address.name not in self.controller_listener_names)

    @property
    def controller_listeners(self) -> tuple[ListenerAddress, ...]:
        """The listeners that serve controllers' APIs."""
        return tuple(address for address in self.listeners if address.name in self.controller_listener_names)

    @cached_property
    def advertised_broker_listeners(self) -> tuple[ListenerAddress, ...]:
        """The advertised listeners for clients and brokers; the node fills in its own name for a `host` of `""`."""
        addresses = self._secured("advertised.listeners") or self.listeners
        return tuple(address for address in addresses if address.name not in self.controller_listener_names)

    @cached_property
    def advertised_controller_listeners(self) -> tuple[ListenerAddress, ...]:
        """The advertised listeners of this controller, in the order of `controller.listener.names`."""
        told = {address.name: address for address in self._secured("advertised.listeners")}
        bound = {address.name: address for address in self.controller_listeners}
        found = [told.get(name) or bound.get(name) for name in self.controller_listener_names]
        addresses = [address for address in found if address is not None]
        return tuple(self._reachable(address, place) for place, address in enumerate(addresses))

    def _reachable(self, address: ListenerAddress, place: int) -> ListenerAddress:
        """A controller bound to all interfaces is told by the name that `controller.quorum.voters` gives it."""
        if address.host not in ("", "0.0.0.0") or address.name in self._advertised_names:
            return address
        own = [voter for voter in self.quorum_voters if voter.id == self.node_id]
        if own and place == 0:
            return ListenerAddress(address.name, own[0].host, own[0].port)
        return address._replace(host="")

    @property
    def _advertised_names(self) -> set[str]:
        return {address.name for address in self._addresses("advertised.listeners")}

    @property
    def advertised_listeners(self) -> tuple[ListenerAddress, ...]:
        """All advertised listeners."""
        return self.advertised_broker_listeners + self.advertised_controller_listeners

    @property
    def follow_dialled_address(self) -> bool:
        """Whether each client is told the very address it has dialled."""
        return self.boolean("advertised.listeners.follow.dialled") and "advertised.listeners" not in self.given

    @cached_property
    def controller_listener_names(self) -> tuple[str, ...]:
        """Names of the listeners that controllers are reached on."""
        return tuple(normalised(name) for name in self.strings("controller.listener.names"))

    @cached_property
    def inter_broker_listener_name(self) -> str:
        """The listener on which brokers reach each other."""
        name = self.optional_string("inter.broker.listener.name")
        if name is None:
            return self.string("security.inter.broker.protocol")
        if "security.inter.broker.protocol" in self.given:
            both = "inter.broker.listener.name and security.inter.broker.protocol"
            raise ConfigConflictError("inter.broker.listener.name", f"Only one of {both} should be set.")
        if normalised(name) not in self.security_protocols:
            raise ConfigConflictError(
                "inter.broker.listener.name",
                f"Listener with name {normalised(name)} defined in inter.broker.listener.name not found in "
                "listener.security.protocol.map.",
            )
        return normalised(name)

    @cached_property
    def http_listen(self) -> HostPort | None:
        """The address of metrics and health; None if they are not served."""
        text = self.optional_string("http.listen")
        return _parsed("http.listen", [text], parse_host_port)[0] if text else None

    def _addresses(self, key: str) -> tuple[ListenerAddress, ...]:
        return _parsed(key, self.strings(key), parse_listener)

    def _secured(self, key: str) -> tuple[ListenerAddress, ...]:
        """The addresses of a key, every one with a security protocol."""
        for address in self._addresses(key):
            if address.name not in self.security_protocols:
                reason = f"No security protocol defined for listener {address.name}"
                raise ConfigError(key, ",".join(self.strings(key)), reason)
        return self._addresses(key)

    # The quorum

    @cached_property
    def quorum_voters(self) -> tuple[QuorumVoter, ...]:
        """The voters of a static quorum; none if it is dynamic."""
        key = "controller.quorum.voters"
        return _parsed(key, self.strings(key), parse_voter)

    @cached_property
    def quorum_bootstrap_servers(self) -> tuple[HostPort, ...]:
        """The addresses to ask for a dynamic quorum's leader."""
        key = "controller.quorum.bootstrap.servers"
        return _parsed(key, self.strings(key), parse_host_port)

    # What others' parts are given

    @cached_property
    def log_dirs(self) -> tuple[str, ...]:
        """The directories that hold the logs."""
        return log_directories(self._values)

    @property
    def metadata_log_dir(self) -> str:
        """The directory that holds the metadata log."""
        return self.optional_string("metadata.log.dir") or self.log_dirs[0]

    @cached_property
    def default_log_config(self) -> LogConfig:
        """The settings of topics that say nothing themselves."""
        return default_log_config(self._values)

    @cached_property
    def cleaner(self) -> CleanerConfig:
        """The log cleaner's settings."""
        return CleanerConfig.from_values(self._values)

    @cached_property
    def metadata_log(self) -> MetadataLogConfig:
        """The settings of the metadata log."""
        return MetadataLogConfig.of(self._values)

    @cached_property
    def quorum(self) -> QuorumConfig:
        """The timeouts of the quorum."""
        prefix = "controller.quorum."
        return QuorumConfig(
            election_timeout_ms=self.integer(f"{prefix}election.timeout.ms"),
            fetch_timeout_ms=self.integer(f"{prefix}fetch.timeout.ms"),
            election_backoff_max_ms=self.integer(f"{prefix}election.backoff.max.ms"),
            append_linger_ms=self.integer(f"{prefix}append.linger.ms"),
            request_timeout_ms=self.integer(f"{prefix}request.timeout.ms"),
            retry_backoff_ms=self.integer(f"{prefix}retry.backoff.ms"),
            auto_join_enable=self.boolean(f"{prefix}auto.join.enable"),
            fetch_max_bytes=self.integer(f"{prefix}fetch.max.bytes"),
            fetch_snapshot_max_bytes=self.integer(f"{prefix}fetch.snapshot.max.bytes"),
        )

    def controller_settings(self, cluster_id: str, broker_incarnation_id: Uuid | None) -> ControllerSettings:
        """The controller's settings; the incarnation is that of the broker in this process, if any."""
        secret = self.optional_string("delegation.token.secret.key")
        return ControllerSettings(
            node_id=self.node_id,
            cluster_id=cluster_id,
            broker_incarnation_id=broker_incarnation_id,
            num_partitions=self.integer("num.partitions"),
            default_replication_factor=self.integer("default.replication.factor"),
            delete_topic_enable=self.boolean("delete.topic.enable"),
            broker_session_timeout_ms=self.integer("broker.session.timeout.ms"),
            metadata_max_idle_interval_ms=self.integer("metadata.max.idle.interval.ms"),
            auto_leader_rebalance_enable=self.boolean("auto.leader.rebalance.enable"),
            leader_imbalance_check_interval_ms=self.integer("leader.imbalance.check.interval.seconds") * 1000,
            unclean_leader_election_interval_ms=self.integer("unclean.leader.election.interval.ms"),
            delegation_token_secret_key=secret.encode() if secret else None,
            delegation_token_max_lifetime_ms=self.integer("delegation.token.max.lifetime.ms"),
            delegation_token_expiry_time_ms=self.integer("delegation.token.expiry.time.ms"),
            delegation_token_expiry_check_interval_ms=self.integer("delegation.token.expiry.check.interval.ms"),
        )


def _with_node_id(given: Mapping[str, str]) -> dict[str, str]:
    """`node.id` and its former name `broker.id` provide each other."""
    names = ("node.id", "broker.id")
    known = [given[name] for name in names if name in given]
    return dict(given) | (dict.fromkeys(names, known[0]) if len(known) == 1 else {})


def _distinct(value: object) -> object:
    """A list without repetitions: Kafka drops them rather than refusing."""
    return tuple(dict.fromkeys(cast(tuple[str, ...], value))) if isinstance(value, tuple) else value


def _parsed(key: str, texts: Sequence[str], parse: Callable[[str], T]) -> tuple[T, ...]:
    try:
        return tuple(parse(text) for text in texts)
    except ValueError as error:
        raise ConfigError(key, ",".join(texts), str(error)) from error


def _named(unknown: UnknownKey) -> UnknownKey:
    return unknown if gone_because(unknown.name) is None else GoneKey(unknown.name, None)
