"""CreateDelegationToken (key 38) at the controller, versions 1–3: issues a token to log in with.

The right is asked for here too: clients of the controllers' listeners come without a broker, and a broker may know
older rules.

Deviations: none. KIP-48, KIP-373.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.security.token_request import creation_refusal
from ottla.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)


def handle(
    parts: ControllerParts, context: RequestContext, request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse | None:
    """Refuses, or hands it to the controller."""
    refusal = creation_refusal(context, request)
    if refusal is None:
        submit(parts, context, request)
    return refusal
