"""Sends a consumer's positions as part of a transaction (KIP-98, KIP-447 for the member's identity)."""

from collections.abc import Mapping
from typing import Final

from ottla.base.frozen import frozen
from ottla.client.cluster.error_code import error_codes
from ottla.client.errors import CommitFailedError
from ottla.client.producer.sequence import ProducerIdentity
from ottla.client.producer.transaction.coordinator import TransactionCoordinator
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode, error_for
from ottla.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

_LAST_BEFORE_V2: Final = 4
_LOST_MEMBERSHIP: Final = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION})


@frozen
class GroupIdentity:
    """Which member of which group commits; without a member the broker does not check who it is."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None

    @classmethod
    def of(cls, group: object) -> "GroupIdentity":
        """The result of `consumer.group_metadata()`, or just a group's name."""
        if isinstance(group, str):
            return cls(group)
        return cls(
            str(getattr(group, "group_id")),  # noqa: B009 - whatever has these attributes will do
            int(getattr(group, "generation_id", -1)),
            str(getattr(group, "member_id", "")),
            getattr(group, "group_instance_id", None),
        )


class OffsetSender:
    """Commits positions inside of one transaction."""

    def __init__(self, coordinator: TransactionCoordinator, identity: ProducerIdentity, *, is_v2: bool) -> None:
        self._coordinator: Final = coordinator
        self._identity: Final = identity
        self._is_v2: Final = is_v2
        self.is_begun = is_v2
        """Whether the coordinator may know of the group: a refusal of the first question leaves nothing to be ended."""

    async def send(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], group: object) -> None:
        """Raises what a coordinator refuses with."""
        member = GroupIdentity.of(group)
        if not self._is_v2:
            await self._add_group(member.group_id)
            self.is_begun = True
        request = TxnOffsetCommitRequest(
            transactional_id=self._coordinator.transactional_id,
            group_id=member.group_id,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            generation_id=member.generation_id,
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            topics=_topics(offsets),
        )
        version = None if self._is_v2 else _LAST_BEFORE_V2
        response = await self._coordinator.ask_group(member.group_id, request, TxnOffsetCommitResponse, version)
        codes = error_codes(response)
        if codes & _LOST_MEMBERSHIP:
            raise CommitFailedError(
                f"group {member.group_id!r} has given the partitions to other members: abort the transaction, "
                "and poll to get new ones"
            ) from error_for(min(codes))
        if codes:
            raise error_for(min(codes))

    async def _add_group(self, group_id: str) -> None:
        connection = await self._coordinator.connection()
        request = AddOffsetsToTxnRequest(
            transactional_id=self._coordinator.transactional_id,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            group_id=group_id,
        )
        version = connection.version_of(ApiKey.ADD_OFFSETS_TO_TXN)
        response = await self._coordinator.ask(request, AddOffsetsToTxnResponse, version)
        if response.error_code:
            raise error_for(response.error_code)


def _topics(offsets: Mapping[TopicPartition, OffsetAndMetadata | int]) -> list[TxnOffsetCommitRequestTopic]:
    topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
    for (topic, partition), position in offsets.items():
        found = position if isinstance(position, OffsetAndMetadata) else OffsetAndMetadata(position)
        topics.setdefault(topic, []).append(
            TxnOffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=found.offset,
                committed_leader_epoch=-1 if found.leader_epoch is None else found.leader_epoch,
                committed_metadata=found.metadata,
            )
        )
    return [TxnOffsetCommitRequestTopic(name=name, partitions=partitions) for name, partitions in topics.items()]
