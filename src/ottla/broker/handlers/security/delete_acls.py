"""DeleteAcls (key 31), versions 1-3: forwarded to the active controller, which has the authorizer.

Without an authorizer every filter is answered with SECURITY_DISABLED. A type, pattern, operation or permission that is
UNKNOWN (0) makes the request unreadable: the connection is closed, as in Kafka. KIP-140, KIP-290.
"""

from typing import TYPE_CHECKING

from ottla.broker.handlers.forwarding import forward
from ottla.broker.handlers.security.acl_check import closes_unreadable
from ottla.protocol.messages.delete_acls import DeleteAclsRequest

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext


def handle(parts: "BrokerParts", context: "RequestContext", request: DeleteAclsRequest) -> None:
    """Forwards what can be read."""
    enums = [
        value
        for wanted in request.filters
        for value in (
            wanted.resource_type_filter,
            wanted.pattern_type_filter,
            wanted.operation,
            wanted.permission_type,
        )
    ]
    if not closes_unreadable(context, enums):
        forward(parts, context, request)
