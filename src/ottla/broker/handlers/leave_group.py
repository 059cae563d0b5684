"""LeaveGroup (key 13), versions 0–5: members leave a classic group, one by themselves or several by an operator.

Up to v2 it is about one member, whose code stands at the top. KIP-345, KIP-800.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.leave_group import LeaveGroupRequest


def handle(parts: BrokerParts, context: RequestContext, request: LeaveGroupRequest) -> None:
    """Answers when they are out."""
    coordinators = parts.coordinators
    coordinators.ask_groups(coordinators.groups.leave_group, context, request)
