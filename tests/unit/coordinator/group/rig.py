"""A group coordinator on logs in memory, with a clock to turn and members to speak for.

Records are committed as soon as they are in the log, unless `is_replicating` is off: then `replicate` moves the high
watermarks.
"""

import random
from typing import Any

from ottla.coordinator.group.caller import GroupCaller
from ottla.coordinator.group.classic.classic_groups import ClassicGroups
from ottla.coordinator.group.config import ClassicGroupConfig, GroupConfig
from ottla.coordinator.group.consumer.assignment.metadata_hash import TopicHashes
from ottla.coordinator.group.group_coordinator import GroupCoordinator
from ottla.coordinator.group.group_factory import GroupContext, new_group_shard
from ottla.coordinator.group.group_machine import GroupMachine
from ottla.coordinator.group.group_state import GroupsState
from ottla.coordinator.group.rebalance_reason import RebalanceLog
from ottla.coordinator.runtime.metadata_view import ImageView
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.shard_set import ShardSet
from ottla.metadata.image.metadata_image import EMPTY_IMAGE
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.definition import Request
from ottla.protocol.errors import ApiError
from ottla.protocol.group_log.log import GROUP_LOG
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupRequest
from ottla.protocol.messages.leave_group import LeaveGroupRequest
from ottla.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from ottla.protocol.messages.offset_commit import OffsetCommitRequest
from ottla.protocol.messages.offset_delete import OffsetDeleteRequest
from ottla.protocol.messages.offset_fetch import OffsetFetchRequest
from ottla.protocol.messages.sync_group import SyncGroupRequest
from tests.unit.coordinator.runtime.fake import Answers, MemoryLog

START_MS = 1_000_000


class Rig:
    """One broker that leads all partitions."""

    def __init__(self, classic: ClassicGroupConfig | None = None, *, partitions: int = 1, **config: Any) -> None:
        self.config = GroupConfig(classic=ClassicGroupConfig() if classic is None else classic, **config)
        self.now_ms = START_MS
        self.logs = [MemoryLog() for _ in range(partitions)]
        self.rebalances = RebalanceLog()
        self.is_replicating = True
        self._chance = random.Random(7)
        self._epoch = 0
        self._loading: list[Shard[GroupsState]] = []
        self.shards = ShardSet(self._open, self._loading.append, lambda: None)
        self.coordinator = GroupCoordinator(
            self.shards, lambda: partitions, ImageView(lambda: EMPTY_IMAGE), self.config
        )
        self.elect()

    def _open(self, partition: int, leader_epoch: int) -> Shard[GroupsState]:
        metadata = ImageView(lambda: EMPTY_IMAGE)
        context = GroupContext(
            config=self.config,
            chance=self._chance,
            metadata=metadata,
            rebalance_log=self.rebalances,
            image_version=lambda: EMPTY_IMAGE.provenance.offset,
            hashes=TopicHashes(metadata),
        )
        return new_group_shard(partition, self.logs[partition], context)

    def elect(self) -> None:
        """Leads all partitions, loaded from their logs."""
        self.begin_load()
        self.finish_load()

    def begin_load(self) -> None:
        """Leads all partitions, and has not read a record yet."""
        self._epoch += 1
        for partition in range(len(self.logs)):
            self.shards.elected(partition, self._epoch)

    def finish_load(self) -> None:
        """Everything that was to be loaded is."""
        while self._loading:
            shard = self._loading.pop()
            log = self.logs[shard.partition]
            shard.committed(log.end_offset)
            log.load_into(shard, self.now_ms)

    def resign(self) -> None:
        """Leads nothing any more."""
        self._epoch += 1
        for partition in range(len(self.logs)):
            self.shards.resigned(partition, self._epoch)

    def restart(self) -> None:
        """A new leader that has only the logs."""
        self.resign()
        self.elect()

    @property
    def classic(self) -> ClassicGroups:
        """The classic groups of the first partition."""
        machine = self.shards.get(0).machine
        assert isinstance(machine, GroupMachine)
        return machine.classic

    def send(self, request: Request, version: int | None = None, *, client: str = "app") -> Answers:
        """Sends a request; what it was, or will be, answered with."""
        answers = Answers()
        highest = request.valid_versions.highest
        caller = GroupCaller(client, "/10.0.0.1", highest if version is None else version)
        if isinstance(request, ListGroupsRequest):
            answers(self._list(request))
        else:
            getattr(self.coordinator, _METHODS[type(request)])(request, caller, self.now_ms, answers)
        self.settle()
        return answers

    def _list(self, request: ListGroupsRequest) -> ListGroupsResponse:
        try:
            pages = self.coordinator.list_groups(request)
            return ListGroupsResponse(groups=[group for page in pages for group in page])
        except ApiError as error:
            return ListGroupsResponse(error_code=error.code)

    def ask(self, request: Request, version: int | None = None, *, client: str = "app") -> Any:
        """Sends a request that must be answered at once, in a way that its version can express."""
        answer = self.send(request, version, client=client).only
        answer.encode(request.valid_versions.highest if version is None else version)
        return answer

    def settle(self) -> None:
        """Ends the round."""
        self.shards.flush(self.now_ms)
        if self.is_replicating:
            self.replicate()

    def replicate(self) -> None:
        """All that is in the logs is committed."""
        while any(shard.high_watermark < shard.end_offset for shard in self.shards.active):
            for shard in self.shards.active:
                shard.committed(shard.end_offset)
            self.shards.flush(self.now_ms)

    def advance(self, ms: int) -> None:
        """Lets time pass, with every timer at its time."""
        end_ms = self.now_ms + ms
        while (due_ms := self.shards.next_ms) is not None and due_ms <= end_ms:
            self.now_ms = max(self.now_ms, due_ms)
            self.shards.poll(self.now_ms)
            self.settle()
        self.now_ms = end_ms

    def records(self, partition: int = 0) -> list[CoordinatorRecord]:
        """All records of a log."""
        pairs = [pair for batch in self.logs[partition].batches for pair in batch.records]
        return [GROUP_LOG.decode(key, value) for key, value in pairs]


_METHODS: dict[type[Request], str] = {
    JoinGroupRequest: "join_group",
    SyncGroupRequest: "sync_group",
    HeartbeatRequest: "heartbeat",
    LeaveGroupRequest: "leave_group",
    DescribeGroupsRequest: "describe_groups",
    DeleteGroupsRequest: "delete_groups",
    OffsetCommitRequest: "offset_commit",
    OffsetFetchRequest: "offset_fetch",
    OffsetDeleteRequest: "offset_delete",
}
