"""CreateAcls (key 30) at the controller, versions 1–3: adds access control entries.

Without an authorizer that would heed them: SECURITY_DISABLED for each.

Deviations: none. KIP-140.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.security.plugin import has_authorizer
from ottla.protocol.errors import SecurityDisabledError
from ottla.protocol.messages.create_acls import CreateAclsRequest


def handle(parts: ControllerParts, context: RequestContext, request: CreateAclsRequest) -> None:
    """Passes the request to the controller, if there is an authorizer."""
    if not has_authorizer(parts.config):
        raise SecurityDisabledError("No Authorizer is configured.")
    submit(parts, context, request)
