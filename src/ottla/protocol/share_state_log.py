"""The state of share groups' partitions in `__share_group_state` (KIP-932).

ShareSnapshotValue is the whole state of a share partition, ShareUpdateValue a difference to it; both have the same
key but for the type. The share coordinator writes updates for a while and then a new snapshot with a higher
`snapshot_epoch`, after which everything older can be deleted. A snapshot's tombstone ends the state.

`start_offset` -1 means not set in a snapshot, unchanged in an update. `delivery_state` is 0 available, 2
acknowledged, 4 archived. `state_epoch` fences earlier lives of the group, `leader_epoch` earlier leaders.
`delivery_complete_count` (-1 unknown) came with 4.2, for the lag (KIP-1226).
"""

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
