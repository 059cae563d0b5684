"""Configs of topics, brokers, the cluster, groups, client metrics and loggers: described, altered, refused."""

from ottla.metadata.image.config import ResourceType
from ottla.protocol.messages import alter_configs as legacy
from ottla.protocol.messages import incremental_alter_configs as incremental
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.protocol.messages.list_config_resources import ListConfigResourcesRequest
from tests.integration.broker.parity.step import read, write

SET, DELETE, APPEND, SUBTRACT = range(4)
TOPIC, BROKER, LOGGER = ResourceType.TOPIC, ResourceType.BROKER, ResourceType.BROKER_LOGGER
METRICS, GROUP = ResourceType.CLIENT_METRICS, ResourceType.GROUP

Resource = tuple[int, str]
T: Resource = (TOPIC, "conf")


def _describe(
    *resources: Resource, keys: list[str] | None = None, synonyms: bool = True, docs: bool = False
) -> DescribeConfigsRequest:
    return DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=type_, resource_name=name, configuration_keys=keys)
            for type_, name in resources
        ],
        include_synonyms=synonyms,
        include_documentation=docs,
    )


def _resource(resource: Resource, *changes: tuple[int, str, str | None]) -> incremental.AlterConfigsResource:
    return incremental.AlterConfigsResource(
        resource_type=resource[0],
        resource_name=resource[1],
        configs=[incremental.AlterableConfig(name=n, config_operation=op, value=v) for op, n, v in changes],
    )


def _alter(
    resource: Resource, *changes: tuple[int, str, str | None], validate_only: bool = False
) -> incremental.IncrementalAlterConfigsRequest:
    return incremental.IncrementalAlterConfigsRequest(
        resources=[_resource(resource, *changes)], validate_only=validate_only
    )


def _replaced(resource: Resource, *configs: tuple[str, str | None]) -> legacy.AlterConfigsResource:
    return legacy.AlterConfigsResource(
        resource_type=resource[0],
        resource_name=resource[1],
        configs=[legacy.AlterableConfig(name=name, value=value) for name, value in configs],
    )


def _replace(*resources: legacy.AlterConfigsResource, validate_only: bool = False) -> legacy.AlterConfigsRequest:
    return legacy.AlterConfigsRequest(resources=list(resources), validate_only=validate_only)


DESCRIPTION = [
    write(
        "create conf",
        CreateTopicsRequest(topics=[CreatableTopic(name="conf", num_partitions=1, replication_factor=1)]),
        (7,),
    ),
    read("configs of a topic", _describe(T)),
    read("configs of a topic without synonyms", _describe(T, synonyms=False)),
    read("configs of a topic with docs", _describe(T, docs=True), (3, 4)),
    read("two configs of a topic", _describe(T, keys=["retention.ms", "segment.bytes"])),
    read("no configs of a topic", _describe(T, keys=[])),
    read("unknown configs of a topic", _describe(T, keys=["nonsense", "retention.ms"])),
    read("configs of an unknown topic", _describe((TOPIC, "nowhere"))),
    read("configs of a topic that none may be", _describe((TOPIC, "a b"), (TOPIC, ""))),
    read("configs of a topic, twice", _describe(T, T, keys=["retention.ms"])),
    read("configs of this broker", _describe((BROKER, "1"), docs=True), (4,)),
    read("some configs of this broker", _describe((BROKER, "1"), keys=["log.retention.hours", "num.partitions", "x"])),
    read("synonyms of this broker", _describe((BROKER, "1"), keys=["log.retention.ms", "log.roll.hours"]), (4,)),
    read("configs of the cluster", _describe((BROKER, ""))),
    read("configs of another broker", _describe((BROKER, "2"), (BROKER, "abc"), (BROKER, "1"), keys=["x"])),
    read("loggers of nobody", _describe((LOGGER, ""), (LOGGER, "2"), (LOGGER, "one"))),
    read("configs of client metrics", _describe((METRICS, "m"), (METRICS, ""), docs=True), (4,)),
    read("configs of a group", _describe((GROUP, "g"), (GROUP, ""), docs=True), (4,)),
    read("configs of nothing", _describe((0, "x")), (1, 4)),
    read("configs of something unknown", _describe(T, (77, "x"), keys=["retention.ms"]), (1, 4)),
    read("configs of no resource", _describe()),
]

