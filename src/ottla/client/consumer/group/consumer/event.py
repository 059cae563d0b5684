"""Events of a member of a consumer group, beside the common ones (`group.event`)."""

from collections.abc import Mapping

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.client.consumer.group.event import MemberEvent
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse

TopicNames = Mapping[Uuid, str]
"""Topics whose names are known; assignments come with ids alone."""


@frozen
class HeartbeatAnswered:
    """The coordinator answered, perhaps with an error."""

    serial: int
    response: ConsumerGroupHeartbeatResponse
    names: TopicNames


@frozen
class HeartbeatFailed:
    """A heartbeat could not be sent, or was not answered."""

    serial: int
    error: OttlaError


@frozen
class TopicsNamed:
    """The names of topics became known, or changed."""

    names: TopicNames


@frozen
class HeartbeatWanted:
    """A heartbeat is wanted before its time, to learn the epoch."""


ConsumerEvent = MemberEvent | HeartbeatAnswered | HeartbeatFailed | TopicsNamed | HeartbeatWanted
