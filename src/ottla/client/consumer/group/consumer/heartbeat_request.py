"""The heartbeats of a member of a consumer group: after the first, only what changed since the last is sent.

A heartbeat that failed may or may not have arrived, so the one after it says everything again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ottla.base.ids import Uuid
from ottla.client.consumer.group.group_subscription import GroupSubscription
from ottla.client.consumer.group.member_config import MemberConfig
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
LEAVE_STATIC_EPOCH = -2

Assignment = Mapping[Uuid, frozenset[int]]


@dataclass(slots=True)
class _Said:
    topics: frozenset[str] | None = None
    regex: str | None = None
    owned: Assignment | None = None


class HeartbeatRequests:
    """Writes the heartbeats of one member."""

    def __init__(self, config: MemberConfig) -> None:
        self._config = config
        self._said = _Said()
        self._says_all = True

    def say_all(self) -> None:
        """The next heartbeat leaves nothing out."""
        self._says_all = True

    def heartbeat(
        self, member_id: str, epoch: int, subscription: GroupSubscription, owned: Assignment
    ) -> ConsumerGroupHeartbeatRequest:
        """A heartbeat with what the coordinator may not know yet."""
        request = self._bare(member_id, epoch)
        everything = self._says_all or epoch == JOIN_EPOCH
        if everything:
            request.rack_id = self._config.rack_id
            request.rebalance_timeout_ms = self._config.max_poll_interval_ms
            request.server_assignor = self._config.server_assignor
        if everything or subscription.topics != self._said.topics:
            request.subscribed_topic_names = sorted(subscription.topics)
        if subscription.server_regex != self._said.regex or (everything and subscription.server_regex is not None):
            # Empty takes an earlier pattern back; null would leave it as it is.
            request.subscribed_topic_regex = subscription.server_regex or ""
        if everything or owned != self._said.owned:
            request.topic_partitions = [
                TopicPartitions(topic_id=topic, partitions=sorted(numbers)) for topic, numbers in owned.items()
            ]
        self._said = _Said(subscription.topics, subscription.server_regex, owned)
        self._says_all = False
        return request

    def leave(self, member_id: str, epoch: int) -> ConsumerGroupHeartbeatRequest:
        """The last heartbeat: -1 for good, -2 for a static member that will be back."""
        self._said = _Said()
        self._says_all = True
        return self._bare(member_id, epoch)

    def _bare(self, member_id: str, epoch: int) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(
            group_id=self._config.group_id,
            member_id=member_id,
            member_epoch=epoch,
            instance_id=self._config.group_instance_id,
        )
