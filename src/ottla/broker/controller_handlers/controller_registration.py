"""ControllerRegistration (key 70), version 0: a controller tells its endpoints and features.

Deviations: none known. KIP-919.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.controller_registration import ControllerRegistrationRequest


def handle(parts: ControllerParts, context: RequestContext, request: ControllerRegistrationRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
