"""The rules about several of a node's settings together.

`check_together` holds Kafka's own rules and runs whenever a `ServerConfig` is made, also for dynamic changes.
`check_startable` holds what this release cannot serve, so that a node refuses rather than serves without protection;
`warnings_of` is what an operator should hear without the node refusing.
"""

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Final

from ottla.broker.config.conflict import ConfigConflictError
from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.broker.config.limit import broker_conflicts
from ottla.broker.config.listener import ListenerAddress, is_host, parse_pairs
from ottla.broker.config.server_settings import ServerSettings
from ottla.broker.node.operator_policy import check_policies
from ottla.broker.quota.callback import check_quota_callback
from ottla.broker.security.plugin import check_authorizer
from ottla.replication.request.replica_selector import SELECTORS

_MIB: Final = 1 << 20
_NOT_ROUTABLE: Final = "0.0.0.0"
_CORDONED: Final = "cordoned.log.dirs"


def check_together(config: ServerSettings) -> None:
    """Raises a `ConfigError` for the first rule that the settings break."""
    _check_identity(config)
    _check_logs(config)
    _check_timeouts(config)
    _check_listeners(config)
    _check_quorum(config)
    if config.is_broker:
        _check_broker(config)
    if config.is_controller:
        _check_controller(config)
    _check_connections(config)
    for key, reason in broker_conflicts(config.integer):
        raise ConfigConflictError(key, reason)
    _check_groups(config)


def check_startable(config: ServerSettings) -> None:
    """Raises a `ConfigError` for what was asked for and this release cannot give: a node without it would mislead."""
    check_authorizer(config)
    check_quota_callback(config)
    if config.boolean("remote.log.storage.system.enable"):
        raise ConfigConflictError(
            "remote.log.storage.system.enable",
            "Tiered storage is asked for, and this release has none: remove remote.log.storage.system.enable to start "
            "a node that keeps all segments on its own disks.",
        )
    if config.is_controller:
        check_policies(config)


def warnings_of(config: ServerSettings) -> Iterator[str]:
    """Warnings about valid settings."""
    heartbeat, session = config.integer("broker.heartbeat.interval.ms"), config.integer("broker.session.timeout.ms")
    if heartbeat * 2 > session:
        yield (
            f"broker.heartbeat.interval.ms ({heartbeat} ms) should be at most half of broker.session.timeout.ms "
            f"({session} ms), or a late heartbeat costs the broker its leases."
        )
    selector = config.optional_string("replica.selector.class")
    if selector and selector not in SELECTORS:
        yield (
            f"replica.selector.class {selector} is not known here, so consumers read from leaders. "
            f"Known are {' and '.join(SELECTORS)}."
        )
    if not config.is_controller:
        if len(config.controller_listener_names) > 1:
            yield f"Of controller.listener.names only the first, {config.controller_listener_names[0]}, is used."
        for name in ("create.topic.policy.class.name", "alter.config.policy.class.name", "num.partitions",
                     "default.replication.factor"):  # fmt: skip
            if name in config.given:
                yield f"{name} is set on a broker that is no controller; it counts on controllers."


def _refuse(key: str, reason: str) -> ConfigConflictError:
    return ConfigConflictError(key, reason)


def _unmet(key: str, requirement: str) -> ConfigConflictError:
    """The error of a rule that also holds for dynamic configs, in Kafka's words."""
    return _refuse(key, f"requirement failed: {requirement}")


def _check_identity(config: ServerSettings) -> None:
    if not config.roles:
        raise _refuse("process.roles", "process.roles must not be empty. Valid values include: broker, controller")
    if config.node_id != config.integer("broker.id"):
        raise _refuse("broker.id", "You must set `node.id` to the same value as `broker.id`.")


def _check_logs(config: ServerSettings) -> None:
    logs = config.default_log_config
    if logs.segment_ms < 1:
        raise _unmet("log.roll.ms", "log.roll.ms must be greater than or equal to 1")
    if logs.segment_jitter_ms < 0:
        raise _unmet("log.roll.jitter.ms", "log.roll.jitter.ms must be greater than or equal to 0")
    if logs.retention_ms < 1 and logs.retention_ms != -1:
        name = next(name for name in SERVER_KEYS if name.startswith("log.retention.") and name in config.given)
        raise _unmet(name, f"{name} must be unlimited (-1) or, greater than or equal to 1")
    if not config.log_dirs or not all(config.log_dirs):
        raise _refuse("log.dirs", "At least one log directory must be defined via log.dirs or log.dir.")
    threads = config.integer("log.cleaner.threads")
    if threads < 1:
        raise _refuse("log.cleaner.threads", "log.cleaner.threads must be greater than or equal to 1")
    if config.integer("log.cleaner.dedupe.buffer.size") // threads <= _MIB:
        raise _unmet(
            "log.cleaner.dedupe.buffer.size", "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread."
        )