LISTING = [
    read("resources of client metrics", ListConfigResourcesRequest(), (0,)),
    read("all resources", ListConfigResourcesRequest(resource_types=[]), (1,)),
    *(
        read(f"resources of type {type_}", ListConfigResourcesRequest(resource_types=[type_]), (1,))
        for type_ in (0, 2, 4, 8, 16, 32, 64)
    ),
    read("resources of two types", ListConfigResourcesRequest(resource_types=[16, 4]), (1,)),
    read("resources of one type twice", ListConfigResourcesRequest(resource_types=[4, 4]), (1,)),
]

TOPIC_CHANGES = [
    write("set", lambda v, _: _alter(T, (SET, "retention.ms", f"100{v}")), (0, 1)),
    write("set two", _alter(T, (SET, "segment.ms", "60000"), (SET, "cleanup.policy", "compact")), (1,)),
    write("append", _alter(T, (APPEND, "cleanup.policy", "delete")), (1,)),
    write("append what is there", _alter(T, (APPEND, "cleanup.policy", "delete")), (0,)),
    read("configs after append", _describe(T, keys=["cleanup.policy", "retention.ms", "segment.ms"])),
    write("subtract", _alter(T, (SUBTRACT, "cleanup.policy", "compact")), (1,)),
    write("append to a number", _alter(T, (APPEND, "retention.ms", "1")), (0, 1)),
    write("subtract from a number", _alter(T, (SUBTRACT, "retention.ms", "1")), (1,)),
    write("delete config", _alter(T, (DELETE, "segment.ms", None)), (1,)),
    write("delete a config with a value", _alter(T, (DELETE, "retention.ms", "5")), (1,)),
    write("delete an unknown config", _alter(T, (DELETE, "nonsense", None)), (1,)),
    write("set on trial", _alter(T, (SET, "retention.ms", "77"), validate_only=True), (0, 1)),
    write("set an unknown config", _alter(T, (SET, "nonsense", "1")), (1,)),
    write("set a bad value", _alter(T, (SET, "retention.ms", "soon")), (0, 1)),
    write("set a null value", _alter(T, (SET, "retention.ms", None)), (1,)),
    write("set one config twice", _alter(T, (SET, "retention.ms", "1"), (SET, "retention.ms", "2")), (1,)),
    write("set an unknown operation", _alter(T, (9, "retention.ms", "1")), (1,)),
    write("set small segments", _alter(T, (SET, "segment.bytes", "1000")), (1,)),
    write(
        "set contradicting lags",
        _alter(T, (SET, "min.compaction.lag.ms", "2"), (SET, "max.compaction.lag.ms", "1")),
        (1,),
    ),
    write("set for an unknown topic", _alter((TOPIC, "nowhere"), (SET, "retention.ms", "1")), (1,)),
    write("set for no topic", _alter((TOPIC, ""), (SET, "retention.ms", "1")), (1,)),
    write("set nothing", _alter(T), (1,)),
    write("set for nothing", incremental.IncrementalAlterConfigsRequest(), (0, 1)),
    write("set for type 0", _alter((0, "x"), (SET, "a", "1")), (1,)),
    write("set for type 77", _alter((77, "x"), (SET, "a", "1")), (1,)),
    write(
        "set for several",
        incremental.IncrementalAlterConfigsRequest(
            resources=[
                _resource(T, (SET, "retention.ms", "9")),
                _resource((TOPIC, "nowhere"), (SET, "retention.ms", "9")),
                _resource((BROKER, "2"), (SET, "log.retention.ms", "9")),
                _resource((BROKER, "1"), (SET, "log.cleaner.threads", "2")),
                _resource((0, "x"), (SET, "a", "9")),
            ]
        ),
        (1,),
    ),
    read("configs after all", _describe(T, (BROKER, "1"), keys=["retention.ms", "log.cleaner.threads"]), (4,)),
    write("replace", lambda v, _: _replace(_replaced(T, ("retention.bytes", f"1000{v}"))), (0, 1, 2)),
    read("configs after replace", _describe(T, keys=["cleanup.policy", "retention.ms", "retention.bytes"])),
    write("replace on trial", _replace(_replaced(T, ("retention.ms", "1")), validate_only=True), (2,)),
    write("replace by a null", _replace(_replaced(T, ("retention.ms", None))), (2,)),
    write("replace one twice", _replace(_replaced(T, ("retention.ms", "1"), ("retention.ms", "1"))), (2,)),
    write("replace for an unknown topic", _replace(_replaced((TOPIC, "nowhere"), ("retention.ms", "1"))), (2,)),
    write("replace by a bad value", _replace(_replaced(T, ("retention.ms", "soon"))), (2,)),
    write("replace loggers", _replace(_replaced((LOGGER, "1"), ("root", "INFO"))), (2,)),
    write("replace type 0", _replace(_replaced((0, "1"), ("a", "b"))), (2,)),
    write("replace nothing", _replace(), (0, 2)),
    write("replace by nothing", _replace(_replaced(T)), (2,)),
]

