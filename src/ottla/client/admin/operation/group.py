"""Groups: listed on all brokers, described, deleted, and members removed."""

import asyncio
from collections.abc import Iterable
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.outcome import outcome, settle
from ottla.client.admin.route import coordinators
from ottla.client.admin.value.group import GroupListing
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.other_client import several
from ottla.protocol.errors import error_for
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from ottla.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from ottla.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse

REMOVAL_REASON: Final = "member was removed by an admin"


class GroupOperations(AdminOperations):
    """Operations on groups of any type."""

    async def list_groups(
        self,
        *,
        states: Iterable[str] = (),
        types: Iterable[str] = (),
        protocols: Iterable[str] = (),
    ) -> list[GroupListing]:
        """All groups, sorted by id; each filter lets pass what it names, or everything if it is empty."""
        request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))
        brokers = await self._broker_ids()
        responses = await asyncio.gather(
            *(self._channel.ask(broker, request, ListGroupsResponse) for broker in brokers)
        )
        wanted = set(protocols)
        found = {
            group.group_id: GroupListing(
                group.group_id, group.group_type.capitalize(), group.protocol_type, group.group_state
            )
            for response in responses
            for group in response.groups
        }
        return [group for _, group in sorted(found.items()) if not wanted or group.protocol in wanted]

    async def delete_groups(self, group_ids: Iterable[str], *, errors: dict[str, OttlaError] | None = None) -> None:
        """Deletes groups without members, of any type, and their offsets."""
        groups = several("delete_groups()", group_ids, "ids")

        async def ask(node: int, asked: list[str]) -> dict[str, OttlaError | None]:
            response = await self._channel.ask_once(node, DeleteGroupsRequest(groups_names=asked), DeleteGroupsResponse)
            return {found.group_id: outcome(None, found.error_code) for found in response.results}

        route = coordinators(self._coordinators, CoordinatorKind.GROUP)
        settle(await self._channel.ask_each(groups, route, ask), errors)

    async def remove_members(
        self,
        group_id: str,
        instance_ids: Iterable[str] | None = None,
        *,
        reason: str | None = None,
        errors: dict[str, OttlaError] | None = None,
    ) -> None:
        """Takes static members out of a classic group by their instance ids, or without ids all members."""
        why = REMOVAL_REASON if reason is None else f"{REMOVAL_REASON}: {reason}"

        async def ask(node: int, _groups: list[str]) -> dict[str, dict[str, OttlaError | None] | OttlaError]:
            if instance_ids is None:
                members = await self._all_members(node, group_id)
            else:
                members = [MemberIdentity(group_instance_id=instance_id) for instance_id in instance_ids]
            for member in members:
                member.reason = why
            request = LeaveGroupRequest(group_id=group_id, members=members)
            response = await self._channel.ask_once(node, request, LeaveGroupResponse)
            return {
                group_id: {
                    found.group_instance_id or found.member_id: outcome(None, found.error_code)
                    for found in response.members
                }
            }

        route = coordinators(self._coordinators, CoordinatorKind.GROUP)
        settle(settle(await self._channel.ask_each([group_id], route, ask), None)[group_id], errors)

    async def _all_members(self, node: int, group_id: str) -> list[MemberIdentity]:
        response = await self._channel.ask_once(node, DescribeGroupsRequest(groups=[group_id]), DescribeGroupsResponse)
        [group] = response.groups
        if group.error_code:
            raise error_for(group.error_code, group.error_message)
        return [
            MemberIdentity(member_id="", group_instance_id=member.group_instance_id)
            if member.group_instance_id is not None
            else MemberIdentity(member_id=member.member_id)
            for member in group.members
        ]
