"""CreateAcls (key 30), versions 1-3: forwarded to the active controller, which has the authorizer.

Without an authorizer every creation is answered with SECURITY_DISABLED. A type, pattern, operation or permission that
is UNKNOWN (0) makes the request unreadable: the connection is closed, as in Kafka. KIP-140, KIP-290.
"""

from typing import TYPE_CHECKING

from ottla.broker.handlers.forwarding import forward
from ottla.broker.handlers.security.acl_check import closes_unreadable
from ottla.protocol.messages.create_acls import CreateAclsRequest

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext


def handle(parts: "BrokerParts", context: "RequestContext", request: CreateAclsRequest) -> None:
    """Forwards what can be read."""
    enums = [
        value
        for acl in request.creations
        for value in (acl.resource_type, acl.resource_pattern_type, acl.operation, acl.permission_type)
    ]
    if not closes_unreadable(context, enums):
        forward(parts, context, request)
