"""DescribeConfigs: each resource has its own answer, and one of an unknown type fails all."""

import json
from pathlib import Path
from typing import Any

import pytest

from ottla.metadata.image.config import ResourceType
from ottla.protocol.errors import InvalidRequestError
from ottla.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from tests.unit.broker.small_broker import SmallBroker

APACHE_BROKER_CONFIGS = Path(__file__).parents[4] / "vectors" / "broker_configs.jsonl"
OURS = {
    "advertised.listeners.follow.dialled",
    "audit.log.path",
    "audit.log.topic",
    "http.listen",
    "log.append.thread",
    "log.decompressed.message.max.bytes",
    "log.flush.on.ack",
    "sasl.users.file",
}
DEFAULT_CONFIG = 5


def describe(broker: SmallBroker, *resources: tuple[int, str], version: int = 4, **options: Any) -> list[Any]:
    keys = options.pop("keys", None)
    asked = [
        DescribeConfigsResource(resource_type=type_, resource_name=name, configuration_keys=keys)
        for type_, name in resources
    ]
    results: list[Any] = broker.ask(DescribeConfigsRequest(resources=asked, **options), version).results
    return results


@pytest.fixture
def broker() -> SmallBroker:
    made = SmallBroker()
    made.cluster.create("t", [1], retention_ms="77")
    return made


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_a_topic(broker: SmallBroker, version: int) -> None:
    (result,) = describe(
        broker, (ResourceType.TOPIC, "t"), version=version, keys=["retention.ms"], include_synonyms=True
    )
    assert (result.error_code, result.error_message, result.resource_name) == (0, "", "t")
    (entry,) = result.configs
    assert (entry.name, entry.value, entry.config_source, entry.read_only) == ("retention.ms", "77", 1, False)
    assert [(synonym.name, synonym.value, synonym.source) for synonym in entry.synonyms] == [("retention.ms", "77", 1)]
    assert entry.config_type == (5 if version >= 3 else 0)


def test_no_keys_asks_for_all(broker: SmallBroker) -> None:
    (every,) = describe(broker, (ResourceType.TOPIC, "t"))
    (none,) = describe(broker, (ResourceType.TOPIC, "t"), keys=[])
    assert every == none
    assert len(every.configs) > 30
    assert all(entry.documentation is None for entry in every.configs)
    (documented,) = describe(broker, (ResourceType.TOPIC, "t"), include_documentation=True)
    assert all(entry.documentation for entry in documented.configs)


def test_each_resource_has_its_own_error(broker: SmallBroker) -> None:
    results = describe(
        broker,
        (ResourceType.TOPIC, "nowhere"),
        (ResourceType.TOPIC, "a b"),
        (ResourceType.BROKER, "2"),
        (ResourceType.BROKER_LOGGER, ""),
        (ResourceType.BROKER, "1"),
    )
    assert [result.error_code for result in results] == [3, 17, 42, 42, 0]
    assert [result.error_message for result in results[:1]] == [""]
    assert results[2].error_message == "Unexpected broker id, expected 1 or empty string, but received 2"
    assert [bool(result.configs) for result in results] == [False, False, False, False, True]


def test_an_unknown_type_fails_all(broker: SmallBroker) -> None:
    results = describe(broker, (ResourceType.TOPIC, "t"), (77, "x"))
    assert [(result.error_code, result.resource_name) for result in results] == [(42, "t"), (42, "x")]
    assert results[0].error_message == InvalidRequestError.default_message


def test_every_config_of_a_broker_is_as_apache_kafka_describes_it(broker: SmallBroker) -> None:
    """Name, type, whether it may change while the broker runs, whether it is a secret, and its default."""
    (result,) = describe(broker, (ResourceType.BROKER, "1"), include_synonyms=True, include_documentation=True)
    found = {
        entry.name: {
            "name": entry.name,
            "type": entry.config_type,
            "read_only": entry.read_only,
            "sensitive": entry.is_sensitive,
            "defaults": [[each.name, each.value] for each in entry.synonyms if each.source == DEFAULT_CONFIG],
        }
        for entry in result.configs
    }
    expected = [json.loads(line) for line in APACHE_BROKER_CONFIGS.read_text().splitlines()]
    assert len(expected) == 340
    assert [found.get(config["name"]) for config in expected] == expected
    assert found.keys() - {config["name"] for config in expected} == OURS
    assert all(entry.documentation for entry in result.configs)
