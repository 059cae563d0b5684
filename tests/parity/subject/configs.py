"""Configs of topics, brokers, the cluster, loggers and more: described, altered, refused, listed."""

from ottla.protocol.messages.alter_configs import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from ottla.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.protocol.messages.incremental_alter_configs import AlterableConfig as IncrementalConfig
from ottla.protocol.messages.incremental_alter_configs import AlterConfigsResource as IncrementalResource
from ottla.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from ottla.protocol.messages.list_config_resources import ListConfigResourcesRequest
from tests.clients.patience import until
from tests.parity.talk import Talk

UNKNOWN, TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 0, 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3


def run(talk: Talk) -> None:
    """All about configs."""
    talk.topic("configs", retention_ms="5000", cleanup_policy="compact")
    _describe(talk)
    _incremental(talk)
    _replace(talk)
    _dynamic_broker(talk)
    _list(talk)


def describe(kind: int, name: str, keys: list[str] | None = None, **others: bool) -> DescribeConfigsRequest:
    wanted = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    return DescribeConfigsRequest(resources=[wanted], **others)


def increment(
    kind: int, name: str, *changes: tuple[str, int, str | None], validate: bool = False
) -> IncrementalAlterConfigsRequest:
    configs = [
        IncrementalConfig(name=key, config_operation=operation, value=value) for key, operation, value in changes
    ]
    resource = IncrementalResource(resource_type=kind, resource_name=name, configs=configs)
    return IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate)


def replace(kind: int, name: str, *configs: tuple[str, str | None], validate: bool = False) -> AlterConfigsRequest:
    changes = [AlterableConfig(name=key, value=value) for key, value in configs]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=changes)
    return AlterConfigsRequest(resources=[resource], validate_only=validate)


def _describe(talk: Talk) -> None:
    some = ["retention.ms", "cleanup.policy", "max.message.bytes", "no.such.config", "flush.ms"]
    talk.ask_all_versions("some of a topic", describe(TOPIC, "configs", some))
    talk.ask_all_versions("some with synonyms", describe(TOPIC, "configs", some, include_synonyms=True))
    talk.ask(
        "all of a topic, with everything",
        describe(TOPIC, "configs", include_synonyms=True, include_documentation=True),
        4,
    )
    keys = [
        "node.id",
        "log.dirs",
        "num.partitions",
        "log.retention.ms",
        "listeners",
        "sasl.jaas.config",
        "no.such.config",
    ]
    talk.ask_all_versions("some of a broker", describe(BROKER, "1", keys, include_synonyms=True))
    talk.ask(
        "all of a broker, with everything", describe(BROKER, "1", include_synonyms=True, include_documentation=True), 4
    )
    talk.ask("the cluster's default", describe(BROKER, "", include_synonyms=True), 4)
    talk.ask("no keys", describe(TOPIC, "configs", []), 4)
    for kind, name in (
        (TOPIC, "configs-none"),
        (TOPIC, "a/b"),
        (TOPIC, ""),
        (BROKER, "9"),
        (BROKER, "one"),
        (LOGGER, "9"),
        (LOGGER, ""),
        (CLIENT_METRICS, "none"),
        (CLIENT_METRICS, ""),
        (GROUP, "none"),
        (GROUP, ""),
        (UNKNOWN, "x"),
        (99, "x"),
    ):
        talk.ask(f"type {kind} named {name!r}", describe(kind, name, ["retention.ms", "interval.ms"]), 4)
    two = describe(TOPIC, "configs", ["retention.ms"])
    two.resources = [*two.resources, *describe(TOPIC, "configs-none").resources]
    talk.ask("a good and a bad one", two, 4)
    talk.ask("the same twice", DescribeConfigsRequest(resources=two.resources[:1] * 2), 4)
    talk.ask("nothing", DescribeConfigsRequest(), 4)


