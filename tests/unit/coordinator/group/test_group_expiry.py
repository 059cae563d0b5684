"""A look for expired offsets takes a bounded step each time, and leaves alone what changes while it goes on."""

import itertools

from ottla.coordinator.group.config import GroupConfig
from ottla.coordinator.group.group_expiry import SLICE_OFFSETS, SLICE_RECORDS, STRETCH_PARTITIONS, GroupExpiry
from ottla.coordinator.group.group_machine import GroupMachine
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.group_log.classic import GroupMetadataKey
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
from ottla.protocol.messages.list_groups import ListGroupsRequest
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.unit.coordinator.group.rig import Rig

RETENTION_MS = 10_000
INTERVAL_MS = 60_000
PARTITIONS = 3 * SLICE_RECORDS


def rig_with(groups: int, partitions: int) -> Rig:
    """A shard of groups that never had members, with offsets that expire before the first look."""
    rig = Rig(offsets_retention_ms=RETENTION_MS, offsets_retention_check_interval_ms=INTERVAL_MS)
    for number in range(groups):
        commit(rig, f"g{number:03}", range(partitions))
    return rig


def commit(rig: Rig, group_id: str, partitions: range) -> None:
    named = [OffsetCommitRequestPartition(partition_index=index, committed_offset=7) for index in partitions]
    rig.ask(OffsetCommitRequest(group_id=group_id, topics=[OffsetCommitRequestTopic(name="t", partitions=named)]), 8)


def kept(rig: Rig, group_id: str) -> list[int]:
    """The partitions that a group still has offsets for."""
    answer = rig.ask(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)]), 8)
    return sorted(found.partition_index for topic in answer.groups[0].topics for found in topic.partitions)


def slices(rig: Rig, now_ms: int) -> list[list[CoordinatorRecord]]:
    """What each call of a whole look finds, on a state that stays as it is."""
    shard = rig.shards.get(0)
    assert isinstance(shard.machine, GroupMachine)
    expiry = GroupExpiry(rig.config, 0, shard.machine.kind)
    found = [expiry.expired(shard.state, now_ms)]
    while expiry.next_in_ms == 1:
        found.append(expiry.expired(shard.state, now_ms))
    assert expiry.next_in_ms == INTERVAL_MS
    return found


def test_no_call_looks_at_more_than_a_slice() -> None:
    rig = rig_with(30, SLICE_OFFSETS // 10)
    found = slices(rig, rig.now_ms)
    assert not any(found), "nothing has expired"
    assert len(found) == 4, "30 groups and three slices of offsets"


def test_no_call_writes_more_than_it_may() -> None:
    rig = rig_with(1, PARTITIONS)
    found = slices(rig, rig.now_ms + RETENTION_MS)
    assert max(map(len, found)) <= SLICE_RECORDS + STRETCH_PARTITIONS
    assert sorted(record.key.partition for records in found for record in records) == list(range(PARTITIONS))


def test_a_large_group_goes_with_the_last_of_its_offsets() -> None:
    rig = rig_with(2, PARTITIONS)
    rig.advance(INTERVAL_MS)
    assert kept(rig, "g000"), "one slice is not all of it"
    rig.advance(INTERVAL_MS - 1)
    assert (kept(rig, "g000"), kept(rig, "g001")) == ([], [])
    assert rig.ask(ListGroupsRequest()).groups == []
    keys = [record.key for record in rig.records() if record.value is None]
    assert [isinstance(key, GroupMetadataKey) for key in keys] == [*[False] * PARTITIONS, True] * 2


def test_what_is_committed_anew_during_a_look_stays_with_its_group() -> None:
    rig = rig_with(1, PARTITIONS)
    rig.advance(INTERVAL_MS)
    again = range(PARTITIONS - 1, PARTITIONS + 1)
    commit(rig, "g000", again)
    rig.advance(INTERVAL_MS - RETENTION_MS)
    assert kept(rig, "g000") == list(again)
    assert [group.group_id for group in rig.ask(ListGroupsRequest()).groups] == ["g000"]


def test_a_group_that_is_deleted_during_a_look_is_passed_over() -> None:
    rig = rig_with(3, PARTITIONS)
    rig.advance(INTERVAL_MS)
    assert rig.ask(DeleteGroupsRequest(groups_names=["g001"])).results[0].error_code == 0
    before = len(rig.records())
    rig.advance(INTERVAL_MS - 1)
    assert not [record for record in rig.records()[before:] if record.key.group == "g001"]
    assert rig.ask(ListGroupsRequest()).groups == []


def test_shards_that_were_loaded_together_look_at_different_times() -> None:
    config = GroupConfig(offsets_retention_check_interval_ms=INTERVAL_MS)
    first = sorted(GroupExpiry(config, partition, lambda state, group_id: None).first_in_ms for partition in range(50))
    assert first[0] > 0
    assert first[-1] == INTERVAL_MS
    assert min(after - before for before, after in itertools.pairwise(first)) > INTERVAL_MS // 200
