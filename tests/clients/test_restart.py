"""A server that is being started tells no client that it has no brokers: clients drop the only address they have."""

import threading
from collections.abc import Callable

import pytest

from ottla.protocol.messages.metadata import MetadataRequest
from tests.clients.client import confluent
from tests.clients.topic import create
from tests.kafka.server import Server
from tests.kafka.wire import Wire

pytestmark = pytest.mark.client(f"{confluent.NAME} while the server is killed")


def test_metadata_names_the_broker_from_the_first_answer_on(lone_server: Callable[..., Server], topic: str) -> None:
    """whoever asks for metadata while the server starts is told of the broker and of the leaders"""
    server = lone_server()
    create(server, topic, 3)
    for _ in range(3):
        server.kill()
        answers: list[tuple[int, list[int]]] = []
        asking = threading.Thread(target=_ask, args=(server.address, answers))
        asking.start()
        server.start()
        asking.join()
        assert answers == [(1, [1, 1, 1])]


def _ask(address: tuple[str, int], answers: list[tuple[int, list[int]]]) -> None:
    """The first answer that there is."""
    while not answers:
        try:
            with Wire(address) as wire:
                answer = wire.ask(MetadataRequest(topics=None), 12)
        except OSError:
            continue
        [described] = [found for found in answer.topics if not found.is_internal]
        answers.append((len(answer.brokers), [found.leader_id for found in described.partitions]))
