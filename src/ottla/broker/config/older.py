"""Server files of older Kafka: what 4.3 has instead of the keys that are gone from it.

Five keys decide where a node listens and how it finds its cluster (`DECIDING`). They are never ignored: a node that
listens elsewhere than its file says is worse than one that does not start. The rest of what is gone has no effect, and
is told with what replaced it.

Pure: settings in, settings and reasons out.
"""

from collections.abc import Container, Mapping
from typing import Final, NamedTuple

from ottla.base.config import UnknownKey

DECIDING: Final = ("port", "host.name", "advertised.port", "advertised.host.name", "zookeeper.connect")
AUTHORIZER: Final = "authorizer.class.name"
STANDARD_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
OLDER_AUTHORIZERS: Final = frozenset(
    {"kafka.security.auth.SimpleAclAuthorizer", "kafka.security.authorizer.AclAuthorizer"}
)

_PROTOCOLS: Final = "listener.security.protocol.map"
_NAMES: Final = "controller.listener.names"
_SERVERS: Final = "controller.quorum.bootstrap.servers"
_QUORUM: Final = frozenset({_SERVERS, "controller.quorum.voters"})
_FACTORS: Final = (
    "offsets.topic.replication.factor", "transaction.state.log.replication.factor",
    "transaction.state.log.min.isr", "share.coordinator.state.topic.replication.factor",
    "share.coordinator.state.topic.min.isr",
)  # fmt: skip
"""Replicas of internal topics, of which a node that is alone has one."""
_PORT: Final = "9092"
_CONTROLLER_OFFSET: Final = 10_000
"""How far behind the clients' port the controller's is put: next to it may be another node of this machine."""
_PORT_MAX: Final = 65_535
_ZOOKEEPER: Final = "there is no ZooKeeper any more, a quorum of controllers keeps the metadata"
_CONNECT: Final = (
    "there is no ZooKeeper any more: without controller.quorum.bootstrap.servers a node is a cluster of its own"
)
_PASSWORDS: Final = "passwords in dynamic settings are not encrypted any more"
_PER_TOPIC: Final = "set it on the topic, with kafka-configs.sh or ottla configs set"

GONE: Final = {
    "auto.include.jmx.reporter": "metric.reporters names the reporters",
    "broker.id.generation.enable": "node.id gives every node its number",
    "control.plane.listener.name": "controller.listener.names has the controllers' listeners",
    "controlled.shutdown.max.retries": "a node leaves with its heartbeats, which go on until the controller agrees",
    "controlled.shutdown.retry.backoff.ms": "broker.heartbeat.interval.ms is the pause between attempts to leave",
    "delegation.token.master.key": "it is called delegation.token.secret.key",
    "inter.broker.protocol.version": "kafka-features.sh upgrade --release-version sets the version of the cluster",
    "log.cleanup.interval.mins": "log.retention.check.interval.ms is the period",
    "log.delete.delay.ms": "it is called log.segment.delete.delay.ms",
    "log.message.downconversion.enable": "records are never converted to older formats any more",
    "log.message.format.version": "records always have format 2",
    "log.message.timestamp.difference.max.ms": (
        "log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms limit both directions"
    ),
    "log.retention.hours.per.topic": _PER_TOPIC,
    "log.roll.hours.per.topic": _PER_TOPIC,
    "log.segment.bytes.per.topic": _PER_TOPIC,
    "offsets.commit.required.acks": "commits always wait for all replicas in sync",
    "password.encoder.cipher.algorithm": _PASSWORDS,
    "password.encoder.iterations": _PASSWORDS,
    "password.encoder.key.length": _PASSWORDS,
    "password.encoder.keyfactory.algorithm": _PASSWORDS,
    "password.encoder.old.secret": _PASSWORDS,
    "password.encoder.secret": _PASSWORDS,
    "quota.consumer.default": "kafka-configs.sh --entity-type clients --entity-default sets consumer_byte_rate",
    "quota.producer.default": "kafka-configs.sh --entity-type clients --entity-default sets producer_byte_rate",
    "replica.lag.max.messages": "replica.lag.time.max.ms decides which replicas are in sync",
    "reserved.broker.max.id": "node.id may be any number",
}
"""Keys without effect in 4.3, with what replaced them; those of ZooKeeper are known by their beginning."""


class Replacement(NamedTuple):
    """The replacement of a setting in 4.3, and the reason."""

    settings: Mapping[str, str]
    reason: str


class GoneKey(UnknownKey):
    """A name that older releases knew, with what replaced it."""

    def __str__(self) -> str:
        return f"{self.name} is gone from Kafka 4.3: {gone_because(self.name)}"


def gone_because(name: str) -> str | None:
    """The replacement of a removed key that decides nothing; None for any other name.

    >>> gone_because("replica.lag.max.messages")
    'replica.lag.time.max.ms decides which replicas are in sync'
    """
    if name in GONE:
        return GONE[name]
    return _ZOOKEEPER if name.startswith("zookeeper.") and name not in DECIDING else None


def signs_of_older(names: Container[str]) -> list[str]:
    """The signs of a file for an older Kafka, which can't be used unchanged.

    >>> signs_of_older({"broker.id", "port"}), signs_of_older({"broker.id", "process.roles"})
    (['port'], [])
    >>> signs_of_older({"broker.id", "listeners"})
    ['broker.id without process.roles']
    """
    found = [name for name in DECIDING if name in names]
    if not found and "broker.id" in names and "process.roles" not in names:
        found = ["broker.id without process.roles"]
    return found


