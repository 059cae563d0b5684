"""Where segments in tiered storage are (KIP-405): the records of `__remote_log_metadata`.

They are framed as metadata records are. A leader writes RemoteLogSegmentMetadataRecord before it copies a segment and
then updates of its state: 0 copy started, 1 copy finished, 2 delete started, 3 delete finished. Only state 1 may be
read from. RemotePartitionDeleteMetadataRecord says the same of a whole partition: 0 marked, 1 started, 2 finished.
`end_offset` is inclusive. `segment_leader_epochs` cut to the segment let a reader follow the leader epochs of its own
history. `custom_metadata` belongs to the storage plugin. `txn_index_empty` spares reading an index with no aborted
transaction (KIP-1058).

RemoteLogSegmentMetadataSnapshotRecord is for a local cache file, where the partition is known already; it is never in
the topic.
"""

from ottla.base.ids import Uuid
from ottla.protocol.definition import Struct
from ottla.protocol.field import array, boolean, bytestring, int8, int32, int64, string, struct, uuid
from ottla.protocol.metadata_log.record import MetadataRecord


class TopicIdPartitionEntry(Struct):
    name: str = string("0+")
    id: Uuid = uuid("0+")
    partition: int = int32("0+")


class RemoteLogSegmentIdEntry(Struct):
    topic_id_partition: TopicIdPartitionEntry = struct(TopicIdPartitionEntry, "0+")
    id: Uuid = uuid("0+")


class SegmentLeaderEpochEntry(Struct):
    leader_epoch: int = int32("0+")
    offset: int = int64("0+")


class RemoteLogSegmentMetadataRecord(MetadataRecord, type_id=0, versions="0", flexible="0+"):
    remote_log_segment_id: RemoteLogSegmentIdEntry = struct(RemoteLogSegmentIdEntry, "0+")
    start_offset: int = int64("0+")
    end_offset: int = int64("0+")
    broker_id: int = int32("0+")
    max_timestamp_ms: int = int64("0+")
    event_timestamp_ms: int = int64("0+")
    segment_leader_epochs: list[SegmentLeaderEpochEntry] = array(SegmentLeaderEpochEntry, "0+")
    segment_size_in_bytes: int = int32("0+")
    custom_metadata: bytes | None = bytestring("0+", nullable="0+", default=None)
    remote_log_segment_state: int = int8("0+")
    txn_index_empty: bool = boolean("0+", tag=0)


class RemoteLogSegmentMetadataUpdateRecord(MetadataRecord, type_id=1, versions="0", flexible="0+"):
    remote_log_segment_id: RemoteLogSegmentIdEntry = struct(RemoteLogSegmentIdEntry, "0+")
    broker_id: int = int32("0+")
    event_timestamp_ms: int = int64("0+")
    custom_metadata: bytes | None = bytestring("0+", nullable="0+", default=None)
    remote_log_segment_state: int = int8("0+")


class RemotePartitionDeleteMetadataRecord(MetadataRecord, type_id=2, versions="0", flexible="0+"):
    topic_id_partition: TopicIdPartitionEntry = struct(TopicIdPartitionEntry, "0+")
    broker_id: int = int32("0+")
    event_timestamp_ms: int = int64("0+")
    remote_partition_delete_state: int = int8("0+")


class RemoteLogSegmentMetadataSnapshotRecord(MetadataRecord, type_id=3, versions="0", flexible="0+"):
    segment_id: Uuid = uuid("0+")
    start_offset: int = int64("0+")
    end_offset: int = int64("0+")
    broker_id: int = int32("0+")
    max_timestamp_ms: int = int64("0+")
    event_timestamp_ms: int = int64("0+")
    segment_leader_epochs: list[SegmentLeaderEpochEntry] = array(SegmentLeaderEpochEntry, "0+")
    segment_size_in_bytes: int = int32("0+")
    custom_metadata: bytes | None = bytestring("0+", nullable="0+", default=None)
    remote_log_segment_state: int = int8("0+")
    txn_index_empty: bool = boolean("0+", tag=0)
