"""DescribeAcls (key 29), versions 1-3: the access control entries that a filter takes in, from the newest image.

Without an authorizer SECURITY_DISABLED. A type, pattern, operation or permission that is UNKNOWN (0) makes the request
unreadable: the connection is closed, as in Kafka. KIP-140, KIP-290.
"""

from typing import TYPE_CHECKING

from ottla.broker.handlers.security.acl_check import closes_unreadable
from ottla.broker.request.acl_description import describe_acls
from ottla.broker.security.plugin import has_authorizer
from ottla.protocol.errors import SecurityDisabledError
from ottla.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext


def handle(
    parts: "BrokerParts", context: "RequestContext", request: DescribeAclsRequest
) -> DescribeAclsResponse | None:
    """Answers from the image."""
    enums = (request.resource_type_filter, request.pattern_type_filter, request.operation, request.permission_type)
    if closes_unreadable(context, enums):
        return None
    if not has_authorizer(parts.config):
        raise SecurityDisabledError("No Authorizer is configured on the broker")
    return describe_acls(parts.metadata.image.acls, request)
