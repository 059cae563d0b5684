"""DescribeAcls (key 29) on the controller listener, versions 1–3: SECURITY_DISABLED, as no authorizer heeds them.

Deviations: none. KIP-140, KIP-919.
"""

from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import SecurityDisabledError
from ottla.protocol.messages.describe_acls import DescribeAclsRequest


def handle(parts: ControllerParts, context: RequestContext, request: DescribeAclsRequest) -> None:
    """Says that there are no ACLs to describe."""
    raise SecurityDisabledError("No Authorizer is configured on the controller")
