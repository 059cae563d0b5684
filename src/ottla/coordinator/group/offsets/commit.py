"""OffsetCommit and TxnOffsetCommit: which offsets are taken, and the records that say so.

The offset itself is never checked against the partition's log. The topics of a request carry their names here, also
where the client sent ids. A refusal of the whole request is raised; of single partitions only their metadata's size is
answered one by one.
"""

from typing import Final, NamedTuple

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.coordinator.group.offsets.offset_rules import CommitClaim, OffsetRules, PartitionCheck
from ottla.coordinator.group.offsets.offsets_state import NO_EXPIRY, OffsetAndMetadata
from ottla.coordinator.group.offsets.record import offset_record
from ottla.coordinator.ports import MetadataView
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import ErrorCode, GroupIdNotFoundError, IllegalGenerationError, StaleMemberEpochError
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

OFFSET_METADATA_SIZE_MAX: Final = 4_096
"""Default of `offset.metadata.max.bytes`, which in spite of its name counts Java's characters."""
_DEFAULT_RETENTION: Final = -1
_UNKNOWN_GROUP_SINCE: Final = 9
"""From this version of OffsetCommit on a client knows GROUP_ID_NOT_FOUND, which both kinds of groups understand."""
_NOT_YET_WRITTEN: Final = -1


class CommitContext(NamedTuple):
    """The conditions of a commit besides the request and its group."""

    api_version: int
    now_ms: int
    metadata_size_max: int = OFFSET_METADATA_SIZE_MAX


def commit(rules: OffsetRules | None, request: OffsetCommitRequest, context: CommitContext) -> CoordinatorResult:
    """OffsetCommit. `rules` are those of the group, None if there is no such group.

    A commit to an unknown group without a generation comes from no member: it makes the group.
    """
    check = _check_commit(rules, request, context)
    expire_ms = NO_EXPIRY
    if request.retention_time_ms != _DEFAULT_RETENTION:
        expire_ms = context.now_ms + request.retention_time_ms
    records: list[CoordinatorRecord] = []
    topics = []
    for topic in request.topics:
        answers = []
        for partition in topic.partitions:
            index = partition.partition_index
            if _is_too_large(partition.committed_metadata, context.metadata_size_max):
                answers.append(_refused(index))
                continue
            if check is not None:
                check(topic.name, topic.topic_id, index)
            stored = _stored(partition, topic.topic_id, context.now_ms, expire_ms)
            records.append(offset_record(request.group_id, topic.name, index, stored))
            answers.append(OffsetCommitResponsePartition(partition_index=index))
        topics.append(OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=answers))
    return CoordinatorResult(records, OffsetCommitResponse(topics=topics))


def commit_transactional(
    rules: OffsetRules | None, request: TxnOffsetCommitRequest, metadata: MetadataView, context: CommitContext
) -> CoordinatorResult:
    """TxnOffsetCommit: the same records, for a transactional batch.

    Clients know no member epochs here, so what is stale to a consumer group is ILLEGAL_GENERATION to them.
    """
    try:
        check = _check_transactional(rules, request, context)
        records: list[CoordinatorRecord] = []
        topics = []
        for topic in request.topics:
            topic_id = ZERO_UUID if check is None else _topic_id(metadata, topic.name)
            answers = []
            for partition in topic.partitions:
                index = partition.partition_index
                if _is_too_large(partition.committed_metadata, context.metadata_size_max):
                    too_large = ErrorCode.OFFSET_METADATA_TOO_LARGE
                    answers.append(TxnOffsetCommitResponsePartition(partition_index=index, error_code=too_large))
                    continue
                if check is not None:
                    check(topic.name, topic_id, index)
                stored = _stored(partition, ZERO_UUID, context.now_ms, NO_EXPIRY)
                records.append(offset_record(request.group_id, topic.name, index, stored))
                answers.append(TxnOffsetCommitResponsePartition(partition_index=index))
            topics.append(TxnOffsetCommitResponseTopic(name=topic.name, partitions=answers))
    except StaleMemberEpochError as error:
        raise IllegalGenerationError from error
    return CoordinatorResult(records, TxnOffsetCommitResponse(topics=topics))


def _check_commit(
    rules: OffsetRules | None, request: OffsetCommitRequest, context: CommitContext
) -> PartitionCheck | None:
    generation = request.generation_id_or_member_epoch
    if rules is None:
        if generation < 0:
            return None
        if context.api_version >= _UNKNOWN_GROUP_SINCE:
            raise GroupIdNotFoundError(f"Group {request.group_id} not found.")
        raise IllegalGenerationError
    claim = CommitClaim(
        request.member_id,
        request.group_instance_id,
        generation,
        is_transactional=False,
        api_version=context.api_version,
    )
    return rules.validate_commit(claim, context.now_ms)


def _check_transactional(
    rules: OffsetRules | None, request: TxnOffsetCommitRequest, context: CommitContext
) -> PartitionCheck | None:
    if rules is None:
        if request.generation_id < 0:
            return None
        raise IllegalGenerationError
    claim = CommitClaim(
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        is_transactional=True,
        api_version=context.api_version,
    )
    return rules.validate_commit(claim, context.now_ms)


def _topic_id(metadata: MetadataView, name: str) -> Uuid:
    """The id by which a member's partitions are checked; a topic that is gone is no member's."""
    topic = metadata.topic(name)
    if topic is None:
        raise IllegalGenerationError
    return topic.id


def _stored(
    partition: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition,
    topic_id: Uuid,
    now_ms: int,
    expire_ms: int,
) -> OffsetAndMetadata:
    return OffsetAndMetadata(
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
        now_ms,
        expire_ms,
        topic_id,
        _NOT_YET_WRITTEN,
    )


def _refused(index: int) -> OffsetCommitResponsePartition:
    return OffsetCommitResponsePartition(partition_index=index, error_code=ErrorCode.OFFSET_METADATA_TOO_LARGE)


def _is_too_large(metadata: str | None, size_max: int) -> bool:
    """Java counts UTF-16 units, of which a character takes two at most."""
    if metadata is None or 2 * len(metadata) <= size_max:
        return False
    return len(metadata) + sum(character > "\uffff" for character in metadata) > size_max
