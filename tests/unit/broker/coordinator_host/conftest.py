"""A broker whose internal topics are there."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import TypeVar

import pytest

from ottla.base.ids import Uuid
from ottla.protocol.definition import Request, Response
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from tests.unit.broker.data_broker import DataBroker

R = TypeVar("R", bound=Response)


class CoordinatorBroker:
    """A `DataBroker` that coordinates; `asked_for` are the topics that it wanted to be created."""

    def __init__(self, broker: DataBroker, partitions: int = 3) -> None:
        self.broker = broker
        self.asked_for: list[str] = []
        self._partitions = partitions
        broker.parts.auto_topics = SimpleNamespace(create=self.asked_for.extend)
        broker.apply(FeatureLevelRecord(name="transaction.version", feature_level=2))

    def create_internal(self, *, leader: int = 1, replicas: int = 1) -> tuple[Uuid, Uuid]:
        """Both internal topics; their ids."""
        offsets = self.broker.create("__consumer_offsets", self._partitions, leader=leader, replicas=replicas)
        transactions = self.broker.create("__transaction_state", self._partitions, leader=leader, replicas=replicas)
        return offsets, transactions

    def ask(self, request: Request, version: int, kind: type[R]) -> R:
        """The answer to a request, at the end of its round."""
        exchange = self.broker.send(request, version)
        self.broker.loop.run()
        response = exchange.response(request.api, version)
        assert isinstance(response, kind)
        return response


@pytest.fixture
def make_coordinator(make_broker: Callable[..., DataBroker]) -> Callable[..., CoordinatorBroker]:
    """Makes brokers with settings; internal topics are for the test to create."""
    return lambda **settings: CoordinatorBroker(make_broker(group_initial_rebalance_delay_ms="0", **settings))


@pytest.fixture
def coordinator(make_coordinator: Callable[..., CoordinatorBroker]) -> CoordinatorBroker:
    """A broker that leads all partitions of its internal topics."""
    made = make_coordinator()
    made.create_internal()
    return made
