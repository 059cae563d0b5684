"""One request at a time to each node."""

import pytest

from ottla.raft.config import QuorumConfig
from ottla.raft.connection import Connections
from ottla.raft.identity import Node
from tests.unit.raft.replica import LowestDice

NODES = [Node(-2, "c1", 9093), Node(-3, "c2", 9093)]
PEER = Node(7, "c7", 9093)


@pytest.fixture
def connections() -> Connections:
    return Connections(NODES, QuorumConfig(request_timeout_ms=2000, retry_backoff_ms=20), LowestDice())


def test_a_node_is_busy_until_it_answers(connections: Connections) -> None:
    sent = connections.sent(PEER, 100)
    assert not connections.is_ready(PEER, 100)
    assert connections.is_expected(PEER.id, sent)
    connections.answered(PEER.id, sent, 150, is_success=True)
    assert connections.is_ready(PEER, 150)
    assert not connections.is_expected(PEER.id, sent)


def test_a_node_gets_a_rest_after_a_failure(connections: Connections) -> None:
    sent = connections.sent(PEER, 100)
    connections.answered(PEER.id, sent, 150, is_success=False)
    assert connections.is_backing_off(PEER, 169)
    assert connections.is_ready(PEER, 170)


def test_a_request_that_is_never_answered_is_given_up(connections: Connections) -> None:
    connections.sent(PEER, 100)
    assert connections.deadline_ms(100) == 2100
    assert (connections.has_timed_out(PEER, 2099), connections.has_timed_out(PEER, 2100)) == (False, True)
    assert connections.is_ready(PEER, 2100)


def test_only_the_last_request_is_answered(connections: Connections) -> None:
    first = connections.sent(PEER, 100)
    second = connections.sent(PEER, 3000)
    assert (connections.is_expected(PEER.id, first), connections.is_expected(PEER.id, second)) == (False, True)


def test_bootstrap_servers_are_asked_in_turn_while_nobody_else_is(connections: Connections) -> None:
    first = connections.ready_bootstrap_server(100)
    assert first in NODES
    assert first is not None
    sent = connections.sent(first, 100)
    assert connections.ready_bootstrap_server(100) is None
    connections.answered(first.id, sent, 110, is_success=False)
    second = connections.ready_bootstrap_server(110)
    assert second in NODES
    assert second != first
