"""DescribeAcls (key 29), versions 1-3: SECURITY_DISABLED, as Kafka answers where no authorizer is configured.

A type, pattern, operation or permission that is UNKNOWN (0) makes the request unreadable: the connection is closed, as
in Kafka. KIP-140, KIP-290.
"""

from typing import TYPE_CHECKING

from ottla.broker.handlers.acl_check import closes_unreadable
from ottla.protocol.errors import SecurityDisabledError
from ottla.protocol.messages.describe_acls import DescribeAclsRequest

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext


def handle(parts: "BrokerParts", context: "RequestContext", request: DescribeAclsRequest) -> None:
    """Says that there are no ACLs to describe."""
    enums = (request.resource_type_filter, request.pattern_type_filter, request.operation, request.permission_type)
    if not closes_unreadable(context, enums):
        raise SecurityDisabledError("No Authorizer is configured on the broker")
