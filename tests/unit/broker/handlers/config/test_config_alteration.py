"""AlterConfigs and IncrementalAlterConfigs: what the broker judges, what it forwards, and what the client is told."""

import logging
from collections.abc import Iterator

import pytest

from ottla.base import log
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.protocol.messages import alter_configs as legacy
from ottla.protocol.messages import incremental_alter_configs as incremental
from tests.unit.broker.small_broker import SmallBroker

SET, DELETE, APPEND, SUBTRACT = range(4)
Change = tuple[int, str, str | None]


@pytest.fixture
def broker() -> SmallBroker:
    made = SmallBroker()
    made.cluster.create("t", [1])
    return made


def changes(type_: int, name: str, *wanted: Change) -> incremental.AlterConfigsResource:
    configs = [incremental.AlterableConfig(name=n, config_operation=op, value=v) for op, n, v in wanted]
    return incremental.AlterConfigsResource(resource_type=type_, resource_name=name, configs=configs)


def alter(
    broker: SmallBroker, *resources: incremental.AlterConfigsResource, validate_only: bool = False
) -> list[tuple[str, int, str | None]]:
    request = incremental.IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    return [(r.resource_name, r.error_code, r.error_message) for r in broker.ask(request, 1).responses]


def replace(
    broker: SmallBroker, *resources: tuple[int, str, dict[str, str | None]]
) -> list[tuple[str, int, str | None]]:
    given = [
        legacy.AlterConfigsResource(
            resource_type=type_,
            resource_name=name,
            configs=[legacy.AlterableConfig(name=n, value=v) for n, v in configs.items()],
        )
        for type_, name, configs in resources
    ]
    answer = broker.ask(legacy.AlterConfigsRequest(resources=given), 2)
    return [(r.resource_name, r.error_code, r.error_message) for r in answer.responses]


def configs_of(broker: SmallBroker, type_: int, name: str) -> dict[str, str]:
    return dict(broker.metadata.image.configs_of(ConfigResource(type_, name)))


def test_topics_are_the_controllers(broker: SmallBroker) -> None:
    change = changes(ResourceType.TOPIC, "t", (SET, "retention.ms", "5"), (APPEND, "cleanup.policy", "compact"))
    assert alter(broker, change) == [("t", 0, None)]
    assert configs_of(broker, ResourceType.TOPIC, "t") == {"retention.ms": "5", "cleanup.policy": "delete,compact"}
    assert replace(broker, (ResourceType.TOPIC, "t", {"segment.ms": "9"})) == [("t", 0, None)]
    assert configs_of(broker, ResourceType.TOPIC, "t") == {"segment.ms": "9"}


def test_answers_stand_in_the_order_of_the_request(broker: SmallBroker) -> None:
    answered = alter(
        broker,
        changes(ResourceType.BROKER, "2", (SET, "log.retention.ms", "9")),
        changes(ResourceType.TOPIC, "nowhere", (SET, "retention.ms", "9")),
        changes(0, "x", (SET, "a", "9")),
        changes(ResourceType.TOPIC, "t", (SET, "retention.ms", "9")),
    )
    assert answered == [
        ("2", 42, "Unexpected broker id, expected 1, but received 2"),
        ("nowhere", 3, "The topic 'nowhere' does not exist."),
        ("x", 42, "Unknown resource type 0"),
        ("t", 0, None),
    ]
    (forwarded,) = broker.channel.forwarded
    assert isinstance(forwarded, incremental.IncrementalAlterConfigsRequest)
    assert [resource.resource_name for resource in forwarded.resources] == ["nowhere", "t"]


def test_a_resource_that_is_named_twice_is_refused_each_time_and_left_alone(broker: SmallBroker) -> None:
    twice = (42, "Each resource must appear at most once.")
    change = changes(ResourceType.TOPIC, "t", (SET, "retention.ms", "5"))
    assert alter(broker, change, change) == [("t", *twice)] * 2
    given = (ResourceType.TOPIC, "t", {"retention.ms": "5"})
    assert replace(broker, given, (ResourceType.GROUP, "g", {}), given) == [
        ("t", *twice),
        ("g", 0, None),
        ("t", *twice),
    ]
    assert configs_of(broker, ResourceType.TOPIC, "t") == {}


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ((SET, "retention.ms", None), 42, "Null value not supported for : retention.ms"),
        (
            (SET, "retention.ms", "soon"),
            40,
            "Invalid value soon for configuration retention.ms: Not a number of type LONG",
        ),
        ((SET, "nonsense", "1"), 40, "Unknown topic config name: nonsense"),
        ((APPEND, "retention.ms", "1"), 40, "Can't APPEND to key retention.ms because its type is not LIST."),
        ((9, "retention.ms", "1"), -1, None),
    ],
)
def test_bad_topic_configs(broker: SmallBroker, change: Change, code: int, message: str | None) -> None:
    assert alter(broker, changes(ResourceType.TOPIC, "t", change)) == [("t", code, message)]


def test_a_key_twice(broker: SmallBroker) -> None:
    twice = changes(ResourceType.TOPIC, "t", (SET, "retention.ms", "1"), (DELETE, "retention.ms", None))
    assert alter(broker, twice) == [("t", 42, "Error due to duplicate config keys")]


