"""AlterClientQuotas (key 49) at the controller, versions 0–1: sets and removes quotas of users, clients and addresses.

Deviations: none known; see `ottla.metadata.controller.resource.client_quota`. KIP-546.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.alter_client_quotas import AlterClientQuotasRequest


def handle(parts: ControllerParts, context: RequestContext, request: AlterClientQuotasRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
