"""DescribeCluster on a broker's listener."""

import pytest

from ottla.protocol.messages.describe_cluster import DescribeClusterRequest
from tests.unit.broker.small_broker import SmallBroker, StillConnection
from tests.unit.metadata.cluster import CLUSTER_ID


@pytest.mark.parametrize("version", [0, 1, 2])
def test_brokers_at_their_addresses(version: int) -> None:
    broker = SmallBroker(brokers=2)
    answer = broker.ask(DescribeClusterRequest(), version)
    assert (answer.cluster_id, answer.controller_id, answer.endpoint_type) == (CLUSTER_ID, 1, 1)
    assert [(found.broker_id, found.port) for found in answer.brokers] == [(1, 9093), (2, 9094)]
    assert answer.cluster_authorized_operations == -2147483648
    asked = DescribeClusterRequest(include_cluster_authorized_operations=True)
    assert broker.ask(asked, version).cluster_authorized_operations == 8096


def test_fenced_brokers_only_if_asked_for() -> None:
    broker = SmallBroker(brokers=2)
    broker.cluster.fence(2)
    assert [found.broker_id for found in broker.ask(DescribeClusterRequest(), 2).brokers] == [1]
    answer = broker.ask(DescribeClusterRequest(include_fenced_brokers=True), 2)
    assert [(found.broker_id, found.is_fenced) for found in answer.brokers] == [(1, False), (2, True)]


def test_a_controller_that_this_listener_does_not_reach_is_not_named() -> None:
    answer = SmallBroker().ask(DescribeClusterRequest(), 2, StillConnection(listener="ELSE"))
    assert (answer.brokers, answer.controller_id) == ([], -1)


def test_controllers_are_not_here() -> None:
    broker = SmallBroker()
    answer = broker.ask(DescribeClusterRequest(endpoint_type=2), 1)
    assert (answer.error_code, answer.brokers) == (114, [])
    assert answer.error_message.startswith("The request was sent to an endpoint of type BROKER")
    answer = broker.ask(DescribeClusterRequest(endpoint_type=9), 1)
    assert (answer.error_code, answer.error_message) == (115, "Unsupported endpoint type 9")
