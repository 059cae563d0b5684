"""An operator: looks at groups and transactions all the time, and now and then deletes what a group of readers has."""

from collections.abc import Sequence
from typing import Final

from ottla.protocol.definition import Request
from ottla.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest
from ottla.protocol.messages.describe_transactions import DescribeTransactionsRequest
from ottla.protocol.messages.list_groups import ListGroupsRequest
from ottla.protocol.messages.list_transactions import ListTransactionsRequest
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.testing.simulation.coordinator.scenario import GroupPlan
from ottla.testing.simulation.coordinator.workload.member import ClientOutside
from ottla.testing.simulation.coordinator.workload.task import Ask, Sleep, Steps

_INTERVAL_MS: Final = 400


class Operator:
    """Asks whichever broker coordinates a group; while it has members, most of what would hurt is refused."""

    def __init__(self, groups: Sequence[GroupPlan], outside: ClientOutside) -> None:
        self._groups: Final = groups
        self._outside: Final = outside

    def run(self) -> Steps[None]:
        """Goes on until the work is over."""
        random = self._outside.random
        while not self._outside.is_over():
            yield Sleep(random.randint(1, 2 * _INTERVAL_MS))
            group = random.choice(self._groups)
            broker_id = self._outside.group_coordinator(group.group_id)
            if broker_id >= 0:
                request = random.choice(self._requests(group))
                yield Ask(broker_id, request, type(request).valid_versions.highest)

    def _requests(self, group: GroupPlan) -> Sequence[Request]:
        group_id = group.group_id
        looks: list[Request] = [
            ListGroupsRequest(),
            DescribeGroupsRequest(groups=[group_id]),
            ConsumerGroupDescribeRequest(group_ids=[group_id]),
            ListTransactionsRequest(),
            DescribeTransactionsRequest(transactional_ids=[f"{group_id}-0"]),
        ]
        if group.transactions:
            # What such a group has read is what it has written: nobody in his right mind would have it forget.
            return looks
        self._outside.history.deletions_asked.add(group_id)
        topic = OffsetDeleteRequestTopic(name=group.topics[0], partitions=[OffsetDeleteRequestPartition()])
        return [
            *looks,
            DeleteGroupsRequest(groups_names=[group_id]),
            OffsetDeleteRequest(group_id=group_id, topics=[topic]),
        ]
