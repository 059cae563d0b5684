"""A shard that knows nothing but offsets, and groups that allow what a test says."""

from collections.abc import Iterable
from typing import NamedTuple

from ottla.coordinator.group.offsets.offset_codec import OffsetCodec
from ottla.coordinator.group.offsets.offset_rules import CommitClaim, PartitionCheck
from ottla.coordinator.group.offsets.offsets_state import EMPTY_OFFSETS, OffsetsState
from ottla.coordinator.group.offsets.replay import replay_offset, replay_offset_marker
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.timers import Timers
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import ApiError
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.unit.coordinator.runtime.fake import MemoryLog


class OffsetsMachine(OffsetCodec):
    """A machine for offsets alone."""

    def initial(self) -> OffsetsState:
        return EMPTY_OFFSETS

    def replay(
        self, state: OffsetsState, record: CoordinatorRecord, offset: int, producer_id: int, producer_epoch: int
    ) -> OffsetsState:
        return replay_offset(state, record, offset, producer_id)

    def replay_marker(
        self, state: OffsetsState, producer_id: int, producer_epoch: int, *, committed: bool
    ) -> OffsetsState:
        return replay_offset_marker(state, producer_id, committed=committed)

    def loaded(self, state: OffsetsState, now_ms: int) -> None:
        pass

    def unloaded(self) -> None:
        pass


class FakeRules(NamedTuple):
    """The rules of a group that refuses with `refusal` and whose members use `subscribed`."""

    refusal: ApiError | None = None
    check: PartitionCheck | None = None
    subscribed: frozenset[str] = frozenset()
    empty_since_ms: int | None = None
    expires: bool = True

    def validate_commit(self, claim: CommitClaim, now_ms: int) -> PartitionCheck | None:
        self._refuse()
        return self.check

    def validate_fetch(self, member_id: str | None, member_epoch: int) -> None:
        self._refuse()

    def validate_delete(self) -> None:
        self._refuse()

    def is_subscribed(self, topic: str) -> bool:
        return topic in self.subscribed

    def expires_from_ms(self, commit_timestamp_ms: int) -> int | None:
        if not self.expires:
            return None
        return commit_timestamp_ms if self.empty_since_ms is None else self.empty_since_ms

    def _refuse(self) -> None:
        if self.refusal is not None:
            raise self.refusal


RULES = FakeRules()


def opened(log: MemoryLog) -> Shard[OffsetsState]:
    """A shard loaded from `log`, all of which is committed."""
    shard = Shard(0, OffsetsMachine(), log, Timers())
    shard.committed(log.end_offset)
    log.load_into(shard)
    return shard


def commit_request(
    group_id: str, offsets: Iterable[tuple[str, int, int]], *, generation: int = -1, metadata: str | None = ""
) -> OffsetCommitRequest:
    """A commit of offsets, each given with topic and partition."""
    topics = [
        OffsetCommitRequestTopic(
            name=topic,
            partitions=[
                OffsetCommitRequestPartition(
                    partition_index=partition, committed_offset=offset, committed_metadata=metadata
                )
            ],
        )
        for topic, partition, offset in offsets
    ]
    return OffsetCommitRequest(group_id=group_id, generation_id_or_member_epoch=generation, topics=topics)


def txn_request(
    group_id: str, offsets: Iterable[tuple[str, int, int]], *, generation: int = -1, metadata: str | None = ""
) -> TxnOffsetCommitRequest:
    """A transactional commit of offsets."""
    topics = [
        TxnOffsetCommitRequestTopic(
            name=topic,
            partitions=[
                TxnOffsetCommitRequestPartition(
                    partition_index=partition, committed_offset=offset, committed_metadata=metadata
                )
            ],
        )
        for topic, partition, offset in offsets
    ]
    return TxnOffsetCommitRequest(group_id=group_id, generation_id=generation, topics=topics)


def replayed(
    records: Iterable[CoordinatorRecord], state: OffsetsState = EMPTY_OFFSETS, *, offset: int = 0, producer_id: int = -1
) -> OffsetsState:
    """The state after records that stand at `offset` and behind it."""
    for place, record in enumerate(records, offset):
        state = replay_offset(state, record, place, producer_id)
    return state
