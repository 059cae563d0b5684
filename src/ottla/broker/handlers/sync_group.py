"""SyncGroup (key 14), versions 0–5: the leader hands out what each member gets, the others wait for it.

From v5 on the protocol must be named: INCONSISTENT_GROUP_PROTOCOL before anything else is looked at.

KIP-345, KIP-559.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.sync_group import SyncGroupRequest


def handle(parts: BrokerParts, context: RequestContext, request: SyncGroupRequest) -> None:
    """Answers when the leader has said who gets what, and that is committed."""
    coordinators = parts.coordinators
    coordinators.ask_groups(coordinators.groups.sync_group, context, request)
