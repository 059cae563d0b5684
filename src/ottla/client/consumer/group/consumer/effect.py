"""Effects of a member of a consumer group, beside the common ones (`group.effect`)."""

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.client.consumer.group.effect import MemberEffect
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


@frozen
class SendHeartbeat:
    """Beside the steps: ends in HeartbeatAnswered or HeartbeatFailed; after failures it waits a little first.

    `serial` comes back in the event: an answer to a heartbeat that is not the last one is ignored.
    """

    request: ConsumerGroupHeartbeatRequest
    failures: int
    serial: int


@frozen
class SendLeave:
    """Sent beside the steps; nothing waits for the answer."""

    request: ConsumerGroupHeartbeatRequest


@frozen
class NameTopics:
    """We were assigned partitions of topics whose names are not known; TopicsNamed follows when they are."""

    ids: frozenset[Uuid]


ConsumerEffect = MemberEffect | SendHeartbeat | SendLeave | NameTopics