@pytest.mark.parametrize("name", ["1", ""])
def test_broker_configs_are_checked_and_then_forwarded(broker: SmallBroker, name: str) -> None:
    assert alter(broker, changes(ResourceType.BROKER, name, (SET, "log.retention.ms", "5"))) == [(name, 0, None)]
    assert configs_of(broker, ResourceType.BROKER, name)["log.retention.ms"] == "5"
    assert alter(broker, changes(ResourceType.BROKER, name, (DELETE, "log.retention.ms", None))) == [(name, 0, None)]
    assert "log.retention.ms" not in configs_of(broker, ResourceType.BROKER, name)
    assert replace(broker, (ResourceType.BROKER, "1", {"log.cleaner.threads": "2"})) == [("1", 0, None)]
    assert broker.parts.dynamic.current.integer("log.cleaner.threads") == 2


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (
            (SET, "log.retention.ms", "soon"),
            42,
            "Invalid value soon for configuration log.retention.ms: Not a number of type LONG",
        ),
        ((SET, "num.partitions", "3"), 42, "Cannot update these configs dynamically: [num.partitions]"),
        ((APPEND, "log.retention.ms", "1"), 40, "Config value append is not allowed for config key: log.retention.ms"),
        (
            (SUBTRACT, "log.retention.ms", "1"),
            40,
            "Config value subtract is not allowed for config key: log.retention.ms",
        ),
        ((APPEND, "nonsense", "1"), 40, "Unknown config name: nonsense"),
        ((9, "log.retention.ms", "1"), 42, "Unknown operations type 9"),
    ],
)
def test_bad_broker_configs_go_no_further(broker: SmallBroker, change: Change, code: int, message: str) -> None:
    assert alter(broker, changes(ResourceType.BROKER, "1", change)) == [("1", code, message)]
    assert broker.channel.forwarded == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("abc", "Node id must be an integer, but it is: abc"),
        ("1_0", "Node id must be an integer, but it is: 1_0"),
        (" 1", "Node id must be an integer, but it is:  1"),
        ("99999999999", "Node id must be an integer, but it is: 99999999999"),
        ("2", "Unexpected broker id, expected 1, but received 2"),
    ],
)
def test_other_brokers(broker: SmallBroker, name: str, message: str) -> None:
    assert alter(broker, changes(ResourceType.BROKER, name, (SET, "log.retention.ms", "5"))) == [(name, 42, message)]
    assert replace(broker, (ResourceType.BROKER, name, {})) == [(name, 42, message)]


def test_lists_of_brokers_grow_and_shrink(broker: SmallBroker) -> None:
    policy = "log.cleanup.policy"
    assert alter(broker, changes(ResourceType.BROKER, "", (APPEND, policy, "compact")))[0][1] == 0
    assert configs_of(broker, ResourceType.BROKER, "")[policy] == "delete,compact"
    assert alter(broker, changes(ResourceType.BROKER, "", (SUBTRACT, policy, "delete")))[0][1] == 0
    assert configs_of(broker, ResourceType.BROKER, "")[policy] == "compact"
    bad = alter(broker, changes(ResourceType.BROKER, "", (APPEND, policy, "burn")))
    assert bad[0][1] == 42


def test_a_trial_changes_nothing(broker: SmallBroker) -> None:
    trial = changes(ResourceType.TOPIC, "t", (SET, "retention.ms", "5"))
    assert alter(broker, trial, validate_only=True) == [("t", 0, None)]
    assert configs_of(broker, ResourceType.TOPIC, "t") == {}


def test_nothing_to_alter(broker: SmallBroker) -> None:
    assert alter(broker) == []
    assert replace(broker) == []
    assert replace(broker, (ResourceType.BROKER_LOGGER, "1", {})) == [("1", 42, "Unknown resource type 8")]
    assert broker.channel.forwarded == []


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    made = logging.getLogger("ottla.tests.loud")
    made.setLevel(logging.NOTSET)
    yield made
    made.setLevel(logging.NOTSET)


def test_loggers_are_this_brokers_own(broker: SmallBroker, logger: logging.Logger) -> None:
    assert alter(broker, changes(ResourceType.BROKER_LOGGER, "1", (SET, logger.name, "DEBUG"))) == [("1", 0, None)]
    assert log.levels()[logger.name] == "DEBUG"
    assert alter(broker, changes(ResourceType.BROKER_LOGGER, "1", (DELETE, logger.name, None))) == [("1", 0, None)]
    assert logger.level == logging.NOTSET
    assert broker.channel.forwarded == []


@pytest.mark.parametrize(
    ("node", "change", "code", "message"),
    [
        ("2", (SET, "root", "INFO"), 42, "Unexpected node id. Expected 1, but received 2"),
        ("", (SET, "root", "INFO"), 42, "Node id must be an integer, but it is: "),
        ("1", (SET, "no.such", "INFO"), 40, "Logger no.such does not exist!"),
        ("1", (DELETE, "root", None), 42, "Removing the log level of the root logger is not allowed"),
        ("1", (APPEND, "root", "INFO"), 42, "APPEND operation is not allowed for the BROKER_LOGGER resource"),
        ("1", (9, "root", "INFO"), 42, "Unknown operation type 9 is not allowed for the BROKER_LOGGER resource"),
        (
            "1",
            (SET, "root", "info"),
            40,
            "Cannot set the log level of root to info as it is not a supported log level. Valid log levels are DEBUG, "
            "ERROR, FATAL, INFO, TRACE, WARN",
        ),
    ],
)
def test_bad_loggers(broker: SmallBroker, node: str, change: Change, code: int, message: str) -> None:
    assert alter(broker, changes(ResourceType.BROKER_LOGGER, node, change)) == [(node, code, message)]


def test_of_several_loggers_all_change_or_none(broker: SmallBroker, logger: logging.Logger) -> None:
    both = changes(ResourceType.BROKER_LOGGER, "1", (SET, logger.name, "DEBUG"), (SET, "no.such", "DEBUG"))
    assert alter(broker, both)[0][1] == 40
    trial = changes(ResourceType.BROKER_LOGGER, "1", (SET, logger.name, "DEBUG"))
    assert alter(broker, trial, validate_only=True) == [("1", 0, None)]
    assert logger.level == logging.NOTSET
