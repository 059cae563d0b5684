"""Our members beside confluent-kafka's, kafka-python's and aiokafka's in one group, whoever of them leads."""

import asyncio
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor as KafkaPythonRange
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor as KafkaPythonSticky

from tests.clients.client import confluent, kafka_python
from tests.clients.server import kinds, start_server
from tests.clients.topic import create
from tests.integration.client.group_member import GroupMember, until
from tests.integration.client.test_group_membership import QUICK_GROUPS, run
from tests.kafka.server import Server

_numbers = itertools.count(1)
SESSION_MS = 10_000


@pytest.fixture(scope="module", params=kinds())
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = start_server(request.param, tmp_path_factory.mktemp(request.param), **QUICK_GROUPS)
    yield started
    started.stop()


@pytest.fixture
def topic(server: Server) -> str:
    """Eight partitions."""
    name = f"topic-{next(_numbers)}"
    create(server, name, 8)
    return name


class Member(ABC):
    """A member of some client library that polls all the time."""

    def __init__(self, bootstrap: str, topic: str, strategy: str) -> None:
        self.topic = topic
        self._client = self._make(bootstrap, f"group-of-{topic}", strategy)
        self._polling: asyncio.Task[None] | None = None

    @abstractmethod
    def _make(self, bootstrap: str, group: str, strategy: str) -> Any:
        """The library's consumer."""

    @abstractmethod
    async def _poll(self) -> None:
        """Polls for a moment."""

    @abstractmethod
    def owned(self) -> set[int]:
        """The partitions that it has now."""

    @abstractmethod
    async def _close(self) -> None:
        """Leaves the group."""

    async def __aenter__(self) -> Self:
        self._polling = asyncio.create_task(self._poll_on())
        return self

    async def _poll_on(self) -> None:
        while True:
            await self._poll()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._polling is not None
        self._polling.cancel()
        await asyncio.wait({self._polling})
        await self._close()


class Ours(Member):
    def _make(self, bootstrap: str, group: str, strategy: str) -> GroupMember:
        protocol: dict[str, object] = {"partition_assignment_strategy": strategy}
        if strategy == "consumer":
            protocol = {"group_protocol": "consumer"}
        return GroupMember(bootstrap, group, **protocol)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        self._client.subscribe([self.topic])
        return await super().__aenter__()

    async def _poll(self) -> None:
        await asyncio.sleep(0.1)

    def owned(self) -> set[int]:
        return {partition.partition for partition in self._client.owned}

    async def _close(self) -> None:
        await self._client.close()


class Confluent(Member):
    def _make(self, bootstrap: str, group: str, strategy: str) -> Any:
        protocol: dict[str, object] = {"group_protocol": "consumer"}
        if strategy != "consumer":
            protocol = {
                "partition_assignment_strategy": strategy,
                "heartbeat_interval_ms": 300,
                "session_timeout_ms": SESSION_MS,
            }
        client = confluent.consumer(bootstrap, group_id=group, **protocol)
        client.subscribe([self.topic])
        return client

    async def _poll(self) -> None:
        self._client.poll(0)
        await asyncio.sleep(0.05)

    def owned(self) -> set[int]:
        return {partition.partition for partition in self._client.assignment()}

    async def _close(self) -> None:
        await asyncio.to_thread(self._client.close)


class KafkaPython(Member):
    _poll_thread: asyncio.Future[Any] | None = None

    def _make(self, bootstrap: str, group: str, strategy: str) -> Any:
        return kafka_python.member(
            bootstrap,
            group,
            self.topic,
            heartbeat_interval_ms=300,
            session_timeout_ms=SESSION_MS,
            partition_assignment_strategy=[KafkaPythonRange if strategy == "range" else KafkaPythonSticky],
        )

    async def _poll(self) -> None:
        # Longer than a rebalance: a poll that ends in the middle of one may lose the SyncGroup answer it waits for.
        self._poll_thread = asyncio.ensure_future(asyncio.to_thread(self._client.poll, 2_000))
        await asyncio.shield(self._poll_thread)

    def owned(self) -> set[int]:
        return {partition.partition for partition in self._client.assignment()}

    async def _close(self) -> None:
        if self._poll_thread is not None:
            await self._poll_thread
        await asyncio.to_thread(self._client.close)


class Aiokafka(Member):
    def _make(self, bootstrap: str, group: str, strategy: str) -> Any:
        return AIOKafkaConsumer(
            self.topic,
            bootstrap_servers=bootstrap,
            group_id=group,
            heartbeat_interval_ms=300,
            session_timeout_ms=SESSION_MS,
            partition_assignment_strategy=[RangePartitionAssignor if strategy == "range" else StickyPartitionAssignor],
        )

    async def __aenter__(self) -> Self:
        await self._client.start()
        return await super().__aenter__()

    async def _poll(self) -> None:
        await self._client.getmany(timeout_ms=50)

    def owned(self) -> set[int]:
        return {partition.partition for partition in self._client.assignment()}

    async def _close(self) -> None:
        await self._client.stop()


def is_shared(members: list[Member]) -> bool:
    """Whether the eight partitions are divided evenly."""
    owned = [member.owned() for member in members]
    return set().union(*owned) == set(range(8)) and all(len(each) == 8 // len(members) for each in owned)


async def share(server: Server, topic: str, strategy: str, kinds: list[type[Member]]) -> None:
    """Lets members of these kinds come one by one, the first of them the leader, and the first leave again."""
    async with AsyncExitStack() as stack:
        members: list[Member] = []
        for kind in kinds:
            members.append(await stack.enter_async_context(kind(server.bootstrap, topic, strategy)))
            await until(lambda: all(member.owned() for member in members), 60)
        await until(lambda: is_shared(members), 60)


ALL: list[type[Member]] = [Ours, Confluent, KafkaPython, Aiokafka]


@pytest.mark.parametrize("leader", ALL, ids=lambda kind: kind.__name__)
def test_four_libraries_share_by_ranges(server: Server, topic: str, leader: type[Member]) -> None:
    run(share(server, topic, "range", [leader, *(kind for kind in ALL if kind is not leader)]))


@pytest.mark.parametrize("kinds", [[Ours, Confluent], [Confluent, Ours]], ids=["ours-leads", "confluent-leads"])
@pytest.mark.parametrize("strategy", ["cooperative-sticky", "consumer", "roundrobin"])
def test_confluent_and_ours_by_its_other_strategies(
    server: Server, topic: str, strategy: str, kinds: list[type[Member]]
) -> None:
    run(share(server, topic, strategy, kinds))


@pytest.mark.parametrize("leader", [Ours, Aiokafka], ids=lambda kind: kind.__name__)
def test_sticky_members_read_each_others_claims(server: Server, topic: str, leader: type[Member]) -> None:
    """kafka-python does not lead here: the first assignment of its sticky assignor finds no metadata, and stays so."""
    follower = Aiokafka if leader is Ours else Ours
    run(share(server, topic, "sticky", [leader, follower, KafkaPython, Ours]))
