"""Transactional offsets count after their commit marker, unless a later commit or deletion overtook them."""

from ottla.base.ids import ZERO_UUID
from ottla.coordinator.group.offsets.offsets_state import EMPTY_OFFSETS, OffsetAndMetadata, OffsetsState
from ottla.coordinator.group.offsets.record import offset_record, offset_tombstone
from ottla.coordinator.group.offsets.replay import replay_offset, replay_offset_marker
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.group_log.offset import LegacyOffsetCommitKey, LegacyOffsetCommitValue
from tests.unit.coordinator.offsets.fake import replayed


def committing(offset: int, partition: int = 0, group_id: str = "g") -> CoordinatorRecord:
    return offset_record(group_id, "t", partition, OffsetAndMetadata(offset, -1, "", 0, -1, ZERO_UUID, -1))


def offset_of(state: OffsetsState, partition: int = 0) -> int | None:
    found = state.offset("g", "t", partition)
    return None if found is None else found.offset


def test_pending_until_the_marker() -> None:
    state = replayed([committing(5)], producer_id=1)
    assert (offset_of(state), state.has_pending("g", "t", 0), state.is_idle("g")) == (None, True, False)
    state = replay_offset_marker(state, 1, committed=True)
    assert (offset_of(state), state.has_pending("g", "t", 0), state.committed_count) == (5, False, 1)
    assert not state.pending
    assert not state.open_transactions


def test_dropped_by_an_abort() -> None:
    state = replay_offset_marker(replayed([committing(5)], producer_id=1), 1, committed=False)
    assert state == EMPTY_OFFSETS


def test_a_marker_of_somebody_else_changes_nothing() -> None:
    state = replayed([committing(5)], producer_id=1)
    assert replay_offset_marker(state, 2, committed=True) is state


def test_the_offset_that_is_later_in_the_log_wins() -> None:
    state = replayed([committing(10)], offset=5, producer_id=1)
    state = replayed([committing(20)], state, offset=6)
    assert offset_of(replay_offset_marker(state, 1, committed=True)) == 20
    state = replayed([committing(30)], state, offset=7, producer_id=1)
    assert offset_of(replay_offset_marker(state, 1, committed=True)) == 30


def test_two_transactions_on_one_partition() -> None:
    state = replayed([committing(10)], offset=5, producer_id=1)
    state = replayed([committing(20)], state, offset=6, producer_id=2)
    state = replay_offset_marker(state, 2, committed=True)
    assert (offset_of(state), state.has_pending("g", "t", 0)) == (20, True)
    state = replay_offset_marker(state, 1, committed=True)
    assert (offset_of(state), state.has_pending("g", "t", 0)) == (20, False)


def test_a_tombstone_takes_what_is_pending_along() -> None:
    state = replayed([committing(1), committing(2, partition=1)])
    state = replayed([committing(10), committing(11, partition=1)], state, offset=2, producer_id=1)
    state = replay_offset(state, offset_tombstone("g", "t", 0), 4, -1)
    state = replay_offset_marker(state, 1, committed=True)
    assert (offset_of(state, 0), offset_of(state, 1), state.committed_count) == (None, 11, 1)


def test_a_tombstone_of_nothing_changes_nothing() -> None:
    assert replay_offset(EMPTY_OFFSETS, offset_tombstone("g", "t", 0), 0, -1) == EMPTY_OFFSETS


def test_nothing_is_left_of_the_last_offset() -> None:
    state = replayed([committing(1), offset_tombstone("g", "t", 0)])
    assert state == EMPTY_OFFSETS


def test_the_oldest_records_are_read() -> None:
    key = LegacyOffsetCommitKey(group="g", topic="t", partition=0)
    value = LegacyOffsetCommitValue(offset=9, metadata="old", commit_timestamp=3)
    state = replay_offset(EMPTY_OFFSETS, CoordinatorRecord(key, value, 0), 0, -1)
    assert state.offset("g", "t", 0) == (9, -1, "old", 3, -1, ZERO_UUID, 0)
