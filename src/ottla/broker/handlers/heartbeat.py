"""Heartbeat (key 12), versions 0–4: a member of a classic group is alive, and hears whether a rebalance began.

While the group is being loaded the answer is success: nobody knows better, and members stay calm.

KIP-345.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.heartbeat import HeartbeatRequest


def handle(parts: BrokerParts, context: RequestContext, request: HeartbeatRequest) -> None:
    """Answers once what it rests on is committed."""
    coordinators = parts.coordinators
    coordinators.ask_groups(coordinators.groups.heartbeat, context, request)
