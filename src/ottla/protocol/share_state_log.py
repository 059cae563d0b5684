"""The state of share groups' partitions in `__share_group_state`."""

from ottla.base.ids import Uuid
from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorLog, CoordinatorValue
from ottla.protocol.definition import Struct
from ottla.protocol.field import array, int8, int16, int32, int64, string, uuid


class ShareSnapshotKey(CoordinatorKey, type_id=0, versions="0"):
    group_id: str = string("0")
    topic_id: Uuid = uuid("0")
    partition: int = int32("0")


class StateBatch(Struct):
    first_offset: int = int64("0+")
    last_offset: int = int64("0+")
    delivery_state: int = int8("0+")
    delivery_count: int = int16("0+")


class ShareSnapshotValue(CoordinatorValue, type_id=0, versions="0", flexible="0+"):
    snapshot_epoch: int = int32("0+")
    state_epoch: int = int32("0+")
    leader_epoch: int = int32("0+")
    start_offset: int = int64("0+")
    delivery_complete_count: int = int32("0+", default=-1, tag=0)
    create_timestamp: int = int64("0+")
    write_timestamp: int = int64("0+")
    state_batches: list[StateBatch] = array(StateBatch, "0+")


class ShareUpdateKey(CoordinatorKey, type_id=1, versions="0"):
    group_id: str = string("0")
    topic_id: Uuid = uuid("0")
    partition: int = int32("0")


class ShareUpdateValue(CoordinatorValue, type_id=1, versions="0", flexible="0+"):
    snapshot_epoch: int = int32("0+")
    leader_epoch: int = int32("0+")
    start_offset: int = int64("0+")
    delivery_complete_count: int = int32("0+", default=-1, tag=0)
    state_batches: list[StateBatch] = array(StateBatch, "0+")


SHARE_STATE_LOG = CoordinatorLog([(ShareSnapshotKey, ShareSnapshotValue), (ShareUpdateKey, ShareUpdateValue)])
