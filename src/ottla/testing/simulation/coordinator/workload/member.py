"""A consumer: it follows its group's protocol, and works on what it owns between two looks at the group.

Like Kafka's consumer it has one thread: partitions come and go only in `poll`, never while a round of work is under
way, and heartbeats go on beside it. `Membership` is what classic and KIP-848 members have in common.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, NamedTuple, Protocol

from ottla.base.frozen import frozen
from ottla.coordinator.ports import PartitionKey
from ottla.coordinator.runtime.routing import partition_for
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from ottla.testing.simulation.coordinator.history import CoordinatorHistory
from ottla.testing.simulation.coordinator.image import OFFSETS, TRANSACTIONS, ClusterImage
from ottla.testing.simulation.coordinator.scenario import GroupPlan
from ottla.testing.simulation.coordinator.workload.task import Ask, Sleep, Steps

SESSION_TIMEOUT_MS: Final = 1500
REBALANCE_TIMEOUT_MS: Final = 2000
HEARTBEAT_MS: Final = 250
RETRY_MS: Final = 60
COORDINATOR_ELSEWHERE: Final = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
"""Ask again, maybe somebody else."""
_FETCH_VERSION: Final = 9


@frozen
class ClientOutside:
    """The metadata, the history and the randomness that all clients share."""

    image: Callable[[], ClusterImage]
    history: CoordinatorHistory
    random: Random
    is_over: Callable[[], bool]

    def group_coordinator(self, group_id: str) -> int:
        """The broker to ask about a group; -1 if there is none."""
        return self._leader(OFFSETS, group_id)

    def transaction_coordinator(self, transactional_id: str) -> int:
        """The broker to ask about a transactional id; -1 if there is none."""
        return self._leader(TRANSACTIONS, transactional_id)

    def partitions(self, topics: Sequence[str]) -> list[PartitionKey]:
        """All partitions of topics."""
        known = self.image().topics
        return [PartitionKey(name, index) for name in topics for index in range(known[name].partition_count)]

    def _leader(self, topic: str, coordinator_id: str) -> int:
        image = self.image()
        return image.leader(
            PartitionKey(topic, partition_for(coordinator_id, image.topics[topic].partition_count))
        ).broker_id


class Identity(NamedTuple):
    """A member's name for the coordinator; in a consumer group its generation is the epoch."""

    member_id: str
    generation: int
    instance_id: str | None


class Work(Protocol):
    """The work of a consumer on the partitions that it owns."""

    def round(self, member: "Membership") -> Steps[None]:
        """Does one round of it, between two polls."""
        ...


class Membership(ABC):
    """A member of a group."""

    def __init__(self, plan: GroupPlan, instance_id: str | None, outside: ClientOutside) -> None:
        self.plan: Final = plan
        self.instance_id: Final = instance_id
        self.outside: Final = outside
        self.owned: set[PartitionKey] = set()
        self.positions: dict[PartitionKey, int] = {}
        """Of those that are owned; one without is to be fetched yet."""
        self.is_stopping = False
        """Whether it was told to leave, and then to end."""

    @property
    @abstractmethod
    def identity(self) -> Identity | None:
        """Its identity; None while it is no member."""

    @abstractmethod
    def poll(self) -> Steps[None]:
        """Joins the group if necessary, and takes over the group's assignment."""

    @abstractmethod
    def keep_alive(self) -> Steps[None]:
        """Sends heartbeats until the process ends."""

    @abstractmethod
    def leave(self) -> Steps[None]:
        """Leaves the group."""

    @abstractmethod
    def refused(self, code: int) -> None:
        """Handles a commit that the coordinator refused."""

    def run(self, work: Work, ended: Callable[[], None]) -> Steps[None]:
        """The consumer's own thread: polls and works until it is told to stop."""
        while not self.is_stopping:
            yield from self.poll()
            yield from self._fetch_positions()
            if self.identity is not None and self.positions and not self.outside.is_over():
                yield from work.round(self)
            yield Sleep(self.outside.random.randint(5, 80))
        self.owned.clear()
        yield from self.leave()
        ended()

    def own(self, partitions: set[PartitionKey]) -> None:
        """Sets the partitions that it owns, and forgets the positions of others."""
        self.owned = partitions
        self.positions = {key: offset for key, offset in self.positions.items() if key in partitions}

    def ask_coordinator(self, ask: Ask) -> Steps[object]:
        """Sends a request to the group's coordinator, whatever broker `ask` has; None if there is no answer."""
        broker_id = self.outside.group_coordinator(self.plan.group_id)
        if broker_id < 0:
            yield Sleep(RETRY_MS)
            return None
        return (yield ask._replace(broker_id=broker_id))

    def _fetch_positions(self) -> Steps[None]:
        """Fetches the committed offsets of partitions without a position; unstable ones wait for the next poll."""
        missing = sorted(key for key in self.owned if key not in self.positions)
        identity = self.identity
        if not missing or identity is None:
            return
        names = sorted({key.topic for key in missing})
        topics = [
            OffsetFetchRequestTopics(
                name=name, partition_indexes=[key.partition for key in missing if key.topic == name]
            )
            for name in names
        ]
        group = self._fetch_group(identity, topics)
        request = OffsetFetchRequest(groups=[group], require_stable=True)
        response = yield from self.ask_coordinator(Ask(0, request, _FETCH_VERSION))
        if not isinstance(response, OffsetFetchResponse) or self.identity is None:
            return
        [answer] = response.groups
        if answer.error_code:
            return
        for topic in answer.topics:
            for partition in topic.partitions:
                key = PartitionKey(topic.name, partition.partition_index)
                if partition.error_code == ErrorCode.NONE and key in self.owned:
                    self.positions.setdefault(key, max(partition.committed_offset, 0))

    def _fetch_group(self, identity: Identity, topics: list[OffsetFetchRequestTopics]) -> OffsetFetchRequestGroup:
        """Classic members don't say who they are."""
        return OffsetFetchRequestGroup(group_id=self.plan.group_id, topics=topics)
