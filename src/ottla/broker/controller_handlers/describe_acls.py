"""DescribeAcls (key 29) on the controller listener, versions 1–3: as a broker answers it.

Deviations: none. KIP-140, KIP-919.
"""

from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.acl_description import describe_acls
from ottla.broker.request.request_context import RequestContext
from ottla.broker.security.plugin import has_authorizer
from ottla.protocol.errors import SecurityDisabledError
from ottla.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


def handle(parts: ControllerParts, context: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:
    """Answers from the image."""
    if not has_authorizer(parts.config):
        raise SecurityDisabledError("No Authorizer is configured on the controller")
    return describe_acls(parts.metadata.image.acls, request)