ME: Resource = (BROKER, "1")
ALL: Resource = (BROKER, "")
BROKER_CHANGES = [
    write("set broker", lambda v, _: _alter(ME, (SET, "log.retention.ms", f"20000{v}")), (0, 1)),
    write("set cluster", _alter(ALL, (SET, "log.retention.ms", "300000"), (SET, "log.cleaner.threads", "3")), (1,)),
    read(
        "broker's configs after",
        _describe(ME, ALL, keys=["log.retention.ms", "log.cleaner.threads", "log.retention.hours"]),
    ),
    read("topic's configs after", _describe(T, keys=["retention.ms"])),
    write("delete broker's config", _alter(ME, (DELETE, "log.retention.ms", None)), (1,)),
    write("set a read-only config", _alter(ME, (SET, "num.partitions", "3"), (SET, "node.id", "9")), (1,)),
    write("set a cluster-wide read-only config", _alter(ALL, (SET, "log.dirs", "/x")), (1,)),
    write("set a per-broker config for all", _alter(ALL, (SET, "listeners", "PLAINTEXT://:1")), (1,)),
    write("set an unknown broker config", _alter(ME, (SET, "nonsense", "1")), (1,)),
    read("unknown broker config", _describe(ME, keys=["nonsense"]), (4,)),
    read("all of the cluster after", _describe(ALL), (4,)),
    write("set a bad broker value", _alter(ME, (SET, "log.retention.ms", "soon")), (1,)),
    write("set a bad cluster value", _alter(ALL, (SET, "log.cleaner.threads", "many")), (1,)),
    write("set a broker null", _alter(ME, (SET, "log.retention.ms", None)), (1,)),
    write("append to a broker number", _alter(ME, (APPEND, "log.retention.ms", "1")), (1,)),
    write("append to an unknown broker config", _alter(ME, (APPEND, "nonsense2", "1")), (1,)),
    write("append to a broker list", _alter(ALL, (APPEND, "log.cleanup.policy", "compact")), (1,)),
    write("subtract from a broker list", _alter(ALL, (SUBTRACT, "log.cleanup.policy", "compact")), (1,)),
    write("broker operation 9", _alter(ME, (9, "log.retention.ms", "1")), (1,)),
    write("set min isr of the broker", _alter(ME, (SET, "min.insync.replicas", "2")), (1,)),
    write("delete min isr of the cluster", _alter(ALL, (DELETE, "min.insync.replicas", None)), (1,)),
    write("set min isr of the cluster", _alter(ALL, (SET, "min.insync.replicas", "1")), (1,)),
    write("set for broker abc", _alter((BROKER, "abc"), (SET, "log.retention.ms", "1")), (1,)),
    write("set for broker 2", _alter((BROKER, "2"), (SET, "log.retention.ms", "1")), (1,)),
    write("set broker on trial", _alter(ME, (SET, "log.retention.ms", "5"), validate_only=True), (1,)),
    write("replace broker", _replace(_replaced(ME, ("log.retention.ms", "400000"))), (0, 2)),
    write("replace broker by bad", _replace(_replaced(ME, ("log.retention.ms", "soon"))), (2,)),
    write("replace cluster", _replace(_replaced(ALL, ("min.insync.replicas", "1"))), (2,)),
    write("replace broker 2", _replace(_replaced((BROKER, "2"), ("log.retention.ms", "4"))), (2,)),
    read("broker's configs at the end", _describe(ME, ALL, keys=["log.retention.ms", "nonsense"])),
    write("replace broker by nothing", _replace(_replaced(ME)), (2,)),
]

