"""JoinGroup (key 11), versions 0–9: a member enters a classic group, or takes part in its next rebalance.

Answered when the group's next generation begins, so the answer may take as long as the slowest member. What groups do
is in `ottla.coordinator.group.classic`, and where it knowingly differs from Apache Kafka is said there.

KIP-62, KIP-134, KIP-345, KIP-394, KIP-559, KIP-800, KIP-814.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.join_group import JoinGroupRequest


def handle(parts: BrokerParts, context: RequestContext, request: JoinGroupRequest) -> None:
    """Answers when the next generation begins."""
    coordinators = parts.coordinators
    coordinators.ask_groups(coordinators.groups.join_group, context, request)
