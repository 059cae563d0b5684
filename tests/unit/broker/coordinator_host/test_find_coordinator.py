"""FindCoordinator: the leader of the partition that a key belongs to."""

from collections.abc import Callable

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from tests.unit.broker.coordinator_host.conftest import CoordinatorBroker


@pytest.mark.parametrize(("key_type", "topic"), [(0, "__consumer_offsets"), (1, "__transaction_state")])
def test_the_first_lookup_has_the_topic_created(
    make_coordinator: Callable[..., CoordinatorBroker], key_type: int, topic: str
) -> None:
    coordinator = make_coordinator()
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["a"])
    response = coordinator.ask(request, 4, FindCoordinatorResponse)
    assert response.coordinators == [
        Coordinator(key="a", node_id=-1, host="", port=-1, error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    ]
    assert coordinator.asked_for == [topic]
    coordinator.create_internal()
    response = coordinator.ask(request, 4, FindCoordinatorResponse)
    assert response.coordinators == [Coordinator(key="a", node_id=1, host="host-1", port=9001)]


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_early_versions_ask_for_one(coordinator: CoordinatorBroker, version: int) -> None:
    response = coordinator.ask(FindCoordinatorRequest(key="a"), version, FindCoordinatorResponse)
    message = "" if version == 0 else "NONE"
    assert response == FindCoordinatorResponse(node_id=1, host="host-1", port=9001, error_message=message)


@pytest.mark.parametrize("version", [0, 3, 4, 6])
def test_a_partition_without_a_leader_is_not_available(
    make_coordinator: Callable[..., CoordinatorBroker], version: int
) -> None:
    coordinator = make_coordinator()
    coordinator.create_internal(leader=2)
    request = FindCoordinatorRequest(key="a") if version < 4 else FindCoordinatorRequest(coordinator_keys=["a"])
    response = coordinator.ask(request, version, FindCoordinatorResponse)
    found = response if version < 4 else response.coordinators[0]
    assert (found.error_code, found.node_id, found.port) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, -1)


@pytest.mark.parametrize("key_type", [2, 3, -1])
def test_other_keys_are_refused(coordinator: CoordinatorBroker, key_type: int) -> None:
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["a"])
    response = coordinator.ask(request, 6, FindCoordinatorResponse)
    assert [found.error_code for found in response.coordinators] == [ErrorCode.INVALID_REQUEST]


def test_no_keys_are_no_error(coordinator: CoordinatorBroker) -> None:
    assert coordinator.ask(FindCoordinatorRequest(), 6, FindCoordinatorResponse) == FindCoordinatorResponse()