L: Resource = (LOGGER, "1")
LOGGER_CHANGES = [
    write("set root logger", lambda v, _: _alter(L, (SET, "root", "WARN")), (0, 1)),
    write("set an unknown logger", _alter(L, (SET, "no.such.logger", "INFO")), (1,)),
    write("set a logger to nonsense", _alter(L, (SET, "root", "LOUD")), (1,)),
    write("delete the root logger", _alter(L, (DELETE, "root", None)), (1,)),
    write("delete an unknown logger", _alter(L, (DELETE, "no.such.logger", None)), (1,)),
    write("append to a logger", _alter(L, (APPEND, "root", "INFO")), (1,)),
    write("subtract from a logger", _alter(L, (SUBTRACT, "root", "INFO")), (1,)),
    write(
        "logger operation 9",
        _alter(L, (9, "root", "INFO")),
        (1,),
        deviation="Apache Kafka means to refuse it so, and stumbles before",
    ),
    write("set a logger of broker 2", _alter((LOGGER, "2"), (SET, "root", "INFO")), (1,)),
    write("set a logger of nobody", _alter((LOGGER, ""), (SET, "root", "INFO")), (1,)),
    write("set a logger of broker x", _alter((LOGGER, "x"), (SET, "root", "INFO")), (1,)),
    write("set a logger to null", _alter(L, (SET, "root", None)), (1,)),
    write("set a logger in lower case", _alter(L, (SET, "root", "info")), (1,)),
    write("set a logger on trial", _alter(L, (SET, "root", "DEBUG"), validate_only=True), (1,)),
    write("set two loggers, one wrong", _alter(L, (SET, "root", "DEBUG"), (SET, "no.such.logger", "INFO")), (1,)),
    read("root logger", _describe(L, keys=["root"]), (1, 4)),
]

OTHER_CHANGES = [
    write("set client metrics", _alter((METRICS, "m"), (SET, "interval.ms", "1000"), (SET, "metrics", "a.,b.")), (1,)),
    write("set client metrics' match", _alter((METRICS, "m2"), (SET, "match", "client_id=abc")), (1,)),
    write("set a bad interval", _alter((METRICS, "m"), (SET, "interval.ms", "10")), (1,)),
    write("set a bad match", _alter((METRICS, "m"), (SET, "match", "nonsense")), (1,)),
    write("set unknown client metrics", _alter((METRICS, "m"), (SET, "nonsense", "10")), (1,)),
    write("set nameless client metrics", _alter((METRICS, ""), (SET, "interval.ms", "1000")), (1,)),
    read("client metrics' configs", _describe((METRICS, "m"), (METRICS, "m2")), (4,)),
    write("set group", _alter((GROUP, "g"), (SET, "consumer.session.timeout.ms", "50000")), (1,)),
    write("set a bad group", _alter((GROUP, "g"), (SET, "consumer.session.timeout.ms", "1")), (1,)),
    write("set an unknown group config", _alter((GROUP, "g"), (SET, "nonsense", "1")), (1,)),
    write("set a nameless group", _alter((GROUP, ""), (SET, "consumer.session.timeout.ms", "50000")), (1,)),
    read("group's configs", _describe((GROUP, "g")), (4,)),
    read("resources at the end", ListConfigResourcesRequest(resource_types=[16, 32]), (1,)),
    write("delete client metrics", _alter((METRICS, "m2"), (DELETE, "match", None)), (1,)),
    read("resources after deletion", ListConfigResourcesRequest(), (0,)),
]

STEPS = [*DESCRIPTION, *LISTING, *TOPIC_CHANGES, *BROKER_CHANGES, *LOGGER_CHANGES, *OTHER_CHANGES]
