"""ConsumerGroupHeartbeat (key 68), versions 0–1: everything that a member of a consumer group says and hears.

Joining, what it is subscribed to, what it owns, what it is to own, leaving: one call in a steady beat. What groups do
is in `ottla.coordinator.group.consumer`.

Refused with UNSUPPORTED_VERSION where `group.coordinator.rebalance.protocols` leaves the consumer protocol out.

KIP-848, KIP-1082.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.group_protocol import check_consumer_protocol
from ottla.broker.request.request_context import RequestContext
from ottla.broker.security.rights import may_topic
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import TopicAuthorizationFailedError
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


def handle(parts: BrokerParts, context: RequestContext, request: ConsumerGroupHeartbeatRequest) -> None:
    """Answers when what it led to is committed."""
    check_consumer_protocol(parts.config)
    rights = context.rights
    if not rights.is_unlimited and not all(
        may_topic(rights, AclOperation.DESCRIBE, topic) for topic in request.subscribed_topic_names or ()
    ):
        raise TopicAuthorizationFailedError
    coordinators = parts.coordinators
    coordinators.ask_groups(coordinators.groups.consumer_group_heartbeat, context, request)
