"""The requests of a classic member."""

from collections.abc import Collection, Mapping, Sequence

from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor
from ottla.client.consumer.assignor.subscription import MemberSubscription, encode_subscription
from ottla.client.consumer.group.classic.event import Generation
from ottla.client.consumer.group.member_config import PROTOCOL_TYPE, MemberConfig
from ottla.client.record import TopicPartition
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

_REASON_LENGTH_MAX = 255
_FIRST_VERSION_WITH_MEMBERS = 3


class ClassicRequests:
    """Writes the requests of one member."""

    def __init__(self, config: MemberConfig, assignors: Sequence[PartitionAssignor]) -> None:
        self._config = config
        self._assignors = assignors

    def join(
        self, generation: Generation, topics: Collection[str], owned: Collection[TopicPartition], reason: str
    ) -> JoinGroupRequest:
        """Offers all assignors, the preferred one first."""
        config = self._config
        return JoinGroupRequest(
            group_id=config.group_id,
            session_timeout_ms=config.session_timeout_ms,
            # Members may take as long to join as they may take between two polls.
            rebalance_timeout_ms=config.max_poll_interval_ms,
            member_id=generation.member_id,
            group_instance_id=config.group_instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=[
                JoinGroupRequestProtocol(
                    name=assignor.name, metadata=self._metadata(assignor, generation, topics, owned)
                )
                for assignor in self._assignors
            ],
            reason=reason[:_REASON_LENGTH_MAX],
        )

    def _metadata(
        self,
        assignor: PartitionAssignor,
        generation: Generation,
        topics: Collection[str],
        owned: Collection[TopicPartition],
    ) -> bytes:
        subscription = MemberSubscription(
            topics=tuple(sorted(topics)),
            user_data=assignor.subscription_user_data(sorted(topics)),
            owned_partitions=tuple(sorted(owned)),
            generation_id=generation.id if generation.id >= 0 else None,
            rack_id=self._config.rack_id,
        )
        return encode_subscription(subscription)

    def sync(self, generation: Generation, assignments: Mapping[str, bytes]) -> SyncGroupRequest:
        """A follower's has no assignments."""
        return SyncGroupRequest(
            group_id=self._config.group_id,
            generation_id=generation.id,
            member_id=generation.member_id,
            group_instance_id=self._config.group_instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=generation.protocol,
            assignments=[
                SyncGroupRequestAssignment(member_id=member, assignment=assignment)
                for member, assignment in assignments.items()
            ],
        )

    def heartbeat(self, generation: Generation) -> HeartbeatRequest:
        """Says that we are alive."""
        return HeartbeatRequest(
            group_id=self._config.group_id,
            generation_id=generation.id,
            member_id=generation.member_id,
            group_instance_id=self._config.group_instance_id,
        )

    def leave(self, member_id: str, reason: str, version: int) -> LeaveGroupRequest:
        """Old versions name the member outside of the list."""
        if version < _FIRST_VERSION_WITH_MEMBERS:
            return LeaveGroupRequest(group_id=self._config.group_id, member_id=member_id)
        member = MemberIdentity(
            member_id=member_id,
            group_instance_id=self._config.group_instance_id,
            reason=reason[:_REASON_LENGTH_MAX],
        )
        return LeaveGroupRequest(group_id=self._config.group_id, members=[member])
