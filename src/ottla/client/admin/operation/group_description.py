"""Groups of consumers described, whichever protocol they speak.

A group is asked for as a consumer group (KIP-848) first and, if it is none, as a classic one.
"""

from collections.abc import Iterable
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.operation.base import AdminOperations, authorized_operations
from ottla.client.admin.outcome import outcome, settle
from ottla.client.admin.route import coordinators
from ottla.client.admin.value.cluster import Node
from ottla.client.admin.value.group import ClassicGroupDescription, ConsumerGroupDescription, MemberDescription
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.other_client import several
from ottla.client.record import TopicPartition
from ottla.protocol.consumer_protocol import ConsumerProtocolAssignment
from ottla.protocol.errors import DecodeError, GroupIdNotFoundError, InvalidRequestError, UnsupportedVersionError
from ottla.protocol.messages import consumer_group_describe, describe_groups
from ottla.protocol.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse

CONSUMER: Final = "consumer"


class GroupDescriptionOperations(AdminOperations):
    """Descriptions of groups."""

    async def describe_consumer_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        errors: dict[str, OttlaError] | None = None,
    ) -> dict[str, ConsumerGroupDescription]:
        """Groups of consumers with their members and assignments."""
        groups = several("describe_consumer_groups()", group_ids, "ids")

        async def ask(node: int, asked: list[str]) -> dict[str, ConsumerGroupDescription | OttlaError]:
            found = await self._ask_as_consumer(node, asked, include_authorized_operations)
            absent = [group for group, answer in found.items() if isinstance(answer, _NOT_CONSUMER)]
            if absent:
                classic = await self._ask_as_classic(node, absent, include_authorized_operations)
                found |= {group: _better(found[group], _as_consumer(answer)) for group, answer in classic.items()}
            return found

        route = coordinators(self._coordinators, CoordinatorKind.GROUP)
        return settle(await self._channel.ask_each(groups, route, ask), errors)

    async def describe_classic_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        errors: dict[str, OttlaError] | None = None,
    ) -> dict[str, ClassicGroupDescription]:
        """Classic groups of any protocol, such as those of Connect's workers."""
        groups = several("describe_classic_groups()", group_ids, "ids")

        async def ask(node: int, asked: list[str]) -> dict[str, ClassicGroupDescription | OttlaError]:
            return await self._ask_as_classic(node, asked, include_authorized_operations)

        route = coordinators(self._coordinators, CoordinatorKind.GROUP)
        return settle(await self._channel.ask_each(groups, route, ask), errors)

    async def _ask_as_consumer(
        self, node: int, asked: list[str], with_operations: bool
    ) -> dict[str, ConsumerGroupDescription | OttlaError]:
        request = ConsumerGroupDescribeRequest(group_ids=asked, include_authorized_operations=with_operations)
        try:
            response = await self._channel.ask_once(node, request, ConsumerGroupDescribeResponse)
        except UnsupportedVersionError as error:
            return dict.fromkeys(asked, error)
        coordinator = self._nodes.node(node)
        return {
            found.group_id: outcome(_consumer_group(found, coordinator), found.error_code, found.error_message)
            for found in response.groups
        }

    async def _ask_as_classic(
        self, node: int, asked: list[str], with_operations: bool
    ) -> dict[str, ClassicGroupDescription | OttlaError]:
        request = DescribeGroupsRequest(groups=asked, include_authorized_operations=with_operations)
        response = await self._channel.ask_once(node, request, DescribeGroupsResponse)
        coordinator = self._nodes.node(node)
        return {
            found.group_id: outcome(_classic_group(found, coordinator), found.error_code, found.error_message)
            for found in response.groups
        }


_NOT_CONSUMER: Final = (GroupIdNotFoundError, UnsupportedVersionError)


def _better(
    first: ConsumerGroupDescription | OttlaError, second: ConsumerGroupDescription | OttlaError
) -> ConsumerGroupDescription | OttlaError:
    """The classic answer; if both know no such group, the newer API has the better words."""
    both = isinstance(first, GroupIdNotFoundError) and isinstance(second, GroupIdNotFoundError)
    return first if both else second


def _as_consumer(found: ClassicGroupDescription | OttlaError) -> ConsumerGroupDescription | OttlaError:
    if isinstance(found, OttlaError):
        return found
    if found.protocol not in (CONSUMER, ""):
        return InvalidRequestError(f"GroupId {found.group_id} is not a consumer group ({found.protocol}).")
    return ConsumerGroupDescription(
        group_id=found.group_id,
        is_simple=not found.protocol,
        members=found.members,
        assignor=found.protocol_data,
        type="Classic",
        state=found.state,
        coordinator=found.coordinator,
        authorized_operations=found.authorized_operations,
    )


def _consumer_group(found: consumer_group_describe.DescribedGroup, coordinator: Node) -> ConsumerGroupDescription:
    return ConsumerGroupDescription(
        group_id=found.group_id,
        is_simple=False,
        members=tuple(map(_consumer_member, found.members)),
        assignor=found.assignor_name,
        type="Consumer",
        state=found.group_state,
        coordinator=coordinator,
        authorized_operations=authorized_operations(found.authorized_operations),
        group_epoch=found.group_epoch,
        target_assignment_epoch=found.assignment_epoch,
    )


def _consumer_member(found: consumer_group_describe.Member) -> MemberDescription:
    return MemberDescription(
        member_id=found.member_id,
        instance_id=found.instance_id,
        client_id=found.client_id,
        host=found.client_host,
        assignment=_partitions(found.assignment),
        target_assignment=_partitions(found.target_assignment),
        member_epoch=found.member_epoch,
        is_upgraded=None if found.member_type < 0 else found.member_type == 1,
    )


def _partitions(assignment: Assignment) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(topic.topic_name, number) for topic in assignment.topic_partitions for number in topic.partitions
    )


def _classic_group(found: describe_groups.DescribedGroup, coordinator: Node) -> ClassicGroupDescription:
    are_consumers = found.protocol_type == CONSUMER
    return ClassicGroupDescription(
        group_id=found.group_id,
        protocol=found.protocol_type,
        protocol_data=found.protocol_data,
        members=tuple(
            MemberDescription(
                member_id=member.member_id,
                instance_id=member.group_instance_id,
                client_id=member.client_id,
                host=member.client_host,
                assignment=assigned_partitions(member.member_assignment) if are_consumers else frozenset(),
            )
            for member in found.members
        ),
        state=found.group_state,
        coordinator=coordinator,
        authorized_operations=authorized_operations(found.authorized_operations),
    )


def assigned_partitions(assignment: bytes) -> frozenset[TopicPartition]:
    """The partitions in a classic consumer's assignment; what cannot be read assigns nothing."""
    if len(assignment) < 2:
        return frozenset()
    version = min(int.from_bytes(assignment[:2], "big"), ConsumerProtocolAssignment.valid_versions.highest)
    try:
        found, _ = ConsumerProtocolAssignment.decode_from(assignment, 2, version)
    except DecodeError:
        return frozenset()
    return frozenset(
        TopicPartition(topic.topic, number) for topic in found.assigned_partitions for number in topic.partitions
    )