def _check_timeouts(config: ServerSettings) -> None:
    wait_ms = config.integer("replica.fetch.wait.max.ms")
    if wait_ms > config.integer("replica.socket.timeout.ms"):
        raise _refuse(
            "replica.socket.timeout.ms",
            "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to prevent unnecessary "
            "socket timeouts",
        )
    if wait_ms > config.integer("replica.lag.time.max.ms"):
        raise _refuse(
            "replica.fetch.wait.max.ms",
            "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms to prevent "
            "frequent changes in ISR",
        )
    idle_ms, delay_ms = (
        config.integer("connections.max.idle.ms"),
        config.integer("connection.failed.authentication.delay.ms"),
    )
    if 0 <= idle_ms <= delay_ms:
        raise _refuse(
            "connections.max.idle.ms",
            f"connection.failed.authentication.delay.ms={delay_ms} should always be less than "
            f"connections.max.idle.ms={idle_ms} to prevent failed authentication responses from timing out",
        )


def _check_listeners(config: ServerSettings) -> None:
    _check_distinct_names("listeners", config.listeners)
    _check_distinct_ports(config.listeners)
    _check_distinct_names("advertised.listeners", config.advertised_listeners)
    if config.follow_dialled_address:
        return
    for address in config.advertised_listeners:
        if address.host == _NOT_ROUTABLE:
            key = "advertised.listeners" if "advertised.listeners" in config.given else "listeners"
            raise _refuse(
                key,
                "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address.",
            )


def _check_distinct_names(key: str, listeners: Sequence[ListenerAddress]) -> None:
    if len({listener.name for listener in listeners}) < len(listeners):
        shown = ",".join(str(listener) for listener in listeners)
        raise _refuse(key, f"Each listener must have a different name, {key}: {shown}")


def _check_distinct_ports(listeners: Sequence[ListenerAddress]) -> None:
    """A port may serve two listeners if one has an IPv4 and the other an IPv6 address."""
    shown = ",".join(str(listener) for listener in listeners)
    by_port: dict[int, list[str]] = {}
    for listener in listeners:
        by_port.setdefault(listener.port, []).append(listener.host)
    for port, hosts in by_port.items():
        if port == 0 or len(hosts) == 1:
            continue
        versions = sorted(_ip_version(host) for host in hosts)
        if versions != [4, 6]:
            raise _refuse(
                "listeners",
                "Each listener must have a different port unless exactly one listener has an IPv4 address and the "
                f"other IPv6 address, listeners: {shown}, port: {port}",
            )


def _ip_version(host: str) -> int:
    try:
        return ipaddress.ip_address(host).version
    except ValueError:
        return 0


def _check_quorum(config: ServerSettings) -> None:
    voters = {voter.id for voter in config.quorum_voters}
    if not voters and not config.quorum_bootstrap_servers:
        raise _refuse(
            "controller.quorum.bootstrap.servers",
            "If using process.roles, either controller.quorum.bootstrap.servers must contain the set of bootstrap "
            "controllers or controller.quorum.voters must contain a parseable set of controllers.",
        )
    if voters and config.is_controller and config.node_id not in voters:
        raise _refuse(
            "controller.quorum.voters",
            f"If process.roles contains the 'controller' role, the node id {config.node_id} must be included in the "
            f"set of voters controller.quorum.voters={_shown(voters)}",
        )
    if not config.is_controller and config.node_id in voters:
        raise _refuse(
            "controller.quorum.voters",
            f"If process.roles contains just the 'broker' role, the node id {config.node_id} must not be included in "
            f"the set of voters controller.quorum.voters={_shown(voters)}",
        )
    if not config.is_controller and config.boolean("controller.quorum.auto.join.enable"):
        raise _refuse(
            "controller.quorum.auto.join.enable",
            "controller.quorum.auto.join.enable is only supported when process.roles contains the 'controller' role.",
        )


def _shown(numbers: set[int]) -> str:
    return f"{{{', '.join(str(number) for number in sorted(numbers))}}}"


