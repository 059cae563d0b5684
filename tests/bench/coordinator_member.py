"""Members of one group as coroutines that speak the protocol and nothing else, and how long the group takes to settle.

A hundred real clients would measure themselves. These ask again after a few milliseconds, so what is left is the
coordinator's time. Settled is a group when all members agree on one generation that assigns every partition once.
"""

import asyncio
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from ottla.base.ids import Uuid
from ottla.protocol.consumer_protocol import (
    AssignedTopicPartition,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from ottla.protocol.definition import Request
from ottla.protocol.errors import ErrorCode
from ottla.protocol.frame import decode_response, encode_request
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from ottla.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

_PAUSE_SECONDS = 0.05
_GIVE_UP_SECONDS = 120.0
_JOIN_VERSION, _SYNC_VERSION, _HEARTBEAT_VERSION, _CONSUMER_VERSION = 9, 5, 4, 0


class Member(ABC):
    """One member on a connection of its own."""

    def __init__(self, group: str, topic: str, topic_id: Uuid, partitions: int) -> None:
        self.group, self.topic, self.topic_id, self.partition_count = group, topic, topic_id, partitions
        self.member_id = ""
        self.generation = 0
        self.assigned: frozenset[int] = frozenset()

    async def run(self, port: int) -> None:
        """Stays in the group until it is cancelled."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            while True:
                await self.step()
        finally:
            self._writer.close()

    @abstractmethod
    async def step(self) -> None:
        """The next thing to ask."""

    async def ask(self, request: Request, version: int) -> object:
        """One request and its answer."""
        self._writer.write(encode_request(request, version, correlation_id=1, client_id="bench"))
        (size,) = struct.unpack(">i", await self._reader.readexactly(4))
        return decode_response(await self._reader.readexactly(size), request.api, version)[1]


class ClassicMember(Member):
    """Joins, syncs, and joins again when a heartbeat says so."""

    async def step(self) -> None:
        subscription = b"\x00\x00" + ConsumerProtocolSubscription(topics=[self.topic]).encode(0)
        joined = await self.ask(
            JoinGroupRequest(
                group_id=self.group, session_timeout_ms=45_000, rebalance_timeout_ms=60_000, member_id=self.member_id,
                protocol_type="consumer", protocols=[JoinGroupRequestProtocol(name="range", metadata=subscription)],
            ),
            _JOIN_VERSION,
        )  # fmt: skip
        assert isinstance(joined, JoinGroupResponse)
        self.member_id = joined.member_id
        if joined.error_code:
            await asyncio.sleep(0 if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED else _PAUSE_SECONDS)
            return
        assignments = self._assign(joined) if joined.leader == self.member_id else []
        synced = await self.ask(
            SyncGroupRequest(
                group_id=self.group, generation_id=joined.generation_id, member_id=self.member_id,
                protocol_type="consumer", protocol_name="range", assignments=assignments,
            ),
            _SYNC_VERSION,
        )  # fmt: skip
        if synced.error_code:  # type: ignore[attr-defined]
            return
        assignment = ConsumerProtocolAssignment.decode_from(synced.assignment, 2, 0)[0]  # type: ignore[attr-defined]
        self.assigned = frozenset(index for topic in assignment.assigned_partitions for index in topic.partitions)
        self.generation = joined.generation_id
        await self._stay()

    async def _stay(self) -> None:
        heartbeat = HeartbeatRequest(
            group_id=self.group, generation_id=self.generation, member_id=self.member_id, group_instance_id=None
        )
        while True:
            await asyncio.sleep(_PAUSE_SECONDS)
            if (await self.ask(heartbeat, _HEARTBEAT_VERSION)).error_code:  # type: ignore[attr-defined]
                return

    def _assign(self, joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        members = sorted(member.member_id for member in joined.members)
        assignments = []
        for number, member in enumerate(members):
            partitions = list(range(number, self.partition_count, len(members)))
            topic = AssignedTopicPartition(topic=self.topic, partitions=partitions)
            value = b"\x00\x00" + ConsumerProtocolAssignment(assigned_partitions=[topic]).encode(0)
            assignments.append(SyncGroupRequestAssignment(member_id=member, assignment=value))
        return assignments


class ConsumerMember(Member):
    """KIP-848: confirms whatever it is given at once."""

    async def step(self) -> None:
        is_new = not self.generation
        owned = TopicPartitions(topic_id=self.topic_id, partitions=sorted(self.assigned))
        answer = await self.ask(
            ConsumerGroupHeartbeatRequest(
                group_id=self.group, member_id=self.member_id, member_epoch=self.generation,
                rebalance_timeout_ms=60_000 if is_new else -1,
                subscribed_topic_names=[self.topic] if is_new else None,
                topic_partitions=[] if is_new else [owned] if self.assigned else [],
            ),
            _CONSUMER_VERSION,
        )  # fmt: skip
        if not answer.error_code:  # type: ignore[attr-defined]
            self.member_id, self.generation = answer.member_id, answer.member_epoch  # type: ignore[attr-defined]
            assignment = answer.assignment  # type: ignore[attr-defined]
            if assignment is not None:
                given = [index for topic in assignment.topic_partitions for index in topic.partitions]
                self.assigned = frozenset(given)
                return
        await asyncio.sleep(_PAUSE_SECONDS)


def settle_seconds(port: int, make: Callable[[int], Member], members: int) -> float:
    """How long a group of so many members took from the first connection until it was settled."""
    return asyncio.run(_settle_seconds(port, [make(number) for number in range(members)]))


async def _settle_seconds(port: int, members: list[Member]) -> float:
    start = time.perf_counter()
    tasks = [asyncio.create_task(member.run(port)) for member in members]
    try:
        while not _is_settled(members):
            assert time.perf_counter() - start < _GIVE_UP_SECONDS, "the group does not settle"
            for task in tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(0.002)
        return time.perf_counter() - start
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_settled(members: list[Member]) -> bool:
    if len({member.generation for member in members}) > 1:
        return False
    assigned = [index for member in members for index in member.assigned]
    return len(assigned) == len(set(assigned)) == members[0].partition_count
