"""ListConfigResources by type."""

import pytest

from ottla.metadata.image.config import ResourceType
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.list_config_resources import ListConfigResourcesRequest
from tests.unit.broker.small_broker import SmallBroker


@pytest.fixture
def broker() -> SmallBroker:
    made = SmallBroker(brokers=2)
    made.cluster.fence(2)
    made.cluster.create("t", [1])
    for type_, name, key in (
        (ResourceType.CLIENT_METRICS, "m", "interval.ms"),
        (ResourceType.GROUP, "g", "consumer.session.timeout.ms"),
    ):
        config = AlterableConfig(name=key, config_operation=0, value="50000")
        resource = AlterConfigsResource(resource_type=type_, resource_name=name, configs=[config])
        assert made.ask(IncrementalAlterConfigsRequest(resources=[resource]), 1).responses[0].error_code == 0
    return made


def listed(broker: SmallBroker, *types: int, version: int = 1) -> list[tuple[int, str]]:
    answer = broker.ask(ListConfigResourcesRequest(resource_types=list(types)), version)
    assert answer.error_code == 0
    return [(resource.resource_type, resource.resource_name) for resource in answer.config_resources]


def test_the_first_version_knew_client_metrics_alone(broker: SmallBroker) -> None:
    assert listed(broker, version=0) == [(16, "m")]


def test_all_types(broker: SmallBroker) -> None:
    everything = {(2, "t"), (4, "1"), (4, "2"), (8, "1"), (8, "2"), (16, "m"), (32, "g")}
    assert set(listed(broker)) == everything
    assert set(listed(broker, 2, 4, 8, 16, 32)) == everything


def test_some_types_once_each(broker: SmallBroker) -> None:
    assert listed(broker, 32, 2, 32) == [(2, "t"), (32, "g")]


@pytest.mark.parametrize("types", [[0], [64], [2, 7], [-1]])
def test_a_type_that_is_not_there(broker: SmallBroker, types: list[int]) -> None:
    answer = broker.ask(ListConfigResourcesRequest(resource_types=types), 1)
    assert (answer.error_code, answer.config_resources) == (35, [])