def _check_controller(config: ServerSettings) -> None:
    names = {listener.name for listener in config.listeners}
    if not config.is_broker and len(config.controller_listeners) < len(config.listeners):
        raise _refuse(
            "listeners",
            "The listeners config must only contain KRaft controller listeners from controller.listener.names when "
            "process.roles=controller",
        )
    if not config.controller_listeners:
        raise _refuse(
            "controller.listener.names",
            "controller.listener.names must contain at least one value appearing in the 'listeners' configuration when "
            "running the KRaft controller role",
        )
    if not names.issuperset(config.controller_listener_names):
        raise _refuse(
            "controller.listener.names",
            "controller.listener.names must only contain values appearing in the 'listeners' configuration when "
            "running the KRaft controller role",
        )
    given = "inter.broker.listener.name" in config.given
    if not config.is_broker and given and config.inter_broker_listener_name in config.controller_listener_names:
        raise _refuse(
            "inter.broker.listener.name",
            "controller.listener.names must not contain an explicitly set inter.broker.listener.name configuration "
            "value when process.roles=controller",
        )


def _check_broker(config: ServerSettings) -> None:
    if not config.is_controller:
        _check_lone_broker(config)
    names = [listener.name for listener in config.listeners]
    advertised = [listener.name for listener in config.advertised_broker_listeners]
    if not advertised:
        raise _refuse(
            "listeners",
            "There must be at least one broker advertised listener. Perhaps all listeners appear in "
            "controller.listener.names?",
        )
    if config.inter_broker_listener_name not in advertised:
        raise _refuse(
            "inter.broker.listener.name",
            "inter.broker.listener.name must be a listener name defined in advertised.listeners. The valid options "
            f"based on currently configured listeners are {','.join(advertised)}",
        )
    if not set(advertised) <= set(names):
        raise _refuse(
            "advertised.listeners",
            "advertised.listeners listener names must be equal to or a subset of the ones defined in listeners. Found "
            f"{','.join(advertised)}. The valid options based on the current configuration are {','.join(names)}",
        )
    _check_cordoned(config)


def _check_lone_broker(config: ServerSettings) -> None:
    if config.controller_listeners:
        raise _refuse(
            "controller.listener.names",
            "controller.listener.names must not contain a value appearing in the 'listeners' configuration when "
            "running KRaft with just the broker role",
        )
    for name in config.controller_listener_names:
        if name not in config.security_protocols:
            raise _refuse(
                "listener.security.protocol.map",
                f"Controller listener with name {name} defined in controller.listener.names not found in "
                "listener.security.protocol.map (an explicit security mapping for each controller listener is required "
                "if listener.security.protocol.map is non-empty, or if there are security protocols other than "
                "PLAINTEXT in use)",
            )


def _check_cordoned(config: ServerSettings) -> None:
    cordoned = config.strings(_CORDONED)
    if "*" in cordoned:
        if len(cordoned) > 1:
            raise _refuse(_CORDONED, f"When {_CORDONED} is set to *, it must not contain other values")
        return
    missing = [directory for directory in cordoned if directory not in config.log_dirs]
    if missing:
        raise _refuse(
            _CORDONED,
            f"All entries in {_CORDONED} must be present in log.dirs or log.dir. Missing entries : "
            f"{', '.join(missing)}",
        )


def _check_connections(config: ServerSettings) -> None:
    queued, largest = config.integer("queued.max.request.bytes"), config.integer("socket.request.max.bytes")
    if 0 < queued < largest:
        raise _refuse(
            "queued.max.request.bytes", "queued.max.request.bytes must be larger or equal to socket.request.max.bytes"
        )
    name = "max.connections.per.ip.overrides"
    try:
        overrides = parse_pairs(config.string(name))
    except ValueError as error:
        raise _refuse(name, f"Error parsing configuration property '{name}': {error}") from error
    if not config.integer("max.connections.per.ip") and not overrides:
        raise _refuse(
            "max.connections.per.ip",
            f"max.connections.per.ip can be set to zero only if {name} property is set.",
        )
    if not all(number.isascii() and number.isdigit() for number in overrides.values()):
        raise _refuse(name, f"{name} contains limits that are no numbers: {config.string(name)}")
    bad = [host for host in overrides if not is_host(host)]
    if bad:
        raise _refuse(name, f"{name} contains invalid addresses : {','.join(bad)}")


def _check_groups(config: ServerSettings) -> None:
    protocols = config.strings("group.coordinator.rebalance.protocols")
    if "classic" not in protocols:
        raise _refuse("group.coordinator.rebalance.protocols", "Disabling the 'classic' protocol is not supported.")
    assignors = config.strings("group.share.assignors")
    if len(assignors) != 1:
        raise _refuse(
            "group.share.assignors",
            f"group.share.assignors must contain exactly one assignor, but found {len(assignors)}",
        )
