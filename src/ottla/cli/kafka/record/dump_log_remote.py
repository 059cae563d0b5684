"""Records of `__remote_log_metadata` as `kafka-dump-log` shows them: the texts of Kafka's classes, not JSON."""

from collections.abc import Sequence
from typing import Final

from ottla.protocol.errors import DecodeError
from ottla.protocol.metadata_log.log import decode_record
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.remote_log import (
    RemoteLogSegmentIdEntry,
    RemoteLogSegmentMetadataRecord,
    RemoteLogSegmentMetadataSnapshotRecord,
    RemoteLogSegmentMetadataUpdateRecord,
    RemotePartitionDeleteMetadataRecord,
    SegmentLeaderEpochEntry,
    TopicIdPartitionEntry,
)

_TYPES: Final[dict[int, type[MetadataRecord]]] = {
    record.type_id: record
    for record in (
        RemoteLogSegmentMetadataRecord,
        RemoteLogSegmentMetadataUpdateRecord,
        RemotePartitionDeleteMetadataRecord,
        RemoteLogSegmentMetadataSnapshotRecord,
    )
}
_SEGMENT_STATES: Final = (
    "COPY_SEGMENT_STARTED",
    "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED",
    "DELETE_SEGMENT_FINISHED",
)
_PARTITION_STATES: Final = ("DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED")


def decode_remote(record: RecordTuple) -> tuple[None, str]:
    """What a record says; the key means nothing. One that can't be read says so in its place."""
    try:
        return None, _shown(decode_record(record[3] or b"", _TYPES).record)
    except DecodeError as error:
        return None, f"Error at offset {record[0]}, skipping. {error}"


def _shown(record: MetadataRecord) -> str:
    if isinstance(record, RemotePartitionDeleteMetadataRecord):
        return (
            f"RemotePartitionDeleteMetadata{{topicPartition={_partition(record.topic_id_partition)}, "
            f"state={_state(_PARTITION_STATES, record.remote_partition_delete_state)}, "
            f"eventTimestampMs={record.event_timestamp_ms}, brokerId={record.broker_id}}}"
        )
    if isinstance(record, RemoteLogSegmentMetadataUpdateRecord):
        return (
            f"RemoteLogSegmentMetadataUpdate{{remoteLogSegmentId={_segment(record.remote_log_segment_id)}, "
            f"customMetadata={_custom(record.custom_metadata)}, "
            f"state={_state(_SEGMENT_STATES, record.remote_log_segment_state)}, "
            f"eventTimestampMs={record.event_timestamp_ms}, brokerId={record.broker_id}}}"
        )
    assert isinstance(record, RemoteLogSegmentMetadataRecord | RemoteLogSegmentMetadataSnapshotRecord)
    if record.end_offset < record.start_offset:
        raise DecodeError(
            f"Unexpected end offset = {record.end_offset}. EndOffset for a remote segment cannot be less than "
            f"startOffset = {record.start_offset}"
        )
    end = (
        f"segmentLeaderEpochs={_epochs(record.segment_leader_epochs)}, "
        f"segmentSizeInBytes={record.segment_size_in_bytes}, customMetadata={_custom(record.custom_metadata)}, "
        f"state={_state(_SEGMENT_STATES, record.remote_log_segment_state)}, "
        f"txnIdxEmpty={str(record.txn_index_empty).lower()}}}"
    )
    offsets = f"startOffset={record.start_offset}, endOffset={record.end_offset}"
    if isinstance(record, RemoteLogSegmentMetadataSnapshotRecord):
        head = f"RemoteLogSegmentMetadataSnapshot{{segmentId={record.segment_id}, {offsets}"
        return f"{head}, maxTimestampMs={record.max_timestamp_ms}, {end}"
    return (
        f"RemoteLogSegmentMetadata{{remoteLogSegmentId={_segment(record.remote_log_segment_id)}, {offsets}, "
        f"brokerId={record.broker_id}, maxTimestampMs={record.max_timestamp_ms}, "
        f"eventTimestampMs={record.event_timestamp_ms}, {end}"
    )


def _partition(entry: TopicIdPartitionEntry) -> str:
    return f"{entry.id}:{entry.name}-{entry.partition}"


def _segment(entry: RemoteLogSegmentIdEntry) -> str:
    return f"RemoteLogSegmentId{{topicIdPartition={_partition(entry.topic_id_partition)}, id={entry.id}}}"


def _epochs(entries: Sequence[SegmentLeaderEpochEntry]) -> str:
    starts = {entry.leader_epoch: entry.offset for entry in entries}
    return "{" + ", ".join(f"{epoch}={offset}" for epoch, offset in sorted(starts.items())) + "}"


def _custom(data: bytes | None) -> str:
    return "Optional.empty" if data is None else f"Optional[CustomMetadata{{{len(data)} bytes}}]"


def _state(names: Sequence[str], number: int) -> str:
    if not 0 <= number < len(names):
        raise DecodeError("state can not be null")
    return names[number]