def _incremental(talk: Talk) -> None:
    for version in (0, 1):
        talk.ask("set", increment(TOPIC, "configs", ("retention.ms", SET, f"{version}000")), version)
        talk.ask("only validated", increment(TOPIC, "configs", ("retention.ms", SET, "7"), validate=True), version)
    steps = (
        ("append", ("cleanup.policy", APPEND, "delete")),
        ("append again", ("cleanup.policy", APPEND, "delete")),
        ("subtract", ("cleanup.policy", SUBTRACT, "compact")),
        ("subtract what is not there", ("cleanup.policy", SUBTRACT, "compact")),
        ("delete", ("retention.ms", DELETE, None)),
        ("delete what is not there", ("retention.ms", DELETE, None)),
        ("append to a number", ("retention.ms", APPEND, "5")),
        ("set to null", ("retention.ms", SET, None)),
        ("set to nonsense", ("retention.ms", SET, "soon")),
        ("an unknown operation", ("retention.ms", 9, "5")),
        ("an unknown name", ("no.such.config", SET, "5")),
        ("an unknown name deleted", ("no.such.config", DELETE, None)),
        ("a small segment", ("segment.bytes", SET, "1000")),
        ("lists of replicas", ("leader.replication.throttled.replicas", SET, "0:1,1:1")),
    )
    for name, change in steps:
        talk.ask(f"{name}", increment(TOPIC, "configs", change), 1)
    spoiled = increment(TOPIC, "configs", ("retention.ms", SET, "9"))
    spoiled.resources += increment(TOPIC, "configs-none", ("retention.ms", 9, "5")).resources
    talk.ask("an unknown operation on another topic", spoiled, 1)
    talk.ask("a key twice", increment(TOPIC, "configs", ("retention.ms", SET, "1"), ("retention.ms", SET, "2")), 1)
    for kind, name in (
        (TOPIC, "configs-none"),
        (TOPIC, ""),
        (TOPIC, "a/b"),
        (BROKER, "9"),
        (BROKER, "one"),
        (UNKNOWN, "x"),
        (99, "x"),
    ):
        talk.ask(f"type {kind} named {name!r}", increment(kind, name, ("retention.ms", SET, "5")), 1)
    talk.ask("a logger", increment(LOGGER, "1", ("root", SET, "INFO")), 1)
    talk.ask("a logger's bad level", increment(LOGGER, "1", ("root", SET, "LOUD")), 1)
    talk.ask("an unknown logger", increment(LOGGER, "1", ("no.such.logger", SET, "INFO")), 1)
    talk.ask("a root logger deleted", increment(LOGGER, "1", ("root", DELETE, None)), 1)
    talk.ask("a logger appended to", increment(LOGGER, "1", ("root", APPEND, "INFO")), 1)
    talk.ask("another broker's logger", increment(LOGGER, "9", ("root", SET, "INFO")), 1)
    talk.ask("client metrics", increment(CLIENT_METRICS, "some", ("interval.ms", SET, "60000")), 1)
    talk.ask("client metrics too often", increment(CLIENT_METRICS, "some", ("interval.ms", SET, "5")), 1)
    talk.ask("client metrics, unknown", increment(CLIENT_METRICS, "some", ("no.such", SET, "5")), 1)
    until(True, lambda: "60000" in repr(talk.quietly(describe(CLIENT_METRICS, "some"), 4)))
    talk.ask("client metrics described", describe(CLIENT_METRICS, "some"), 4)
    talk.ask("a group", increment(GROUP, "some", ("consumer.session.timeout.ms", SET, "50000")), 1)
    talk.ask("a group, out of bounds", increment(GROUP, "some", ("consumer.session.timeout.ms", SET, "1")), 1)
    until(True, lambda: "50000" in repr(talk.quietly(describe(GROUP, "some"), 4)))
    talk.ask("a group described", describe(GROUP, "some", include_synonyms=True), 4)
    twice = increment(TOPIC, "configs", ("retention.ms", SET, "1"))
    twice.resources = twice.resources * 2
    talk.ask("a resource twice", twice, 1, patience=2)


def _replace(talk: Talk) -> None:
    for version in range(3):
        talk.ask("replace", replace(TOPIC, "configs", ("retention.ms", f"{version}000")), version)
        talk.ask("replace: only validated", replace(TOPIC, "configs", ("retention.ms", "7"), validate=True), version)
    talk.ask("replace: null", replace(TOPIC, "configs", ("retention.ms", None)), 2)
    talk.ask("replace: nonsense", replace(TOPIC, "configs", ("retention.ms", "soon")), 2)
    talk.ask("replace: unknown", replace(TOPIC, "configs", ("no.such.config", "5")), 2)
    talk.ask("replace: nothing", replace(TOPIC, "configs"), 2)
    talk.ask("replace: a logger", replace(LOGGER, "1", ("root", "INFO")), 2)
    talk.ask("replace: an unknown topic", replace(TOPIC, "configs-none", ("retention.ms", "5")), 2)
    twice = replace(TOPIC, "configs", ("retention.ms", "1"))
    twice.resources = twice.resources * 2
    talk.ask("replace: a resource twice", twice, 2, patience=2)


def _dynamic_broker(talk: Talk) -> None:
    changes = (
        ("a per-broker one", "1", ("log.cleaner.threads", SET, "2")),
        ("an unknown one", "1", ("my.own.config", SET, "x")),
        ("a read-only one", "1", ("node.id", SET, "5")),
        ("a bad value", "1", ("log.cleaner.threads", SET, "many")),
        ("min.insync.replicas of a broker", "1", ("min.insync.replicas", SET, "1")),
        ("min.insync.replicas of the cluster", "", ("min.insync.replicas", SET, "1")),
        ("min.insync.replicas deleted", "", ("min.insync.replicas", DELETE, None)),
        ("a default", "", ("log.retention.bytes", SET, "123456789")),
        ("a default only brokers have", "", ("listeners", SET, "PLAINTEXT://:1")),
        ("a password for all", "", ("ssl.keystore.password", SET, "x")),
        ("a listener's own", "1", ("listener.name.plaintext.ssl.keystore.password", SET, "x")),
        ("threads tripled", "1", ("num.io.threads", SET, "30")),
    )
    for name, broker, change in changes:
        talk.ask(f"dynamic: {name}", increment(BROKER, broker, change), 1)
    keys = ["log.cleaner.threads", "my.own.config", "log.retention.bytes"]
    until(True, lambda: "123456789" in repr(talk.quietly(describe(BROKER, "1", keys), 4)))
    talk.ask("dynamic: described", describe(BROKER, "1", keys, include_synonyms=True), 4)
    talk.ask("dynamic: the default described", describe(BROKER, "", include_synonyms=True), 4)
    talk.ask("dynamic: a topic sees it", describe(TOPIC, "configs", ["retention.bytes"], include_synonyms=True), 4)
    for key, broker in (("log.cleaner.threads", "1"), ("my.own.config", "1"), ("log.retention.bytes", "")):
        talk.ask(f"dynamic: {key} deleted", increment(BROKER, broker, (key, DELETE, None)), 1)
    until(False, lambda: "123456789" in repr(talk.quietly(describe(BROKER, "1", keys), 4)))


def _list(talk: Talk) -> None:
    talk.ask("client metrics", ListConfigResourcesRequest(), 0)
    for kinds in ([], [TOPIC], [BROKER], [LOGGER], [CLIENT_METRICS], [GROUP], [CLIENT_METRICS, GROUP], [UNKNOWN], [99]):
        if kinds not in ([], [TOPIC]):
            talk.ask(f"types {kinds}", ListConfigResourcesRequest(resource_types=kinds), 1)