def replacements(given: Mapping[str, str]) -> dict[str, Replacement]:
    """The replacement in 4.3 of each older setting that was given.

    >>> replacements({"port": "19693", "log.dirs": "/data"})["port"].settings
    {'listeners': 'PLAINTEXT://:19693'}
    """
    found = {name: Replacement({}, reason) for name in given if (reason := gone_because(name)) is not None}
    found |= _listening(given, ("host.name", "port"), "listeners", {})
    found |= _listening(
        given, ("advertised.host.name", "advertised.port"), "advertised.listeners",
        {"host": given.get("host.name", "localhost"), "port": given.get("port", _PORT)},
    )  # fmt: skip
    if "zookeeper.connect" in given:
        found["zookeeper.connect"] = Replacement({}, _CONNECT)
    if given.get(AUTHORIZER) in OLDER_AUTHORIZERS:
        found[AUTHORIZER] = Replacement(
            {AUTHORIZER: STANDARD_AUTHORIZER}, "this authorizer keeps its rules in the cluster's own metadata"
        )
    return found


def _listening(
    given: Mapping[str, str], names: tuple[str, str], successor: str, otherwise: Mapping[str, str]
) -> dict[str, Replacement]:
    """Host and port in two keys, as one address; the successor wins if it was given, too, as it did before."""
    present = [name for name in given if name in names]
    if not present:
        return {}
    if successor in given:
        return dict.fromkeys(present, Replacement({}, f"{successor} decides"))
    host = given.get(names[0]) or otherwise.get("host", "")
    port = given.get(names[1]) or otherwise.get("port", _PORT)
    address = f"PLAINTEXT://{f'[{host}]' if ':' in host else host}:{port}"
    first, *others = present
    found = {first: Replacement({successor: address}, f"{successor} names host and port")}
    return found | {name: Replacement({}, f"{successor} has it") for name in others}


def standalone(given: Mapping[str, str]) -> dict[str, str]:
    """The settings that make the node of a file without a quorum its own controller; {} if it has one.

    >>> standalone({"process.roles": "controller", "listeners": "PLAINTEXT://:9093", "node.id": "1"})
    {'controller.listener.names': 'PLAINTEXT', 'controller.quorum.bootstrap.servers': 'localhost:9093'}
    """
    roles = {role.strip() for role in given.get("process.roles", "broker,controller").split(",")}
    if _NAMES in given or "controller" not in roles:
        return {}
    added = _controller_alone(given) if "broker" not in roles else _controller_beside(given)
    if "process.roles" not in given:
        added["process.roles"] = "broker,controller"
    if not {"broker.id", "node.id"} & given.keys():
        added["node.id"] = "1"
    if _QUORUM & given.keys():
        del added[_SERVERS]
    elif "broker" in roles:
        added |= {name: "1" for name in _FACTORS if name not in given}
    return added


def _controller_alone(given: Mapping[str, str]) -> dict[str, str]:
    """The first listener of a controller that serves no clients is the quorum's."""
    listeners = given.get("listeners")
    first = (listeners or "CONTROLLER://localhost:9093").split(",")[0].strip()
    name, port = first.partition(":")[0], first.rpartition(":")[2]
    found = {} if listeners else {"listeners": first}
    return found | {_NAMES: name, _SERVERS: f"localhost:{port}"}


def _controller_beside(given: Mapping[str, str]) -> dict[str, str]:
    """A listener of its own for the controller beside the clients', unless one is called so already."""
    listeners = given.get("listeners", f"PLAINTEXT://:{_PORT}")
    endpoints = [endpoint.strip() for endpoint in listeners.split(",")]
    ports = {endpoint.partition(":")[0].upper(): endpoint.rpartition(":")[2] for endpoint in endpoints}
    if "CONTROLLER" in ports:
        return {_NAMES: "CONTROLLER", _SERVERS: f"localhost:{ports['CONTROLLER']}"}
    first = endpoints[0].rpartition(":")[2]
    port = int(first) if first.isdigit() else int(_PORT)
    controller = port + _CONTROLLER_OFFSET if port + _CONTROLLER_OFFSET <= _PORT_MAX else port - _CONTROLLER_OFFSET
    added = {
        "listeners": f"{listeners},CONTROLLER://localhost:{controller}",
        _NAMES: "CONTROLLER",
        _SERVERS: f"localhost:{controller}",
    }
    protocols = _protocols(given.get(_PROTOCOLS), listeners)
    return added if protocols is None else {**added, _PROTOCOLS: protocols}


def _protocols(given: str | None, listeners: str) -> str | None:
    """The protocols of listeners with the controller's; None if its name is known without being told.

    >>> _protocols(None, "PLAINTEXT://:9092"), _protocols("A:SSL", "A://:9092")
    (None, 'A:SSL,CONTROLLER:PLAINTEXT')
    """
    if given is not None:
        return f"{given},CONTROLLER:PLAINTEXT"
    names = {endpoint.partition(":")[0].strip().upper() for endpoint in listeners.split(",")}
    if names <= {"PLAINTEXT"}:
        return None
    return ",".join(["CONTROLLER:PLAINTEXT", *(f"{name}:{name}" for name in sorted(names))])
