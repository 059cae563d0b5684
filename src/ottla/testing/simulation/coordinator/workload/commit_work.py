"""A consumer that reads on and commits where it is."""

from ottla.coordinator.ports import PartitionKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.testing.simulation.coordinator.workload.member import COORDINATOR_ELSEWHERE, RETRY_MS, Identity, Membership
from ottla.testing.simulation.coordinator.workload.task import Ask, Sleep, Steps

_VERSION = 9
_TRIES = 10
_STEP_MAX = 5


class CommitWork:
    """Commits synchronously, until it is told yes or no."""

    def round(self, member: Membership) -> Steps[None]:
        """Reads a little from each partition, and commits."""
        for key in sorted(member.positions):
            member.positions[key] += member.outside.random.randint(0, _STEP_MAX)
        offsets = dict(member.positions)
        for _ in range(_TRIES):
            identity = member.identity
            if identity is None:
                return
            response = yield from member.ask_coordinator(Ask(0, _request(member, identity, offsets), _VERSION))
            if not isinstance(response, OffsetCommitResponse):
                continue
            codes = {partition.error_code for topic in response.topics for partition in topic.partitions}
            if codes == {ErrorCode.NONE}:
                member.outside.history.acknowledged += 1
                return
            code = max(codes)
            is_stale = code == ErrorCode.STALE_MEMBER_EPOCH
            if code not in COORDINATOR_ELSEWHERE and not is_stale:
                member.refused(code)
                return
            yield Sleep(RETRY_MS)


def _request(member: Membership, identity: Identity, offsets: dict[PartitionKey, int]) -> OffsetCommitRequest:
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for key, offset in offsets.items():
        topic = topics.setdefault(key.topic, OffsetCommitRequestTopic(name=key.topic))
        topic.partitions.append(
            OffsetCommitRequestPartition(
                partition_index=key.partition, committed_offset=offset, committed_metadata=f"by {identity.member_id}"
            )
        )
    return OffsetCommitRequest(
        group_id=member.plan.group_id,
        generation_id_or_member_epoch=identity.generation,
        member_id=identity.member_id,
        group_instance_id=identity.instance_id,
        topics=list(topics.values()),
    )
